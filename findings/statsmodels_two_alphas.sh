#!/usr/bin/env bash
# The alpha of statsmodels' lasso for two classes depends on the name of the same model.
#
# Guess before running: Logit and GLM with the family Binomial are one model, so that fit_regularized with
# one alpha and an l1 penalty gives the same coefficients. Seen (statsmodels 0.15.0, Python 3.11, Linux), 60
# rows: at alpha=1 Logit has three coefficients, GLM none at all. Logit penalises the sum of the losses, GLM
# (elastic net) their mean: GLM with alpha/60 has Logit's coefficients to four digits.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import warnings

import numpy as np
import statsmodels.api as sm

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X @ [1.0, 2.0, 0.0] + rng.standard_t(2, 60) > 0).astype(float)
X = sm.add_constant(X)


def glm(alpha):
    return sm.GLM(y, X, family=sm.families.Binomial()).fit_regularized(alpha=alpha, L1_wt=1.0).params


logit = sm.Logit(y, X).fit_regularized(alpha=1.0, disp=0).params
print("Logit, alpha 1:   ", logit.round(4))
print("GLM, alpha 1:     ", glm(1.0).round(4))
print("GLM, alpha 1 / 60:", glm(1.0 / 60).round(4))
assert np.count_nonzero(logit) == 3 and not glm(1.0).any()
assert np.abs(glm(1.0 / 60) - logit).max() < 1e-3
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "statsmodels==0.15.0" "numpy==2.4.6" "scipy==1.17.1" "pandas==3.1.1"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
