"""A model file of every kind, with what it predicted: golden/models/v1/NAME.json, and NAME.of-ROWS.csv for the rows of
rows.csv, two.csv or apart.csv.

Run once for a version of the file format, with the command that wrote it:  python golden/make_models.py target/release/linsep
Later versions must load these files and predict the same; they are not made again.
"""
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "models" / "v1"
EXAMPLES = HERE.parent / "examples"

TWO = ["two.csv", "--target", "sex"]
THREE = ["rows.csv", "--target", "species"]
MODELS = {
    "logistic": TWO,
    "logistic-none": [*TWO, "--features", "bill_length_mm,flipper_length_mm", "--penalty", "none"],
    "logistic-lasso": [*TWO, "--penalty", "lasso:0.02"],
    "logistic-weighted": [*TWO, "--class-weight", "balanced", "--threshold", "0.3"],
    "logistic-ranks": [*TWO, "--transform", "quantile-normal", "--basis", "products"],
    "logistic-mean": [*TWO, "--missing", "mean", "--cv", "3"],
    "softmax": THREE,
    "softmax-reference": [*THREE, "--softmax", "reference", "--reject", "0.4"],
    "lda": [*THREE, "--model", "lda"],
    "qda": [*TWO, "--model", "qda", "--drop", "island,species"],
    "spherical": [*THREE, "--model", "spherical", "--true-priors", "Adelie=0.2,Chinstrap=0.3,Gentoo=0.5"],
    "naive-bayes": [*THREE, "--model", "naive-bayes"],
    "naive-bayes-gamma": [*THREE, "--model", "naive-bayes", "--family", "gamma"],
    "least-squares": [*THREE, "--model", "least-squares"],
    "least-squares-two": [*TWO, "--model", "least-squares", "--penalty", "ridge:0.1"],
    "sigmoid-ls": [*TWO, "--model", "sigmoid-ls", "--penalty", "ridge:0.1"],
    "svm": [*TWO, "--model", "svm", "--calibrate", "platt", "--calibrate-folds", "3"],
    "svm-squared": [*TWO, "--model", "svm", "--loss", "squared-hinge", "--calibrate", "isotonic", "--calibrate-folds", "3"],
    "svm-joint": [*THREE, "--model", "svm", "--multiclass", "joint"],
    "svm-pairs": [*THREE, "--model", "svm", "--multiclass", "one-vs-one", "--vote", "unanimity"],
    "svm-rest": [*THREE, "--model", "svm", "--multiclass", "one-vs-rest"],
    "svm-rbf": [*TWO, "--model", "svm", "--kernel", "rbf"],
    "svm-rbf-pairs": [*THREE, "--model", "svm", "--kernel", "rbf"],
    "svm-polynomial": [*TWO, "--model", "svm", "--kernel", "polynomial", "--degree", "2"],
    "hard-margin": ["apart.csv", "--target", "species", "--model", "hard-margin"],
    "perceptron": ["apart.csv", "--target", "species", "--model", "perceptron"],
    "pocket": [*TWO, "--model", "pocket", "--max-iter", "10"],
    "averaged-perceptron": [*TWO, "--model", "averaged-perceptron", "--max-iter", "10"],
    "kernel-perceptron": [*TWO, "--model", "kernel-perceptron", "--max-iter", "10"],
}


def main(command):
    FOLDER.mkdir(parents=True, exist_ok=True)
    head, *lines = (EXAMPLES / "penguins.csv").read_text().splitlines()
    lines = lines[::5]
    (FOLDER / "rows.csv").write_text("\n".join([head, *lines]) + "\n")
    (FOLDER / "two.csv").write_text("\n".join([head, *(line for line in lines if "male" in line)]) + "\n")
    apart = [line for line in lines if line.startswith(("Adelie", "Gentoo")) and "NA" not in line]
    (FOLDER / "apart.csv").write_text("\n".join([head, *apart]) + "\n")
    for name, (data, *flags) in MODELS.items():
        if "--drop" not in flags and "--features" not in flags:
            flags += ["--drop", "island,year,sex" if "species" in flags else "island,year"]
        fit = [command, "fit", data, *flags, "-q", "-o", f"{name}.json"]
        ran = subprocess.run(fit, cwd=FOLDER, capture_output=True, text=True)
        # 3 is a fit that stopped at its limit, with a model.
        if ran.returncode not in (0, 3):
            raise SystemExit(f"{name}: {ran.stderr}")
        for more in (["--scores", "--proba"], ["--scores"]):
            predict = [command, "predict", f"{name}.json", data, *more]
            ran = subprocess.run(predict, cwd=FOLDER, capture_output=True, text=True)
            if ran.returncode == 0:
                (FOLDER / f"{name}.of-{data}").write_text(ran.stdout)
                break
        else:
            raise SystemExit(f"{name}: {ran.stderr}")


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
