"""Basis functions as slopes, curves, boxes and products; what is none of these is left over.

A kind of basis function is a line of ``KINDS``, with a function that makes parts of the sum of
those of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier

from cgboost.additive.stage import StageOutput
from cgboost.additive.trees.boosted_trees import BoostedTree
from cgboost.additive.trees.model_tree import ModelTree, ModelTreeNode, Regressors
from cgboost.arrays import Indices, Mask, Vector
from cgboost.inspection.model_forms import step_of, tree_of
from cgboost.inspection.shapley.parts import Boxes, Curves, Part, Products, Slopes
from cgboost.kernels import Normalized
from cgboost.kernels.kernel_family import KernelFamily, KernelHypothesis
from cgboost.kernels.numeric.differences import Laplacian
from cgboost.kernels.numeric.distances import RBF
from cgboost.kernels.numeric.inner_products import Linear
from cgboost.kernels.scaling import scaled
from cgboost.kernels.sparse_rows import stacked
from cgboost.pricing.additive import FunctionChange
from cgboost.pricing.constrained.hinges import HINGES, HingeFunction
from cgboost.pricing.latent.factors import FactorHypothesis, LinearFactors
from cgboost.pricing.learners.learners import LearnerHypothesis
from cgboost.pricing.learners.stage_learners import OrthogonalHypothesis
from cgboost.pricing.rules.literals import Condition, Conjunction
from cgboost.pricing.univariate.feature_pricer import Feature
from cgboost.pricing.univariate.lines import Line
from cgboost.pricing.univariate.sorted_l1 import SignedSum
from cgboost.tables.binning import FeatureGroups


class Sum(NamedTuple):
    """Σ_j coef_j h_j, as parts and what is left over.

    Attributes
    ----------
    parts : list of Part
    rest : list of Hypothesis
        Basis functions that are no parts.
    rest_coef : list of float
    """

    parts: list[Part]
    rest: list[Any]
    rest_coef: list[float]


Terms = list[tuple[Any, float]]
"""Basis functions and their coefficients."""

Make = Callable[[Terms, int], Sequence[Part]]
"""The parts of the sum of basis functions of a kind, given the number of features."""


def sum_of(hypotheses: Sequence[Any], coef: Vector, n_features: int) -> Sum:
    """What a sum of basis functions is made of.

    Parameters
    ----------
    coef : ndarray of shape (n_hypotheses,)
    """
    kinds: dict[Make | None, Terms] = {}
    for hypothesis, weight in _resolved(hypotheses, coef):
        if weight:
            kinds.setdefault(_kind(hypothesis, n_features), []).append((hypothesis, weight))
    left = kinds.pop(None, [])
    parts = [
        part
        for make, terms in kinds.items()
        if make is not None
        for part in make(terms, n_features)
    ]
    return Sum(parts, [own for own, _ in left], [weight for _, weight in left])


def _resolved(hypotheses: Sequence[Any], coef: Vector) -> Terms:
    """The terms, with learners instead of orthogonal combinations of them."""
    terms = list(zip(hypotheses, np.asarray(coef).tolist(), strict=False))
    mixed = [(own, weight) for own, weight in terms if isinstance(own, OrthogonalHypothesis)]
    if not mixed:
        return terms
    stages = dict(enumerate(mixed[0][0].family.stages)) | {len(own.parts): own for own, _ in mixed}
    weights = np.zeros(max(stages) + 1)
    for own, weight in mixed:
        weights[len(own.parts)] += weight
    plain = [(own, weight) for own, weight in terms if not isinstance(own, OrthogonalHypothesis)]
    for number in reversed(range(len(weights))):
        # t = (h − shift − Σ parts_j t_j)/length: the last one first
        stage, weight = stages[number], weights[number] / stages[number].length
        weights[:number] -= weight * stage.parts
        plain.append((stage.learner, float(weight)))
    return plain


def _kind(hypothesis: Any, n_features: int) -> Make | None:
    """What makes parts of a basis function; None where nothing does."""
    kind = type(hypothesis)
    if kind in KINDS:
        return KINDS[kind]
    if step_of(hypothesis) is not None:
        return _steps
    if tree_of(hypothesis) is not None:
        return _trees
    if kind is LearnerHypothesis and isinstance(hypothesis.estimator, DummyClassifier):
        return _constants
    if kind is StageOutput and _is_additive(hypothesis, n_features):
        return _stages
    if kind is KernelHypothesis:
        return KERNELS.get(type(_inner(hypothesis.family.kernel)))
    if kind is FactorHypothesis and isinstance(hypothesis.family, LinearFactors):
        return _factors
    return None


def _constants(terms: Terms, n_features: int) -> list[Part]:
    return []


def _slopes(pairs: Sequence[tuple[int, float]], n_features: int) -> list[Part]:
    features, slopes = np.array(pairs).reshape(-1, 2).T
    coef = np.bincount(features.astype(np.intp), slopes, minlength=n_features)
    return [Slopes(coef.astype(np.float64, copy=False))]


def _features(terms: Terms, n_features: int) -> list[Part]:
    return _slopes([(own.index, weight / own.scale) for own, weight in terms], n_features)


def _lines(terms: Terms, n_features: int) -> list[Part]:
    return _slopes([(max(0, own.feature), weight * own.slope) for own, weight in terms], n_features)


def _signed_sums(terms: Terms, n_features: int) -> list[Part]:
    pairs = [
        (feature, weight * slope)
        for own, weight in terms
        for feature, slope in zip(own.features, own.slopes, strict=True)
    ]
    return _slopes(pairs, n_features)


def _factors(terms: Terms, n_features: int) -> list[Part]:
    family = terms[0][0].family
    numbers, weights = zip(*((own.number, weight) for own, weight in terms), strict=True)
    return [Slopes(np.asarray(family.coef(numbers, np.array(weights)), dtype=np.float64))]


def _inner(kernel: Any) -> Any:
    """The kernel itself of one that is normalised but has k(x, x) = 1 anyway."""
    is_one = isinstance(kernel, Normalized) and type(kernel.kernel) in RATES
    return kernel.kernel if is_one else kernel


def _by_family(terms: Terms) -> list[tuple[KernelFamily, Vector, Vector]]:
    """The centres of each kernel, as it sees them, and their coefficients."""
    families: dict[int, Terms] = {}
    for own, weight in terms:
        families.setdefault(id(own.family), []).append((own, weight))
    return [
        (
            own[0][0].family,
            _dense(stacked([one.centre for one, _ in own])),
            np.array([weight for _, weight in own]),
        )
        for own in families.values()
    ]


def _dense(rows: Any) -> Vector:
    dense = rows.toarray() if sparse.issparse(rows) else rows
    return np.asarray(dense, dtype=np.float64)


def _linear_kernels(terms: Terms, n_features: int) -> list[Part]:
    """Σ_c weight_c x·c: a function of each scaled feature."""

    def part(family: KernelFamily, centres: Vector, weights: Vector) -> Part:
        slopes = weights @ centres
        return Curves(np.arange(n_features), lambda X: _dense(scaled(X, family.scaler)) * slopes)

    return [part(*own) for own in _by_family(terms)]


def _product_kernels(terms: Terms, n_features: int) -> list[Part]:
    """Σ_c weight_c Π_j exp(−gamma d(x_j − c_j))."""

    def part(family: KernelFamily, centres: Vector, weights: Vector) -> Part:
        kernel = _inner(family.kernel)
        rate = RATES[type(kernel)]

        def factors(X: Any) -> Vector:
            rows = _dense(scaled(X, family.scaler))
            values = np.exp(-kernel.gamma * rate(rows.T[:, :, None] - centres.T[:, None]))
            return np.moveaxis(values, 0, -1)  # numbers of a feature stand together

        return Products(factors, weights)

    return [part(*own) for own in _by_family(terms)]


RATES: dict[type, Callable[[Vector], Vector]] = {RBF: np.square, Laplacian: np.abs}
"""Kernels that are products over the features, and what is in their exponent."""

KERNELS: dict[type, Make] = {Linear: _linear_kernels, **dict.fromkeys(RATES, _product_kernels)}
"""Kernels with a closed form."""


def _steps(terms: Terms, n_features: int) -> list[Part]:
    steps = [(step, weight) for own, weight in terms if (step := step_of(own)) is not None]
    jumps = [(*step[:2], weight * (step[3] - step[2])) for step, weight in steps if step[0] >= 0]
    features, thresholds, heights = np.array(jumps, dtype=np.float64).reshape(-1, 3).T
    places = features.astype(np.intp)
    return [Curves(places, lambda X: (X[:, places] > thresholds) * heights)]


def _hinges(terms: Terms, n_features: int) -> list[Part]:
    own, weights = [own for own, _ in terms], np.array([weight for _, weight in terms])
    features = np.array([hinge.feature for hinge in own], dtype=np.intp)
    return [Curves(features, lambda X: HINGES.outputs(X, own) * weights)]


def _changes(terms: Terms, n_features: int) -> list[Part]:
    """Changes that follow each other: what one adds, the next takes away again."""
    shares: dict[Any, tuple[int, float]] = {}
    for change, weight in terms:
        for function, share in ((change.new, weight), (change.old, -weight)):
            before = shares.get(function, (change.feature, 0.0))[1]
            shares[function] = (change.feature, before + share)
    return _curves([(j, function, share) for function, (j, share) in shares.items() if share])


def _is_additive(output: StageOutput, n_features: int) -> bool:
    """Whether a stage is a sum of functions of one feature each, which reads no earlier output."""
    stage = output.family.stages[output.number]
    if stage.link is not None or stage.is_bounded:
        return False
    return not any(term.coef.any() or term.feature >= n_features for _, term in stage.terms)


def _stages(terms: Terms, n_features: int) -> list[Part]:
    stages = [(own.family.stages[own.number], weight) for own, weight in terms]
    return _curves(
        [
            (term.feature, _alone(term), weight * share)
            for stage, weight in stages
            for share, term in stage.terms
        ]
    )


def _alone(term: Any) -> Callable[[Vector], Vector]:
    """A function of a feature that does not read earlier outputs."""
    return lambda x: np.asarray(term(x, np.zeros((len(x), 0))))


def _curves(functions: Sequence[tuple[int, Callable[[Any], Vector], float]]) -> list[Part]:
    """Feature, function and weight of each."""

    def values(X: Any) -> Vector:
        found = [share * function(X[:, j]) for j, function, share in functions]
        return np.stack(found, axis=1) if found else np.zeros((len(X), 0))

    return [Curves(np.array([j for j, _, _ in functions], dtype=np.intp), values)]


def _rules(terms: Terms, n_features: int) -> list[Part]:
    number: dict[Condition, int] = {}
    paths = [
        [number.setdefault(condition, len(number)) for condition in own.conditions]
        for own, _ in terms
    ]
    features = np.array([condition.feature for condition in number], dtype=np.intp)
    weights = np.array([weight / own.scale for own, weight in terms])

    def decided(X: Any) -> Mask:
        return np.array([each.holds(X) for each in number], dtype=bool).reshape(-1, len(X))

    return [Boxes(decided, features, paths, weights)]


class _Splits:
    """Inner nodes of scikit-learn's trees: decision 2i goes to the left at node i, 2i + 1 not."""

    def __init__(self, nodes: Sequence[tuple[int, float, bool]]) -> None:
        self.features = np.array([node[0] for node in nodes], dtype=np.intp)
        self.thresholds = np.array([node[1] for node in nodes], dtype=np.float64)
        self.missing = np.array([node[2] for node in nodes], dtype=bool)

    def __call__(self, X: Any) -> Mask:
        """Where each holds, shape (2·n_nodes, n_rows); values are rounded as the trees do."""
        values = np.asarray(X, dtype=np.float32).T[self.features]
        held = np.empty((2 * len(self.features), values.shape[1]), dtype=bool)
        left = values <= self.thresholds[:, None]
        if self.missing.any():
            left |= np.isnan(values) & self.missing[:, None]
        held[::2], held[1::2] = left, ~left
        return held


