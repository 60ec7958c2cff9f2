"""Parameters of kernels and of libraries by name, nested as in scikit-learn.

Kernels are immutable and may be shared. ``set_params`` of a kernel therefore returns another
kernel; ``set_params`` of a library puts another kernel into the library.

    RBF(0.1)                      gamma, factor
    Normalized(RBF(0.1))          kernel, kernel__gamma, …
    0.5 * Linear() + RBF(0.1)     w1, k1, w2, k2, k2__gamma, …   (terms by position, from 1)
    a library                     normalize, …, rbf, rbf__gamma, …  (kernels by name)
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any, Self

SEPARATOR = "__"
"""Between the name of a part and the name of its parameter."""


class Parametrized:
    """Parameters by name, as in scikit-learn's estimators, for an immutable object."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Include the parts of a composite kernel and their parameters, ``part__parameter``.

        Returns
        -------
        dict of str to object
        """
        names = constructor_names(type(self))
        own = {name: getattr(self, name) for name in names if hasattr(self, name)}
        if not deep:
            return own
        return own | with_nested(_parts_of(own))

    def set_params(self, **params: Any) -> Self:
        """A new kernel with some parameters changed; this kernel is not changed.

        Parameters
        ----------
        **params
            With the names of :meth:`get_params`.

        Returns
        -------
        Kernel

        Raises
        ------
        ValueError
            For an unknown name; the message lists the known ones.
        """
        own = self.get_params(deep=False)
        for name, changes in grouped(params, own | _parts_of(own), self).items():
            if name in own:
                own[name] = changed(own[name], changes)
                continue
            for field, value in own.items():
                if name in _parts(field, value):
                    own[field] = _with_part(value, name, changes)
        return type(self)(**own)

    def __sklearn_clone__(self) -> Self:
        """Itself, if it cannot be changed, else a copy."""
        frozen = is_dataclass(self) and type(self).__dataclass_params__.frozen
        return self if frozen else copy.deepcopy(self)


def constructor_names(kind: type) -> list[str]:
    """Names of the arguments of a class."""
    if is_dataclass(kind):
        return [field.name for field in fields(kind) if field.init]
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.signature(kind)
    return [name for name, argument in signature.parameters.items() if argument.kind in named]


def with_nested(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Parts by name, and the parameters of each as ``part__parameter``."""
    params = dict(parts)
    for name, part in parts.items():
        if isinstance(part, Parametrized):
            params |= {f"{name}{SEPARATOR}{key}": value for key, value in part.get_params().items()}
    return params


WHOLE = ""
"""The key of a new value for a part itself, besides those of its parameters."""


def grouped(
    params: Mapping[str, Any], names: Collection[str], owner: object
) -> dict[str, dict[str, Any]]:
    """New values by part: ``{"rbf__gamma": 2}`` as ``{"rbf": {"gamma": 2}}``, ``""`` is the whole.

    Raises
    ------
    ValueError
        For a name that does not begin with one of ``names``.
    """
    groups: dict[str, dict[str, Any]] = {}
    for key, value in params.items():
        name, rest = key, WHOLE
        while name and name not in names:  # names may have separators in them: the longest wins
            name, _, last = name.rpartition(SEPARATOR)
            rest = f"{last}{SEPARATOR}{rest}" if rest else last
        if not name:
            raise ValueError(
                f"Invalid parameter {key!r} for {owner!r}. Valid parameters are: {sorted(names)!r}."
            )
        groups.setdefault(name, {})[rest] = value
    return groups


def changed(value: Any, changes: Mapping[str, Any]) -> Any:
    """A part with changes of :func:`grouped`: another whole, then other parameters of that."""
    nested = dict(changes)
    value = nested.pop(WHOLE, value)
    if not nested:
        return value
    if not isinstance(value, Parametrized):
        raise ValueError(
            f"{value!r} has no parameters by name, got {sorted(nested)}: give a kernel such as "
            "RBF(0.1)"
        )
    return value.set_params(**nested)


def _parts_of(own: Mapping[str, Any]) -> dict[str, Any]:
    """The parts in all fields of a kernel, by name."""
    return {name: part for key, value in own.items() for name, part in _parts(key, value).items()}


def _parts(name: str, value: Any) -> dict[str, Any]:
    """The parts in a field of a kernel, by name: a kernel, several, or weights with kernels."""
    if isinstance(value, Parametrized):
        return {name: value}
    if not isinstance(value, tuple):
        return {}
    if all(isinstance(item, Parametrized) for item in value):
        return {f"k{k}": kernel for k, kernel in enumerate(value, start=1)}
    parts = {}
    for k, item in enumerate(value, start=1):
        if not _is_term(item):
            return {}
        parts[f"w{k}"], parts[f"k{k}"] = item
    return parts


def _is_term(item: Any) -> bool:
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], Real)
        and isinstance(item[1], Parametrized)
    )


def _with_part(value: tuple[Any, ...], name: str, changes: Mapping[str, Any]) -> tuple[Any, ...]:
    """The tuple of a field with one of its parts changed."""
    place = int(name[1:]) - 1
    item = value[place]
    if isinstance(item, Parametrized):
        item = changed(item, changes)
    elif name[0] == "w":
        item = (float(changed(item[0], changes)), item[1])
    else:
        item = (item[0], changed(item[1], changes))
    return (*value[:place], item, *value[place + 1 :])
