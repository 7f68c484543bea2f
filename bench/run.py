"""linsep against its peers on the same data, the same objective and the same accuracy. Protocol: bench/README.md.

Run: python bench/run.py [--only lda-fit,logistic-dense] [--runs 5] [--scale 1] [--force] [--no-build] [--peers-only]
"""
import argparse
import json
import os
import platform
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import data
from lasso import Referee
from optimum import objective, optimum

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SERVER = TARGET / "release" / "examples" / "bench"
COMMAND = TARGET / "release" / "linsep"
OURS = "linsep"
TOLERANCES = [10.0**-e for e in range(2, 13)]
RELATIVE_ERROR = 1e-6      # of the objective, which a logistic contestant must reach
CLAIMED = ("hinge", "sqhinge", "logistic-wide", "softmax")     # too many coefficients to send
MAX_LOAD, MAX_OTHER_CPU = 0.5, 0.10
OPTIONAL = ("intelex", "vw")       # take part only where their interpreter is named
INTERPRETERS = {"adelie": "ADELIE_PYTHON", "intelex": "INTELEX_PYTHON", "vw": "VW_PYTHON"}     # peer -> environment


# ---------------------------------------------------------------- tasks

@dataclass
class Task:
    name: str
    title: str
    kind: str                   # what the servers do: METHOD-fit, METHOD-predict, logistic; or csv
    load: callable              # scale -> (X.npy, y.npy), or the path of a CSV file
    peers: list                 # the ratio is taken with the fastest of them ...
    info: list = field(default_factory=list)    # ... these are reported beside
    flags: tuple = ()           # further flags of both servers
    error: float = 1e-6         # relative error of the objective that a contestant must reach
    lam: callable = lambda rows: 1.0 / rows     # C = 1


TASKS = [
    Task("lda-fit", "LDA fit, 1,000,000 × 50, 5 classes", "lda-fit", data.gaussian_classes, ["lsqr", "eigen", "svd"]),
    Task("lda-predict", "LDA predict, the same", "lda-predict", data.gaussian_classes, ["lsqr"]),
    Task("qda-fit", "QDA fit, the same rows", "qda-fit", data.gaussian_classes, ["qda"]),
    Task("qda-predict", "QDA predict", "qda-predict", data.gaussian_classes, ["qda"]),
    Task("gnb-fit", "Gaussian naive Bayes fit, the same rows", "gnb-fit", data.gaussian_classes, ["gnb"]),
    Task("gnb-predict", "Gaussian naive Bayes predict", "gnb-predict", data.gaussian_classes, ["gnb"]),
    Task("ridge-fit", "ridge least squares fit, the same rows, α=1", "ridge-fit", data.gaussian_classes,
         ["cholesky", "svd", "lsqr"]),
    Task("mnb-fit", "multinomial naive Bayes fit, 20news, 18,846 × 1,664,447 sparse", "mnb-fit", data.news, ["mnb"]),
    Task("mnb-predict", "multinomial naive Bayes predict, the same", "mnb-predict", data.news, ["mnb"]),
    Task("logistic-dense", "ridge logistic, 200,000 × 100, C=1, to 1e-6", "logistic", data.logistic_dense,
         ["newton-cholesky", "lbfgs", "newton-cg", "intelex-lbfgs", "intelex-newton-cg", "vw-bfgs"]),
    Task("logistic-covtype", "ridge logistic, covtype 2 against rest, 581,012 × 54, C=1, to 1e-6", "logistic",
         data.covtype_binary, ["newton-cholesky", "lbfgs", "newton-cg", "intelex-lbfgs", "intelex-newton-cg", "vw-bfgs"]),
    Task("lasso-20news", "lasso logistic, 20news unit rows, C=1", "lasso", data.news_unit, ["liblinear", "skglm", "snapml", "saga"]),
    Task("lasso-a9a", "lasso logistic, a9a, C=1", "lasso", data.a9a, ["liblinear", "skglm", "snapml", "saga"]),
    Task("path-lasso-spam", "lasso path, spam 4,601 × 57, 100 λ", "path-lasso", data.spam, ["adelie", "skglm"]),
    Task("path-lasso-a9a", "lasso path, a9a 32,561 × 123 sparse, 100 λ", "path-lasso", data.a9a, ["adelie", "skglm"]),
    Task("path-ridge-spam", "ridge path, spam, 100 λ", "path-ridge", data.spam, ["adelie", "newton-cholesky", "lbfgs"]),
    Task("path-ridge-a9a", "ridge path, a9a, 100 λ", "path-ridge", data.a9a, ["adelie", "newton-cholesky", "lbfgs"]),
    *(Task(f"logistic-20news-{c}-{error:g}", f"ridge logistic, 20news unit rows, C={c}, to {error:g}", "logistic-wide", data.news_unit,
           ["liblinear-dual", "liblinear-primal", "vw-bfgs"], error=error, lam=lambda rows, c=c: 1.0 / (c * rows))
      for c in (1, 10) for error in (1e-4, 1e-6)),
    *(Task(f"softmax-mnist-{error:g}", f"ridge softmax, MNIST 60,000 × 784, λ=1e-4, to {error:g}", "softmax", data.mnist,
           ["lbfgs", "newton-cg", "intelex-lbfgs"], error=error, lam=lambda rows: 1e-4)
      for error in (1e-4, 1e-6)),
    *(Task(f"{loss}-{name}{suffix}-{error:g}", f"SVM, {words}, {rows}, {intercept} intercept, C=1, to {error:g}", loss, load, peers,
           flags=flags, error=error)
      for name, rows, load in (("20news", "20news, 18,846 × 1,664,447 sparse", data.news_unit), ("a9a", "a9a, 32,561 × 123 sparse", data.a9a))
      for loss, suffix, words, intercept, flags, peers in (
          ("hinge", "", "hinge", "penalised", ("--penalise-intercept",), ["liblinear-dual", "LinearSVC-dual", "snapml"]),
          ("hinge", "-free", "hinge", "free", (), ["SVC"]),
          ("sqhinge", "", "squared hinge", "free", (), ["liblinear-primal"]))
      for error in (1e-4, 1e-6)),
    Task("separable-covtype", "separability verdict, covtype 2 against rest, against one fit by LIBLINEAR -s 2", "separable",
         data.covtype_binary, ["liblinear-s2"]),
    Task("separable-20news", "separability verdict, 20news unit rows, against one fit by LIBLINEAR -s 2", "separable",
         data.news_unit, ["liblinear-s2"]),
    Task("csv-lda", "covtype.csv to a fitted LDA model, against reading alone", "csv", data.covtype_csv,
         ["pandas.read_csv"], ["read_csv(pyarrow)", "read_csv + sklearn LDA"]),
]
CSV_PEERS = {"pandas.read_csv": "c", "read_csv(pyarrow)": "pyarrow", "read_csv + sklearn LDA": "c+lda"}


