"""CPU seconds and memory of text classifiers on sparse rows, each in its own process.

Documents are docstrings of scikit-learn and SciPy, features their 20 000 most frequent words and
pairs of words. ::

    python benchmarks/text.py --n-rows 1000
"""

import ast
import importlib.util
import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import SVC

from cgboost import CGBoostClassifier, KernelLibrary, Linear
from cgboost.studies.scripts import options, timed

LINEAR = KernelLibrary({"linear": Linear()})
MODELS = {
    "SVC, linear": SVC(kernel="linear"),
    "SVC": SVC(),
    "linear, l1": CGBoostClassifier(LINEAR, penalty="l1"),
    "linear, l2, all columns at once": CGBoostClassifier(
        LINEAR, penalty="l2", columns_per_round="all"
    ),
    "CGBoostClassifier()": CGBoostClassifier(),
}


def documents(n_rows, n_features):
    """Sparse training and test rows, the same number of each, and their libraries."""
    found = []
    for library in ("sklearn", "scipy"):
        root = Path(importlib.util.find_spec(library).origin).parent
        for path in sorted(root.rglob("*.py")):
            if "tests" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                    text = ast.get_docstring(node) or ""
                    if len(text) >= 300:
                        found.append((text, library))
    order = np.random.default_rng(0).permutation(len(found))[: 2 * n_rows]
    texts, libraries = zip(*[found[k] for k in order], strict=True)
    giveaways = ["sklearn", "scikit", "learn", "scipy"]
    words = TfidfVectorizer(
        ngram_range=(1, 2), max_features=n_features, sublinear_tf=True, stop_words=giveaways
    ).fit(texts[:n_rows])
    return words.transform(texts), np.array(libraries)


def measured(name, X, y, n_rows):
    """A line of the table; the memory is the peak of the whole process."""
    model = MODELS[name]
    seconds, _ = timed(model.fit, X[:n_rows], y[:n_rows])
    predicting, accuracy = timed(model.score, X[n_rows:], y[n_rows:])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = model.n_support_.sum() if isinstance(model, SVC) else model.n_columns_
    return f"{name:32s} {seconds:7.2f} {predicting:8.3f} {peak:7.0f} {1 - accuracy:7.3f} {size:8d}"


if __name__ == "__main__":
    given = options(__doc__, n_rows=1000, n_features=20000)
    X, y = documents(given.n_rows, given.n_features)
    print(f"{given.n_rows} training rows of {X.shape[1]} features, {X.nnz / X.shape[0]:.0f} each")
    print(f"{'':32s} {'fit, s':>7s} {'score, s':>8s} {'MB':>7s} {'error':>7s} {'columns':>8s}")
    spawned = multiprocessing.get_context("spawn")
    for name in MODELS:
        with ProcessPoolExecutor(1, mp_context=spawned) as alone:
            print(alone.submit(measured, name, X, y, given.n_rows).result(), flush=True)
