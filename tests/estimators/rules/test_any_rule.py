"""Rule sets of which any rule may hold: their optimum, their bound, and what they refuse."""

import time
import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from cgboost import RuleSetClassifier, near_optimal
from cgboost.estimators.rules import any_rule
from cgboost.exceptions import CertificateError, TrivialModelWarning
from cgboost.pricing.rules import Literals
from tests.estimators.rules.people import people, rows_of
from tests.pricing.rules.cases import enumerated

N_ROWS = 12


def table(seed):
    """Rows of few values, some of them alike, and two classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(N_ROWS, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=N_ROWS) > 3).astype(int)
    return X, y, rng


def least_errors(X, positive, weights, cost, *, rules, conditions, min_support=1):
    """The optimum over every set of rules within the budgets, one after another.

    Sets of rows are the bits of a number, and a table has the weight of each.
    """
    literals = Literals(X, (False,) * X.shape[1], max_bins=20, min_support=min_support)
    bits = 1 << np.arange(N_ROWS)
    weight = np.zeros(1 << N_ROWS)
    for k in range(N_ROWS):
        weight[1 << k : 2 << k] = weight[: 1 << k] + weights[k]
    inside = int(bits @ positive)
    best_of = {}
    for places, holds in enumerated(literals, len(cost) - 1):
        mark = int(bits @ holds)
        if mark not in best_of or len(places) < best_of[mark]:
            best_of[mark] = len(places)
    known = [(mark, size, weight[mark & ~inside] + cost[size]) for mark, size in best_of.items()]
    best = weight[inside]
    for n_rules in range(1, rules + 1):
        for chosen in combinations(known, n_rules):
            if sum(size for _, size, _ in chosen) > conditions:
                continue
            held = 0
            for mark, _, _ in chosen:
                held |= mark
            best = min(best, weight[inside & ~held] + sum(own for _, _, own in chosen))
    return best


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("given", "rules", "conditions"),
    [
        ({"max_total_conditions": 4, "max_conditions": 2}, 2, 4),
        ({"max_total_conditions": 3, "max_conditions": 3}, 3, 3),
        ({"max_total_conditions": None, "max_rules": 2, "max_conditions": 2}, 2, 4),
        ({"max_total_conditions": 3, "max_conditions": 2, "min_support": 4}, 3, 3),
        ({"max_total_conditions": 4, "max_rules": 2, "rule_cost": 1.0, "max_conditions": 2}, 2, 4),
        ({"max_total_conditions": None, "condition_cost": 1.5, "max_conditions": 1}, 3, 3),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_rule_set_within_the_budget_has_fewer_errors(given, rules, conditions, seed, weighted):
    """Objective and bound equal the optimum over all rule sets, found by trying each of them."""
    X, y, rng = table(seed)
    weights = rng.uniform(0.5, 2.0, N_ROWS) if weighted else np.ones(N_ROWS)
    model = RuleSetClassifier(form="dnf", positive_class=1, tol=1e-9, **given)
    model.fit(X, y, weights)
    costs = given.get("rule_cost", 0.0), given.get("condition_cost", 0.0)
    cost = costs[0] + costs[1] * np.arange(given["max_conditions"] + 1.0)
    support = given.get("min_support", 1)
    best = least_errors(
        X, y == 1, weights, cost, rules=rules, conditions=conditions, min_support=support
    )
    assert model.objective_ == pytest.approx(best, abs=1e-9)
    assert model.dual_bound_ == pytest.approx(best, abs=1e-6)
    assert model.converged_
    assert model.n_conditions_ <= conditions


@pytest.mark.parametrize("seed", [3, 4])
def test_of_both_classes_the_one_with_fewer_errors_has_the_rules(seed):
    """The optimum is the smaller one of the two classes', and so is the bound."""
    X, y, _ = table(seed)
    found = RuleSetClassifier(4, form="dnf", max_conditions=2).fit(X, y)
    single = [
        RuleSetClassifier(4, form="dnf", max_conditions=2, positive_class=own).fit(X, y)
        for own in (0, 1)
    ]
    least = min(model.objective_ for model in single)
    assert found.objective_ == found.dual_bound_ == least
    labels = {rule.label for rule in found.rules_}
    assert labels <= {0} or labels <= {1}


def test_the_model_says_yes_where_any_rule_holds():
    """Predictions are those of the rules in words, and the objective counts what they say."""
    frame, labels, _ = people(120)
    model = RuleSetClassifier(5, form="dnf", max_bins=5, positive_class="yes").fit(frame, labels)
    holds = np.array([rows_of(model, rule, frame) for rule in model.rules_])
    np.testing.assert_array_equal(model.predict(frame) == "yes", holds.any(axis=0))
    missed = ~holds.any(axis=0) & (labels == "yes")
    assert model.objective_ == missed.sum() + holds[:, labels == "no"].sum()
    assert model.converged_
    assert {rule.weight for rule in model.rules_} == {1.0}
    assert model.history_["gap"][-1] == model.gap_


