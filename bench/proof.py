"""What the certificate costs: its time beside that of a default fit without it, both in one process, round by round.

Run: python bench/proof.py [--rounds 5] [--scale 1.0]     (builds the library first)
"""
import argparse
import json
import subprocess

import data
from run import ROOT, TARGET

TASKS = [
    ("dense 200,000 x 100", "logistic", data.logistic_dense, []),
    ("covtype 581,012 x 54", "logistic", data.covtype_binary, []),
    ("20news, ridge", "logistic-wide", data.news_unit, []),
    ("MNIST, softmax", "softmax", data.mnist, ["--lambda", "1e-4"]),
    ("a9a, lasso", "lasso", data.a9a, ["--lambda", repr(1 / 32_561)]),
    ("a9a, hinge", "hinge", data.a9a, []),
    ("usps, rbf", "rbf-fit", data.kernel_rows("usps"), ["--gamma", "0.0078125", "--C", "10"]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "--workspace", "--example", "bench"], cwd=ROOT, check=True)
    for name, task, load, flags in TASKS:
        if options.only not in name:
            continue
        x, y = load(options.scale)
        command = [TARGET / "release/examples/bench", task, x, y, "--proof", *flags]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline().strip() == "ready"
            found = []
            for _ in range(options.rounds):
                process.stdin.write("run\n")
                process.stdin.flush()
                found.append(json.loads(process.stdout.readline()))
            process.stdin.close()
        fit, proof = (min(f[key] for f in found) for key in ("seconds", "proof"))
        shares = f"proof / whole fit {proof / fit:.3f}   proof / rest {proof / (fit - proof):.3f}"
        print(f"{name:24} {shares}   gap {found[0]['gap']:.1e}", flush=True)


if __name__ == "__main__":
    main()
