"""
A credit score whose reasons can be told
========================================

A bank must be able to say why an application was declined, and "your income is too high" is no
reason. Boosting learns such things from noise. Here the score is asked to rise with income and to
fall with debt, and what is asked for holds for every applicant, not only on average. What it costs
on the training rows is known, since both models are certified optima; on new rows a true rule is
worth data. The data are made up: 1500 applications whose risk depends on income, debt, age and the
length of employment.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from cgboost import ConstrainedBoostClassifier
from cgboost.constraints import Concave, Monotone

rng = np.random.default_rng(0)
n = 1500
X = pd.DataFrame(
    {
        "income": rng.lognormal(10.4, 0.5, n).round(-2),
        "debt": rng.gamma(2.0, 6000.0, n).round(-2),
        "age": rng.integers(19, 75, n).astype(float),
        "employed": rng.gamma(2.0, 3.0, n).round(),
    }
)
risk = 2.0 * np.log(X["debt"] + 2000) - 2.4 * np.log(X["income"]) + 0.002 * (X["age"] - 45) ** 2
risk -= 0.08 * X["employed"].clip(upper=10)
paid = (risk + rng.logistic(scale=0.9, size=n) < risk.median()).to_numpy()
train, test, y_train, y_test = train_test_split(X, paid, test_size=500, random_state=0)

# %%
# Two models
# ----------
# The second one knows four things: which way income, debt and the years of employment go, and that
# nobody is best at the youngest or the oldest age (a concave shape, made of hinges).

rules = [
    Monotone("income", +1),
    Monotone("debt", -1),
    Monotone("employed", +1),
    Concave("age"),
]
free = ConstrainedBoostClassifier(C=0.3).fit(train, y_train)
obeying = ConstrainedBoostClassifier(rules, C=0.3).fit(train, y_train)
for name, model in (("free", free), ("obeying", obeying)):
    auc = roc_auc_score(y_test, model.decision_function(test))
    print(f"{name:8s} test AUC {auc:.3f}, objective {model.objective_:.2f}, gap {model.gap_:.0e}")
print(obeying.constraint_table())

# %%
# What the score says of each feature
# -----------------------------------
# Everything else at its median. The free score falls with income here and there: no certificate
# protects from that, and no amount of data would promise that it does not happen for somebody.

middle = train.median()
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained", sharey=True)
for axis, name in zip(axes.ravel(), X.columns, strict=True):
    values = np.linspace(X[name].min(), X[name].quantile(0.99), 300)
    grid = pd.DataFrame([middle] * len(values), columns=X.columns).assign(**{name: values})
    for model, label in ((free, "free"), (obeying, "obeying")):
        axis.plot(values, model.decision_function(grid), label=label)
    axis.set(xlabel=name)
    axis.grid(alpha=0.3)
axes[0, 0].set(ylabel="score")
axes[1, 0].set(ylabel="score")
axes[0, 0].legend()

# %%
# When not to
# -----------
# A wrong rule costs: it is a statement about the world, and the objective says by how much the data
# disagree. Here the difference of the two objectives is what the rules cost, at C = 0.3 a unit of
# hinge loss. If it is large, look at the rule before you look at the model.

print(f"the rules cost {obeying.objective_ - free.objective_:.2f} of {free.objective_:.2f}")