def trees(grown: Sequence[tuple[Any, Vector]]) -> Boxes:
    """Trees of scikit-learn, each with the values of its nodes, as a box for each leaf."""
    nodes: list[tuple[int, float, bool]] = []
    shares: list[float] = []
    paths: list[tuple[int, ...]] = []
    weights: list[float] = []
    for tree, values in grown:
        left, right = tree.children_left.tolist(), tree.children_right.tolist()
        features, thresholds = tree.feature.tolist(), tree.threshold.tolist()
        missing = getattr(tree, "missing_go_to_left", np.zeros(len(left))).astype(bool).tolist()
        cover, value = tree.weighted_n_node_samples.tolist(), values.tolist()
        waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while waiting:
            node, path = waiting.pop()
            if left[node] < 0:
                paths.append(path)
                weights.append(value[node])
                continue
            decision = 2 * len(nodes)
            nodes.append((features[node], thresholds[node], missing[node]))
            for place, child in enumerate((left[node], right[node])):
                shares.append(cover[child] / cover[node] if cover[node] > 0 else 0.0)
                waiting.append((child, (*path, decision + place)))
    splits = _Splits(nodes)
    return Boxes(
        splits, np.repeat(splits.features, 2), paths, np.array(weights), shares=np.array(shares)
    )


