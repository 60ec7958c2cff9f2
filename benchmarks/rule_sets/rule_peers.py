"""The peers: what each fits for each value of its complexity, and its rules in one form.

ruleopt's RUG and RUX solve their linear program with HiGHS' interior point method, without
crossover, and leave rules of tiny weight. They are fitted with it and, for vertices with fewer
rules, with HiGHS' simplex method; ``predict`` of both takes a threshold on weights, which is one of
their parameters here.
BRCG is AIX360's, with its beam search; its binarizer has deciles, and on features where most rows
share a value also deciles of the others. Words are indicators for all but BRCG's own binarizer,
missing words are a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import process_time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rule_counts import Condition, Features, Rule, merged, tree_rules, tree_splits
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

Labels = NDArray[np.int64]
Predict = Callable[[pd.DataFrame], Labels]

CONSTANT = "constant"
LIMIT_SECONDS = 300
MOST_CONDITIONS = 40
"""Models with more are left out: the largest budget is 32."""

WEIGHT_SHARES = (0.0, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5)
"""Least weights of rules that ruleopt predicts with, of the largest one."""

PENALTIES = (0.002, 0.005, 0.01, 0.02, 0.04, 0.07, 0.12)
"""ruleopt's penalty over the number of rows: its loss is a sum over rows, its costs are ≤ 1."""


@dataclass(frozen=True)
class Found:
    """A fitted model: its parameter in words, its predictions, its rules."""

    parameter: str
    predict: Predict
    rules: Sequence[Rule]


Fit = Callable[..., Iterator[Found]]


@dataclass(frozen=True)
class Peer:
    """A method and its grid.

    Attributes
    ----------
    name : str
    fit : callable
        ``fit(X, y, **parameters)`` yields models; several where one fit has a path of them.
    grid : tuple of dict
    descending : bool
        The grid is from simple to complex, and ends above ``MOST_CONDITIONS``.
    """

    name: str
    fit: Fit
    grid: tuple[dict[str, Any], ...]
    descending: bool = False


