"""Constrained models: the optimum over all columns, a valid bound, and constraints that hold."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.metrics import roc_auc_score

from cgboost import (
    ConstrainedBoostClassifier,
    ConstrainedBoostRegressor,
    LPBoostClassifier,
    LPBoostRegressor,
)
from cgboost.constraints import (
    AlsoLoss,
    Concave,
    Convex,
    EqualOpportunity,
    GroupBudget,
    GroupLoss,
    MeanCalibration,
    MinimaxLoss,
    Monotone,
    ParityGap,
)
from cgboost.exceptions import TrivialModelWarning
from cgboost.optimizers.newton import quadratic_model
from cgboost.optimizers.newton.homotopy import ActiveInverse
from tests.effort import examples
from tests.estimators.constrained.whole_problems import Whole

C = 0.7
TOLERANCE = 1e-6


def data(seed, n=40, p=3):
    """Features with ties, a noisy target, and two or three groups that depend on a feature."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), 1)
    y = X[:, 0] ** 2 - X[:, 1] + 0.5 * rng.normal(size=n)
    groups = (X[:, 1] + rng.normal(size=n) > 0).astype(int) + (X[:, -1] > 0.8)
    groups[:3] = [0, 1, 2]
    return X, y, groups


def hinge(y):
    """C times the hinge loss."""
    return lambda f: C * cp.sum(cp.pos(1 - cp.multiply(y, f)))


def tube(y):
    """C times ε-insensitive loss."""
    return lambda f: C * cp.sum(cp.pos(cp.abs(f - y) - 0.1))


def mean(f, members):
    """The mean over some rows."""
    return cp.sum(f[np.flatnonzero(members)]) / np.count_nonzero(members)


def gaps(groups, limit, counting=None):
    """Limits of each group's mean to that of all."""
    counting = np.ones(len(groups), bool) if counting is None else counting
    return [
        lambda f, k=k: cp.abs(mean(f, (groups == k) & counting) - mean(f, counting)) <= limit
        for k in range(3)
    ]


def calibrated(groups, y, limit):
    """Limits of the mean error of each group."""
    return [
        lambda f, k=k: cp.abs(mean(f, groups == k) - y[groups == k].mean()) <= limit
        for k in range(3)
    ]


def check(model, whole, X, y, groups):
    """The optimum of all columns, a bound below it, and limits that hold."""
    model.fit(X, y, groups={"g": groups})
    optimum = whole.optimum()
    scale = max(1.0, abs(optimum))
    assert model.objective_ == pytest.approx(optimum, abs=TOLERANCE * scale)
    assert model.dual_bound_ <= optimum + 1e-7 * scale
    assert model.dual_bound_ >= optimum - TOLERANCE * scale
    report = model.constraints_report_
    limited = ~np.isnan(report["limit"])
    over = np.abs(report["value"][limited]) - report["limit"][limited]
    assert over.max(initial=0.0) <= TOLERANCE


def asked(kind, y, groups, limit, curvature):
    """A constraint, and what it adds to the whole problem."""
    return {
        "parity": (ParityGap("g", limit), {"constraints": gaps(groups, limit)}),
        "opportunity": (EqualOpportunity("g", 0.05), {"constraints": gaps(groups, 0.05, y > 0)}),
        "calibration": (MeanCalibration("g", 0.3), {"constraints": calibrated(groups, y, 0.3)}),
        "monotone": (Monotone(1, -1), {"signs": {1: -1}}),
        "shape": ((Convex if curvature > 0 else Concave)(0), {"shapes": {0: curvature}}),
        "budget": (GroupBudget([0, 2], 0.4), {"budgets": [([0, 2], 0.4)]}),
    }[kind]


