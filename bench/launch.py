"""Runs one command and writes what it took: python -S bench/launch.py REPORT command arguments...

A process of its own because the peak memory that wait4 reports for a child includes the memory of the process
that started it, as it was before exec; this one is small, run.py is not.
"""
import json
import os
import subprocess
import sys
import time

start = time.perf_counter()
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - start
process.returncode = os.waitstatus_to_exitcode(status)
with open(sys.argv[1], "w") as report:
    json.dump({"wall": wall, "peak_bytes": usage.ru_maxrss * 1024, "code": process.returncode}, report)
