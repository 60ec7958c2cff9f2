"""
Strings: where a gene is cut
============================

Rows need not be numbers: here they are strings of DNA, made up after real ones. At a splice site
the two letters GT are in the middle, with a few preferred letters around them, and somewhere before
it stands an enhancer, a short word. Decoys have GT in the middle as well, but only one of the two
other signs.

No single kernel sees both signs. A spectrum kernel counts words of some length wherever they stand;
a function of two strings counts letters that agree in the same place. The library has them all, and
the model takes what it needs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from cgboost import CGBoostClassifier, KernelLibrary, PairwiseKernel, Spectrum

rng = np.random.default_rng(0)
LETTERS = list("ACGT")


def sequence(site):
    """Sixty letters with GT in the middle; a site has both signs, a decoy one of them."""
    letters = rng.choice(LETTERS, 60)
    letters[30:32] = list("GT")
    consensus, enhancer = (True, True) if site else rng.permutation([True, False])
    if consensus:
        for place, letter in zip([28, 29, 32, 33, 34], "AGAAG", strict=True):
            if rng.random() < 0.8:
                letters[place] = letter
    if enhancer:
        start = rng.integers(0, 22)
        letters[start : start + 6] = list("GAAGAA")
    return "".join(letters)


def near_the_cut(a, b):
    """Letters that agree in the same place, from four before to six behind the cut."""
    return sum(x == z for x, z in zip(a[26:36], b[26:36], strict=True)) ** 2


y = np.arange(320) % 2 == 1
X = np.array([sequence(site) for site in y])
X_train, y_train, X_test, y_test = X[:200], y[:200], X[200:], y[200:]
print(X[1], X[0], sep="\n")

# %%
# The mixture, and each kernel alone
# ----------------------------------
# A support vector machine takes one of these kernels, as a matrix, with the best of three C by
# cross-validation. The mixture chooses its C in the same way.

kernels = {f"words of {k}": Spectrum(k) for k in (2, 3, 4, 6)}
kernels["near the cut"] = PairwiseKernel(near_the_cut)
errors, vectors = {}, {}
for name, kernel in kernels.items():
    fitted = KernelLibrary({name: kernel}, normalize=True).fit(X_train)[name]
    gram, new = fitted(X_train, X_train), fitted(X_test, X_train)
    machine = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1, 10]}, cv=3)
    machine.fit(gram, y_train)
    errors[name] = 1 - machine.score(new, y_test)
    vectors[name] = machine.best_estimator_.n_support_.sum()

library = KernelLibrary(kernels, normalize=True)
search = GridSearchCV(CGBoostClassifier(library, penalty="l1"), {"C": [0.3, 1, 3]}, cv=3)
model = search.fit(X_train, y_train).best_estimator_
errors["mixture"], vectors["mixture"] = 1 - model.score(X_test, y_test), model.n_columns_
for name, error in errors.items():
    print(f"{name:13s} error {100 * error:4.1f} %, {vectors[name]:3d} columns or support vectors")
print(f"mixture: C={model.C}, gap {model.gap_:.1e}, columns {model.columns_per_kernel_}")

# %%
# How far it is proven
# --------------------
# The bound holds over the columns of all kernels at all training strings, those included that were
# never generated.

figure, (bars, curve) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
shown = bars.barh(list(errors), 100 * np.array(list(errors.values())), color="0.7")
shown[-1].set_color("C0")
bars.bar_label(shown, fmt="%.1f", padding=3)
bars.margins(x=0.12)
bars.invert_yaxis()
bars.set(xlabel="test error (%)", title="one kernel each, and the mixture")
rounds = model.history_["round"]
curve.plot(rounds, model.history_["objective"], label="objective")
curve.plot(rounds, model.history_["bound"], label="proven bound")
curve.set(xlabel="round", title="objective and bound", ylim=(0, None))
curve.legend()
