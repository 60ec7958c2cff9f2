"""
A data frame with words, categories, text and dates
===================================================

Prices of used bicycles, made up: two numbers, the maker in words, the condition as a category, the
day of the sale and a line of text. Usually such a table is first made into numbers: a column for
every word, one for every category, the date as day of the year.

Here each kernel looks at its own columns, in the form that they have: the library says which, by
name. A hundred kernels of single columns are one comprehension; these are seven.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVR

from cgboost import RBF, CGBoostRegressor, Jaccard, KernelLibrary, On

rng = np.random.default_rng(0)
n = 320
good, bad = ["new tyres", "serviced", "light", "carbon"], ["rust", "scratched", "no lights"]
neutral = ["blue", "red", "black", "pick up", "call me", "with lock"]
frame = pd.DataFrame(
    {
        "age": rng.integers(0, 16, n),
        "km": rng.lognormal(8, 1, n).round(),
        "maker": rng.choice(["Pedalix", "Volta", "Kranz", "Sirocco", "Norma"], n),
        "condition": pd.Categorical(rng.choice(["poor", "fair", "good"], n)),
        "sold": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 1095, n), unit="D"),
        "text": [", ".join(rng.choice(good + bad + neutral, 4, replace=False)) for _ in range(n)],
    }
)
worth = frame["maker"].map({"Pedalix": 4, "Volta": 9, "Kranz": 5, "Sirocco": 7, "Norma": 3})
lasting = frame["maker"].isin(["Volta", "Kranz"])
season = np.cos(2 * np.pi * (frame["sold"].dt.day_of_year - 130) / 365)
price = 3 + worth * np.exp(-frame["age"] / np.where(lasting, 12, 4)) + 0.8 * season
price += frame["condition"].map({"poor": -1.0, "fair": 0.0, "good": 0.6}).astype(float)
price += frame["text"].map(lambda line: 0.5 * sum(w in line for w in good)).to_numpy()
price -= frame["text"].map(lambda line: 0.5 * sum(w in line for w in bad)).to_numpy()
y = (price + 0.3 * rng.standard_normal(n)).to_numpy()
train, test = slice(0, 220), slice(220, n)
print(frame.head(3).to_string())

# %%
# Seven kernels, each with its own columns
# ----------------------------------------
# A function is given the values of a column as they are: words, categories, or days. ``On`` makes
# kernels that add up: alike in age *and* of the same maker is a product of two of them.


def same(A, B):
    """1 for equal words or categories."""
    return (A[:, None] == B).astype(float)


def season_of(A, B):
    """Closeness in the year of two days: 1 on the same day of any year."""
    first, second = ([day.day_of_year for day in days] for days in (A, B))
    return np.exp(2 * (np.cos(2 * np.pi * np.subtract.outer(first, second) / 365) - 1))


def ageing(A, B):
    """Alike in age, and of the same maker."""
    ages = np.subtract.outer(A[:, 0].astype(float), B[:, 0].astype(float))
    return np.exp(-((ages / 4) ** 2)) * same(A[:, 1], B[:, 1])


def phrases(A, B):
    """Shared phrases of two lines of text, by those of both."""
    return Jaccard()(*(np.array([set(t.split(", ")) for t in own]) for own in (A, B)))


library = KernelLibrary(
    {
        "age": (RBF(), "age"),
        "age and km": On(RBF(), "age") + On(RBF(factor=0.1), "km"),
        "maker": (same, "maker"),
        "condition": (same, "condition"),
        "season": (season_of, "sold"),
        "text": (phrases, "text"),
        "ageing of a maker": (ageing, ["age", "maker"]),
    },
    normalize=True,
)
settings = {"penalty": "l1", "epsilon": 0.2}
search = GridSearchCV(CGBoostRegressor(library, **settings), {"C": [1, 3]}, cv=3)
model = search.fit(frame[train], y[train]).best_estimator_
print(f"C={model.C}, gap {model.gap_:.1e}, columns {model.columns_per_kernel_}")

# %%
# Besides it: the table made into numbers, and one kernel over all of them
# ------------------------------------------------------------------------
# More work on its numbers would help the machine (a sine and a cosine of the day, say); in the
# library, the kernel of seasons is that work.

numbers = make_column_transformer(
    (StandardScaler(), ["age", "km"]),
    (OneHotEncoder(), ["maker", "condition"]),
    (FunctionTransformer(lambda days: days.apply(lambda day: day.dt.day_of_year / 100)), ["sold"]),
    (CountVectorizer(token_pattern="[^,]+"), "text"),
)
machine = make_pipeline(numbers, SVR(epsilon=0.2))
grid = {"svr__C": [1, 3, 10, 30], "svr__gamma": [0.03, 0.1, 0.3]}
machine = GridSearchCV(machine, grid, cv=3).fit(frame[train], y[train])
support = len(machine.best_estimator_[-1].support_)
for name, own, count in [
    ("mixture of kernels", model, model.n_columns_),
    ("SVR on numbers", machine, support),
]:
    print(f"{name:18s} R2 {own.score(frame[test], y[test]):.3f}, {count} columns or vectors")

# %%
# What it has learned of the year
# -------------------------------
# The same bicycle sold on every day of a year, and the share of every kernel in the weights.

days = frame.iloc[[0] * 365].assign(sold=pd.date_range("2025-01-01", periods=365))
figure, (curve, bars) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
curve.plot(days["sold"], model.predict(days), label="mixture of kernels")
curve.plot(days["sold"], machine.predict(days), label="SVR on numbers")
truth = 0.8 * np.cos(2 * np.pi * (days["sold"].dt.day_of_year - 130) / 365)
curve.plot(days["sold"], truth - truth.mean() + model.predict(days).mean(), "k:", label="truth")
curve.set(title="price over a year", ylabel="price")
curve.tick_params(axis="x", rotation=30)
curve.legend()
size = np.abs(model.columns_["coefficient"])
weights = [size[model.columns_["kernel"] == name].sum() for name in library.names]
bars.barh(library.names, weights)
bars.invert_yaxis()
bars.set(title="sum of weights, by kernel")