KINDS = ["parity", "opportunity", "calibration", "monotone", "shape", "budget"]


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    kinds=st.sets(st.sampled_from(KINDS), min_size=1, max_size=3),
    family=st.sampled_from(["stumps", "features"]),
    offset=st.sampled_from(["none", "free"]),
    labels=st.booleans(),
)
def test_linear_constraints_have_the_optimum_over_all_columns(seed, kinds, family, offset, labels):
    """Every combination has CVXPY's optimum, with hinges, and tubes that do not widen limits."""
    X, target, groups = data(seed)
    y = np.where(target > np.median(target), 1.0, -1.0) if labels else target
    if not labels:
        family, offset = "stumps", "free"
    impossible = set() if family == "stumps" else {"calibration"}
    if not labels or len(set(groups[y > 0])) < 3:
        impossible.add("opportunity")
    if not labels and "calibration" in kinds:
        impossible.add("parity")
    whole = Whole(X, y, hinge(y) if labels else tube(y), family, offset == "free")
    constraints = []
    for kind in sorted(kinds - impossible):
        curvature = 1 if labels or seed % 2 else -1
        constraint, parts = asked(kind, y, groups, 0.1 if labels else 0.2, curvature)
        constraints.append(constraint)
        for name, part in parts.items():
            own = getattr(whole, name)
            own.update(part) if isinstance(own, dict) else own.extend(part)
    make = ConstrainedBoostClassifier if labels else ConstrainedBoostRegressor
    model = make(constraints, columns=family, C=C, offset=offset, tol=1e-8)
    check(model, whole, X, y, groups)


CONVEX = {
    "minimax": lambda y, groups: (
        [MinimaxLoss("g")],
        lambda f: C * len(y) * cp.max(cp.hstack([_group_hinge(f, y, groups, k) for k in range(3)])),
        [],
    ),
    "group loss": lambda y, groups: (
        [GroupLoss("g", 0.35), ParityGap("g", 0.3)],
        hinge(y),
        [lambda f, k=k: _group_hinge(f, y, groups, k) <= 0.35 for k in range(3)]
        + gaps(groups, 0.3),
    ),
    "two losses": lambda y, groups: (
        [AlsoLoss("squared_hinge", 0.5), ParityGap("g", 0.2)],
        lambda f: hinge(y)(f) + 0.5 * C * cp.sum_squares(cp.pos(1 - cp.multiply(y, f))),
        gaps(groups, 0.2),
    ),
    "own": lambda y, groups: (
        [
            lambda f, a, b, data: [f[0] >= 0.9, cp.sum(f[data.groups["g"].codes == 1]) <= 2.0],
            MeanCalibration("g", 5.0),
        ],
        hinge(y),
        [lambda f: f[0] >= 0.9, lambda f: cp.sum(f[np.flatnonzero(groups == 1)]) <= 2.0],
    ),
}


def _group_hinge(f, y, groups, k):
    """The mean hinge loss of a group."""
    rows = np.flatnonzero(groups == k)
    return cp.sum(cp.pos(1 - cp.multiply(y[rows], f[rows]))) / len(rows)


@pytest.mark.parametrize("kind", CONVEX)
@pytest.mark.parametrize("offset", ["none", "free"])
def test_convex_constraints_have_the_optimum_over_all_columns(kind, offset):
    """What goes through CVXPY has the optimum of the whole problem, and a bound below it."""
    X, target, groups = data(3, n=30, p=2)
    y = np.where(target > np.median(target), 1.0, -1.0)
    constraints, loss, limits = CONVEX[kind](y, groups)
    whole = Whole(X, y, loss, "stumps", offset == "free", constraints=limits)
    model = ConstrainedBoostClassifier(constraints, C=C, offset=offset, tol=1e-8)
    model.fit(X, y, groups={"g": groups})
    optimum = whole.optimum()
    assert model.objective_ == pytest.approx(optimum, abs=1e-6 * max(1.0, optimum))
    assert model.dual_bound_ <= optimum + 1e-6
    assert model.gap_ <= 1e-5


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_smooth_losses_keep_to_limits(loss):
    """A smooth loss with a limit and a sign goes through CVXPY, and obeys."""
    X, target, groups = data(5, n=30, p=2)
    y = np.where(target > np.median(target), 1.0, -1.0)
    model = ConstrainedBoostClassifier([ParityGap("g", 0.1), Monotone(1, -1)], loss=loss, tol=1e-5)
    model.fit(X, y, groups={"g": groups})
    assert np.abs(model.constraints_report_["value"][:3]).max() <= 0.1 + 1e-6
    assert model.gap_ <= 1e-5


