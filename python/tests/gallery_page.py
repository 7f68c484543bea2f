"""The gallery in a browser: every picture on one page, opened without a window, its console read, screenshots kept.

``./test browser`` runs it with a browser that it has found or installed; nothing but Python and that browser is needed.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What keeps a browser of a build machine to itself: no network of its own, nothing remembered.
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--virtual-time-budget=10000",
]
#: Pages as wide as a telephone and as a screen.
WIDTHS = (400, 1200)

PAGE = """<!doctype html><meta charset="utf-8"><title>waiting</title>
<style>body{{font:14px sans-serif;margin:0}}img{{max-width:100%}}</style>
{images}
<script>
const texts = {texts};
const parser = new DOMParser();
for (const [name, text] of Object.entries(texts)) {{
  const found = parser.parseFromString(text, "image/svg+xml");
  if (found.querySelector("parsererror")) console.error(name + " is not well-formed");
  const drawn = document.importNode(found.documentElement, true);
  const corner = document.createElement("div");
  corner.appendChild(drawn);
  document.body.appendChild(corner);
  const page = drawn.getBoundingClientRect();
  for (const word of drawn.querySelectorAll("text")) {{
    const box = word.getBoundingClientRect();
    if (box.right > page.right + 12 || box.left < page.left - 12 || box.bottom > page.bottom + 4)
      console.error(name + ": '" + word.textContent + "' leaves the page");
  }}
  corner.remove();
}}
window.addEventListener("load", () => {{
  const images = [...document.images];
  for (const image of images) if (!image.naturalWidth) console.error(image.alt + " is not drawn");
  document.title = images.filter(image => image.naturalWidth).length + " of " + images.length + " pictures";
}});
</script>
"""


def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    sys.exit("no browser: apt-get install chromium")


def opened(program: str, page: Path, *more: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as profile:
        command = [program, *QUIET, f"--user-data-dir={profile}", *more, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    shown = re.findall(r"\(gallery/([\w.-]+\.svg)\)", (ROOT / "docs/gallery.md").read_text(encoding="utf-8"))
    folder = ROOT / "docs/gallery"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in shown}
    images = "\n".join(f'<p><img alt="{name}" src="{html.escape((folder / name).as_uri())}"></p>' for name in shown)
    page = out / "gallery.html"
    page.write_text(PAGE.format(images=images, texts=json.dumps(texts).replace("</", "<\\/")), encoding="utf-8")
    program = browser()
    faults = []
    for width in WIDTHS:
        picture = out / f"gallery-{width}.png"
        picture.unlink(missing_ok=True)
        # Tall enough for a good part of the page; the rest was drawn as well, only not kept.
        ended = opened(program, page, f"--window-size={width},{8000}", f"--screenshot={picture}")
        faults += [line for line in ended.stderr.splitlines() if "CONSOLE" in line]
        if not picture.exists() or picture.stat().st_size < 20_000:
            faults.append(f"no screenshot of {width} pixels: {ended.stderr[-2000:]}")
    title = re.search(r"<title>(.*?)</title>", opened(program, page, "--dump-dom").stdout)
    wanted = f"{len(shown)} of {len(shown)} pictures"
    if title is None or title.group(1) != wanted:
        faults.append(f"the page says {title.group(1) if title else 'nothing'!r}, not {wanted!r}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{wanted} without a word on the console; screenshots in {out}")


if __name__ == "__main__":
    main()
