"""SyntheticTable: a model of all columns that was published, and the rows that are drawn from it. It holds no row."""

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..display import amount, html_table, readable, text_table
from ..errors import BadInput
from ..files.artefacts import make_parts, write_parts
from ..files.parts import insist
from ..files.tables import new_file, writing
from ..kernel import Owner, Release
from ..pages import Reported
from ..plans.outcome import Outcome
from ..plans.synthesis.network import Network
from ..plans.synthesis.tails import evidence, is_blurred
from ..questions import Axis, Grid
from ..schema import Schema, Text
from ..verdicts import Verdict
from ..verdicts.synthetic import of_tables
from ..verdicts.verdict import shown as shown_verdict
from .answers import group_weights
from .histogram.answers import Answer
from .rows import MOST_ROWS, TOO_MANY, Drawn, as_arrow, as_frame, draw_group, group_means, number_of

Numbers = npt.NDArray[np.float64]
MOST_PARENTS = 8
OFF = 1e-6  # by how much shares in a file may fail to add up to 1


class Compared(NamedTuple):
    """A released table beside the model: its columns, how far apart they are, and how far noise alone moves it.

    Both are total variation: the share of the rows that would have to move to other cells.
    """

    columns: tuple[str, ...]
    apart: float
    noise: float


class SyntheticTable(Reported):
    """A model of all columns: what `veil.publish` makes with `method="marginals"` or `"privbayes"`.

    `to_frame` draws rows from it, and `query` and `marginal` ask it. All of it was paid for: it costs nothing more.
    """

    def __init__(self, outcome: Outcome[Network]) -> None:
        self.outcome_ = outcome

    @property
    def network(self) -> Network:
        """The model: its columns in the order in which they are drawn, and on which others each depends."""
        network: Network = self.outcome_.made
        return network

    @property
    def method(self) -> str:
        """The name of the method that made it."""
        return self.outcome_.method

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it holds, in the order of the schema."""
        return tuple(column.name for column in self.schema_.column)

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that it cost."""
        return self.outcome_.epsilon

    @property
    def relations(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Every column with those on which it depends, in the order in which they are drawn."""
        names = [axis.column for axis in self.network.axes]
        links = zip(names, self.network.parents, strict=True)
        return tuple((name, tuple(names[place] for place in places)) for name, places in links)

    @cached_property
    def verdict_(self) -> Verdict:
        """How much of the tables that it was made from may be noise, judged from released values alone."""
        blurred = [column.name for column in self.schema_.column if self._is_blurred(column)]
        return of_tables(self.releases_, self.schema_, self.network.rows, self.epsilon, blurred)

    def _is_blurred(self, column: Any) -> bool:
        """Whether noise in wide bins could make up a large part of a column's mean."""
        part = self.network.axes[self._place(column.name)]
        found = evidence(column, part, self.releases_)
        if found is None:
            return False
        counts = self.marginal([column.name])
        return is_blurred(found, counts[found.places], group_means(column, part, counts)[found.places])

    def marginal(self, columns: Sequence[str] = ()) -> Numbers:
        """About how many rows there are by these columns, an axis for each with a place for each of its `names`."""
        names = [columns] if isinstance(columns, str) else list(columns)
        if len(set(names)) < len(names):
            raise BadInput("a marginal can hold a column only once")
        return self.network.counts([self._place(name) for name in names])

    def names(self, column: str) -> tuple[str, ...]:
        """The names of the groups of a column, along its axis of a marginal."""
        return self.network.axes[self._place(column)].names

    def query(self, where: Mapping[str, Any] | None = None, /, **more: Any) -> Answer:
        """About how many rows fulfil all conditions: `query(age=(30, 50), sex="Female")`, written as for a Synopsis.

        The model links few columns with each other, so an answer has no interval.
        """
        wanted = {**(where or {}), **more}
        weights = {}
        for name, wish in wanted.items():
            place, column = self._place(name), self.schema_.get(name)
            weights[place] = group_weights(self.network.axes[place], column, wish)  # type: ignore[arg-type]
        return Answer(float(self.network.counts((), weights)))

    def to_frame(self, rows: int | None = None, random_state: Any = None, values: str = "uniform") -> Any:
        """Synthetic rows of all columns: a pandas data frame, or without pandas an Arrow table.

        About as many as there are, or `rows` of them. Within a group categories are drawn evenly, numbers evenly from
        its bins and from within a bin (`values="midpoint"`: the mean of these).
        """
        return as_frame(self._drawn(rows, random_state, values))

    def to_arrow(self, rows: int | None = None, random_state: Any = None, values: str = "uniform") -> Any:
        """The same as an Arrow table."""
        return as_arrow(self._drawn(rows, random_state, values))

    def _drawn(self, rows: int | None, random_state: Any, values: str) -> dict[str, Drawn]:
        if values not in ("uniform", "midpoint"):
            raise BadInput('values must be "uniform" or "midpoint"')
        if (asked := number_of(rows)) is None and self.network.rows > MOST_ROWS:
            raise BadInput(TOO_MANY)
        chance = np.random.default_rng(random_state)
        places = self.network.draw(round(self.network.rows) if asked is None else int(asked), chance)
        parts = {axis.column: (axis, place) for axis, place in zip(self.network.axes, places, strict=True)}
        counts = {name: self.marginal([name]) for name in parts}
        return {
            column.name: draw_group(column, *parts[column.name], chance, values, counts[column.name])
            for column in self.schema_.column
        }

    def compared(self) -> list[Compared]:
        """Each released table of counts beside what the model says of it, in the order of asking; without
        those for which the model links too many columns."""
        grids = [one for one in self.releases_ if one.receipt.verb == "count" and type(one.question) is Grid]
        return [found for one in grids if one.question.axes and (found := self._compared(one)) is not None]

    def _compared(self, release: Release[Any]) -> Compared | None:
        parts = release.question.axes
        try:
            model = self.marginal([part.column for part in parts])
        except BadInput:  # too many columns are linked to answer it; all else is there, and was paid for
            return None
        table = release.value.reshape([part.size for part in parts]).astype(np.float64)
        many = np.ones(table.shape)
        for side, part in enumerate(parts):
            own = self.network.axes[self._place(part.column)]
            if (mapped := _coarser(own, part)) is not None:
                model = _gathered(model, side, mapped)
            elif (mapped := _coarser(part, own)) is not None:
                table, many = _gathered(table, side, mapped), _gathered(many, side, mapped)
            else:
                return None
        rows = max(self.network.rows, 1.0)
        noise = release.noise_scale * float(np.sqrt(many).sum())
        return Compared(release.question.columns, float(np.abs(table - model).sum()) / (2 * rows), noise / (2 * rows))

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Write it to a file that holds data only; `veil.load_synopsis` reads it back."""
        with new_file(path, force=force) as draft, writing(path):
            self.write(draft)

    def write(self, draft: "str | os.PathLike[str]") -> None:
        """Write it to this path, replacing what is there."""
        write_parts(draft, make_parts("synthetic", self.outcome_))

    def _place(self, name: str) -> int:
        names = [axis.column for axis in self.network.axes]
        if name not in names:
            known = ", ".join(map(readable, self.columns))
            raise BadInput(f"the synthetic table does not hold column {readable(name)!r}; it holds: {known}")
        return names.index(name)

    def _summary(self) -> tuple[str, list[str], list[tuple[Any, ...]]]:
        title = f"Synthetic table of '{readable(self.schema_.name)}' by {readable(self.method)} for epsilon "
        title += f"{amount(self.epsilon)}: about {self.network.rows:,.0f} rows of {len(self.columns)} columns"
        title += self.outcome_.mark + shown_verdict(self.verdict_)
        rows = [
            (readable(axis.column), axis.size, ", ".join(map(readable, depends)))
            for axis, (_, depends) in zip(self.network.axes, self.relations, strict=True)
        ]
        return title, ["column", "groups", "depends on"], rows

    def __repr__(self) -> str:
        return text_table(*self._summary())

    def _repr_html_(self) -> str:
        return html_table(*self._summary(), None)


def _coarser(fine: Axis, coarse: Axis) -> npt.NDArray[np.int64] | None:
    """The group of the coarse axis for each group of the fine one; None if one of these is in several."""
    pairs = {*zip_longest(fine.groups, coarse.groups)}
    return np.array([group for _, group in sorted(pairs)]) if len(pairs) == fine.size else None


def _gathered(table: Numbers, side: int, groups: npt.NDArray[np.int64]) -> Numbers:
    onehot = np.eye(int(groups.max()) + 1)[groups]
    return np.moveaxis(np.moveaxis(table, side, -1) @ onehot, -1, side)


def checked_synthetic(held: Outcome[Any]) -> SyntheticTable:
    """The synthetic table in a file, whoever it comes from; refuses one whose model does not fit its columns."""
    schema, network = held.schema, held.made
    insist(schema.label is None and type(network) is Network and type(network.rows) is float)
    insist(not any(isinstance(column, Text) for column in schema.column) and 0 <= network.rows <= 2**60)
    parts = (network.axes, network.parents, network.tables)
    insist(all(type(part) is tuple and len(part) == len(schema.column) for part in parts))
    _check_axes(network, schema)
    for place, (parents, table) in enumerate(zip(network.parents, network.tables, strict=True)):
        insist(type(parents) is tuple and len(parents) <= MOST_PARENTS and len({*parents}) == len(parents))
        insist(all(type(parent) is int and 0 <= parent < place for parent in parents))
        shape = tuple(network.axes[one].size for one in (*parents, place))
        insist(isinstance(table, np.ndarray) and table.dtype == np.float64 and table.shape == shape)
        insist(bool((table >= 0).all() and (np.abs(table.sum(axis=-1) - 1) <= OFF).all()))  # NaN is not
    return SyntheticTable(held)


def _check_axes(network: Network, schema: Schema) -> None:
    insist(sorted(axis.column for axis in network.axes) == sorted(column.name for column in schema.column))
    for axis in network.axes:
        Owner(schema)(Grid((axis,)), dense=False)
        insist(all(isinstance(name, str) for name in axis.names))
