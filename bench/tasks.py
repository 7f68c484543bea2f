"""What is measured: the data, the problem and who takes part."""
from dataclasses import dataclass, field

import data


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
    in_python: bool = False     # linsep takes part as the Python package


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
         data.news_unit, ["liblinear-s2"], flags=("--tol", "1")),
    Task("separable-20news-widest", "the same with the widest plane to 1e-6", "separable", data.news_unit, ["liblinear-s2"]),
    *(Task(f"rbf-{name}-{kind}", f"RBF machine, {words}: {kind}", f"rbf-{kind}", data.kernel_rows(name),
           ["SVC", "SVC-2GB", "intelex-SVC"] if kind == "fit" else ["SVC", "intelex-SVC"],
           flags=("--gamma", repr(gamma), "--C", repr(c), "--cache", "200000000"), error=error, in_python=name.endswith("-ovo"))
      for name, words, gamma, c, error in (
          ("ijcnn1", "ijcnn1 49,990 × 22, γ=2, C=32", 2.0, 32.0, 1e-6),
          ("usps", "USPS 7,291 × 256, 0 against the rest, γ=1/128, C=10", 1 / 128, 10.0, 1e-6),
          ("usps-ovo", "USPS, 10 classes by pairs, γ=1/128, C=10", 1 / 128, 10.0, 1e-4),
          ("letter", "letter 15,000 × 16, A–M against N–Z, γ=0.02, C=8", 0.02, 8.0, 1e-6),
          ("letter-ovo", "letter, 26 classes by pairs, γ=0.02, C=8", 0.02, 8.0, 1e-4),
          ("synthetic", "10,000 × 50 simulated, γ=0.02, C=1", 0.02, 1.0, 1e-6))
      for kind in ("fit", "predict")),
    Task("csv-lda", "covtype.csv to a fitted LDA model, against reading alone", "csv", data.covtype_csv,
         ["pandas.read_csv"], ["read_csv(pyarrow)", "read_csv + sklearn LDA"]),
]
CSV_PEERS = {"pandas.read_csv": "c", "read_csv(pyarrow)": "pyarrow", "read_csv + sklearn LDA": "c+lda"}
