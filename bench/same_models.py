"""Whether two builds of the command fit the same models: the net under every move of code.

Run: python bench/same_models.py OLD NEW [--only TEXT] [--within 1e-9]

Fits each case of CASES with both binaries and compares the parsed model files, number by number, bit for bit. Prints one
JSON object, {"fits", "equal", "different": []}, and exits with 1 where something differs. A case that both refuse with the
same exit code is equal; what they print is not compared. `--within` allows relative differences, for a change that rounds
otherwise on purpose.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

# Ends of places of a model file that say who wrote it, not what was fitted.
IGNORED = ("checksum", "provenance.version")

PENGUINS = "penguins.csv --target species --drop year"
SEX = "penguins.csv --target sex --drop year"
IRIS = "iris.csv --target Species"
WIDE = "wide.svm --target label"
ROWS = "rows.csv --target class"
APART = "apart.csv --target class"
COUNTS = "counts.csv --target class"
BITS = "bits.csv --target class"
CASES = [
    PENGUINS, SEX, IRIS, WIDE,
    f"{SEX} --penalty none", f"{PENGUINS} --penalty none", f"{IRIS} --penalty none", f"{ROWS} --penalty none",
    f"{SEX} --penalty lasso:0.01", f"{PENGUINS} --penalty lasso:0.01", f"{SEX} --penalty elastic-net:0.5:0.01",
    f"{WIDE} --penalty lasso:0.01", f"{SEX} --penalty ridge:0.1 --penalty-factors body_mass_g=0",
    f"{SEX} --intercept none", f"{SEX} --intercept penalised", f"{IRIS} --softmax reference --standardize no",
    f"{SEX} --basis quadratic --basis-columns body_mass_g,bill_depth_mm", f"{PENGUINS} --transform quantile-normal",
    f"{SEX} --missing mean --class-weight balanced", f"{ROWS} --weights s --offset o", f"{SEX} --cv 3",
    *(f"{SEX} --solver {solver} --tol 1e-6" for solver in ("newton-cg", "lbfgs", "gradient-descent", "svrg")),
    f"{WIDE} --solver row-newton", f"{SEX} --solver sgd --tol 1e-2 --max-iter 20",
    f"{PENGUINS} --model lda", f"{SEX} --model lda --shrinkage auto", f"{IRIS} --model qda", f"{IRIS} --model qda --shrinkage 0.1",
    f"{IRIS} --model spherical", f"{IRIS} --model lda --covariance mle --priors setosa=0.2,versicolor=0.3,virginica=0.5",
    f"{PENGUINS} --model naive-bayes", f"{IRIS} --model naive-bayes --family gamma", f"{COUNTS} --model naive-bayes --family poisson",
    f"{COUNTS} --model naive-bayes --family multinomial", f"{BITS} --model naive-bayes --family bernoulli",
    f"{PENGUINS} --model least-squares", f"{SEX} --model least-squares --penalty ridge:0.01 --solver qr",
    f"{SEX} --model least-squares --targets zero-one --solver gradient-descent", f"{SEX} --model sigmoid-ls",
    f"{SEX} --model svm", f"{SEX} --model svm --loss squared-hinge", f"{PENGUINS} --model svm --multiclass joint",
    f"{PENGUINS} --model svm --multiclass one-vs-one", f"{PENGUINS} --model svm --multiclass one-vs-rest --solver dual-cd",
    f"{WIDE} --model svm", f"{SEX} --model svm --calibrate platt", f"{SEX} --model svm --calibrate isotonic --calibrate-folds 3",
    f"{PENGUINS} --model svm --kernel rbf", f"{SEX} --model svm --kernel polynomial --degree 2", f"{SEX} --model svm --kernel linear",
    f"{SEX} --model svm --kernel sigmoid --gamma 0.05 --coef0 -1",
    f"{APART} --model hard-margin", f"{SEX} --model hard-margin", f"{APART} --model perceptron", f"{ROWS} --model perceptron",
    f"{SEX} --model pocket --max-iter 20", f"{SEX} --model averaged-perceptron --max-iter 20", f"{APART} --model perceptron --update batch",
    f"{SEX} --model kernel-perceptron --max-iter 20", f"{IRIS} --model perceptron --max-iter 20",
    f"{SEX} --costs female:male=5 --reject 0.3", f"{IRIS} --costs costs.csv", f"{APART} --penalty none",
    "marks.csv --target tall,red",
]


def write_data(folder):
    """The shipped examples, and tables of other kinds: overlapping with weights and offsets, separable, counts, wide and sparse."""
    for path in EXAMPLES.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    draw = random.Random(5)
    with open(folder / "rows.csv", "w") as out:
        out.write("a,b,c,s,o,class\n")
        for i in range(400):
            k = i % 2
            out.write(f"{1e6 + draw.gauss(k, 1)!r},{draw.gauss(0, 1e-3)!r},{draw.gauss(-k, 2)!r},{1 + i % 3},{draw.uniform(-1, 1):.2f},c{k}\n")
    with open(folder / "apart.csv", "w") as out:
        out.write("a,b,class\n")
        for i in range(60):
            k = i % 2
            out.write(f"{draw.gauss(6 * k, 0.7)!r},{draw.gauss(0, 1)!r},c{k}\n")
    with open(folder / "counts.csv", "w") as out:
        out.write("a,b,c,d,class\n")
        for i in range(300):
            rates = [(1, 3, 2, 0.3), (3, 1, 2, 0.6), (2, 2, 1, 0.2)][i % 3]
            out.write(",".join(str(sum(draw.random() < r / 9 for _ in range(9))) for r in rates) + f",k{i % 3}\n")
    with open(folder / "bits.csv", "w") as out:
        out.write("a,b,c,class\n")
        for i in range(200):
            out.write(",".join(str(int(draw.random() < 0.3 + 0.2 * (i % 2))) for _ in range(3)) + f",k{i % 2}\n")
    with open(folder / "wide.svm", "w") as out:
        for i in range(250):
            words = sorted(draw.sample(range(1, 2_000), 12) + [2_000 + draw.randrange(4) + 2 * (i % 2)])
            out.write(f"{i % 2} " + " ".join(f"{j}:{draw.random():.3f}" for j in words) + "\n")


def fitted(binary, case, folder, out):
    """The exit code, and the parsed model where there is one."""
    path = folder / out
    path.unlink(missing_ok=True)
    ran = subprocess.run([str(Path(binary).resolve()), "fit", *case.split(), "-q", "-o", str(path)], cwd=folder, capture_output=True)
    return ran.returncode, json.loads(path.read_text()) if path.exists() else None


def differences(a, b, within, path=""):
    """The places where two parsed files differ."""
    if path.endswith(IGNORED):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from differences(a.get(key), b.get(key), within, f"{path}.{key}".lstrip("."))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, within, f"{path}[{i}]")
    elif isinstance(a, float) and isinstance(b, float):
        if not (a == b or abs(a - b) <= within * max(abs(a), abs(b))):
            yield f"{path}: {a!r}, {b!r}"
    elif a != b:
        yield f"{path}: {str(a)[:60]}, {str(b)[:60]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="")
    parser.add_argument("--within", type=float, default=0.0)
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in case]
    different = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        for case in cases:
            (old_code, old), (new_code, new) = (fitted(b, case, folder, "m.json") for b in (options.old, options.new))
            if old_code == 2:
                different.append(f"{case}: the old command refuses it")
            elif old_code != new_code:
                different.append(f"{case}: exit code {old_code}, {new_code}")
            else:
                found = list(differences(old, new, options.within))
                if found:
                    different.append(f"{case}: {found[0]}" + (f" and {len(found) - 1} more" if len(found) > 1 else ""))
    print(json.dumps({"fits": len(cases), "equal": len(cases) - len(different), "different": different}, indent=1))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
