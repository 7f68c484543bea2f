"""Contestants: warm processes that work once per line `run`, or fresh ones for every run."""
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lasso import Referee

HERE = Path(__file__).resolve().parent


class Failed(Exception):
    """A contestant could not take part; the message says why."""


class TimedOut(Failed):
    """It gave no answer in time and was ended."""


class Server:
    """A warm process that repeats one piece of work.

    `referee(coef, intercept)` gives the objective; where a process sends no coefficients its own word is taken.
    """

    def __init__(self, name, argv, timeout, referee=None):
        self.name, self.timeout, self.referee, self.details, self.first = name, timeout, referee, {}, None
        self.errors = tempfile.TemporaryFile("w+")
        self.buffer = b""
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors)
        if (line := self._line()) != "ready":
            raise self._failure(f"said {line!r} where `ready` was expected")

    def _line(self, timeout=None):
        timeout = timeout or self.timeout
        deadline = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self.process.kill()
                self.process.wait()
                raise TimedOut(str(self._failure(f"gave no answer in {timeout:g} s")))
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                raise self._failure("ended")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode().strip()

    def _failure(self, what):
        self.close()
        self.errors.seek(0)
        return Failed(f"{what} {self.errors.read()[-400:].strip()}")

    def ask(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._failure("ended") from None

    def answer(self, timeout=None):
        return json.loads(self._line(timeout))

    def run(self):
        self.ask("run")
        outcome = self.answer()
        if isinstance(self.referee, Referee):
            outcome = {"objective": self.referee(outcome), "refereed": True,
                       **{k: v for k, v in outcome.items() if k in ("seconds", "gap", "passes")}}
            return outcome
        coef, intercept = outcome.pop("coef", None), outcome.pop("intercept", None)
        outcome.pop("entries", None)
        if self.referee:
            outcome["refereed"] = coef is not None
            if coef is not None:
                outcome["claimed_objective"] = outcome.get("objective")
                outcome["objective"] = self.referee(np.array(coef, float).ravel(), float(np.ravel(intercept)[0]))
        return outcome

    def pids(self):
        return [self.process.pid]

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Fresh:
    """A process started anew for every run: its wall time, and its peak memory by wait4.

    With `reports`, the process times itself and prints JSON; otherwise the wall time counts.
    `writes` is a file that each run must leave behind; it is removed again.
    """

    def __init__(self, name, argv, reports, writes=None, **details):
        self.name, self.argv, self.reports, self.writes, self.details = name, [str(a) for a in argv], reports, writes, details
        self.first = None

    def run(self):
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors, \
                tempfile.NamedTemporaryFile("r") as report:
            launch = [sys.executable, "-S", str(HERE / "launch.py"), report.name, *self.argv]
            launched = subprocess.run(launch, stdout=out, stderr=errors)
            taken = json.loads(report.read()) if launched.returncode == 0 else {"code": launched.returncode}
            out.seek(0)
            errors.seek(0)
            if taken["code"] != 0:
                raise Failed(f"exit code {taken['code']}: {errors.read()[-400:].strip()}")
            if self.writes:
                if not self.writes.exists():
                    raise Failed(f"left no {self.writes}")
                self.writes.unlink()
            result = json.loads(out.read()) if self.reports else {"seconds": taken["wall"]}
        return {**result, "wall": taken["wall"], "peak_bytes": taken["peak_bytes"]}

    def pids(self):
        return []

    def close(self):
        pass
