"""Seeded problems: all public estimators × their options."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import cgboost as cg
from cgboost import constraints as rule
from cgboost import losses, penalties
from cgboost.linear import (
    L1LinearSVC,
    L1LinearSVR,
    LADRegressor,
    QuantileRegressor,
    SparseLinearClassifierCV,
    SparseLinearRegressorCV,
)
from cgboost.parallel import ThreadExecutor
from tests.seeded.problem import DATA, Data, Problem, Random, Sizes, Values, flat, named, word

METHODS = ("predict", "decision_function", "predict_proba", "transform")


def read(models: Sequence[Any], new: Any) -> tuple[Values, Sizes]:
    """What users read off fitted models."""
    values = {
        name: flat([getattr(model, attribute) for model in models])
        for name, attribute in [("objective", "objective_"), ("bound", "dual_bound_")]
        if hasattr(models[0], attribute)
    }
    for method in METHODS:
        if hasattr(models[0], method):
            values[method] = flat(np.concatenate([flat(getattr(m, method)(new)) for m in models]))
    sizes = {
        name: int(np.sum([np.sum(getattr(model, attribute)) for model in models]))
        for name, attribute in [("columns", "n_columns_"), ("rounds", "n_iter_")]
        if hasattr(models[0], attribute)
    }
    return values, sizes


How = Callable[[Any, Data], Sequence[Any]]


def plainly(model: Any, data: Data) -> Sequence[Any]:
    """X and y alone."""
    return [model.fit(data.X, data.y)]


def weighted(model: Any, data: Data) -> Sequence[Any]:
    """With weights of the rows."""
    return [model.fit(data.X, data.y, sample_weight=data.weights)]


def watched(model: Any, data: Data) -> Sequence[Any]:
    """With rows to be scored on."""
    return [model.fit(data.X, data.y, eval_set=(data.new, data.y_new))]


def grouped(model: Any, data: Data) -> Sequence[Any]:
    """With a group of each row."""
    return [model.fit(data.X, data.y, groups={"group": data.groups})]


def without_labels(model: Any, data: Data) -> Sequence[Any]:
    """X alone."""
    return [model.fit(data.X)]


def path(**values: Any) -> How:
    """The models of a path."""

    def fitted(model: Any, data: Data) -> Sequence[Any]:
        return list(model.path(data.X, data.y, **values).models)

    fitted.__name__ = f"path of {word(list(values))}"
    return fitted


def resumed(**shorter: Any) -> How:
    """A short fit, continued from its file."""

    def fitted(model: Any, data: Data) -> Sequence[Any]:
        from sklearn.base import clone

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "fit.ckpt"
            first = clone(model).set_params(**shorter, callbacks=[cg.Checkpoint(file)])
            first.fit(data.X, data.y)
            return [first, model.fit(data.X, data.y, resume=file)]

    fitted.__name__ = "resumed"
    return fitted


def reloaded(model: Any, data: Data) -> Sequence[Any]:
    """Saved and loaded again."""
    with tempfile.TemporaryDirectory() as folder:
        model.fit(data.X, data.y).save(Path(folder) / "model")
        return [model, cg.load(Path(folder) / "model")]


def fit(of: Any, data: str, *parts: str, how: How = plainly, **options: Any) -> Problem:
    """A line of the table: a class with options, and data; what is random in it is seeded."""

    def solve(rng: Random) -> tuple[Values, Sizes]:
        model, rows = of(**options), DATA[data](rng)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=0)
        return read(how(model, rows), rows.new)

    said = "" if how is plainly else how.__name__
    return Problem(named(of.__name__, data, *parts, said, **options), of.__name__, solve)


def nearness(A: Any, B: Any) -> Any:
    """A kernel of one's own: a function of two sets of rows."""
    return 1.0 / (1.0 + np.abs(A @ B.T))


def same(A: Any, B: Any) -> Any:
    """1 for equal words."""
    return (A[:, None] == B).astype(float)


def equal(a: Any, b: Any) -> float:
    """1 for equal values."""
    return float(a == b)


