"""Odd against even digits with a mixture of kernels: copy this and change what you like.

    python examples/mnist_odd_even.py [DATA]

DATA is a folder with the four MNIST files; without it the digits of scikit-learn are used.
"""

import sys
import time
from pathlib import Path

import numpy as np

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear, Polynomial
from cgboost.inspection import plot_history
from cgboost.studies.datasets import odd_even_split

data = sys.argv[1] if len(sys.argv) > 1 else None
split = odd_even_split(data, seed=0)

library = KernelLibrary(
    {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True
)


def report(turn):
    """See every round; return True to stop the loop."""
    if turn.number % 5 == 0:
        print(f"  {turn.columns:4d} columns, objective {turn.objective:9.3f}, gap {turn.gap:.1e}")


best = None
for C in (0.1, 1.0, 10.0):
    print(f"C = {C:g}")
    model = CGBoostClassifier(library, C=C, penalty="l1", tol=1e-6, callbacks=[report])
    start = time.perf_counter()
    model.fit(split.X_train, split.y_train, eval_set=(split.X_validation, split.y_validation))
    seconds = time.perf_counter() - start
    error = model.history_["validation_error"][-1]
    print(f"  {model.stop_reason_}: validation error {100 * error:.2f} %, {seconds:.2f} s")
    if best is None or error < best[0]:
        best = error, model

model = best[1]
test_error = np.mean(model.predict(split.X_test) != split.y_test)
print(f"chosen C = {model.C:g}: test error {100 * test_error:.2f} %")
print(f"columns per kernel: {model.columns_per_kernel_}")
print(f"certified relative gap: {model.gap_:.1e}")
Path("mnist_odd_even").mkdir(exist_ok=True)
plot_history(model).savefig("mnist_odd_even/history.png", dpi=120)
