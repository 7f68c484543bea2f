"""linsep against the fastest peer on problems drawn by a seed: kinds of problems x tables x forms. Protocol: bench/README.md.

Run: python bench/matrix.py --seed N [--cells 'softmax*/usps*'] -o F     continues F where it exists
     python bench/matrix.py --summary F                                  the median and the twenty worst
     python bench/matrix.py --check                                      every kind once, on a small table
     python bench/matrix.py --list [--cells GLOB]                        what there is to draw from
"""
import argparse
import fnmatch
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import matrix_tables
from contestants import Failed, Server, TimedOut
from data import Absent
from machine import OtherCpu, refuse_if_loaded, wait_until_quiet
from matrix_kinds import DIRECT, OURS, TASKS, has_tolerance, labels_of, peers_of

HERE = Path(__file__).resolve().parent
INTERPRETERS = {"linsep": "LINSEP_PYTHON", "intelex": "INTELEX_PYTHON"}     # processes, and what names their interpreter
ERRORS = (1e-4, 1e-6)               # relative errors of the objective, one cell each
TOLERANCES = [10.0**-e for e in range(1, 11)]
TIGHT = 1e-10                       # linsep's tolerance for the optimum, beside all that is found otherwise
PREPARE, JUDGE = 120.0, 120.0       # seconds for what is not timed
FAR = 2.0                           # a peer so many times slower than the fastest in its sweep has no rounds
SWEEP = 3                           # times the limit of a fit: for all fits of a sweep
WARM = 2.0                          # seconds: shorter fits are done twice before that is said
GIVEN_UP, COLD = 4.0, 3.0           # ... and one that takes so many times longer, and so many seconds, is ended
SMALLEST = 1e-6                     # objectives below this are compared as if they were this


class Refused(Failed):
    """linsep gave a reason not to fit."""


# ---------------------------------------------------------------- one problem

class Processes:
    """Warm processes: one for linsep, one for the peers, and those of peers that compile themselves or have another interpreter."""

    def __init__(self):
        self.servers, self.loaded = {}, {}

    def server(self, who, path, task):
        """The process of a contestant, with the table loaded."""
        key = next((k for k in (OURS, "intelex", "skglm") if who.startswith(k)), "peers")
        if key not in self.servers:
            python = os.environ.get(INTERPRETERS.get(key, ""), sys.executable)
            self.servers[key], self.loaded[key] = Server(key, [python, HERE / "matrix_kinds.py"], PREPARE), None
        if self.loaded[key] != path:
            self.told(key, {"load": str(path), "task": task.name}, [PREPARE])
            self.loaded[key] = path
        return key

    def told(self, key, line, waits):
        """What it answers, each line within its time. Who is late is ended, and starts anew when it is asked again."""
        server, outcome = self.servers[key], {}
        try:
            server.ask(json.dumps(line))
            for wait in waits:
                outcome |= server.answer(wait)
                if "error" in outcome:
                    raise (Refused if outcome["refused"] else Failed)(outcome["error"])
            return outcome
        finally:
            if server.process.poll() is not None:
                del self.servers[key]

    def pids(self):
        return [p for s in self.servers.values() for p in s.pids()]

    def close(self):
        for server in self.servers.values():
            server.close()


class Problem:
    """A task on a table that lies in a file."""

    def __init__(self, processes, task, path):
        self.processes, self.task, self.path = processes, task, path

    def fit(self, who, tol, limit, judge=True):
        """Seconds, and what the judge found."""
        key = self.processes.server(who, self.path, self.task)
        return self.processes.told(key, {"who": who, "tol": tol, "judge": judge}, (PREPARE, limit, JUDGE))


