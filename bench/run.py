"""linsep against its peers on the same data, the same objective and the same accuracy. Protocol: bench/README.md.

Run: python bench/run.py [--only lda-fit,logistic-dense] [--runs 5] [--scale 1] [--force] [--no-build] [--peers-only]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import data
from contestants import Failed, Fresh, Server
from lasso import Referee
from machine import MAX_OTHER_CPU, OtherCpu, machine, refuse_if_loaded, wait_until_quiet
from optimum import objective, optimum
from tasks import CSV_PEERS, TASKS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SERVER = TARGET / "release" / "examples" / "bench"
COMMAND = TARGET / "release" / "linsep"
OURS = "linsep"
TOLERANCES = [10.0**-e for e in range(2, 13)]
KERNEL_TOLERANCES = [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6]
RELATIVE_ERROR = 1e-6      # of the objective, which a logistic contestant must reach
CLAIMED = ("hinge", "sqhinge", "logistic-wide", "softmax")     # too many coefficients to send
FAR_PEER, FAR_OURS = 4, 20         # who takes so many times longer than the fastest peer, or than linsep, runs once
PATIENCE = 30.0                    # seconds for a sweep, and 2 FAR_PEER runs of a peer that has arrived
LONG = 10.0                        # seconds: below this rounds are cheap, however far apart
OPTIONAL = ("intelex", "vw")       # take part only where their interpreter is named
INTERPRETERS = {"adelie": "ADELIE_PYTHON", "intelex": "INTELEX_PYTHON", "vw": "VW_PYTHON"}     # peer -> environment


# ---------------------------------------------------------------- contestants

def server_for(task, name, x, y, options, extra=(), referee=None):
    if name == OURS and not task.in_python:
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
    known = Known(task, name, x, lam)
    began = time.monotonic()
    for tol in TOLERANCES:
        if known.error(tol) > allowed(task, options):
            continue
        if time.monotonic() - began > options.patience:
            raise Failed(f"its sweep took more than {options.patience:g} s, where another peer has arrived")
        server = server_for(task, name, x, y, options, ["--lambda", repr(lam), "--tol", f"{tol:g}", *task.flags], referee)
        try:
            server.first = server.run()
            error = relative_error(server.first["objective"], best)
        except Failed:
            server.close()
            raise
        known.add(tol, error)
        if error <= allowed(task, options):
            server.details = {"tol": tol, "sweep": known.errors}
            return server
        server.close()
    raise Failed(f"no tolerance reached {allowed(task, options):g} (relative errors {known.errors})")


class Known:
    """The errors a peer ended at by tolerance, kept beside the data: a sweep of minutes is done once. linsep's is not
    kept, since its code changes."""

    def __init__(self, task, name, x, lam):
        kept = "-".join((task.kind, *(f.strip("-") for f in task.flags), name))
        self.path = None if name == OURS else x.with_name(f"{x.name.rsplit('-', 1)[0]}-sweep-{kept}-{lam:.6e}.json")
        self.errors = json.loads(self.path.read_text()) if self.path and self.path.exists() else {}

    def error(self, tol):
        return self.errors.get(f"{tol:g}", 0.0)

    def add(self, tol, error):
        self.errors[f"{tol:g}"] = error
        if self.path:
            self.path.write_text(json.dumps(self.errors))


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

def far_behind(contestants):
    """Names of those whose last run says that rounds would only cost time: that run is their time."""
    first = {c.name: c.first["seconds"] for c in contestants if c.first}
    peers = [s for n, s in first.items() if n != OURS]
    if not peers:
        return set()
    limits = FAR_PEER * min(peers), FAR_OURS * first.get(OURS, np.inf)
    return {n for n, s in first.items() if n != OURS and s > LONG and s > min(limits)}


def interleave(contestants, runs):
    """One warm-up each, then `runs` rounds in which everyone runs once. A sweep has warmed up already."""
    failed = {}
    # Some compile themselves in their first run: who seems far behind has another.
    for c in [c for c in contestants if c.name in far_behind(contestants)]:
        try:
            c.first = c.run()
        except Failed as reason:
            failed[c.name] = str(reason)
    far = far_behind(contestants)
    results = {c.name: [c.first] if c.name in far else [] for c in contestants}
    for round_number in range(runs + 1):
        for c in contestants:
            if c.name in failed or c.name in far or (c.first and round_number == 0):
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
    if options.peers:
        names = [n for n in names if n in options.peers.split(",")]
    return names if options.peers_only else names[:1] + [OURS] + names[1:]


def enter(names, start, options):
    """Starts every contestant; those that cannot take part are named with the reason.

    A peer is given up once one of its runs takes much longer than all of what an earlier one needed.
    """
    contestants, failed, timeout = [], {}, options.timeout
    options.patience = np.inf
    for name in names:
        try:
            contestants.append(start(name))
            if name != OURS and contestants[-1].first:
                options.patience = PATIENCE + 2 * FAR_PEER * contestants[-1].first["seconds"]
                options.timeout = min(options.timeout, options.patience)
        except (Failed, OSError) as reason:
            failed[name] = str(reason)
    options.timeout = timeout
    return contestants, failed


def prepare_memory(task, options):
    x, y = task.load(options.scale)
    shape = (*np.load(y, mmap_mode="r").shape, *np.load(x, mmap_mode="r").shape[1:])
    facts = dict(zip(("rows", "columns"), shape)) | {"error": allowed(task, options)}
    if task.kind == "lasso" or task.kind.startswith("path-"):
        return prepare_lasso(task, options, x, y, facts)
    if task.kind.startswith("rbf-"):
        return prepare_kernel(task, options, x, y, facts)
    lam = task.lam(shape[0])
    if task.kind in CLAIMED:
        best = proved_optimum(task, x, y, options, lam)
        facts |= {"lambda": lam, "optimum": best["objective"], "optimum_bound": best["gap"]}
        return facts, lambda name: loosest_that_reaches(task, name, x, y, options, lam, best["objective"])
    if task.kind != "logistic":
        return facts, lambda name: server_for(task, name, x, y, options, task.flags)
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


def prepare_kernel(task, options, x, y, facts):
    """LIBSVM at its ε = 1e-3 says how large the dual must be; linsep takes the loosest tolerance that gets there."""
    flags = [*task.flags, "--test", str(x).replace("-train-", "-test-")]
    settings = "-".join(f.strip("-") for f in task.flags)
    kept = x.with_name(f"{x.name.rsplit('-', 1)[0]}-libsvm-{settings}.json")
    if not kept.exists():
        server = server_for(task, "SVC", x, y, options, flags)
        kept.write_text(json.dumps({"dual": server.run()["dual"]}))
        server.close()
    facts |= {"dual": json.loads(kept.read_text())["dual"], "error": task.error}
    facts["dual_reached"] = facts["dual"] * (1 - task.error)

    def start(name):
        if name != OURS:
            server = server_for(task, name, x, y, options, flags)
            server.first = server.run()
            return server
        for tol in KERNEL_TOLERANCES:
            server = server_for(task, name, x, y, options, [*flags, "--tol", f"{tol:g}"])
            server.first = server.run()
            if server.first["dual"] >= facts["dual_reached"]:
                server.details = {"tol": tol}
                return server
            server.close()
        raise Failed("no tolerance reached the dual of LIBSVM")
    return facts, start


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
    contestants, failed = enter(names_of(task, options), start, options)
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
    if "dual" in result:
        # Peers stop by their own rule; who ends further from the optimum than 1e-4 has not solved the problem.
        for name in [n for n, entry in who.items() if entry["dual"] < result["dual"] * (1 - 1e-4)]:
            result["failed"][name] = f"its dual is {who.pop(name)['dual']:.8g}, LIBSVM's {result['dual']:.8g}"
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
    if not entry:
        return "–"
    spread = f"×{entry['spread']:.2f}" if len(entry["seconds"]) > 1 else "once"
    return f"{entry['min']:.4g} s ({spread})"


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
    parser.add_argument("--peers", help="admit these peers only, where others are known to be far behind")
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
