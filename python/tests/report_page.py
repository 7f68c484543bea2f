"""Reports in a browser: opened without a window at two widths, printed, their console read, and nothing asked of any other machine.

``./test browser`` runs it after the gallery, with the command as its second argument.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from gallery_page import ROOT, WIDTHS, browser, opened

PENGUINS = str(ROOT / "examples/penguins.csv")
#: What is fitted, and what else the report is told.
REPORTS = {
    "tuned": (["tune", PENGUINS, "--target", "sex", "--drop", "year", "--penalty", "lasso", "--lambdas", "12"], ["--by", "island"]),
    "classes": (["fit", PENGUINS, "--target", "species", "--drop", "year", "--model", "lda"], []),
    "many": (["fit", "many.csv", "--target", "y", "--model", "lda"], []),
}
#: Says so where the page is wider than the window.
WATCH = "<script>addEventListener('load',()=>{const w=document.documentElement.scrollWidth;if(w>innerWidth)console.error('the page is '+w+' wide')})</script>"
#: Whatever is asked of another machine fails, and is on the console.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND"


def many_classes(path: Path) -> None:
    lines = [f"{(i % 26) + 0.1 * (i * 7 % 11):.3f},{i * 13 % 17},c{i % 26}" for i in range(260)]
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    out, command = Path(sys.argv[1]), str(Path(sys.argv[2]).resolve())
    out.mkdir(parents=True, exist_ok=True)
    many_classes(out / "many.csv")
    program, faults = browser(), []
    for name, (fit, more) in REPORTS.items():
        page, model = out / f"report-{name}.html", f"{name}.json"
        for words in ([*fit, "-q", "-o", model], ["report", model, fit[1], *more, "-q", "-o", page.name]):
            subprocess.run([command, *words], cwd=out, check=True, capture_output=True)
        text = page.read_text(encoding="utf-8")
        away = re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*|url\((?!["']?(?:#|data:))[^)]*|@import[^;]*|<script""", text)
        faults += [f"{name}: {found} is not in the file" for found in away]
        watched = out / f"watched-{name}.html"
        # The page itself allows no script at all.
        watched.write_text(text.replace("default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'") + WATCH, encoding="utf-8")
        for width in WIDTHS:
            picture = out / f"report-{name}-{width}.png"
            picture.unlink(missing_ok=True)
            ended = opened(program, page, ALONE, f"--window-size={width},5000", f"--screenshot={picture}")
            said = ended.stderr + opened(program, watched, ALONE, f"--window-size={width},5000", "--dump-dom").stderr
            faults += [f"{name}, {width} pixels: {line}" for line in said.splitlines() if "CONSOLE" in line]
            if not picture.exists() or picture.stat().st_size < 20_000:
                faults.append(f"no screenshot of {width} pixels: {ended.stderr[-2000:]}")
        printed = out / f"report-{name}.pdf"
        printed.unlink(missing_ok=True)
        opened(program, page, ALONE, "--no-pdf-header-footer", f"--print-to-pdf={printed}")
        if not printed.exists() or not printed.read_bytes().startswith(b"%PDF"):
            faults.append(f"{name} cannot be printed")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(REPORTS)} reports without a word on the console; screenshots and prints in {out}")


if __name__ == "__main__":
    main()
