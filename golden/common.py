"""What the Python generators share: writing numbers, reading the data, the rows that are reported."""
import json
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
DATA = HERE / "data"
PENGUIN_MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]

# Rows (0-based, among the rows used) whose scores and posteriors are stored: the first of each class,
# the seven least certain under LDA, and three more. make_r.R has the same list and checks it.
ROWS = {
    "iris": [0, 50, 100, 77, 133, 70, 119, 138, 126, 72, 20, 60, 140],
    "penguins": [0, 151, 274, 72, 128, 328, 282, 306, 338, 304, 20, 200, 300],
}


def load(name):
    """Features in file order, class codes, class names in sorted order, feature names, target."""
    frame = pd.read_csv(DATA / f"{name}.csv")
    target = {"iris": "Species", "penguins": "species", "sim3": "class"}[name]
    features = PENGUIN_MEASURES if name == "penguins" else [c for c in frame if c != target]
    frame = frame.dropna(subset=features + [target])
    classes = sorted(frame[target].unique())
    codes = frame[target].map({c: k for k, c in enumerate(classes)}).to_numpy()
    return frame[features].to_numpy(float), codes, [str(c) for c in classes], features, target


def dumps(value, indent=0):
    """JSON with every float at 17 significant digits; arrays of scalars stay on one line."""
    pad = " " * (indent + 1)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError("not finite: leave it out or write a string")
        text = format(float(value), ".17g")
        return text if any(c in text for c in ".e") else text + ".0"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = [f"{pad}{json.dumps(k)}: {dumps(v, indent + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    value = [dumps(v, indent + 1) for v in value]
    if any("\n" in v or v.startswith("[") for v in value):
        return "[\n" + ",\n".join(pad + v for v in value) + "\n" + " " * indent + "]"
    return "[" + ", ".join(value) + "]"


def write(name, value):
    text = dumps(value) + "\n"
    json.loads(text)
    (HERE / name).write_text(text)
    print("wrote", name)