def smaller(a: Any, b: Any) -> float:
    """The size of the smaller of two sets."""
    return float(min(len(a), len(b)))


def libraries() -> Iterator[tuple[str, str, Any]]:
    """Data, name and library."""
    many = {
        "matern": cg.Matern(nu=2.5),
        "rational": cg.RationalQuadratic(),
        "periodic": cg.On(cg.Periodic(periodicity=3.0), 2),
        "laplacian": cg.Laplacian(),
        "cosine": cg.Cosine(),
        "own": nearness,
        "sum": cg.Linear() + 0.5 * cg.RBF(0.05),
        "product": cg.On(cg.RBF(), [0, 1]) * cg.Linear(),
        "power": cg.RBF(0.1) ** 2,
        "normalized": cg.kernels.Normalized(cg.Polynomial(3, coef0=1.0)),
    }
    mixed = {
        "income": cg.On(cg.RBF(), "income"),
        "town": (same, "town"),
        "both": cg.On(cg.RBF(), "income") * cg.On(cg.PairwiseKernel(equal), "owner"),
    }
    matrix = nearness(*2 * [np.random.default_rng(0).normal(size=(100, 3))])
    scaled = {"standardize": True, "normalize": True}
    yield "signs", "many", cg.KernelLibrary(many, **scaled)
    yield "signs", "widths", cg.KernelLibrary(cg.RBF.family([0.02, 0.1, 0.5]), **scaled)
    yield "signs", "a dict", {"linear": cg.Linear(), "rbf": cg.RBF()}
    yield "signs", "a function", nearness
    yield "histograms", "chi2", cg.Chi2()
    yield "bits", "tanimoto", cg.Tanimoto()
    yield "strings", "spectrum", cg.Spectrum(2)
    yield "sets", "jaccard", {"common": cg.Jaccard(), "size": cg.PairwiseKernel(smaller)}
    yield "graphs", "weisfeiler lehman", cg.WeisfeilerLehman(2)
    yield "frame of signs", "mixed", cg.KernelLibrary(mixed, normalize=True)
    yield "kernel matrix", "precomputed", cg.Precomputed()
    yield "row numbers", "matrix", cg.Precomputed("nearness", matrix)


def kernel_classifiers() -> Iterator[Problem]:
    """Mixtures of kernels for labels."""
    of, one = cg.CGBoostClassifier, {"columns_per_round": 1}
    for penalty, coef in product(["l1", "l2", "elasticnet"], ["free", "nonneg"]):
        yield fit(of, "signs", penalty=penalty, coef=coef)
    for penalty, offset in product(["l1", "rkhs", "group"], ["none", "penalized"]):
        yield fit(of, "signs", penalty=penalty, offset=offset)
    for penalty, loss in product(["l1", "rkhs", "group"], ["squared_hinge", "log_loss"]):
        yield fit(of, "signs", penalty=penalty, loss=loss)
    for penalty in ["l1", "l2", "rkhs", "group"]:
        yield fit(of, "signs", penalty=penalty, nu=0.3)
    for penalty in [penalties.ElasticNet(0.9), penalties.GroupNorm({"linear": 0.5})]:
        yield fit(of, "signs", penalty=penalty)
    yield fit(of, "signs", loss=losses.Exponential(), C=0.2)
    for choice in [{}, {"nu": 0.3}]:
        options = {"penalty": "rkhs", "centers": "free", "max_columns": 8, **choice}
        yield fit(of, "signs", library="rbf", **options)
    for library in ["linear", "quadratic", "poly", "rbf", "matern", "rbfs"]:
        yield fit(of, "signs", library=library)
    for data, name, library in libraries():
        yield fit(of, data, name, library=library)
    for penalty in ["l1", "l2"]:
        yield fit(of, "signs", penalty=penalty, priority="stratified", columns_per_round=2)
        yield fit(of, "classes", penalty=penalty, class_weight="balanced")
        yield fit(of, "sparse signs", penalty=penalty, library="linear")
        yield fit(of, "signs in float32", penalty=penalty, max_columns=40)
        yield fit(of, "signs", penalty=penalty, how=weighted)
        yield fit(of, "signs", penalty=penalty, early_stopping=True, validation_fraction=0.3, **one)
    for rounds in [1, "all"]:
        yield fit(of, "signs", columns_per_round=rounds, tol=1e-6)
    for probability in [True, "isotonic"]:
        yield fit(of, "signs", probability=probability, C=0.3)
    yield fit(of, "signs", scoring="roc_auc", early_stopping=True, how=watched)
    for penalty, solver in [
        *product(["l1"], ["highs", "scipy", "clarabel", "piqp", "daqp", "cvxpy:CLARABEL"]),
        *product(["l2"], ["clarabel", "osqp", "piqp", "daqp", "cvxpy:CLARABEL"]),
    ]:
        yield fit(of, "signs", penalty=penalty, solver=solver, max_columns=40, C=0.3)
    yield fit(of, "signs", how=path(C_values=[0.1, 1.0, 10.0]))
    yield fit(of, "signs", how=path(nu_values=[0.5, 0.2]))
    yield fit(of, "signs", max_columns=12, how=resumed(max_columns=5), **one)
    yield fit(of, "signs", executor=ThreadExecutor(2), cache_size=0.05)
    yield fit(of, "classes", how=reloaded)