@pytest.mark.parametrize(
    ("constraint", "changed", "cost"),
    [
        (ParityGap("g", 0.1), ParityGap("g", 0.101), 0.7),
        (GroupBudget([0, 1], 0.3), GroupBudget([0, 1], 0.301), 0.7),
        (GroupLoss("g", 0.13), GroupLoss("g", 0.131), 0.04),
    ],
    ids=["parity", "budget", "group loss"],
)
def test_prices_are_what_limits_cost(constraint, changed, cost):
    """The price of a limit is the slope of the objective: finite differences show it."""
    X, target, groups = data(1, n=30, p=2)
    y, two = target > np.median(target), groups > 0

    def fitted(one):
        return ConstrainedBoostClassifier([one], C=cost, tol=1e-9).fit(X, y, groups={"g": two})

    first, second = fitted(constraint), fitted(changed)
    slope = (first.objective_ - second.objective_) / 0.001
    prices = first.constraints_report_["price"], second.constraints_report_["price"]
    assert slope > 0
    assert prices[1].sum() - 1e-3 <= slope <= prices[0].sum() + 1e-3


@pytest.mark.parametrize(
    ("own", "plain"),
    [
        (ConstrainedBoostClassifier(tol=1e-7), LPBoostClassifier(tol=1e-7)),
        (ConstrainedBoostRegressor(tol=1e-7), LPBoostRegressor(tol=1e-7)),
        (
            ConstrainedBoostClassifier(tol=1e-7, loss="squared_hinge"),
            LPBoostClassifier(tol=1e-7, loss="squared_hinge"),
        ),
    ],
    ids=["classifier", "regressor", "smooth"],
)
def test_without_constraints_it_is_lpboost(own, plain):
    """No constraints: the optimum of LPBoost, with rows that are merged too."""
    X, target, _ = data(0, n=1200, p=2)
    X = np.round(X)
    y = target if isinstance(own, ConstrainedBoostRegressor) else target > 0
    own.fit(X, y)
    plain.fit(X, y)
    assert own.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def rate_gap(f, groups):
    """The difference of the rates of two groups."""
    return (f[groups] > 0).mean() - (f[~groups] > 0).mean()


@pytest.mark.parametrize("constraint", [ParityGap, EqualOpportunity])
@pytest.mark.parametrize("seed", [5, 11])
def test_a_limit_on_rates_is_no_reason_to_predict_a_constant(constraint, seed):
    """No fewer right labels than nearly the best of 2000 linear rules within the limit has."""
    X, y, groups = unequal_groups(seed)
    model = ConstrainedBoostClassifier(
        [constraint("g", 0.02, of="rate")], columns="features", C=0.3
    ).fit(X, y, groups={"g": groups})
    f, counting = model.decision_function(X), y if constraint is EqualOpportunity else y | ~y
    assert abs(rate_gap(f[counting], groups[counting])) <= 0.02
    best = 0.0
    first, second = counting & groups, counting & ~groups
    vector = first / first.sum() - second / second.sum()
    for rule in np.random.default_rng(0).normal(size=(2000, X.shape[1])):
        order = np.argsort(-X @ rule)
        kept = np.abs(np.cumsum(vector[order])) <= 0.02
        right = np.sum(~y) + np.cumsum(2.0 * y[order] - 1.0)
        best = max(best, right[kept].max() / len(y))
    assert best > max(y.mean(), 1 - y.mean()) + 0.02
    assert model.score(X, y) > best - 0.015


def unequal_groups(seed, n_rows=400):
    """Rows of two groups; what is useful is larger in one of them."""
    rng = np.random.default_rng(seed)
    groups = rng.random(n_rows) < 0.4
    X = rng.normal(size=(n_rows, 6))
    X[:, 0] += groups
    y = X[:, 0] + 0.7 * X[:, 1] + groups - 0.5 + 0.5 * rng.logistic(size=n_rows) > 0
    return X, y, groups


