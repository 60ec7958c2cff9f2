#!/usr/bin/env bash
# What onnxmltools and shap make of LightGBM's linear trees is the same trees with constants.
#
# Guess before running: onnxmltools refuses a model with linear_tree=True, and shap.TreeExplainer raises, with
# a background as without. Seen (LightGBM 4.7.0, onnxmltools 1.16.0, shap 0.51.0, Python 3.11, Linux), y = Xb with
# five rounds: without a background shap raises LightGBM's "not implemented for linear trees"; with one it explains,
# and onnxmltools converts, without a word, a model whose leaves are the constants of the dump. Values and
# predictions agree with each other, and are off from the model's by up to 3.2 where y has a
# standard deviation of 5.5.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import lightgbm as lgb
import numpy as np
import onnxruntime
import shap
from onnxmltools.convert import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType

rng = np.random.default_rng(0)
X = rng.standard_normal((500, 4)).astype(np.float32).astype(float)
y = X @ [1.0, 2.0, 3.0, 4.0] + 0.1 * rng.standard_normal(500)
settings = {"linear_tree": True, "verbose": -1, "num_threads": 1, "deterministic": True}
model = lgb.train(settings, lgb.Dataset(X, y), 5)
own = model.predict(X)


def constant(node, row):
    """The constant of the leaf that a row of X falls into."""
    while "leaf_value" not in node:
        goes_left = row[node["split_feature"]] <= node["threshold"]
        node = node["left_child"] if goes_left else node["right_child"]
    return node["leaf_value"]


trees = [tree["tree_structure"] for tree in model.dump_model()["tree_info"]]
constants = np.array([sum(constant(tree, row) for tree in trees) for row in X])
onnx = convert_lightgbm(model, initial_types=[("x", FloatTensorType([None, 4]))], zipmap=False)
session = onnxruntime.InferenceSession(onnx.SerializeToString())
exported = session.run(None, {"x": X.astype(np.float32)})[0].ravel()
explainer = shap.TreeExplainer(model, X[:50])
explained = explainer.shap_values(X).sum(axis=1) + explainer.expected_value
for name, given in (("onnxmltools", exported), ("shap with a background", explained)):
    print(
        f"{name}: off from the model by up to {np.abs(given - own).max():.2f}, "
        f"from its constants by {np.abs(given - constants).max():.1e}"
    )
    assert np.abs(given - own).max() > 1.0
    assert np.abs(given - constants).max() < 1e-4
try:
    shap.TreeExplainer(model).shap_values(X)
except lgb.basic.LightGBMError as error:
    print("shap without a background:", error)
else:
    raise SystemExit("shap explains linear trees")
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "lightgbm==4.7.0" "onnxmltools==1.16.0" "skl2onnx==1.20.0" "onnx==1.23.2" "onnxruntime==1.32.0" "shap==0.51.0" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
