"""
LPBoost over stumps, and its certificate
========================================

Decision stumps are the smallest trees: one feature, one threshold. There are 15133 of them on
the breast cancer data, and LPBoost weighs *all* of them by one linear program. It generates 100
or so; the bound says that the others cannot help.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from cgboost import LPBoostClassifier

data = load_breast_cancer()
model = LPBoostClassifier(C=1.0, tol=1e-6).fit(data.data, data.target)
print(f"{model.n_columns_} stumps, gap {model.gap_:.0e}, certified: {model.converged_}")

# %%
# Objective and bound
# -------------------
# The objective of the restricted problem falls as stumps come; the bound, which holds for every
# stump there is, rises. Where they meet the answer is optimal.

history = model.history_
figure, axis = plt.subplots(figsize=(7, 4))
axis.plot(history["round"], history["objective"], label="objective: stumps so far")
axis.plot(history["round"], history["bound"], label="bound: every stump there is")
axis.fill_between(history["round"], history["bound"], history["objective"], alpha=0.15)
axis.set(xlabel="round", ylabel="objective", ylim=(0, 60), title="The gap closes")
axis.legend()

# %%
# Which features
# --------------
# The importance of a feature is the share of its stumps in the sum of weights.

importance = model.feature_importances_
order = importance.argsort()[-10:]
figure, axis = plt.subplots(figsize=(7, 4))
axis.barh(data.feature_names[order], importance[order])
axis.set(xlabel="share of the weights", title="Ten most important features")
figure.tight_layout()