class Contestant:
    """Who takes part, and what it reached at each of its tolerances so far, the loosest first."""

    def __init__(self, problem, who, seconds):
        self.problem, self.who, self.limit, self.left = problem, who, seconds, SWEEP * seconds
        self.tolerances = list(TOLERANCES) if has_tolerance(problem.task, who) else [None]
        self.found, self.times, self.reason, self.kind = {}, {}, None, None

    def step(self, limit=np.inf):
        """One fit at the next tolerance."""
        tol = self.tolerances.pop(0)
        try:
            outcome = self.problem.fit(self.who, tol, min(self.limit, limit))
        except Failed as reason:
            self.reason, self.tolerances = " ".join(str(reason).split())[:200], []
            self.kind = "timeout" if isinstance(reason, TimedOut) else "refused" if isinstance(reason, Refused) else "failed"
            return
        self.left -= outcome["seconds"]
        self.found[tol], self.times[tol] = outcome, [outcome["seconds"]]
        if self.left <= 0 and self.tolerances:
            self.reason, self.kind, self.tolerances = "its sweep was out of time", "timeout", []

    def again(self, tol, best, error):
        """One more timed run at a tolerance; one that misses the accuracy does not count."""
        try:
            # The dual of a machine takes longer than its fit, and is the same every time.
            outcome = self.problem.fit(self.who, tol, max(COLD, 5 * self.seconds(tol)), judge=self.problem.task.loss != "rbf")
        except Failed:
            return
        if best is None or "objective" not in outcome or relative(outcome["objective"], best) <= error:
            self.times[tol].append(outcome["seconds"])

    def choice(self, best, error):
        """The loosest tolerance that reaches the error."""
        return next((t for t, o in self.found.items() if relative(o["objective"], best) <= error), "none")

    def seconds(self, tol):
        return min(self.times[tol])


def relative(value, best):
    return (value - best) / max(abs(best), SMALLEST)


def sweep(contestants, tight):
    """Everyone's tolerance is tightened until it is within the smallest error of the best objective found by anyone.

    An objective that nobody else has come near is not believed to be the optimum before a tighter fit agrees.
    """
    error = min(ERRORS)

    def values():
        return sorted([o["objective"] for c in contestants for o in c.found.values()] + tight)

    def needs(c):
        if not c.tolerances:
            return False
        known = values()
        if not known or c.choice(known[0], error) == "none":
            return True
        alone = len(known) < 2 or relative(known[1], known[0]) > error
        return alone and any(o["objective"] == known[0] for o in c.found.values())

    moved = True
    while moved:
        moved = False
        for c in contestants:
            while needs(c):
                arrived = [p.seconds(t) for p in contestants if p.who not in (OURS, c.who) and p.found
                           and (t := p.choice(values()[0], error)) != "none"]
                c.step(np.inf if c.who == OURS or not arrived else max(COLD, GIVEN_UP * min(arrived)))
                moved = True
    known = values()
    return known[0] if known else None, known + tight


def rounds(pairs, best, budget):
    """Interleaved runs of (contestant, tolerance, error), at least two of each, more where they are short; what others used."""
    if not pairs:
        return None
    once = sum(c.seconds(t) for c, t, _ in pairs)
    number = int(min(15 if once < 0.1 else 5, max(2, budget / max(once, 1e-9) / 2)))
    watch = OtherCpu(pairs[0][0].problem.processes.pids())
    for _ in range(number):
        for c, tol, error in pairs:
            c.again(tol, best, error)
    return round(watch.share(), 2)


def closest(peers):
    """Peers whose times of the sweep are not far from the fastest."""
    fastest = min((c.seconds(t) for c, t in peers.items()), default=0.0)
    return {c: t for c, t in peers.items() if c.seconds(t) <= FAR * fastest}


def settled(known, error):
    """Whether two fits agree on the optimum; linsep's tight one counts twice, since it is proved."""
    return len(known) > 1 and relative(sorted(known)[1], min(known)) <= error


def status_of(ours, arrived, peers, ours_arrived, known):
    if not ours_arrived and (ours.kind or known):
        return f"linsep-{ours.kind or 'inaccurate'}"
    if not known:
        return "unsettled"
    if arrived:
        return "ok"
    kinds = {p.kind or "inaccurate" for p in peers}
    return "peer-" + next((k for k in ("timeout", "inaccurate", "disagrees", "failed") if k in kinds), "none")


