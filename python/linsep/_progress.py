"""A line of progress that also works in a notebook."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Writes one line that is overwritten at every step, at most ten times a second; a line of its own where nobody looks."""

    def __init__(self, name: str):
        self.name = name
        self.last = 0.0
        self.overwrites = sys.stderr.isatty() or "ipykernel" in sys.modules

    def __call__(self, step: dict[str, Any]) -> None:
        now = time.monotonic()
        if now - self.last < 0.1:
            return
        self.last = now
        words = [self.name]
        if step.get("solver"):
            words.append(step["solver"])
        words.append(f"{step['kind']} {step['done']}" + (f" of {step['total']}" if step.get("total") else ""))
        if step.get("objective") is not None:
            words.append(f"objective {step['objective']:.8g}")
        if step.get("gap") is not None:
            words.append(f"gap {step['gap']:.1e}")
        line = ", ".join(words)
        sys.stderr.write(f"\r{line:<100}" if self.overwrites else f"{line}\n")
        sys.stderr.flush()
