"""The machine of a benchmark: what it is, and whether it is quiet."""
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
MAX_LOAD, MAX_OTHER_CPU = 0.5, 0.10


def cpu_times():
    """Busy and total ticks of the whole machine; stolen time counts as busy."""
    values = [int(v) for v in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(values) - values[3] - values[4], sum(values)


def process_ticks(pid):
    """User and system ticks of one process."""
    try:
        tail = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0
    return int(tail[11]) + int(tail[12])


class OtherCpu:
    """The share of the machine's CPU time that neither this process nor the given servers used."""

    def __init__(self, pids=()):
        self.pids, self.start, self.own = list(pids), cpu_times(), self._own(pids)

    @staticmethod
    def _own(pids):
        spent = os.times()
        ticks = os.sysconf("SC_CLK_TCK") * (spent.user + spent.system + spent.children_user + spent.children_system)
        return ticks + sum(process_ticks(p) for p in pids)

    def share(self):
        busy, total = (b - a for a, b in zip(self.start, cpu_times()))
        return max(0.0, (busy - (self._own(self.pids) - self.own)) / max(total, 1))


def other_cpu_over(seconds=1.0):
    watch = OtherCpu()
    time.sleep(seconds)
    return watch.share()


def refuse_if_loaded(force):
    load, other = os.getloadavg()[0], other_cpu_over()
    if (load > MAX_LOAD or other > MAX_OTHER_CPU) and not force:
        sys.exit(f"the machine is busy (load {load:.2f}, other CPU use {other:.0%}): times would mean little; "
                 f"wait, or --force")
    return {"load_at_start": load, "other_cpu_at_start": other}


def wait_until_quiet(force, patience=60):
    """Before each task: what other programs use, over one second."""
    deadline = time.monotonic() + patience
    while (other := other_cpu_over()) > MAX_OTHER_CPU and not force:
        if time.monotonic() > deadline:
            sys.exit(f"the machine became busy (other CPU use {other:.0%}); --force ignores it")
    return other


def machine():
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.processor())
    import pandas
    import sklearn
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "python": platform.python_version(),
            "numpy": np.__version__, "scikit-learn": sklearn.__version__, "pandas": pandas.__version__,
            "commit": commit.stdout.strip()}