def judged(contestants, choices, best, error, extra, known=True):
    """The record of one cell."""
    ours, peers = contestants[0], contestants[1:]
    arrived = {c: t for c, t in choices.items() if c is not ours}
    record = {"tol": error, "linsep_s": ours.seconds(choices[ours]) if ours in choices else None, "peer": None, "peer_s": None,
              "ratio": None, "status": status_of(ours, arrived, peers, ours in choices, known)}
    if arrived:
        fastest = min(arrived, key=lambda c: c.seconds(arrived[c]))
        record |= {"peer": fastest.who, "peer_s": fastest.seconds(arrived[fastest]), "peer_tol": arrived[fastest]}
        if ours in choices:
            record["ratio"] = record["peer_s"] / record["linsep_s"]
    if best is not None:
        record |= {"objective": best, "linsep_tol": choices.get(ours),
                   "linsep_error": relative(ours.found[choices[ours]]["objective"], best) if ours in choices else
                   min((relative(o["objective"], best) for o in ours.found.values()), default=None)}
    record["others"] = {c.who: c.seconds(arrived[c]) if c in arrived else c.reason or "not accurate enough" for c in peers}
    record["fits"] = {c.who: len(c.found) for c in contestants}
    return record | extra | ({"reason": ours.reason} if ours.reason and ours not in choices else {})


def agreement(ours, peers, rows):
    """Closed forms: whose labels of the rows are linsep's, but for rows on the boundary; divisors differ a little."""
    labels = {c: labels_of(c.found[None]["labels"]) for c in (ours, *peers) if c.found}
    if ours not in labels:
        return {c: None for c in labels}
    allowed, agreed = max(1e-3, 2.5 / rows), {}
    for c, theirs in labels.items():
        if (differ := float(np.mean(theirs != labels[ours]))) <= allowed:
            agreed[c] = None
        else:
            c.reason, c.kind = f"{differ:.2%} of its labels differ", "disagrees"
    return agreed