def kernel_regressors() -> Iterator[Problem]:
    """Mixtures of kernels for numbers, and for what is usual."""
    of = cg.CGBoostRegressor
    for penalty, coef in product(["l1", "l2"], ["free", "nonneg"]):
        yield fit(of, "numbers", penalty=penalty, coef=coef, C=3.0)
    for loss in [
        "squared_epsilon_insensitive",
        "squared_error",
        "absolute_error",
        losses.Quantile(0.9),
        losses.Huber(0.5),
    ]:
        yield fit(of, "numbers", loss=loss)
    for penalty in ["l1", "l2", "rkhs", "group"]:
        yield fit(of, "numbers", penalty=penalty, nu=0.4)
    for penalty in ["elasticnet", "rkhs", "group"]:
        yield fit(of, "numbers", penalty=penalty)
    yield fit(of, "counts", loss="poisson", C=0.3)
    yield fit(of, "numbers", library="rbf", penalty="rkhs", centers="free", max_columns=8)
    yield fit(of, "sparse", library="linear", epsilon=0.2)
    yield fit(of, "numbers", how=weighted)
    yield fit(of, "numbers", how=path(C_values=[0.1, 1.0]))
    of = cg.CGBoostOutlierDetector
    for penalty in ["l1", "l2", "elasticnet", "rkhs", "group"]:
        yield fit(of, "numbers", penalty=penalty, nu=0.2, how=without_labels)
    yield fit(of, "numbers", coef="nonneg", max_columns=15, how=without_labels)