class Indicators:
    """Numbers as they are, and a column for each word of a feature of words."""

    def __init__(self, X: pd.DataFrame) -> None:
        self._numbers = list(X.select_dtypes("number").columns)
        self._words = [name for name in X if name not in self._numbers]
        columns: list[tuple[str, str | None]] = [(name, None) for name in self._numbers]
        if self._words:
            self._encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
            self._encoder.fit(X[self._words].astype(object))
            for name, words in zip(self._words, self._encoder.categories_, strict=True):
                columns += [(name, str(word)) for word in words]
        self.features = Features(columns)

    def __call__(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Matrix of the rows."""
        numbers = X[self._numbers].to_numpy(dtype=np.float64)
        if not self._words:
            return numbers
        return np.hstack([numbers, self._encoder.transform(X[self._words].astype(object))])


def rug(
    X: pd.DataFrame, y: Labels, *, solver: str, cost: str, depth: int, penalty: float
) -> Iterator[Found]:
    """RUGClassifier: its linear program generates trees by its dual values."""
    from ruleopt.estimator import RUGClassifier

    as_matrix = Indicators(X)
    model = RUGClassifier(
        solver=_highs(solver, penalty * len(y)),
        rule_cost=_cost(cost),
        max_depth=depth,
        max_rmp_calls=20,
        random_state=0,
    ).fit(as_matrix(X), y)
    yield from _ruleopt(model, as_matrix, f"{solver} {cost} depth={depth} penalty={penalty:g}n")


def rux(
    X: pd.DataFrame, y: Labels, *, forest: str, solver: str, cost: str, penalty: float
) -> Iterator[Found]:
    """RUXClassifier: rules out of a forest or of boosted trees."""
    from ruleopt.estimator import RUXClassifier

    as_matrix = Indicators(X)
    # ruleopt applies the trees to single precision, and compares with what they were grown on
    matrix = as_matrix(X).astype(np.float32)
    trained = FORESTS[forest]().fit(matrix, y)
    model = RUXClassifier(
        trained,
        solver=_highs(solver, penalty * len(y)),
        rule_cost=_cost(cost),
        random_state=0,
    ).fit(matrix, y)
    yield from _ruleopt(model, as_matrix, f"{forest} {solver} {cost} penalty={penalty:g}n")


FORESTS: dict[str, Callable[[], Any]] = {
    "forest-3": partial(RandomForestClassifier, 100, max_depth=3, random_state=0),
    "boosting-2": partial(
        GradientBoostingClassifier, n_estimators=100, max_depth=2, random_state=0
    ),
}


def _highs(method: str, penalty: float) -> Any:
    import highspy
    from ruleopt.solver import HiGHSSolver

    solver = HiGHSSolver(penalty=penalty)
    if method == "simplex":  # HiGHSSolver makes and sets up its own only if it has none
        solver._h = highspy.Highs()
        solver._h.setOptionValue("output_flag", False)
        solver._h.setOptionValue("solver", "simplex")
    return solver


def _cost(name: str) -> Any:
    from ruleopt import rule_cost

    return getattr(rule_cost, name)()


def _ruleopt(model: Any, as_matrix: Indicators, parameter: str) -> Iterator[Found]:
    rules = list(model.decision_rules_.values())
    conditions = [_of_ruleopt(rule, as_matrix.features) for rule in rules]

    def predict(least: float, X: pd.DataFrame) -> Labels:
        matrix = as_matrix(X)
        if all(rule.weight < least for rule in rules):
            return np.full(len(X), model.majority_class_)
        return np.asarray(model.predict(matrix, threshold=least))

    for least in WEIGHT_SHARES:
        kept = [own for own, rule in zip(conditions, rules, strict=True) if rule.weight >= least]
        yield Found(f"{parameter} weight>={least:g}", partial(predict, least), kept)


def _of_ruleopt(rule: Any, features: Features) -> Rule:
    found = []
    for column, bounds in rule.to_dict().items():
        for key, below in (("ub", True), ("lb", False)):
            if np.isfinite(bounds[key]):
                found.append(features.condition(int(column), bounds[key], below))
    return merged(found)


def brcg(
    X: pd.DataFrame, y: Labels, *, cnf: bool, lambda0: float, lambda1: float
) -> Iterator[Found]:
    """BooleanRuleCG of AIX360: a DNF of the positive class, or with ``cnf`` of the other one."""
    from aix360.algorithms.rbm import boolean_rule_cg

    boolean_rule_cg.time = SimpleNamespace(time=process_time)  # its limit: seconds of CPU
    binary = binarizer(X)
    model = boolean_rule_cg.BooleanRuleCG(
        lambda0=lambda0,
        lambda1=lambda1,
        CNF=cnf,
        timeMax=LIMIT_SECONDS,
        solver="HIGHS",
        silent=True,
    )
    model.fit(binary(X), y)

    def predict(rows: pd.DataFrame) -> Labels:
        return np.asarray(model.predict(binary(rows)))

    chosen = model.z.loc[:, np.asarray(model.w) > 0.5]
    rules = [merged(_of_brcg(key) for key in chosen.index[chosen[j] > 0]) for j in chosen]
    form = "CNF" if cnf else "DNF"
    yield Found(f"{form} lambda0={lambda0:g} lambda1={lambda1:g}", predict, rules)


def binarizer(X: pd.DataFrame) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """AIX360's FeatureBinarizer with negations, fitted to the rows.

    It is written for scikit-learn before 1.2 and pandas before 3: the name of an argument of
    ``OneHotEncoder`` is translated, and words are passed as objects.
    """
    from aix360.algorithms.rbm import features

    features.OneHotEncoder = lambda *, sparse, **own: OneHotEncoder(sparse_output=sparse, **own)
    words = {name: object for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])}
    fitted = features.FeatureBinarizer(numThresh=9, negations=True).fit(X.astype(words))
    for name, thresholds in fitted.thresh.items():
        fitted.thresh[name] = _with_rare(X[name].to_numpy(), thresholds)
    return lambda rows: fitted.transform(rows.astype(words))


def _with_rare(values: NDArray[np.float64], thresholds: Any) -> NDArray[np.float64]:
    """Thresholds, and deciles of the rows next to the commonest value if there are too few."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(thresholds) >= min(9, len(distinct) - 1):
        return np.asarray(thresholds)
    rare = values[values != distinct[counts.argmax()]]
    return np.union1d(thresholds, np.quantile(rare, np.linspace(0.1, 0.9, 9), method="lower"))


def _of_brcg(key: tuple[str, str, Any]) -> Condition:
    """One literal: of deciles a threshold, of words and of features with two values a word."""
    feature, operation, value = key
    if operation in ("<=", ">"):
        return Condition(feature, operation, float(value))  # type: ignore[arg-type]
    return Condition(feature, "is" if operation == "==" else "is not", str(value))


def constant(X: pd.DataFrame, y: Labels) -> Iterator[Found]:
    """The commoner class, what every method has with no condition."""
    label = int(np.mean(y) > 0.5)
    yield Found("", lambda rows: np.full(len(rows), label), [])


def decision_tree(X: pd.DataFrame, y: Labels, *, leaves: int) -> Iterator[Found]:
    """A tree, counted as rules of the class that needs fewer conditions."""
    as_matrix = Indicators(X)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(as_matrix(X), y)
    rules = tree_rules(tree, as_matrix.features)
    yield Found(f"leaves={leaves}", lambda rows: tree.predict(as_matrix(rows)), rules)


def decision_tree_splits(X: pd.DataFrame, y: Labels, *, leaves: int) -> Iterator[Found]:
    """A tree, counted as its inner nodes: not as rules, the kindest count there is."""
    as_matrix = Indicators(X)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(as_matrix(X), y)
    yield Found(f"leaves={leaves}", lambda rows: tree.predict(as_matrix(rows)), tree_splits(tree))


def ada_boost(X: pd.DataFrame, y: Labels, *, rounds: int) -> Iterator[Found]:
    """Boosted stumps: sums of weighted rules of one condition; equal stumps count once."""
    as_matrix = Indicators(X)
    matrix = as_matrix(X)
    stumps = DecisionTreeClassifier(max_depth=1)
    model = AdaBoostClassifier(stumps, n_estimators=rounds, random_state=0).fit(matrix, y)
    rules = [
        frozenset({as_matrix.features.condition(int(own.feature[0]), own.threshold[0], True)})
        for own in (member.tree_ for member in model.estimators_)
        if own.node_count > 1
    ]
    yield Found(f"rounds={rounds}", lambda rows: model.predict(as_matrix(rows)), rules)


def figs(X: pd.DataFrame, y: Labels, *, splits: int) -> Iterator[Found]:
    """FIGSClassifier of imodels: a sum of trees, counted as its splits and not as rules."""
    from imodels import FIGSClassifier

    as_matrix = Indicators(X)
    model = FIGSClassifier(max_rules=splits, random_state=0).fit(as_matrix(X), y)
    rules = [frozenset({Condition(f"split {k}", "<=", 0.0)}) for k in range(model.complexity_)]
    yield Found(f"splits={splits}", lambda rows: model.predict(as_matrix(rows)), rules)


def rule_list(X: pd.DataFrame, y: Labels, *, depth: int) -> Iterator[Found]:
    """GreedyRuleListClassifier of imodels: if … else if …, one condition a line."""
    from imodels import GreedyRuleListClassifier

    as_matrix = Indicators(X)
    model = GreedyRuleListClassifier(max_depth=depth).fit(as_matrix(X), y)
    lines = sum("cutoff" in line for line in model.rules_)
    rules = [frozenset({Condition(f"line {k}", "<=", 0.0)}) for k in range(lines)]
    yield Found(f"depth={depth}", lambda rows: model.predict(as_matrix(rows)), rules)


def rule_fit(X: pd.DataFrame, y: Labels, *, most: int, size: int) -> Iterator[Found]:
    """RuleFitClassifier of imodels, its rules with weights of a logistic regression.

    Its own intercept is penalised by liblinear and comes out as 0, so that it predicts one class;
    the regression on the rules that it chose is kinder.
    """
    from imodels import RuleFitClassifier

    as_matrix = Indicators(X)
    model = RuleFitClassifier(
        max_rules=most, tree_size=size, include_linear=False, random_state=0
    ).fit(as_matrix(X), y)
    rules = [
        merged(_of_text(part, as_matrix.features) for part in str(rule).split(" and "))
        for rule in model.rules_
    ]

    def holds(rows: pd.DataFrame) -> NDArray[np.float64]:
        return np.column_stack([np.ones(len(rows)), *(_holds(rule, rows) for rule in rules)])

    weights = LogisticRegression(C=10.0, max_iter=1000).fit(holds(X), y)
    yield Found(f"rules<={most} size={size}", lambda rows: weights.predict(holds(rows)), rules)


def _of_text(part: str, features: Features) -> Condition:
    """A condition that imodels writes as "X3 <= 1.5"."""
    column, operation, threshold = part.split()
    return features.condition(int(column[1:]), float(threshold), operation.startswith("<"))


def _holds(rule: Rule, rows: pd.DataFrame) -> NDArray[np.float64]:
    found = np.ones(len(rows), dtype=bool)
    for own in rule:
        column = rows[own.feature]
        if own.operation in ("<=", ">"):
            below = column.to_numpy(dtype=np.float64) <= own.value
            found &= below if own.operation == "<=" else ~below
        else:
            same = column.astype(object).map(str).to_numpy() == own.value
            found &= same if own.operation == "is" else ~same
    return found.astype(np.float64)


def peers(*, large: bool = False) -> list[Peer]:
    """Every method; ``large``: fewer values of λ, each of which takes minutes there."""
    costs = ("Gini", "Length", "Mixed")
    solvers = ("simplex",) if large else ("ipm", "simplex")
    forests = ("forest-3", "boosting-2")
    return [
        Peer(CONSTANT, constant, _grid()),
        Peer("decision tree", decision_tree, _grid(leaves=range(2, 25))),
        Peer("decision tree, splits", decision_tree_splits, _grid(leaves=range(2, 34))),
        Peer("AdaBoost stumps", ada_boost, _grid(rounds=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48))),
        Peer("FIGS, splits", figs, _grid(splits=range(1, 33, 3))),
        Peer("greedy rule list", rule_list, _grid(depth=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32))),
        Peer("RuleFit", rule_fit, _grid(most=(4, 8, 16), size=(2, 4))),
        Peer("RUG", rug, _grid(solver=solvers, cost=costs, depth=(1, 2, 3), penalty=PENALTIES)),
        Peer("RUX", rux, _grid(solver=solvers, forest=forests, cost=costs[:2], penalty=PENALTIES)),
        Peer("BRCG DNF", brcg, _brcg_grid(False, large), descending=True),
        Peer("BRCG CNF", brcg, _brcg_grid(True, large), descending=True),
    ]


def _brcg_grid(cnf: bool, large: bool) -> tuple[dict[str, Any], ...]:
    """A condition costs λ₁, from much to little; a clause as much as one, or nothing, in turn."""
    if large:
        costs = [0.01, 0.002, 0.0007, 0.0003, 0.00015, 0.00008]
        costs += [] if cnf else [0.004, 0.0012, 0.00003, 0.00001]
        return tuple(
            {"cnf": cnf, "lambda0": own, "lambda1": own} for own in sorted(costs, reverse=True)
        )
    costs = [float(f"{0.03 * 2 ** (-0.5 * k):.3g}") for k in range(13)]
    return tuple(
        {"cnf": cnf, "lambda0": 0.0 if k % 2 else own, "lambda1": own}
        for k, own in enumerate(costs)
    )


def _grid(**values: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    return tuple(dict(zip(values, own, strict=True)) for own in product(*values.values()))