def measure(task, form, processes, options):
    """The records of all cells of one problem."""
    x, y = matrix_tables.table(form, options.seed, task.most_rows)
    if task.dense and sp.issparse(x):
        x = x.toarray()
    if task.loss == "cnb":      # levels without gaps: the smoothing counts them
        x = np.stack([np.unique(c, return_inverse=True)[1] for c in x.T], axis=1).astype(float)
    classes = int(y.max()) + 1
    if classes < 2 or (task.classes == "several" and classes < 3):
        raise Absent("too few classes are left")
    extra = {"rows": x.shape[0], "columns": x.shape[1], "classes": classes, "entries": int(x.nnz if sp.issparse(x) else x.size)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        matrix_tables.save(path, x, y)
        problem = Problem(processes, task, path)
        peers = [who for who in peers_of(task, x, classes) if not who.startswith("intelex") or os.environ.get("INTELEX_PYTHON")]
        del x
        contestants = [Contestant(problem, who, options.seconds) for who in (OURS, *peers)]
        return closed(contestants, extra, options) if task.closed else risk(contestants, extra, options)


def closed(contestants, extra, options):
    for c in contestants:
        c.step(options.seconds)
    agreed = agreement(contestants[0], contestants[1:], extra["rows"])
    extra["other_cpu"] = rounds([(c, None, None) for c in agreed], None, options.seconds)
    return [judged(contestants, agreed, None, None, extra)]


def risk(contestants, extra, options):
    ours, tight = contestants[0], []
    if has_tolerance(ours.problem.task, OURS):
        try:
            tight = [ours.problem.fit(OURS, TIGHT, options.seconds)["objective"]]
        except Failed:
            pass        # the sweep will say why
    best, known = sweep(contestants, tight)
    errors = ERRORS[1:] if ours.problem.task.loss in DIRECT else ERRORS
    if best is None:
        return [judged(contestants, {}, None, error, extra) for error in errors]
    choices, pairs = {}, {}
    for error in errors:
        choices[error] = {c: t for c in contestants if (t := c.choice(best, error)) != "none"} if settled(known, error) else {}
        for c, t in choices[error].items():
            if len(c.times[t]) < 2 and c.seconds(t) < WARM:
                c.again(t, best, error)     # the first fit of a process may have been slow
        theirs = closest({c: t for c, t in choices[error].items() if c is not ours})
        for c, t in theirs.items() | ({(ours, choices[error][ours])} if ours in choices[error] else set()):
            pairs[c.who, t] = (c, t, error)
    extra["other_cpu"] = rounds([pairs[key] for key in sorted(pairs, key=str)], best, options.seconds)
    return [judged(contestants, choices[error], best, error, extra, settled(known, error)) for error in errors]


# ---------------------------------------------------------------- the draw

def all_problems(glob):
    """Family and group of every problem that one of the patterns TASK/TABLE takes."""
    for task in TASKS.values():
        for group, form in matrix_tables.names():
            if task.applies(group, form) and any(fnmatch.fnmatch(f"{task.name}/{form}", g) for g in glob.split(",")):
                yield task.family, group, task, form


def errors_of(task):
    return [None] if task.closed else list(ERRORS[1:] if task.loss in DIRECT else ERRORS)


def draw(glob, seed, most):
    """Problems by turns of the families; within one, a group of tables first and then a problem, without return."""
    rng, pool = random.Random(seed), {}
    for family, group, task, form in all_problems(glob):
        pool.setdefault(family, {}).setdefault(group, []).append((task, form))
    drawn, cells = [], 0
    while pool:
        for family in rng.sample(sorted(pool), len(pool)):
            group = rng.choice(sorted(pool[family]))
            problems = pool[family][group]
            task, form = problems.pop(rng.randrange(len(problems)))
            cells += len(errors_of(task))
            if cells > most:
                return drawn
            drawn.append((task, form))
            if not problems:
                del pool[family][group]
            if not pool[family]:
                del pool[family]
    return drawn


def one_of_each():
    """Every task on a small table."""
    forms = dict((form, group) for group, form in matrix_tables.names())
    for task in TASKS.values():
        yield task, next(form for form in ("pima2:std:all:whole", "wine:std:all:whole", "spam:raw:all:whole", "votes:raw:all:whole")
                         if task.applies(forms[form], form))


def run(options):
    state, processes = refuse_if_loaded(options.force), Processes()
    records = json.loads(options.output.read_text()) if options.output.exists() else []
    done = {(r["task"], r["table"], r["seed"], r["tol"]) for r in records}
    problems = list(one_of_each()) if options.check else draw(options.cells, options.seed, options.most)
    began = time.monotonic()
    for at, (task, form) in enumerate(problems):
        keys = [(task.name, form, options.seed, error) for error in errors_of(task)]
        if done.issuperset(keys):
            continue
        if time.monotonic() - began > 60 * options.minutes:
            print(f"{options.minutes:g} minutes are over at {at} of {len(problems)} problems; the same command continues")
            break
        wait_until_quiet(options.force)
        start = time.monotonic()
        try:
            found = measure(task, form, processes, options)
        except (Absent, Failed) as reason:
            found = [{"tol": error, "linsep_s": None, "peer": None, "peer_s": None, "ratio": None, "status": "skipped",
                      "reason": str(reason)} for _, _, _, error in keys]
        for record in found:
            records.append({"task": task.name, "table": form, "seed": options.seed, **record, "forced": options.force,
                            "load": round(state["load_at_start"], 2), "cell_s": round(time.monotonic() - start, 1)})
            print(f"{at + 1}/{len(problems)} {line(records[-1])}", flush=True)
        part = options.output.with_suffix(".part")
        part.write_text(json.dumps(records, indent=1) + "\n")
        part.replace(options.output)
    processes.close()
    return records


# ---------------------------------------------------------------- reporting

def line(r):
    number = lambda value, form: format(value, form) if value is not None else "–"  # noqa: E731
    shape = f"{r.get('rows', '–')}×{r.get('columns', '–')}/{r.get('classes', '–')}"
    return (f"{number(r['ratio'], '6.2f'):>7} {r['task']:<20} {r['table']:<34} {shape:<18} {number(r['tol'], 'g'):>6} "
            f"linsep {number(r['linsep_s'], '.4g'):>8}  {r['peer'] or '–':<18} {number(r['peer_s'], '.4g'):>8}  {r['status']}")


def summary(path):
    records = json.loads(path.read_text())
    ratios = sorted(r["ratio"] for r in records if r["ratio"] is not None)
    counts = {}
    for r in records:
        counts[r["status"]] = counts.get(r["status"], 0) + 1
    print(f"{len(records)} cells: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items(), key=lambda e: -e[1])))
    if ratios:
        # Below a millisecond it is calls and checks of input that are compared, which LIBLINEAR has untimed.
        longer = sorted(r["ratio"] for r in records if r["ratio"] is not None and r["linsep_s"] >= 1e-3)
        for what, values in (("ratio", ratios), ("where linsep takes a millisecond or more", longer)):
            if values:
                print(f"{what}: median {statistics.median(values):.2f}, worst {values[0]:.2f}, below 1: "
                      f"{sum(v < 1 for v in values)} of {len(values)}")
        families = {}
        for r in records:
            if r["ratio"] is not None:
                families.setdefault(TASKS[r["task"]].family if r["task"] in TASKS else r["task"], []).append(r["ratio"])
        for family, values in sorted(families.items(), key=lambda e: statistics.median(e[1])):
            print(f"  {family:<16} median {statistics.median(values):7.2f}  worst {min(values):6.2f}  of {len(values)}")
        print("\nThe twenty worst:")
        for r in sorted((r for r in records if r["ratio"] is not None), key=lambda r: r["ratio"])[:20]:
            print(line(r))
    failed = [r for r in records if r["status"].startswith("linsep")]
    if failed:
        print("\nWhere linsep has no result:")
        for r in failed:
            print(line(r), r.get("reason", ""), f"error {r['linsep_error']:.1e}" if r.get("linsep_error") is not None else "")
    if any(r["forced"] for r in records):
        print("\nNOT A MEASUREMENT: with --force on a machine that may have been busy.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="what draws problems, sub-tables and generated tables")
    parser.add_argument("--cells", default="*", help="admit these only: patterns for TASK/TABLE:SCALE:CLASSES:PART, separated by commas")
    parser.add_argument("-o", "--output", type=Path, help="the list of cells; continued where it exists")
    parser.add_argument("--most", type=int, default=150, help="cells to draw (default 150)")
    parser.add_argument("--seconds", type=float, default=30, help="limit of a fit; a sweep may take three times as long (default 30)")
    parser.add_argument("--minutes", type=float, default=np.inf, help="start no further problem after this time")
    parser.add_argument("--force", action="store_true", help="run on a busy machine as well")
    parser.add_argument("--summary", type=Path, metavar="F", help="print the median and the worst of an earlier run")
    parser.add_argument("--check", action="store_true", help="every kind once on a small table: does a peer arrive?")
    parser.add_argument("--list", action="store_true", help="print what there is to draw from")
    options = parser.parse_args()
    if options.summary:
        summary(options.summary)
    elif options.list:
        print("\n".join(f"{task.name}/{form}" for _, _, task, form in all_problems(options.cells)))
    elif options.check:
        with tempfile.TemporaryDirectory() as folder:
            options.seed, options.force, options.output = options.seed or 0, True, Path(folder) / "check.json"
            sys.exit("some kinds are not ok" if any(r["status"] != "ok" for r in run(options)) else 0)
    elif options.seed is None or options.output is None:
        parser.error("--seed N and -o F are needed")
    else:
        run(options)


if __name__ == "__main__":
    main()
