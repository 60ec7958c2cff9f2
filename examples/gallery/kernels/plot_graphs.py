"""
Graphs: molecules with a ring that matters
==========================================

Each row is a graph, made up after molecules: a tree of carbon and nitrogen, a ring of six, and two
oxygens. Active molecules have two signs: an oxygen is bound to the ring, and every second atom of
the tree is a nitrogen. The others have one of the two signs.

The Weisfeiler-Lehman kernel colours every atom by what surrounds it, out to some depth, and counts
the colours that two molecules share. Which depth is right is not known; the library has them all.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from cgboost import CGBoostClassifier, KernelLibrary, WeisfeilerLehman

rng = np.random.default_rng(0)


def molecule(number, *, active):
    """A tree and a ring of six with two oxygens; a decoy has one of the two signs."""
    on_ring, nitrogen = (True, True) if active else rng.permutation([True, False])
    graph = nx.random_labeled_tree(int(rng.integers(8, 13)), seed=number)
    share = 0.5 if nitrogen else 0.1
    atoms = {v: str(rng.choice(["C", "N"], p=[1 - share, share])) for v in graph}
    ring, tree = [f"ring {j}" for j in range(6)], list(graph)
    nx.add_cycle(graph, ring)
    atoms |= dict.fromkeys(ring, "C")
    graph.add_edge(ring[0], tree[0])
    bound = ring[int(rng.integers(1, 6))] if on_ring else tree[int(rng.integers(6, len(tree)))]
    for place in (bound, tree[int(rng.integers(6))]):
        graph.add_edge(place, (place, "O"))
        atoms[place, "O"] = "O"
    nx.set_node_attributes(graph, atoms, "atom")
    return graph


y = np.arange(300) % 2 == 1
X = [molecule(number, active=bool(active)) for number, active in enumerate(y)]
X_train, y_train, X_test, y_test = X[:180], y[:180], X[180:], y[180:]

# %%
# The mixture, and each depth alone
# ---------------------------------
# A support vector machine takes the matrix of one kernel. All choose their C by cross-validation.
# ``X`` is a list: scikit-learn's tools divide it as they divide an array.

kernels = {f"depth {depth}": WeisfeilerLehman(depth, node_label="atom") for depth in range(4)}
rows = {}
for name, kernel in kernels.items():
    train, test = np.array(X_train, dtype=object), np.array(X_test, dtype=object)
    fitted = KernelLibrary({name: kernel}, normalize=True).fit(train)[name]
    machine = GridSearchCV(SVC(kernel="precomputed"), {"C": [1, 10, 100]}, cv=3)
    machine.fit(fitted(train, train), y_train)
    rows[name] = 1 - machine.score(fitted(test, train), y_test), machine.best_estimator_.n_support_

library = KernelLibrary(kernels, normalize=True)
search = GridSearchCV(CGBoostClassifier(library, penalty="l1"), {"C": [3, 10]}, cv=3)
model = search.fit(X_train, y_train).best_estimator_
rows["mixture"] = 1 - model.score(X_test, y_test), [model.n_columns_]
for name, (error, count) in rows.items():
    print(f"{name:8s} error {100 * error:4.1f} %, {sum(count):3d} columns or support vectors")
print(f"mixture: C={model.C}, gap {model.gap_:.1e}, columns {model.columns_per_kernel_}")

# %%
# No depth had to be chosen, and the mixture compares a new molecule with fewer than any machine.
# The best depth alone, which only the test set shows, is right for two more molecules.
#
# The molecules that stand for others
# -----------------------------------
# The centres of the largest weights: like these is active (blue frame), like these is not (red).

columns = model.columns_
order = np.argsort(-np.abs(columns["coefficient"]))[:6]
COLOURS = {"C": "0.75", "N": "C0", "O": "C3"}
figure, panels = plt.subplots(2, 3, figsize=(9, 5.4), layout="constrained")
for panel, j in zip(panels.flat, order, strict=True):
    graph = X_train[columns["row"][j]]
    atoms = [COLOURS[atom] for atom in nx.get_node_attributes(graph, "atom").values()]
    places = nx.kamada_kawai_layout(graph)
    nx.draw_networkx(graph, places, ax=panel, node_color=atoms, node_size=70, with_labels=False)
    side = "tab:blue" if columns["coefficient"][j] > 0 else "tab:red"
    panel.spines[:].set(color=side, linewidth=2)
    panel.set_title(f"{columns['kernel'][j]}, weight {columns['coefficient'][j]:+.2f}", fontsize=9)
figure.suptitle("carbon grey, nitrogen blue, oxygen red")