# ---------------------------------------------------------------- the machine

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


# ---------------------------------------------------------------- contestants

class Failed(Exception):
    """A contestant could not take part; the message says why."""


class Server:
    """A warm process that repeats one piece of work.

    `referee(coef, intercept)` gives the objective; where a process sends no coefficients its own word is taken.
    """

    def __init__(self, name, argv, timeout, referee=None):
        self.name, self.timeout, self.referee, self.details = name, timeout, referee, {}
        self.errors = tempfile.TemporaryFile("w+")
        self.buffer = b""
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors)
        if (line := self._line()) != "ready":
            raise self._failure(f"said {line!r} where `ready` was expected")

    def _line(self):
        deadline = time.monotonic() + self.timeout
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._failure(f"gave no answer in {self.timeout:g} s")
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

    def run(self):
        try:
            self.process.stdin.write(b"run\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._failure("ended") from None
        outcome = json.loads(self._line())
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


def server_for(task, name, x, y, options, extra=(), referee=None):
    if name == OURS:
        argv = [SERVER, task.kind, x, y]
    else:
        # Some want another numpy than the rest, or another scikit-learn: interpreters that have them are named.
        python = os.environ.get(INTERPRETERS.get(name.split("-")[0], ""), sys.executable)
        argv = [python, HERE / "peer.py", task.kind, x, y, "--peer", name]
    return Server(name, argv + list(extra), options.timeout, referee)


def loosest_that_reaches(task, name, x, y, options, lam, best):
    """Sweeps the contestant's own tolerance, loosest first, until its objective is within the error asked of the best."""
    rows, labels = np.load(x, mmap_mode="r"), np.load(y)

    def referee(coef, intercept):
        return objective(rows, labels, coef, intercept, lam)
    return sweep(task, name, x, y, options, lam, best, None if task.kind in CLAIMED else referee)


def sweep(task, name, x, y, options, lam, best, referee):
    tried = {}
    for tol in TOLERANCES:
        server = server_for(task, name, x, y, options, ["--lambda", repr(lam), "--tol", f"{tol:g}", *task.flags], referee)
        try:
            error = relative_error(server.run()["objective"], best)
        except Failed:
            server.close()
            raise
        tried[f"{tol:g}"] = error
        if error <= allowed(task, options):
            server.details = {"tol": tol, "sweep": tried}
            return server
        server.close()
    raise Failed(f"no tolerance reached {allowed(task, options):g} (relative errors {tried})")


def allowed(task, options):
    """The relative error of the objective that counts; the tasks of margins come once for each."""
    return task.error if task.kind in CLAIMED else options.error


def relative_error(value, best):
    error = (value - best) / best
    # The optimum of a support vector machine is known to a proved 1e-8 of the objective at zero weights.
    if error < -1e-7:
        raise Failed(f"objective {value!r} is below the optimum {best!r}: not the same objective")
    return error


# ---------------------------------------------------------------- running

def interleave(contestants, runs):
    """One warm-up each, then `runs` rounds in which everyone runs once."""
    results, failed = {c.name: [] for c in contestants}, {}
    for round_number in range(runs + 1):
        for c in contestants:
            if c.name in failed:
                continue
            try:
                outcome = c.run()
            except Failed as reason:
                failed[c.name] = str(reason)
                continue
            if round_number > 0:
                results[c.name].append(outcome)
    return results, failed


def summary(contestant, outcomes):
    seconds = [o["seconds"] for o in outcomes]
    last = {k: v for k, v in outcomes[-1].items() if k != "seconds" and v is not None}
    if "peak_bytes" in last:
        last["peak_bytes"] = max(o["peak_bytes"] for o in outcomes)
    if "objective" in last:
        last["objective"] = max(o["objective"] for o in outcomes)
    return {"seconds": seconds, "min": min(seconds), "spread": max(seconds) / min(seconds), **last, **contestant.details}


def names_of(task, options):
    # a peer, ours, the other peers: so the first round already alternates
    names = [n for n in task.peers + task.info if n.split("-")[0] not in OPTIONAL or os.environ.get(INTERPRETERS[n.split("-")[0]])]
    return names if options.peers_only else names[:1] + [OURS] + names[1:]


def enter(names, start):
    """Starts every contestant; those that cannot take part are named with the reason."""
    contestants, failed = [], {}
    for name in names:
        try:
            contestants.append(start(name))
        except (Failed, OSError) as reason:
            failed[name] = str(reason)
    return contestants, failed


def prepare_memory(task, options):
    x, y = task.load(options.scale)
    shape = (*np.load(y, mmap_mode="r").shape, *np.load(x, mmap_mode="r").shape[1:])
    facts = dict(zip(("rows", "columns"), shape)) | {"error": allowed(task, options)}
    if task.kind == "lasso" or task.kind.startswith("path-"):
        return prepare_lasso(task, options, x, y, facts)
    lam = task.lam(shape[0])
    if task.kind in CLAIMED:
        best = proved_optimum(task, x, y, options, lam)
        facts |= {"lambda": lam, "optimum": best["objective"], "optimum_bound": best["gap"]}
        return facts, lambda name: loosest_that_reaches(task, name, x, y, options, lam, best["objective"])
    if task.kind != "logistic":
        return facts, lambda name: server_for(task, name, x, y, options)
    best = optimum(x, y, lam)
    facts |= {"lambda": lam, "optimum": best["objective"], "optimum_bound": best["bound"]}
    if best["bound"] > 1e-9 * best["objective"]:
        raise Failed(f"the reference optimum is only good to {best['bound']:g}")
    return facts, lambda name: loosest_that_reaches(task, name, x, y, options, lam, best["objective"])


def prepare_lasso(task, options, x, y, facts):
    """The optimum is linsep's at its tightest, proved by the referee's own duality gap; objectives are relative to it."""
    referee = Referee(task, x, y)
    lam = float(referee.lambdas[0])
    tight = Server(OURS, [SERVER, task.kind, x, y, "--lambda", repr(lam), "--tol", "1e-9"], options.timeout)
    try:
        tight.process.stdin.write(b"run\n")
        tight.process.stdin.flush()
        proved = referee.settle(json.loads(tight._line()))
    finally:
        tight.close()
    if proved > 0.1 * allowed(task, options):
        raise Failed(f"the reference optimum is only good to {proved:g}")
    facts |= {"lambda": lam, "optimum": 1.0, "optimum_bound": proved}
    return facts, lambda name: sweep(task, name, x, y, options, lam, 1.0, referee)


def proved_optimum(task, x, y, options, lam):
    """The objective of linsep at a proved relative gap of 1e-8, kept beside the data: no peer gives a bound."""
    name = "-".join((task.kind, *(f.strip("-") for f in task.flags)))
    path = x.with_name(x.name.rsplit("-", 1)[0] + f"-optimum-{name}-{lam:.6e}.json")
    if not path.exists():
        server = server_for(task, OURS, x, y, options, ["--lambda", repr(lam), "--tol", "1e-8", *task.flags])
        try:
            found = server.run()
        finally:
            server.close()
        path.write_text(json.dumps({"objective": found["objective"], "gap": found["gap"]}))
    return json.loads(path.read_text())


def prepare_csv(task, options):
    path = task.load(options.scale)
    with open(path, "rb") as f:
        columns = f.readline().count(b",")
        rows = sum(chunk.count(b"\n") for chunk in iter(lambda: f.read(1 << 24), b""))
    model = Path(tempfile.gettempdir()) / f"linsep-bench-{os.getpid()}.json"
    ours = [COMMAND, "fit", path, "--target", "cover_type", "--model", "lda", "-o", model, *options.fit_args.split()]

    def start(name):
        if name == OURS:
            if not COMMAND.exists():
                raise Failed(f"{COMMAND} is not built")
            return Fresh(name, ours, reports=False, writes=model, command=" ".join(str(a) for a in ours[1:]))
        return Fresh(name, [sys.executable, HERE / "read_csv.py", CSV_PEERS[name], path, "cover_type"], reports=True)
    return {"rows": rows, "columns": columns, "bytes": path.stat().st_size, "matrix_bytes": 8 * rows * columns}, start


def run_task(task, options):
    result = {"task": task.name, "title": task.title, "scale": options.scale}
    try:
        facts, start = (prepare_csv if task.kind == "csv" else prepare_memory)(task, options)
    except (data.Absent, Failed) as reason:
        return result | {"skipped": str(reason)}
    result |= facts
    result["other_cpu_before"] = wait_until_quiet(options.force)
    contestants, failed = enter(names_of(task, options), start)
    try:
        watch = OtherCpu([p for c in contestants for p in c.pids()])
        outcomes, more = interleave(contestants, options.runs)
        result["other_cpu_during"] = watch.share()
    finally:
        for c in contestants:
            c.close()
    result["failed"] = failed | more
    result["contestants"] = {c.name: summary(c, outcomes[c.name]) for c in contestants if c.name not in more}
    return judge(task, result)


def judge(task, result):
    """Who reached the accuracy, the fastest peer, the ratio, and what is not as it should be."""
    who, notes = result["contestants"], []
    if "optimum" in result:
        notes += check_objectives(result)
    peers = [p for p in task.peers if p in who]
    if peers:
        result["fastest_peer"] = min(peers, key=lambda p: who[p]["min"])
    if peers and OURS in who:
        ours, theirs = (who[n].get("accuracy") for n in (OURS, result["fastest_peer"]))
        # a closed form leaves no room; logistic fits are compared by their objective
        if task.kind.endswith(("-fit", "-predict")) and None not in (ours, theirs) and abs(ours - theirs) > 1e-4:
            notes.append(f"NO RATIO, accuracy differs: {ours:.6f} against {theirs:.6f}")
        else:
            result["ratio"] = who[result["fastest_peer"]]["min"] / who[OURS]["min"]
    if OURS in who and "matrix_bytes" in result:
        result["memory_ratio"] = who[OURS]["peak_bytes"] / result["matrix_bytes"]
    if result["other_cpu_during"] > MAX_OTHER_CPU:
        notes.append(f"other programs used {result['other_cpu_during']:.0%} of the CPU meanwhile")
    return result | {"notes": notes}


def check_objectives(result):
    """Removes who missed the accuracy in any timed run; returns notes on the others."""
    notes = []
    for name, entry in list(result["contestants"].items()):
        try:
            entry["relative_error"] = relative_error(entry["objective"], result["optimum"])
            if entry["relative_error"] > result["error"]:
                raise Failed(f"relative error {entry['relative_error']:.1e} in a timed run")
        except Failed as reason:
            result["failed"][name] = str(reason)
            del result["contestants"][name]
            continue
        if not entry.get("refereed", True):
            notes.append(f"{name}: the objective is its own word (no coefficients sent)")
        if (claim := entry.get("claimed_objective")) and abs(claim / entry["objective"] - 1) > 1e-9:
            notes.append(f"{name} claims the objective {claim!r}, its coefficients give {entry['objective']!r}")
    return notes


# ---------------------------------------------------------------- reporting

def cell(entry):
    return f"{entry['min']:.4g} s (×{entry['spread']:.2f})" if entry else "–"


def overview(results):
    lines = ["| task | linsep: min (max/min) | fastest peer | its min (max/min) | ratio | remarks |", "|---|---|---|---|---|---|"]
    for r in results:
        if "skipped" in r:
            lines.append(f"| {r['title']} | – | – | – | – | SKIPPED: {r['skipped']} |")
            continue
        who, peer = r["contestants"], r.get("fastest_peer")
        remarks = list(r["notes"])
        if "memory_ratio" in r:
            remarks.append(f"peak {who[OURS]['peak_bytes'] / 1e6:.0f} MB = {r['memory_ratio']:.2f} × the f64 matrix")
        remarks += [f"{name}: {' '.join(why.split())[:120]}" for name, why in r["failed"].items()]
        ratio = f"{r['ratio']:.2f}" if "ratio" in r else "–"
        lines.append(f"| {r['title']} | {cell(who.get(OURS))} | {peer or '–'} | {cell(who.get(peer))} | {ratio} | {'; '.join(remarks)} |")
    return "\n".join(lines)


def details(results):
    lines = ["| task | contestant | min (max/min) | tol | relative error | accuracy | peak MB |", "|---|---|---|---|---|---|---|"]
    for r in results:
        for name, e in r.get("contestants", {}).items():
            number = lambda key, form, unit=1: format(e[key] / unit, form) if key in e else "–"  # noqa: E731
            lines.append(f"| {r['task']} | {name} | {cell(e)} | {number('tol', 'g')} | {number('relative_error', '.1e')} "
                         f"| {number('accuracy', '.5f')} | {number('peak_bytes', '.0f', 1e6)} |")
    return "\n".join(lines)


def build():
    for part in (["--example", "bench", "-p", "linsep"], ["-p", "linsep-cli"]):
        done = subprocess.run(["cargo", "build", "--release", *part], cwd=ROOT)
        if done.returncode != 0:
            sys.exit("the build failed; --no-build uses what is there, --peers-only leaves linsep out")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="tasks, separated by commas: " + ", ".join(t.name for t in TASKS))
    parser.add_argument("--runs", type=int, default=5, help="timed rounds (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (default 1; smaller is for smoke tests)")
    parser.add_argument("--json", type=Path, default=HERE / "results.json", help="where the results go")
    parser.add_argument("--force", action="store_true", help="run on a busy machine as well")
    parser.add_argument("--no-build", action="store_true", help="use the binaries that are there")
    parser.add_argument("--peers-only", action="store_true", help="leave linsep out")
    parser.add_argument("--error", type=float, default=RELATIVE_ERROR,
                        help="relative error of the objective to reach (default 1e-6)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run (default 600)")
    parser.add_argument("--fit-args", default="", help="further arguments of `linsep fit` in csv-lda")
    options = parser.parse_args()
    known = {t.name for t in TASKS}
    options.only = options.only.split(",") if options.only else sorted(known)
    if unknown := set(options.only) - known:
        parser.error(f"no task {', '.join(sorted(unknown))}; there are {', '.join(t.name for t in TASKS)}")
    return options


def main():
    options = arguments()
    state = refuse_if_loaded(options.force)
    if not (options.no_build or options.peers_only):
        build()
    results = []
    # Tasks that are not run again keep what an earlier run found, with the machine state it found then.
    kept = json.loads(options.json.read_text())["tasks"] if options.json.exists() else []
    for task in TASKS:
        if task.name in options.only:
            print(f"{task.name} ...", file=sys.stderr, flush=True)
            results.append(run_task(task, options) | {"runs": options.runs, "forced": options.force, **machine(), **state})
            done = {r["task"]: r for r in kept + results}
            document = {"tasks": [done[t.name] for t in TASKS if t.name in done]}
            options.json.write_text(json.dumps(document, indent=1) + "\n")
    print(overview(results), details(results), sep="\n\n")
    if options.runs < 5 or options.scale != 1 or options.force:
        print("\nNOT A MEASUREMENT: fewer than 5 runs, part of the data, or --force.")


if __name__ == "__main__":
    main()
