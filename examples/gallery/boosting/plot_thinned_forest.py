"""
A forest thinned
================

A random forest of 150 trees for the small digits. How few of its trees do as well? The path chooses
them for several sizes, by one linear program whose members are asked about the rows that were left
out of their bootstrap samples, so that no row has to be held out to choose by. The test rows here
only draw the line that the forest itself is measured by.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from cgboost import ThinnedEnsemble
from cgboost.inspection import plot_path

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=900, random_state=0)
forest = RandomForestClassifier(150, random_state=0).fit(X, y)
path = ThinnedEnsemble(forest).path(X, y, sizes=[3, 6, 12, 25, 50], eval_set=(X_test, y_test))

# %%
# On the left test accuracy against the number of trees, besides the first trees of the forest as
# they come. On the right where the trees chosen stand in the forest: anywhere, and none is the
# better for being first.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
plot_path(path, ax=left)
votes = np.cumsum([tree.predict_proba(X_test) for tree in forest.estimators_], axis=0)
first = [np.mean(votes[size - 1].argmax(axis=1) == y_test) for size in path.sizes]
left.plot(path.sizes, first, "s:", color="#E69F00", label="the first trees")
left.legend(frameon=False)
for place, model in enumerate(path):
    right.plot(model.indices_, np.full(model.n_members_, place), "|", color="#0072B2")
right.set_yticks(range(len(path)), path.sizes)
right.set_xlabel("place in the forest")
right.set_ylabel("members kept")

# %%
# With the values that its leaves had, the thinned forest is a forest of scikit-learn, for whatever
# takes one.
small = ThinnedEnsemble(forest, size=20, leaf_values="keep").fit(X, y).to_sklearn()
print(small, small.score(X_test, y_test), forest.score(X_test, y_test))