@pytest.mark.parametrize(("seed", "limit", "weighted"), [(1, 0.05, False), (7, 0.05, True)])
def test_no_shift_of_the_outputs_has_fewer_errors_within_the_limits(seed, limit, weighted):
    """Of all cuts between outputs that differ by more than rounding, with two limits at once."""
    rng = np.random.default_rng(seed)
    sex, town = rng.integers(0, 2, 500), rng.integers(0, 3, 500)
    X = np.column_stack([rng.normal(size=(500, 2)), rng.exponential(size=500)]).round(2)
    X[:, 0] += 1.2 * sex
    y = X @ [1.0, 0.7, -0.5] + rng.normal(size=500) > 0.4
    w = rng.exponential(size=500) ** 2 if weighted else np.ones(500)
    limits = [ParityGap("sex", limit, of="rate"), EqualOpportunity("town", limit, of="rate")]
    model = ConstrainedBoostClassifier(limits)
    model.fit(X, y, sample_weight=w, groups={"sex": sex, "town": town})
    f = model.decision_function(X)

    def errors(cut):
        positive = f > cut
        own = [np.average(positive[sex == a], weights=w[sex == a]) for a in (0, 1)]
        true = [np.average(positive[k], weights=w[k]) for k in (y & (town == a) for a in range(3))]
        spread = np.abs(np.array(true) - np.average(positive[y], weights=w[y])).max()
        obeys = max(abs(own[1] - own[0]), spread) <= limit
        return w[positive != y].sum() if obeys else np.inf

    s = np.unique(f)
    apart = np.diff(s) > 1e-9 * np.abs(s).max()
    cuts = [s[0] - 1.0, *(0.5 * (s[1:] + s[:-1]))[apart], s[-1] + 1.0]
    assert errors(0.0) <= min(errors(cut) for cut in cuts) + 1e-9


def grouped_rows(n_rows=300):
    """Rows with a binary group in column 0 that is at odds with the labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)).round(1)
    X[:, 0] = rng.integers(0, 2, n_rows)
    y = -2 * X[:, 1] + 2 * X[:, 2] + X[:, 3] + X[:, 0] + rng.normal(size=n_rows) > 0
    return X, y


def noisy(seed):
    """Normal features, of which the first is larger in a group, and labels of two of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 4))
    groups = X[:, 0] + rng.normal(size=400) > 0
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=400) > 0, groups


def on_the_border(seed):
    """Rows whose outputs are 0 but for rounding: they made a gap of 0.154."""
    rng = np.random.default_rng(seed)
    groups = rng.random(300) < 0.4
    X = rng.normal(size=(300, 6))
    X[:, [0, 2]] += groups[:, None] * [1.5, 0.75]
    return X, X[:, 0] + 0.7 * X[:, 1] + groups + 1.5 * rng.logistic(size=300) > 1.5, groups


