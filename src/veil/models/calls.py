"""The call that makes an estimator, on one line, as its repr: of rows given by mistake, nothing but their type."""

import os
from collections.abc import Sequence
from inspect import signature
from numbers import Number
from typing import Any

from sklearn.base import BaseEstimator

from ..addresses import shown
from ..display import readable
from ..kernel import Ledger
from ..schema import Schema

MOST = 6  # parts of a list
PLAIN = (str, bool, Number, type(None))


def call_of(model: BaseEstimator) -> str:
    """The call that makes this estimator: its class, and the parameters that are not as they are by default."""
    defaults = {name: one.default for name, one in signature(type(model).__init__).parameters.items()}
    given = model.get_params(deep=False)
    texts = {name: _named(name, given[name]) for name in defaults if name in given}
    plain = {name: _named(name, _plain(defaults[name])) for name in texts}
    said = [f"{name}={text}" for name, text in texts.items() if _named(name, _plain(given[name])) != plain[name]]
    return f"{type(model).__name__}({', '.join(said)})"


def _plain(value: Any) -> Any:
    """A list as a tuple: a model from a file has lists."""
    return tuple(value) if isinstance(value, list) else value


def _named(name: str, value: Any) -> str:
    """A parameter in few letters. A schema and a ledger go by their names; a list there may be rows."""
    listed = isinstance(value, (list, tuple, dict))
    return f"<{type(value).__name__}>" if name in ("schema", "ledger") and listed else _short(value)


def _short(value: Any) -> str:
    """A value in few letters; of a kind that may hold rows, its type."""
    if isinstance(value, (Schema, Ledger)):
        return f"<{type(value).__name__} '{readable(value.name)}'>"
    if isinstance(value, (str, os.PathLike)):
        return repr(readable(shown(value)))
    if isinstance(value, (list, tuple)):
        return _listed(value)
    return readable(repr(value), 1000) if isinstance(value, (*PLAIN, BaseEstimator)) else f"<{type(value).__name__}>"


def _listed(values: Sequence[Any]) -> str:
    """The parts of a list, the first few of many."""
    parts = [*map(_short, values[:MOST]), *["..."] * (len(values) > MOST)]
    return f"[{', '.join(parts)}]" if isinstance(values, list) else f"({', '.join(parts)}{',' * (len(parts) == 1)})"
