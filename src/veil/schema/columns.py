"""Categorical, Numeric, Text: what is public about one column, written by its owner, never read from the rows.

A column turns every value into a code. Values outside the declared domain have one: numbers and dates are
clipped to the bounds, and unknown or missing values get the code of the declared `missing` value, or one of their own
after all others.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import isfinite
from os.path import commonprefix
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from ..display import number
from .codes import encode_column, reader_of
from .encoding import text_or_none
from .mistakes import BadSchema, Mistake, mistakes_in

DEFAULT_BINS = 16
WIDE = 1000  # a ratio of bounds at which equal bins would put most rows in the first
MISSING = "(missing)"
MOST_LEVELS = 8  # of prefixes: each takes as much memory as the values
MOST_NAMED = 20  # values that are named one by one where they have no name together


def text_of(value: Any) -> str:
    """A declared category as the text it is compared by."""
    text = text_or_none(value)
    if text is None:
        raise ValueError("a category must be text or a finite number")
    return text


Word = Annotated[str, BeforeValidator(text_of)]


class Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise BadSchema(self._mistakes(error, fields)) from None

    @classmethod
    def _mistakes(cls, error: ValidationError, fields: Mapping[str, Any]) -> list[Mistake]:
        """All that is wrong with these fields."""
        return mistakes_in(error, fields, [*cls.model_fields])


class _Column(Declared):
    name: str = Field(min_length=1)

    @classmethod
    def _mistakes(cls, error: ValidationError, fields: Mapping[str, Any]) -> list[Mistake]:
        place = f"column {fields.get('name', '?')!r}: "
        return [mistake._replace(said=place + mistake.said) for mistake in super()._mistakes(error, fields)]

    @cached_property
    def names(self) -> Sequence[str]:
        """The name of each code."""
        return ()

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """From coarse to fine, the group of each code."""
        return ()

    def group_name(self, codes: Sequence[int]) -> str:
        """The name under which a group of codes is shown."""
        if len(codes) == 1:
            return self.names[codes[0]]
        return "all" if len(codes) == self.size else self._span(codes)

    def _span(self, codes: Sequence[int]) -> str:
        """From the start of the first to the end of the last; missing values, if they are with them, are the last."""
        own = self.names[codes[-1]] == MISSING
        ends = [self.names[code].split(" to ") for code in (codes[0], codes[-2 if own else -1])]
        return " to ".join(dict.fromkeys((ends[0][0], ends[1][-1]))) + f" or {MISSING}" * own

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.names)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its codes."""
        return np.min_scalar_type(max(self.size - 1, 0))

    def encode(self, values: Any) -> Any:
        """The code of each value, of text its words; total."""
        return encode_column(values, self)


