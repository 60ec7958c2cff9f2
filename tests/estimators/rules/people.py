"""A data frame as users have them: numbers, words, truth values, missing ones."""

import numpy as np
import pandas as pd


def people(n=240, seed=0):
    """A frame of four columns, and a label that a rule of words and numbers decides."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.15, np.nan, rng.integers(18, 80, n)),
            "work": pd.Series(rng.choice(["private", "state", "self"], n), dtype=object),
            "married": rng.random(n) < 0.5,
            "income": rng.normal(50, 10, n).round(1),
        }
    )
    frame.loc[rng.random(n) < 0.1, "work"] = None
    rich = (frame["income"] > 52) & (frame["work"] != "state") & frame["work"].notna()
    score = 2.0 * rich + 1.0 * frame["age"].isna() - 1.0 * frame["married"]
    return frame, np.where(score + 0.3 * rng.normal(size=n) > 0.5, "yes", "no"), score.to_numpy()


def rows_of(model, rule, frame):
    """For which rows of a frame a rule holds."""
    X = model._read_new(frame)
    return np.all([condition.holds(X) for condition in rule.conjunction.conditions], axis=0)
