"""A line of progress that also works in a notebook."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Writes one line that every step overwrites, at most ten times a second; lines of their own where nobody looks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.last = 0.0
        self.pending: str | None = None
        self.overwrites = sys.stderr.isatty() or "ipykernel" in sys.modules

    def __call__(self, step: dict[str, Any]) -> None:
        self.pending = self.words(step)
        if time.monotonic() - self.last >= 0.1:
            self.write()

    def words(self, step: dict[str, Any]) -> str:
        """A step in a line."""
        found = [self.name]
        if step.get("solver"):
            found.append(step["solver"])
        if step["kind"] == "forecast":
            found.append(f"about {step['seconds']:.0f} s")
        else:
            found.append(f"{step['kind']} {step['done']}" + (f" of {step['total']}" if step.get("total") else ""))
        if step.get("objective") is not None:
            found.append(f"objective {step['objective']:.8g}")
        if step.get("gap") is not None:
            found.append(f"gap {step['gap']:.1e}")
        return ", ".join(found)

    def write(self) -> None:
        """Shows the newest step."""
        if self.pending is not None:
            sys.stderr.write(f"\r{self.pending:<100}" if self.overwrites else f"{self.pending}\n")
            sys.stderr.flush()
        self.pending, self.last = None, time.monotonic()

    def close(self) -> None:
        """Shows the last step, and ends the line."""
        self.write()
        if self.overwrites:
            sys.stderr.write("\n")
            sys.stderr.flush()