def stump_models() -> Iterator[Problem]:
    """LPBoost and its relatives."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    of, one = cg.LPBoostClassifier, {"columns_per_round": 1}
    for formulation, strength in [
        *product(["lp", "qp"], [{}, {"C": 0.3}, {"nu": 0.3}]),
        *product(["erlp", "qrlp"], [{"nu": 0.3}, {"nu": 0.3, "eta": 20.0}]),
        ("md", {"C": 2.0}),
        ("nm", {"C": 0.5, "margin": 0.05}),
    ]:
        yield fit(of, "signs", formulation=formulation, **strength)
    for offset in ["penalized", "free"]:
        yield fit(of, "signs", offset=offset)
    for loss in ["squared_hinge", "log_loss", "exponential"]:
        yield fit(of, "signs", loss=loss)
    for joint in ["ovr", "joint"]:
        yield fit(of, "classes", multi_class=joint)
    for learner in [DecisionTreeClassifier(max_depth=2), DecisionTreeRegressor(max_depth=2)]:
        yield fit(of, "signs", estimator=learner, max_columns=15)
    yield fit(of, "classes", multi_class="joint", estimator=DecisionTreeClassifier(max_depth=2))
    yield fit(of, "classes", "greedy", estimator=DecisionTreeClassifier(max_depth=2), max_columns=9)
    for solver in ["highs", "clarabel", "scipy"]:
        yield fit(of, "signs", solver=solver)
    yield fit(of, "signs", how=weighted)
    yield fit(of, "signs", class_weight="balanced", probability="sigmoid")
    yield fit(of, "signs", early_stopping=True, validation_fraction=0.3, **one)
    yield fit(of, "signs", max_columns=12, how=resumed(max_columns=5), **one)
    yield fit(of, "signs", how=path(nu_values=[0.5, 0.2]))
    of = cg.LPBoostRegressor
    for formulation, strength in product(["lp", "qp"], [{}, {"nu": 0.4}]):
        yield fit(of, "numbers", formulation=formulation, **strength)
    for loss in ["squared_error", "absolute_error", losses.Quantile(0.8), losses.Huber(0.5)]:
        yield fit(of, "numbers", loss=loss)
    yield fit(of, "counts", loss="poisson")
    yield fit(of, "numbers", estimator=DecisionTreeRegressor(max_depth=2), max_columns=15)
    yield fit(of, "numbers", how=path(C_values=[0.05, 0.5]))


def rule_sets() -> Iterator[Problem]:
    """Few rules."""
    of = cg.RuleSetClassifier
    few: dict[str, Any] = {"max_conditions": 2, "max_bins": 6}
    for budget in [{"max_total_conditions": 6}, {"max_total_conditions": None, "max_rules": 3}]:
        yield fit(of, "signs", **few, **budget)
        yield fit(cg.RuleSetRegressor, "numbers", **few, **budget)
    for loss in ["hinge", "log_loss"]:
        yield fit(of, "signs", max_total_conditions=None, loss=loss, C=0.5, **few)
    yield fit(of, "signs", max_total_conditions=4, selection="errors", **few)
    yield fit(of, "frame of signs", max_total_conditions=6, **few)
    yield fit(of, "frame of classes", max_total_conditions=4, pricing="greedy", **few)
    yield fit(of, "signs", rule_cost=1.0, condition_cost=0.5, min_support=0.1, **few)
    yield fit(of, "signs", max_total_conditions=5, how=weighted, **few)
    of = cg.RuleSetRegressor
    for loss in ["absolute_error", "epsilon_insensitive"]:
        yield fit(of, "numbers", max_total_conditions=None, loss=loss, **few)
    yield fit(of, "frame", max_total_conditions=6, pricing="greedy", C=0.5, **few)


def bounded(f: Any, a: Any, b: Any, data: Any) -> list[Any]:
    """A constraint of one's own: no output is beyond ±1.5."""
    import cvxpy as cp

    return [cp.abs(f) <= 1.5]


def constrained() -> Iterator[Problem]:
    """Models that obey."""
    of, few = cg.ConstrainedBoostClassifier, {"C": 0.5, "how": grouped}
    for constraint in [
        rule.Monotone(0, 1),
        rule.Sign(1, -1),
        rule.Convex(1),
        rule.Concave(2),
        rule.GroupBudget([0, 1], 0.4),
        rule.ParityGap("group", 0.05),
        rule.ParityGap("group", 0.05, of="rate"),
        rule.EqualOpportunity("group", 0.05),
        rule.MeanCalibration("group", 0.2),
    ]:
        yield fit(
            of,
            "signs",
            word(constraint),
            str(getattr(constraint, "of", "")),
            constraints=[constraint],
            **few,
        )
    for constraint in [rule.GroupLoss("group", 0.9), rule.AlsoLoss("squared_hinge", 0.5), bounded]:
        yield fit(of, "signs", constraints=[constraint], columns="features", **few)
    yield fit(of, "signs", constraints=[rule.Monotone(0, 1)], columns="features", loss="log_loss")
    of = cg.ConstrainedBoostRegressor
    yield fit(of, "numbers", constraints=[rule.Monotone(0, 1), rule.Convex(1)])
    yield fit(of, "numbers", constraints=[rule.MinimaxLoss("group")], columns="features", **few)
    yield fit(of, "numbers", constraints=[rule.ParityGap("group", 0.1)], columns="rbf", **few)
    yield fit(of, "numbers", constraints=[rule.ParityGap(5, 0.1)], drop=[5], loss="absolute_error")


