"""Twelve tasks by two builds of the library: each in a process of its own, round by round in turn; ratios of the best times.

Run: python bench/before_after.py OLD NEW [--rounds 7]     (two binaries of the example `bench`)
"""
import argparse
import json
import subprocess

import data

TASKS = [
    ("dense logistic", "logistic", data.logistic_dense, []),
    ("covtype logistic", "logistic", data.covtype_binary, []),
    ("20news ridge", "logistic-wide", data.news_unit, []),
    ("MNIST softmax", "softmax", data.mnist, ["--lambda", "1e-4"]),
    ("a9a lasso", "lasso", data.a9a, ["--lambda", repr(1 / 32_561)]),
    ("a9a hinge", "hinge", data.a9a, []),
    ("a9a squared hinge", "sqhinge", data.a9a, []),
    ("usps rbf", "rbf-fit", data.kernel_rows("usps"), ["--gamma", "0.0078125", "--C", "10"]),
    ("Gaussian classes lda", "lda", data.gaussian_classes, []),
    ("Gaussian classes qda", "qda", data.gaussian_classes, []),
    ("Gaussian classes naive Bayes", "gnb", data.gaussian_classes, []),
    ("a9a separable", "separable", data.a9a, []),
]


def start(binary, task, x, y, flags):
    process = subprocess.Popen([binary, task, x, y, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    return process


def seconds(process):
    process.stdin.write("run\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name, task, load, flags in TASKS:
        if options.only not in name:
            continue
        x, y = load(1.0)
        processes = [start(binary, task, x, y, flags) for binary in (options.old, options.new)]
        found = [[seconds(process) for process in processes] for _ in range(options.rounds)]
        for process in processes:
            process.stdin.close()
            process.wait()
        old, new = (min(column) for column in zip(*found))
        print(f"{name:30} old / new {old / new:.2f}", flush=True)


if __name__ == "__main__":
    main()
