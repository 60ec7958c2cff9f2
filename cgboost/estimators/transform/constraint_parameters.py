"""Constraints of transform models from their parameters, as scikit-learn's trees take them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from cgboost.additive.feature_constraints import Constraints
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.tables.table_encoding import Schema

INTERACTIONS = ("pairwise", "no_interactions")


def constraints_of(
    schema: Schema, *, monotonic_cst: Any, interaction_cst: Any, variant: str, n_classes: int
) -> Constraints:
    """What the parameters of a model say about the features of its data.

    Parameters
    ----------
    monotonic_cst : array of −1, 0 and 1, dict of them by feature, or None
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets of int or str, or None
    n_classes : int
        1 for regression.

    Raises
    ------
    ValueError
        If they are of another form, name features that are not there, constrain categories to be
        monotone, or do not go with the variant or the number of classes.
    """
    signs = _signs(schema, monotonic_cst)
    sets = sets_of(schema, interaction_cst)
    loose = {own.difference(signs) for own in sets} - {frozenset()}
    loose |= {frozenset([j]) for j in signs}
    # what a set allows its parts need not allow again
    largest = [own for own in loose if not any(own < other for other in loose)]
    constraints = Constraints(tuple(sorted(largest, key=sorted)), signs)
    if VARIANTS[variant].link and (signs or len(constraints.sets) > 1):
        name = "monotonic_cst" if signs else "interaction_cst"
        raise ValueError(
            f"{name} does not work with variant={variant!r}, which transforms the sum of all "
            "features: use variant='transform' or 'gradient'"
        )
    if signs and n_classes > 2:
        raise ValueError(
            "monotonic_cst is for regression and two classes: with more, a probability decreases "
            f"where others increase, and y has {n_classes} classes"
        )
    return constraints


def _signs(schema: Schema, given: Any) -> dict[int, int]:
    """1 or −1 for the features that have one."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        signs = {_number(schema, "monotonic_cst", name): given[name] for name in given}
    else:
        values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
        if len(values) != schema.n_features:
            raise ValueError(
                f"monotonic_cst must have a value for each of the {schema.n_features} features, or "
                f"be a dict of names and values, got {given!r}"
            )
        signs = dict(enumerate(values))
    for j, sign in signs.items():
        if not isinstance(sign, (Integral, np.integer, float)) or sign not in (-1, 0, 1):
            raise ValueError(
                f"monotonic_cst must have values of -1, 0 and 1, got {sign!r} for "
                f"{_called(schema, j)}"
            )
        if sign and schema.categories[j] is not None:
            raise ValueError(
                f"monotonic_cst: {_called(schema, j)} has categories, which have no order: give it "
                "0, or convert it to numbers"
            )
    return {j: int(sign) for j, sign in signs.items() if sign}


def sets_of(schema: Schema, given: Any) -> list[frozenset[int]]:
    """Sets of features that may meet, from what ``interaction_cst`` may be.

    Parameters
    ----------
    given : {"pairwise", "no_interactions"}, sequence of sets of int or str, or None
        Any two; none; those of a set; all. Features that are in no set are one more.

    Raises
    ------
    ValueError
        If it is something else, or names a feature that is not there.
    """
    count = schema.n_features
    if given is None:
        return [frozenset(range(count))]
    sets: list[frozenset[int]]
    if isinstance(given, str) and given in INTERACTIONS:
        size = 2 if given == "pairwise" else 1
        sets = [frozenset(own) for own in itertools.combinations(range(count), size)]
    elif isinstance(given, str) or not np.iterable(given) or not all(map(_is_set, given)):
        raise ValueError(
            "interaction_cst must be None, 'pairwise', 'no_interactions' or a list of sets of "
            f"features, got {given!r}"
        )
    else:
        sets = [frozenset(_number(schema, "interaction_cst", one) for one in own) for own in given]
    rest = frozenset(range(count)).difference(*sets)
    return [*sets, rest] if rest else sets


def _is_set(given: Any) -> bool:
    return np.iterable(given) and not isinstance(given, str)


def _number(schema: Schema, parameter: str, feature: Any) -> int:
    """The number of a feature that is given by its number or its name."""
    names: Sequence[str] = schema.names or ()
    if isinstance(feature, str) and feature in names:
        return list(names).index(feature)
    is_number = isinstance(feature, (Integral, np.integer)) and not isinstance(feature, bool)
    if is_number and 0 <= feature < schema.n_features:
        return int(feature)
    known = f"features are {list(names)}" if names else "the features have no names"
    raise ValueError(
        f"{parameter} names the feature {feature!r}; numbers go from 0 to {schema.n_features - 1}, "
        f"and {known}"
    )


def _called(schema: Schema, number: int) -> str:
    return f"feature {number}" if schema.names is None else f"feature {schema.names[number]!r}"