def boosters() -> Iterator[Problem]:
    """Classical boosting."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    short: dict[str, Any] = {"n_estimators": 12}
    ada, boost = cg.AdaBoostClassifier, cg.AnyBoostClassifier
    for data in ["signs", "classes"]:
        yield fit(ada, data, **short)
        yield fit(ada, data, estimator=DecisionTreeClassifier(max_depth=2), **short)
        yield fit(cg.LogitBoostClassifier, data, **short)
        yield fit(cg.GradientBoostingClassifier, data, max_depth=2, **short)
    yield fit(ada, "signs", max_bins=8, learning_rate=0.5, how=weighted, **short)
    for loss in ["log_loss", "exponential", "hinge", "squared_hinge"]:
        yield fit(boost, "signs", loss=loss, **short)
    yield fit(boost, "signs", step="newton", **short)
    yield fit(boost, "signs", corrective=True, **short)
    yield fit(boost, "signs", step=0.2, start="zero", early_stopping=True, **short)
    boost = cg.AnyBoostRegressor
    for loss in [
        "squared_error",
        "absolute_error",
        "huber",
        "epsilon_insensitive",
        "squared_epsilon_insensitive",
        losses.Quantile(0.8),
        losses.PairwiseExponential,
    ]:
        yield fit(boost, "numbers", loss=loss, **short)
    yield fit(boost, "counts", loss="poisson", step="newton", **short)
    for loss in ["squared_error", "absolute_error", "huber"]:
        yield fit(boost, "numbers", loss=loss, corrective=True, n_estimators=6)
    yield fit(boost, "numbers", how=resumed(n_estimators=5), **short)
    tree = DecisionTreeRegressor(max_depth=2)
    for orthogonalize, feed_forward in product([False, True], [False, True]):
        ways = {"orthogonalize": orthogonalize, "feed_forward": feed_forward}
        yield fit(cg.StagewiseRegressor, "numbers", estimator=tree, **ways, **short)
    yield fit(cg.LogitBoostClassifier, "classes", multi_class="ovr", **short)
    yield fit(cg.LogitBoostClassifier, "signs", estimator=tree, how=weighted, **short)
    yield fit(cg.GradientBoostingClassifier, "signs", loss="exponential", subsample=0.7, **short)
    for loss in ["squared_error", "absolute_error", "huber"]:
        yield fit(cg.GradientBoostingRegressor, "numbers", loss=loss, max_leaf_nodes=5, **short)
    yield fit(cg.GradientBoostingRegressor, "counts", loss="poisson", max_features=3, **short)
    for criterion in [None, "hdbic", "aicc", "cv"]:
        yield fit(cg.L2BoostRegressor, "wide", criterion=criterion, n_estimators=30)
    for criterion in [None, "hdic", "hdbic", "hdhq"]:
        yield fit(cg.OrthogonalGreedyRegressor, "wide", criterion=criterion, n_estimators=10)
    yield fit(cg.OrthogonalGreedyRegressor, "sparse", trim=False, fit_intercept=False)


def sparse_linear() -> Iterator[Problem]:
    """Linear models of few features."""
    of = cg.SparseLinearRegressor
    for loss in [
        "quantile",
        "absolute_error",
        "epsilon_insensitive",
        "squared_epsilon_insensitive",
        "huber",
        "squared_error",
    ]:
        yield fit(of, "wide", loss=loss)
    yield fit(of, "counts", loss="poisson", alpha=0.05)
    for options in [
        {"penalty": "elasticnet", "l1_ratio": 0.7},
        {"positive": True},
        {"fit_intercept": False, "standardize": True},
        {"quantile": 0.9, "alpha": 0.05},
        {"max_columns": 10, "columns_per_round": 2, "alpha": 0.01},
        {"early_stopping": True},
        {"solver": "highs"},
    ]:
        yield fit(of, "wide", **options)
    yield fit(of, "numbers", penalty_weights=[0.0, 1.0, 2.0, 1.0, 0.5, 1.0])
    yield fit(of, "numbers", alpha=0.0)
    yield fit(of, "sparse", standardize=True, how=weighted)
    yield fit(of, "wide", how=path(n_alphas=8, eps=0.05))
    of = cg.SparseLinearClassifier
    for loss in ["hinge", "squared_hinge", "log_loss", "exponential"]:
        yield fit(of, "wide signs", loss=loss, C=0.3)
    yield fit(of, "classes", penalty="elasticnet", class_weight="balanced")
    yield fit(of, "sparse signs", probability=True)
    yield fit(of, "wide signs", positive=True, how=weighted)
    yield fit(of, "wide signs", how=path(Cs=[0.05, 0.3]))
    of = cg.MultiQuantileRegressor
    for noncrossing in [False, "rows", "box"]:
        yield fit(of, "numbers", noncrossing=noncrossing, alpha=0.01)
        yield fit(of, "wide", noncrossing=noncrossing, quantiles=[0.25, 0.5, 0.75], alpha=0.1)
    yield fit(of, "numbers", noncrossing="rows", standardize=True, alpha=0.02, how=weighted)
    yield fit(cg.IntervalRegressor, "numbers", alpha=0.01)
    yield fit(QuantileRegressor, "numbers", quantile=0.3, alpha=0.05)
    yield fit(LADRegressor, "wide")
    yield fit(LADRegressor, "wide", alpha=0.1, positive=True)
    for loss in ["hinge", "squared_hinge"]:
        yield fit(L1LinearSVC, "wide signs", loss=loss, C=0.2)
    for loss in ["epsilon_insensitive", "squared_epsilon_insensitive"]:
        yield fit(L1LinearSVR, "wide", loss=loss, C=0.1, epsilon=0.1)
    for chosen in ["min", "1se"]:
        yield fit(SparseLinearRegressorCV, "wide", rule=chosen, n_alphas=6, eps=0.05, cv=3)
        yield fit(SparseLinearClassifierCV, "wide signs", rule=chosen, n_Cs=6, eps=0.05, cv=3)


def latent_factors() -> Iterator[Problem]:
    """Boosted latent factors, with every loss."""
    of = cg.BLFRegressor
    for loss in [
        "squared_error",
        "absolute_error",
        "quantile",
        "huber",
        "epsilon_insensitive",
        "squared_epsilon_insensitive",
        losses.PairwiseExponential,
    ]:
        yield fit(of, "numbers", loss=loss, n_components=3)
    yield fit(of, "counts", loss="poisson")
    for loss in ["squared_error", "absolute_error"]:
        yield fit(of, "responses", loss=loss)
        yield fit(of, "numbers", loss=loss, kernel=cg.RBF(0.1), n_components=3)
        yield fit(of, "numbers", loss=loss, l2_regularization=1.0, deflate=False)
        yield fit(of, "numbers", loss=loss, refit=False, how=weighted)
    yield fit(of, "numbers", loss="quantile", alpha=0.8, subgradient="sign")
    yield fit(of, "wide", n_components="cv", cv=3, max_components=6)
    of = cg.BLFClassifier
    for loss in ["log_loss", "exponential", "hinge", "squared_hinge", "squared_error"]:
        yield fit(of, "signs", loss=loss, n_components=3)
    for loss in ["log_loss", "multinomial"]:
        yield fit(of, "classes", loss=loss)
    yield fit(of, "signs", newton_steps=None, l2_regularization=0.5, class_weight="balanced")
    yield fit(of, "signs", to_the_letter=True, how=weighted)


def transformed() -> Iterator[Problem]:
    """Transform regression, additive models, linear trees."""
    from sklearn.neighbors import KNeighborsRegressor

    of, short = cg.TransformRegressor, {"n_estimators": 4}
    for variant in [
        "transform",
        "gradient",
        "initial",
        "orthogonal",
        "feed_forward",
        "orthogonal_feed_forward",
    ]:
        yield fit(of, "more numbers", variant=variant, **short)
    for loss in ["absolute_error", "huber", losses.Quantile(0.8)]:
        yield fit(of, "more numbers", loss=loss, learning_rate=0.5, **short)
    yield fit(of, "counts", loss="poisson", early_stopping=False, **short)
    for options in [
        {"n_holdouts": 3},
        {"monotonic_cst": [1, 0, 0, 0, 0, 0]},
        {"interaction_cst": "pairwise"},
    ]:
        yield fit(of, "more numbers", **options, **short)
    yield fit(of, "more numbers", executor=ThreadExecutor(2), **short)
    yield fit(of, "frame", how=weighted, **short)
    of = cg.TransformClassifier
    for data in ["frame of signs", "frame of classes"]:
        yield fit(of, data, **short)
    yield fit(of, "more classes", multi_class="ovr", **short)
    of = cg.AdditiveRegressor
    for data, method in product(["more numbers", "frame"], ["one-pass", "backfitting"]):
        yield fit(of, data, method=method)
    yield fit(of, "more numbers", method="backfitting", smoother=KNeighborsRegressor(15))
    yield fit(cg.LinearTreeRegressor, "frame", max_depth=2, how=weighted)
    yield fit(cg.LinearTreeRegressor, "more numbers", max_depth=2, validation_fraction=0.0)
    trees: dict[str, Any] = {"n_estimators": 10, "min_samples_leaf": 10}
    of = cg.LinearTreeBoostingRegressor
    for loss in ["squared_error", "huber", losses.Quantile(0.8)]:
        yield fit(of, "more numbers", loss=loss, **trees)
    yield fit(of, "frame", early_stopping=False, interaction_cst="no_interactions", **trees)
    for data in ["frame of signs", "more classes"]:
        yield fit(cg.LinearTreeBoostingClassifier, data, **trees)


def thinned() -> Iterator[Problem]:
    """Ensembles of scikit-learn, with fewer members."""
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingRegressor,
        ExtraTreesRegressor,
        GradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    of, seeded = cg.ThinnedEnsemble, {"n_estimators": 20, "random_state": 0}
    forest = RandomForestClassifier(max_depth=4, **seeded)
    for options in [{}, {"metric": "log_loss"}, {"leaf_values": "refit"}, {"C": 0.1}]:
        yield fit(of, "signs", estimator=forest, **options)
    yield fit(of, "classes", estimator=forest, size=5)
    yield fit(of, "signs", estimator=forest, members="leaves", size=10)
    yield fit(of, "signs", estimator=AdaBoostClassifier(**seeded), weights="program")
    for ensemble in [ExtraTreesRegressor, BaggingRegressor, GradientBoostingRegressor]:
        yield fit(of, "numbers", ensemble.__name__, estimator=ensemble(**seeded), size=6)
    regressors = RandomForestRegressor(max_depth=4, **seeded)
    for metric in ["mae", "quantile"]:
        yield fit(of, "numbers", estimator=regressors, metric=metric, target="y")
    yield fit(of, "numbers", estimator=regressors, how=path(sizes=[3, 6]))
    for data, options in [("signs", {}), ("classes", {"size": 4})]:
        yield fit(of, data, estimator=forest, C=0.1, weights="program", **options)


def table() -> Iterator[Problem]:
    """All of them."""
    yield from kernel_classifiers()
    yield from kernel_regressors()
    yield from stump_models()
    yield from rule_sets()
    yield from constrained()
    yield from boosters()
    yield from sparse_linear()
    yield from latent_factors()
    yield from transformed()
    yield from thinned()