class Categorical(_Column):
    """A column of declared values; `groups` nests them into a taxonomy, and undeclared values count as `missing`.

    `pools` gathers values for good: those of a pool share one code, which has the pool's name. Groups may then hold
    pools and the values that stand alone. `levels = [1, 3]` is short for groups of values that begin with the same
    character, and within these with the same three, as in hierarchical codes.
    """

    kind: Literal["categorical"] = "categorical"
    values: tuple[Word, ...] = Field(min_length=1)
    groups: dict[str, Any] | None = None
    pools: dict[str, tuple[Word, ...]] | None = None
    missing: Word | None = None

    @model_validator(mode="before")
    @classmethod
    def _levels_are_groups(cls, fields: Any) -> Any:
        if not isinstance(fields, dict) or "levels" not in fields:
            return fields
        lengths, others = fields["levels"], {key: field for key, field in fields.items() if key != "levels"}
        whole = isinstance(lengths, (list, tuple)) and all(type(one) is int and one > 0 for one in lengths)
        if not whole or [*lengths] != sorted({*lengths}) or not 1 <= len(lengths) <= MOST_LEVELS:
            raise ValueError(f"levels must be numbers of characters, such as [1, 3], at most {MOST_LEVELS} of them")
        if "groups" in others or "pools" in others:
            raise ValueError("levels cannot be combined with groups or pools: write one of them")
        values = fields.get("values")
        texts = [*map(text_or_none, values)] if isinstance(values, (list, tuple)) else []
        return {**others, "groups": _by_prefix([text for text in texts if text is not None], [*lengths])}

    @field_validator("groups")
    @classmethod
    def _groups_hold_text(cls, groups: dict[str, Any] | None) -> Any:
        return groups and _as_text(groups)

    @model_validator(mode="after")
    def _check(self) -> "Categorical":
        if len(set(self.values)) < len(self.values):
            raise ValueError("values must be distinct")
        if len(self.values) >= 2**31:
            raise ValueError("too many values")
        if self.missing is not None and self.missing not in self.values:
            raise ValueError("missing must be one of the values")
        if self.missing is None and MISSING in self.values:
            raise ValueError(f"the value {MISSING!r} must also be declared as missing")
        pooled = [value for inside in (self.pools or {}).values() for value in inside]
        if len(set(pooled)) < len(pooled) or not set(pooled) <= set(self.values):
            raise ValueError("pools must hold declared values, each at most once")
        if not all((self.pools or {}).values()) or {*(self.pools or {})} & {MISSING, *self.values}:
            raise ValueError(f"pools must not be empty, nor have the name of a value or {MISSING!r}")
        leaves = [*self._paths] if self.groups else []
        if sum(1 for _ in _leaves(self.groups or {})) > len(leaves) or not set(leaves) <= set(self.declared):
            raise ValueError("groups must hold declared values (not those in pools), each at most once")
        return self

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """The names of all codes but an extra one for missing values: of values that stand alone, then of pools."""
        pooled = {value for inside in (self.pools or {}).values() for value in inside}
        return (*(value for value in self.values if value not in pooled), *(self.pools or {}))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.declared if self.missing is not None else (*self.declared, MISSING)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The code of each declared value."""
        place = {name: code for code, name in enumerate(self.declared)}
        pool_of = {value: pool for pool, inside in (self.pools or {}).items() for value in inside}
        return tuple(place[pool_of.get(value, value)] for value in self.values)

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The group of each code, for each level: all in one, then the taxonomy from the top, then single codes."""
        depth = max(map(len, self._paths.values()), default=0)
        steps = [(*self._paths.get(name, ()), (name,)) for name in self.names]  # (name,): not a group of that name
        keys = [[step[:level] for step in steps] for level in range(depth + 1)]
        finest = tuple(range(self.size))
        return tuple(dict.fromkeys([*(_ranks(level) for level in keys), finest]))

    @cached_property
    def _paths(self) -> dict[str, tuple[str, ...]]:
        return dict(_leaves(self.groups or {}))

    def _span(self, codes: Sequence[int]) -> str:
        """The name of the innermost declared group that contains all these codes; without one, some of theirs."""
        shared = commonprefix([self._paths.get(self.names[code], ()) for code in codes])
        some = [self.names[code] for code in (codes if len(codes) <= MOST_NAMED else codes[: MOST_NAMED - 1])]
        more = [f"{len(codes) - len(some)} more"] * (len(some) < len(codes))
        return str(shared[-1]) if shared else " or ".join([*some, *more])

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What its representation shows: of many values, groups and pools only how many there are."""
        for name, value in super().__repr_args__():
            many = len(self.values) > MOST_NAMED and isinstance(value, (tuple, Mapping))
            yield name, (f"{len(value)} of them" if many else value)


class Numeric(_Column):
    """A column of numbers within bounds, cut into bins: linear (equal), logarithmic, or between declared edges.

    A bin holds its lower edge, the last one also the upper bound. An integer column with few enough values has a bin
    for each. Without a declared scale the bins are equal, except for bounds such as 0 to 100,000, whose ratio is
    1,000 or more (0 counting as 1): there half of the edges are equal steps and half are equal ratios.
    """

    kind: Literal["numeric"] = "numeric"
    bounds: tuple[float, float]
    integer: bool = False
    bins: Annotated[int, Field(ge=1, le=2**16 - 2)] | Literal["public"] | None = None
    scale: Literal["linear", "log"] | None = None
    edges: tuple[float, ...] | None = Field(None, min_length=1)
    missing: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _edges_are_bounds(cls, fields: Any) -> Any:
        edges = fields.get("edges") if isinstance(fields, dict) else None
        if isinstance(edges, (list, tuple)) and len(edges) > 1 and "bounds" not in fields:
            return {**fields, "bounds": (edges[0], edges[-1])}
        return fields

    @model_validator(mode="after")
    def _check(self) -> "Numeric":
        low, high = self.bounds
        if not (isfinite(low) and isfinite(high) and low < high and isfinite(high - low)):
            raise ValueError("bounds must be two finite numbers, the lower one first")
        if self.scale == "log" and low <= 0:
            raise ValueError(
                "logarithmic bins need a lower bound above zero; write edges instead, such as [0, 1, 10, 100]"
            )
        if self.edges is not None and (self.bins is not None or self.scale == "log"):
            raise ValueError("give either edges, or bins and a scale")
        if self.edges is not None and (self.edges[0], self.edges[-1]) != self.bounds:
            raise ValueError("the first and last edges must be the bounds")
        if self.integer and not all(edge.is_integer() for edge in (low, high, *(self.edges or ()))):
            raise ValueError("an integer column needs whole bounds and edges")
        if not np.all(np.diff(self.cuts) > 0):
            raise ValueError("edges must increase; these bins overlap or are empty")
        if self.missing is not None and not low <= self.missing <= high:
            raise ValueError("missing must lie within the bounds")
        return self

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """The edges of the bins, both bounds included; integers for integer columns, so that no bin is empty."""
        low, high = self.bounds
        if self.edges is not None:
            return self.edges
        top = high + 1 if self.integer else high
        bins = self.most_bins
        if self.integer and high - low < bins:
            return tuple(float(edge) for edge in np.arange(low, top + 1))
        inner = self._steps(low, top, bins)
        inner = np.ceil(inner).clip(max=high) if self.integer else inner
        return (low, *map(float, dict.fromkeys(inner) if self.integer else inner), top)

    @property
    def searched(self) -> bool:
        """Whether its bins may be found in the rows: where neither bins, scale nor edges are declared, unless it has a
        bin for each value."""
        declared = self.kind != "numeric" or (self.bins, self.scale, self.edges) != (None, None, None)
        return not declared and not (self.integer and self.bounds[1] - self.bounds[0] < DEFAULT_BINS)

    @property
    def most_bins(self) -> int:
        """The declared number of bins, or the usual one."""
        return self.bins if isinstance(self.bins, int) else DEFAULT_BINS

    def _steps(self, low: float, top: float, bins: int) -> npt.NDArray[np.float64]:
        """The inner edges of the bins, ascending."""
        if self.scale == "log":
            return np.geomspace(low, top, bins + 1)[1:-1]
        if self.scale == "linear" or low < 0 or top / max(low, 1.0) < WIDE or bins < 4:
            return np.linspace(low, top, bins + 1)[1:-1]
        half = bins // 2 + 1
        both = np.sort([*np.geomspace(max(low, 1.0), top, half)[:-1], *np.linspace(low, top, half)[1:-1]])
        return both[np.diff(both, prepend=low) > 1e-9 * top]  # nearly equal edges are merged

    @cached_property
    def names(self) -> tuple[str, ...]:
        names = self._whole_names() if self.integer else self._names()
        return tuple(names if self.missing is not None else [*names, MISSING])

    def _names(self) -> list[str]:
        """The name of each bin: its edges, with as many digits as distinguish them."""
        texts = [number(cut) for cut in self.cuts]
        digits = 3
        while len(set(texts)) < len(texts):
            digits += 1
            texts = [f"{cut:,.{digits}g}" for cut in self.cuts]
        return [f"{low} to {high}" for low, high in pairwise(texts)]

    def _whole_names(self) -> list[str]:
        """The name of each bin of an integer column: its first and last integer."""
        lows = [int(cut) for cut in self.cuts]
        highs = [*(low - 1 for low in lows[1:-1]), int(self.bounds[1])]
        return [str(low) if low == high else f"{low} to {high}" for low, high in zip(lows[:-1], highs, strict=True)]

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Dyadic intervals: level j cuts the bins into 2^j runs, until every bin stands alone."""
        bins = len(self.cuts) - 1
        own = () if self.missing is not None else (MISSING,)  # the extra code is a group of its own below the top
        halvings = [[*((code << j) // bins for code in range(bins)), *own] for j in range(1, bins.bit_length() + 1)]
        return tuple(dict.fromkeys([(0,) * self.size, *map(_ranks, halvings)]))

    def read(self, block: Any) -> npt.NDArray[np.float64]:
        """Each value as a float, NaN where it is not a number; no value raises."""
        return reader_of(self)(block)

    def ends(self, value: Any) -> tuple[float, float]:
        """The lowest and highest number that a declared value stands for; raises if it is no number."""
        return float(value), float(value)


class BucketNames(Sequence[str]):
    """The names of hash buckets, a sequence that makes each name when it is asked for."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: Any) -> Any:
        chosen = self.numbers[place]
        return tuple(map("bucket {}".format, chosen)) if isinstance(place, slice) else f"bucket {chosen}"


class Text(_Column):
    """A column of free text, or a matrix with a column for each word. Its codes are words: a row can have many.

    The words are public: a list of `words`, or numbers of `buckets` into which all words fall by a hash, of which some
    may be `kept` alone. Without either the column is declared but not encoded. Where words are counted, a row counts
    for at most `words_per_row` of them, drawn at random.
    """

    kind: Literal["text"] = "text"
    words: tuple[Word, ...] | None = Field(None, min_length=1)
    buckets: int | None = Field(None, ge=1, le=2**20)
    kept: tuple[int, ...] | None = Field(None, min_length=1)
    words_per_row: int = Field(20, ge=1, le=2**12)

    @model_validator(mode="after")
    def _check(self) -> "Text":
        if self.words is not None and self.buckets is not None:
            raise ValueError("give either words or buckets")
        if self.words is not None and len(set(self.words)) < len(self.words):
            raise ValueError("words must be distinct")
        known = range(self.buckets or 0)
        if self.kept is not None and (len(set(self.kept)) < len(self.kept) or not all(k in known for k in self.kept)):
            raise ValueError("kept must be numbers of buckets, each once")
        return self

    @cached_property
    def names(self) -> Sequence[str]:
        """The words, or the names of the buckets, which are made when they are asked for."""
        return self.words or BucketNames(self.kept or range(self.buckets or 0))

    def only(self, codes: Sequence[int]) -> "Text":
        """The column with the words of these codes alone."""
        known, field = (self.words, "words") if self.words else (self.kept or range(self.buckets or 0), "kept")
        return Text(**{**self.model_dump(), field: tuple(known[code] for code in codes)})


def _leaves(groups: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each value of a taxonomy with its path of groups, outermost first."""
    if isinstance(groups, Mapping):
        for name, inside in groups.items():
            yield from _leaves(inside, (*path, name))
    else:
        yield from ((value, path) for value in groups)


def _by_prefix(values: Sequence[str], lengths: Sequence[int]) -> Any:
    """Nested groups of values: by their first `lengths[0]` characters, within these by `lengths[1]`, and so on."""
    if not lengths:
        return tuple(values)
    groups: dict[str, list[str]] = {}
    for value in values:
        groups.setdefault(value[: lengths[0]], []).append(value)
    return {prefix: _by_prefix(inside, lengths[1:]) for prefix, inside in groups.items()}


def _as_text(groups: Any) -> Any:
    """A taxonomy with every value replaced by its text."""
    if isinstance(groups, Mapping):
        return {str(name): _as_text(inside) for name, inside in groups.items()}
    if isinstance(groups, (list, tuple)):
        return tuple(text_of(value) for value in groups)
    raise ValueError("groups must be lists of values, or groups of groups")


def _ranks(keys: list[Any]) -> tuple[int, ...]:
    """Each key replaced by its index in the order of first appearance."""
    order = {key: rank for rank, key in enumerate(dict.fromkeys(keys))}
    return tuple(order[key] for key in keys)