def of_few_stumps(seed):
    """Rows tied in every model, which have two to four different outputs."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, 600)
    X = np.column_stack([rng.normal(size=600) + sex, rng.normal(size=600)]).round(1)
    return X, X[:, 0] + X[:, 1] + rng.normal(size=600) > 0.5, sex > 0


def tied(seed, shift=0.0):
    """Rows tied with 0, rounded to either side: they made gaps of 0.125 to 0.19."""
    rng = np.random.default_rng(seed)
    n_rows = 40 if shift else int(rng.choice([20, 30, 40, 60]))
    groups = rng.integers(0, 2, n_rows) > 0
    X = rng.integers(-2, 3, (n_rows, 2)).astype(float)
    y = X[:, 0] + rng.choice([0, 1]) * X[:, 1] + rng.normal(size=n_rows) > 0
    return X + shift, y, groups


def at_odds(seed):
    """A binary group in column 0 that is at odds with the labels."""
    X, y = grouped_rows()
    return X, y, X[:, 0] > 0


FEATURES = {"columns": "features"}
RATES = {
    "parity": (noisy(0), ParityGap, 0.05, {"C": 0.1}, 0.7),
    "opportunity": (noisy(0), EqualOpportunity, 0.05, {"C": 0.1}, 0.7),
    "border": (on_the_border(6), ParityGap, 0.02, {"C": 0.05}, 0.5),
    "few stumps": (of_few_stumps(0), ParityGap, 0.02, {"C": 0.1}, 0.65),
    "tied": (tied(379), EqualOpportunity, 0.05, FEATURES, 0.0),
    "tied, too": (tied(629), EqualOpportunity, 0.05, FEATURES, 0.0),
    "far away": (tied(40, 1e9), ParityGap, 0.05, FEATURES, 0.0),
    "at odds": (at_odds(0), ParityGap, 0.02, {"C": 0.1, "tol": 1e-7}, 0.5),
}
"""Rows, a limit on rates, parameters, and a share of right labels that is reached."""


@pytest.mark.filterwarnings("error::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize("name", RATES)
def test_rates_keep_to_their_limit_on_the_training_rows(name):
    """The gap and the objective are those of the outputs, the bound is that without the limit."""
    (X, y, groups), constraint, limit, own, least = RATES[name]
    model = ConstrainedBoostClassifier([constraint("g", limit, of="rate")], **own)
    f = model.fit(X, y, groups={"g": groups}).decision_function(X)
    counting = y if constraint is EqualOpportunity else np.ones(len(y), bool)
    gap = rate_gap(f[counting], groups[counting])
    assert abs(gap) <= limit
    report = model.constraints_report_
    assert report["value"][0] == pytest.approx(gap)
    assert name != "parity" or report["price"][0] > 0
    assert model.score(X, y) >= least
    loss = model.C_ * np.maximum(0, 1 - (2.0 * y - 1) * f).sum()
    assert model.objective_ == pytest.approx(np.abs(model.column_weights_).sum() + loss)
    free = ConstrainedBoostClassifier(**own).fit(X, y)
    assert model.dual_bound_ <= free.objective_ + 1e-6 <= model.objective_ + 1e-5
    history = model.history_
    last = [history[name][-1] for name in ("objective", "bound", "gap")]
    assert last == [model.objective_, model.dual_bound_, model.gap_]
    assert not np.isfinite(history["bound"][:-1]).any()  # those of another problem
    again = ConstrainedBoostClassifier([constraint("g", limit, of="rate")], **own)
    np.testing.assert_array_equal(again.fit(X, y, groups={"g": groups}).decision_function(X), f)


def test_a_model_that_keeps_to_limits_on_rates_anyway_is_the_optimum():
    """The fits of a search are coarse; where there is nothing to search, the answer is not."""
    X, y, groups = noisy(0)
    limit = ParityGap("g", 1.0, of="rate")
    model = ConstrainedBoostClassifier([limit], C=0.1, tol=1e-8).fit(X, y, groups={"g": groups})
    free = ConstrainedBoostClassifier(C=0.1, tol=1e-8).fit(X, y)
    assert model.gap_ <= 1e-8
    assert model.objective_ == pytest.approx(free.objective_, rel=1e-7)


def test_a_model_that_is_nearly_a_constant_says_so():
    """Where the only useful feature is the group, limits leave a constant, with a warning."""
    _, _, groups = unequal_groups(0)
    y = groups ^ (np.random.default_rng(0).random(len(groups)) < 0.1)
    model = ConstrainedBoostClassifier([ParityGap(0, 0.01, of="rate")])
    with pytest.warns(TrivialModelWarning, match=r"positive class for 0 % .* nearly a constant"):
        model.fit(groups[:, None].astype(float), y)
    assert model.score(groups[:, None], y) == max(y.mean(), 1 - y.mean())


def test_an_own_function_sees_all_groups_that_are_given():
    """Groups of no other constraint, and columns in drop, are among the data of a function."""
    X, y = grouped_rows(60)

    def bounded(f, a, b, data):
        return [f[data.groups[name].codes == 1] <= 0.5 for name in data.groups]

    given = ConstrainedBoostClassifier([bounded], C=0.1).fit(X, y, groups={"o": X[:, 0]})
    assert given.decision_function(X)[X[:, 0] == 1].max() <= 0.5 + 1e-6
    assert "Own(bounded)" in given.constraint_table()
    dropped = ConstrainedBoostClassifier([bounded], C=0.1, drop=[0]).fit(X, y)
    assert dropped.decision_function(X)[X[:, 0] == 1].max() <= 0.5 + 1e-6


def test_a_budget_of_nothing_has_no_price():
    """Every multiplier above the least one is right there, so that none is shown."""
    X, y = grouped_rows()
    model = ConstrainedBoostClassifier([GroupBudget([1], 0.0)], C=0.3).fit(X, y)
    assert np.isnan(model.constraints_report_["price"]).all()


def test_numbers_of_features_are_those_of_x_as_it_is_given():
    """With a dropped column before it, the feature of a number is still that column of X."""
    X, y = grouped_rows()
    model = ConstrainedBoostClassifier([Monotone(1, +1), ParityGap(0, 0.1)], C=0.3, drop=[0])
    model.fit(X, y)
    line = np.repeat(X[:1], 50, axis=0)
    line[:, 1] = np.linspace(-3, 3, 50)
    assert np.diff(model.decision_function(line)).min() >= -1e-12
    ConstrainedBoostClassifier([Monotone(3, +1)], C=0.3, drop=[0]).fit(X, y)


def test_the_price_of_an_interval_without_width_is_the_net_multiplier():
    """At the limit 0 both ends have multipliers; their difference is the price at 1e-6."""
    X, y = grouped_rows()
    for constraint in (ParityGap, MeanCalibration, EqualOpportunity):
        prices = [
            ConstrainedBoostClassifier([constraint(0, limit)], C=0.1, tol=1e-8)
            .fit(X, y)
            .constraints_report_["price"]
            for limit in (0.0, 1e-6)
        ]
        np.testing.assert_allclose(*prices, rtol=1e-4, atol=1e-6)


def test_two_limits_on_rates_are_met_at_once():
    """With limits that no price meets, errors are no more than those of the best constant."""
    X, y = grouped_rows(150)
    other = np.where(X[:, 3] > 0, "a", "b")
    rules = [ParityGap(0, 0.001, of="rate"), ParityGap("o", 0.001, of="rate")]
    model = ConstrainedBoostClassifier(rules, C=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialModelWarning)
        model.fit(X, y, groups={"o": other})
    assert (np.abs(model.constraints_report_["value"]) <= 0.001).all()
    f = model.decision_function(X)
    own = np.abs(model.column_weights_).sum() + 0.1 * np.maximum(0, 1 - (2.0 * y - 1) * f).sum()
    assert model.objective_ == pytest.approx(own)
    assert model.dual_bound_ <= own
    assert model.score(X, y) >= max(y.mean(), 1 - y.mean())
    assert model.intercept_ == 0.0  # stumps have none: the constant stump is priced


def test_a_sign_does_not_make_a_smooth_loss_cycle(monkeypatch):
    """With a monotone feature, exchanges of the quadratic model are fewer than its coordinates."""
    X, y = load_diabetes(return_X_y=True)
    exchanges, shares = [0], []

    def counted(self, j, own=ActiveInverse.enter):
        exchanges[0] += 1
        own(self, j)

    def measured(Q, c, charge, start, own=quadratic_model.follow, **options):
        exchanges[0] = 0
        x = own(Q, c, charge, start, **options)
        shares.append(exchanges[0] / len(c))
        return x

    monkeypatch.setattr(ActiveInverse, "enter", counted)
    monkeypatch.setattr(quadratic_model, "follow", measured)
    model = ConstrainedBoostRegressor([Monotone(2, 1)], C=0.1, loss="squared_error").fit(X, y)
    assert model.gap_ <= 1e-4
    assert max(shares) < 1.0


@pytest.mark.parametrize("options", [{}, {"early_stopping": True, "columns_per_round": 1}])
def test_scores_under_limits_on_rates_are_those_of_the_model(options):
    """The model of a search over prices is blended: what is printed of it is its own error."""
    rng = np.random.default_rng(0)
    group = (rng.random(1200) < 0.4).astype(float)
    X = np.column_stack([rng.normal(size=(1200, 5)), group])
    X[:, 0] += group
    y = X[:, 0] + X[:, 1] + rng.normal(size=1200) > 0.3
    train, held = slice(600), slice(600, None)
    model = ConstrainedBoostClassifier(
        [ParityGap(5, 0.02, of="rate")], C=0.02, scoring="roc_auc", **options
    )
    model.fit(X[train], y[train], eval_set=(X[held], y[held]))
    error = model.history_["validation_error"][model.best_round_]
    assert error == pytest.approx(1 - model.score(X[held], y[held]))
    area = model.history_["validation_roc_auc"][model.best_round_]
    assert area == pytest.approx(roc_auc_score(y[held], model.decision_function(X[held])))
    assert model.history_["objective"][model.best_round_] == model.objective_
