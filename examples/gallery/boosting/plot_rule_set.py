"""
A rule set within a budget, and its bound
=========================================

Six conditions have to do to tell malignant from benign tumours. The rules are chosen one after
another; the bound says how much better *any* rules with as many conditions could do, and there
are tens of thousands of pairs of conditions.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from cgboost import RuleSetClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
labels = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, labels, stratify=labels, random_state=0)

model = RuleSetClassifier(6, max_conditions=2, max_bins=6).fit(X_train, y_train)
print(model.to_text())
print(f"right on {100 * model.score(X_test, y_test):.1f} % of the test rows")

# %%
# The rules
# ---------
# Each bar is what a rule adds to the score where it holds; the score begins at the intercept, and
# the sign decides.

table = model.rules_table()
colours = {"malignant": "tab:red", "benign": "tab:blue"}
figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
axis.barh(table["rule"], table["weight"], color=[colours[label] for label in table["label"]])
axis.axvline(0, color="black", linewidth=0.8)
axis.invert_yaxis()
axis.set(xlabel="weight (red: for malignant, blue: for benign)", title="Six conditions")

# %%
# Objective and bound at each budget
# ----------------------------------
# No set of rules with that many conditions has an objective below the bound. All budgets have the C
# and the selection of six conditions here, so that they are of one problem; small budgets would
# choose others by default.

budgets = [1, 2, 4, 6, 9, 12]
alike = {"max_conditions": 2, "max_bins": 6, "selection": "loss", "C": model.C_}
models = [RuleSetClassifier(budget, **alike).fit(X_train, y_train) for budget in budgets]
figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.plot(budgets, [m.objective_ for m in models], "o-", label="objective of the rules found")
axis.plot(budgets, [m.dual_bound_ for m in models], "s--", label="bound on all rule sets")
axis.set(xlabel="conditions", ylabel="loss and ½Σα²", title="What others could do", ylim=(0, None))
axis.legend()