@pytest.mark.parametrize("many", [1, 3, 8])
def test_short_lists_leave_a_bound_that_holds(many, monkeypatch):
    """What branch and cut does not see costs at least the bound, which is below the optimum."""
    for seed in (5, 6, 7):
        X, y, _ = table(seed)
        best = RuleSetClassifier(4, form="dnf", max_conditions=2, positive_class=1).fit(X, y)
        with monkeypatch.context() as patched, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            patched.setattr(any_rule, "FEW", 1)
            patched.setattr(any_rule, "MANY", many)
            short = RuleSetClassifier(4, form="dnf", max_conditions=2, positive_class=1).fit(X, y)
        assert short.dual_bound_ <= best.objective_ <= short.objective_


def test_without_time_or_exact_pricing_there_is_a_rule_set():
    """The first rule set comes before any proof; only an exact search has a bound above 0."""
    frame, labels, _ = people(120)
    best = RuleSetClassifier(4, form="dnf", max_bins=5).fit(frame, labels)
    with pytest.warns(ConvergenceWarning, match="seconds were over"):
        late = RuleSetClassifier(4, form="dnf", max_bins=5, time_limit=1e-9).fit(frame, labels)
    assert len(late.rules_) > 0
    assert late.dual_bound_ == 0.0
    greedy = RuleSetClassifier(4, form="dnf", max_bins=5, pricing="greedy").fit(frame, labels)
    assert greedy.dual_bound_ == -np.inf
    assert best.objective_ <= min(late.objective_, greedy.objective_)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"form": "cnf"}, "form must be"),
        ({"form": "dnf", "C": 2.0}, "C=2.0 is for weighted rules"),
        ({"form": "dnf", "loss": "hinge"}, "loss='hinge' is for weighted rules"),
        ({"form": "dnf", "early_stopping": True}, "early_stopping=True is for weighted rules"),
        ({"form": "dnf", "positive_class": 7}, "positive_class=7 is not among the classes"),
        ({"form": "dnf", "positive_class": np.array([0, 1])}, "is not among the classes"),
        ({"form": "dnf", "max_columns": 5}, "max_columns=5 is for weighted rules"),
        ({"form": "dnf", "solver": "clarabel"}, "solver='clarabel' is for weighted rules"),
        ({"positive_class": 1}, "give form='dnf'"),
    ],
)
def test_what_does_not_go_together_is_refused(given, words):
    """With the parameter, its value, and what to do."""
    X, y, _ = table(0)
    with pytest.raises(ValueError, match=words):
        RuleSetClassifier(**given).fit(X, y)


def test_three_classes_are_refused():
    """A row of which no rule holds has one class left, not two."""
    X, y, _ = table(0)
    with pytest.raises(ValueError, match="is for two classes, got 3"):
        RuleSetClassifier(form="dnf").fit(X, y + (X[:, 2] > 2))


def test_votes_are_no_log_odds():
    """There are no probabilities without a calibration, and near_optimal refuses the model."""
    X, y, _ = table(0)
    model = RuleSetClassifier(None, form="dnf", max_conditions=1).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="got form='dnf', whose outputs are not log-odds"):
        model.predict_proba(X)
    with pytest.raises(CertificateError, match="rules have no weights"):
        near_optimal(model, X, y)