def _trees(terms: Terms, n_features: int) -> list[Part]:
    found = [(tree_of(own), weight) for own, weight in terms]
    return [trees([(own[0], weight * own[1]) for own, weight in found if own is not None])]


class _Branches:
    """Branches of linear trees: which groups of values of a feature go which way."""

    def __init__(self, groups: Sequence[FeatureGroups]) -> None:
        self.groups = groups
        self.branches: list[tuple[int, Mask]] = []

    def of(self, node: ModelTreeNode, place: int) -> int:
        """The decision to go to a child of a node, or for −1 to stay there."""
        self.branches.append((node.feature, np.asarray(node.child == place)))
        return len(self.branches) - 1

    @property
    def features(self) -> Indices:
        """The feature of each decision."""
        return np.array([feature for feature, _ in self.branches], dtype=np.intp)

    def __call__(self, X: Any) -> Mask:
        """Where decisions hold, shape (n_decisions, n_rows)."""
        codes = {j: self.groups[j].codes(X[:, j]) for j in {j for j, _ in self.branches}}
        held = np.empty((len(self.branches), len(X)), dtype=bool)
        for own, (feature, inside) in zip(held, self.branches, strict=True):
            inside.take(codes[feature], out=own)
        return held


def linear_trees(
    grown: Sequence[tuple[ModelTree, float]], groups: Sequence[FeatureGroups], lines: Regressors
) -> Boxes:
    """Linear trees with their weights: boxes for the levels of the leaves, and for each slope."""
    branches = _Branches(groups)
    paths: list[tuple[int, ...]] = []
    weights: list[float] = []
    factors: list[int] = []
    for tree, weight in grown:
        waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while waiting:
            number, path = waiting.pop()
            node = tree.nodes[number]
            if node.keeps_rows:
                inside = (*path, branches.of(node, -1)) if node.children else path
                slopes = np.flatnonzero(node.coef).tolist()
                paths += [inside] * (1 + len(slopes))
                weights += [weight * node.level, *(weight * node.coef[slopes]).tolist()]
                factors += [-1, *slopes]
            for place, child in enumerate(node.children):
                waiting.append((child, (*path, branches.of(node, place))))
    curves = Curves(lines.features, lines)
    return Boxes(
        branches, branches.features, paths, np.array(weights), curves=curves, factors=factors
    )


def _boosted(terms: Terms, n_features: int) -> list[Part]:
    family = terms[0][0].family
    grown = [(own.tree, weight) for own, weight in terms]
    return [linear_trees(grown, family.groups, family.regressors)]


KINDS: dict[type, Make] = {
    Feature: _features,
    Line: _lines,
    SignedSum: _signed_sums,
    HingeFunction: _hinges,
    FunctionChange: _changes,
    Conjunction: _rules,
    BoostedTree: _boosted,
}
"""Kinds that are always parts."""