@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("CoverPricer.best_for", 1),
        ("CoverPricer.best_for", 2),
        ("CoverPricer.price", 1),
        ("CoverPricer.cheapest", 1),
        ("CoverSearch._combine", 1),
    ],
)
def test_ctrl_c_keeps_the_rule_set_wherever_the_search_is(place, call, monkeypatch):
    """A fit that is interrupted at any step predicts, and its bound holds for both classes."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 5, size=(60, 4)).astype(float), rng.integers(0, 2, 60)
    best = RuleSetClassifier(4, form="dnf", max_conditions=2).fit(X, y)
    owner, name = place.split(".")
    owner, calls = getattr(any_rule, owner), []
    usual = getattr(owner, name)

    def interrupted(self, *args, **options):
        calls.append(name)
        if len(calls) == call:
            raise KeyboardInterrupt
        return usual(self, *args, **options)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
        model = RuleSetClassifier(4, form="dnf", max_conditions=2).fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert model.dual_bound_ <= best.objective_ <= model.objective_
    assert model.objective_ >= (model.predict(X) != y).sum()
    assert model.history_["bound"][-1] == model.dual_bound_


@pytest.mark.parametrize("exact", ["exact", "greedy"])
def test_the_history_ends_with_what_the_model_says(exact):
    """Of both classes: objectives fall, bounds rise, seconds go on, and the last ones are known."""
    X, y, _ = table(3)
    weights = np.where(y == 1, 1.0, 0.75)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RuleSetClassifier(4, form="dnf", max_conditions=2, pricing=exact)
        history = model.fit(X, y, weights).history_
    assert history["objective"][-1] == model.objective_
    assert history["bound"][-1] == model.dual_bound_
    assert history["gap"][-1] == model.gap_
    assert (history["objective"][1:] <= history["objective"][:-1]).all()
    assert (history["bound"][1:] >= history["bound"][:-1]).all()
    assert (np.diff(history["seconds"]) >= 0).all()
    np.testing.assert_array_equal(history["round"], np.arange(len(history["round"])))
    assert history["objective"][0] == pytest.approx(weights[y == 1].sum())  # without a rule
    assert model.best_round_ == len(history["round"]) - 1 > 0


def test_a_class_that_ran_out_of_time_is_the_reason(monkeypatch):
    """Where the time of the first class is over, the reason is time, though some is left."""
    usual = any_rule.CoverPricer.best_for

    def slow(self, held, room, rows):
        time.sleep(0.06 if not self.positive[0] else 0.0)
        return usual(self, held, room, rows)

    monkeypatch.setattr(any_rule.CoverPricer, "best_for", slow)
    X, y = np.arange(8.0)[:, None], np.array([0, 1, 0, 1, 0, 1, 0, 0])
    with pytest.warns(ConvergenceWarning, match="seconds were over"):
        model = RuleSetClassifier(1, form="dnf", max_conditions=1, time_limit=0.1).fit(X, y)
    assert model.stop_reason_ == "time"


def test_rounds_of_a_beam_end_with_the_time():
    """With no time left, only rules of a single condition are scored, and there still is one."""
    X, y, _ = table(0)
    literals = Literals(X, (False,) * 3, max_bins=20)
    pricer = any_rule.CoverPricer(literals, 1.0 * (y == 1), 1.0 * (y == 0), np.zeros(4))
    pricer.seconds_left = 0.0
    rule = pricer.best_for(np.zeros(len(pricer.groups), dtype=bool), 3.0, pricer.rows)
    assert len(rule.key) == 1


def test_missed_rows_take_no_memory_of_their_own():
    """Unit vectors of all positive rows share the memory of one."""
    X = np.arange(200.0)[:, None]
    literals = Literals(X, (False,), max_bins=200)
    pricer = any_rule.CoverPricer(literals, np.ones(200), np.zeros(200), np.zeros(2))
    rows = [*pricer.rows, any_rule.RULES]
    missed = pricer.missed(rows)
    first = missed[0].values
    np.testing.assert_array_equal(
        np.stack([column.values for column in missed]), np.eye(len(missed), len(rows))
    )
    assert all(np.shares_memory(first, column.values) for column in missed[:3])


@pytest.mark.parametrize("positive", [0, 1])
def test_the_text_says_what_the_rules_decide(positive):
    """Words have the class of the rules and the other one, and no weights."""
    X, y, _ = table(0)
    model = RuleSetClassifier(2, form="dnf", positive_class=positive).fit(X, y)
    lines = model.to_text().split("\n")
    assert lines[0] == f"{positive} if any of these rules holds, else {1 - positive}"
    assert len(lines) == 1 + len(model.rules_)
    assert "score" not in str(model)
    with pytest.warns(TrivialModelWarning, match="class_weight"):
        empty = RuleSetClassifier(1, form="dnf", positive_class=positive, rule_cost=99.0).fit(X, y)
    assert empty.to_text() == f"{1 - positive} for every row"


def test_rules_may_cost_nothing_but_errors():
    """Costs of 0 are the default within a budget, and may be said; without one, too."""
    X, y, _ = table(1)
    usual = RuleSetClassifier(4, form="dnf", max_conditions=2).fit(X, y)
    free = RuleSetClassifier(4, form="dnf", max_conditions=2, rule_cost=0, condition_cost=0)
    assert free.fit(X, y).objective_ == usual.objective_
    free.set_params(max_total_conditions=None)
    assert free.fit(X, y).dual_bound_ == free.objective_ <= usual.objective_


@pytest.mark.parametrize("light", [1e-20, 1e-9, 1e-3])
def test_a_row_of_hardly_any_weight_changes_hardly_anything(light):
    """The optimum of weights that differ by any factor is that of the heavy rows."""
    X, y, rng = table(2)
    weights = rng.uniform(0.5, 2.0, N_ROWS)
    weights[0] = light
    model = RuleSetClassifier(4, form="dnf", max_conditions=2, tol=1e-9).fit(X, y, weights)
    without = RuleSetClassifier(4, form="dnf", max_conditions=2, tol=1e-9)
    best = without.fit(X[1:], y[1:], weights[1:]).objective_
    assert best - 1e-6 <= model.objective_ <= best + 4 * light + 1e-6
    assert model.dual_bound_ <= model.objective_


def test_scikit_learn_knows_that_there_are_two_classes():
    """The tag follows the form."""
    assert not get_tags(RuleSetClassifier(form="dnf")).classifier_tags.multi_class
    assert get_tags(RuleSetClassifier()).classifier_tags.multi_class
