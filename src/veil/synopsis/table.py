"""Synopsis: a noisy table that was published, and what can be made of it. It holds no row and asks for none."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..display import amount, html_table, large, number, readable, text_table
from ..errors import BadInput
from ..files.artefacts import make_parts, write_parts
from ..files.tables import new_file, writing
from ..kernel import Release
from ..pages import Reported
from ..plans.outcome import Outcome
from ..questions import Axis, Grid
from ..schema import Categorical, Numeric
from ..verdicts import Verdict, of_answers
from ..verdicts.verdict import shown as shown_verdict
from .answers import Estimate, Marginal, class_weights, group_weights
from .cells import sums, threshold_of, variance, weighted
from .domain import declared_values
from .rows import as_arrow, as_frame, draw_columns

NAMES = 6  # of groups, shown of one column


class Synopsis(Reported):
    """Noisy counts over a grid of a few columns, by class: what `veil.publish` and `veil publish` make.

    `outcome_` is all that it holds: `release_` the counts, `releases_` every noisy answer that led to them, `receipts_`
    what they cost. All else is computed from these, so that asking a synopsis costs nothing, however often.
    """

    def __init__(self, outcome: Outcome[Release[Any]]) -> None:
        release = outcome.made
        if release.receipt.verb not in ("count", "count_sparse") or type(release.question) is not Grid:
            raise BadInput("a synopsis is made of counts over a grid: the plan must end with count or count_sparse")
        if outcome.schema.label in release.question.columns:
            raise BadInput("the label of a synopsis is counted by class: leave it out of the grid")
        if not any(release is other for other in outcome.releases):
            raise BadInput("the counts of a synopsis must be among its releases")
        self.outcome_ = outcome

    @property
    def release_(self) -> Release[Any]:
        """The counts."""
        release: Release[Any] = self.outcome_.made
        return release

    @property
    def method(self) -> str:
        """By which way it was made, one of PUBLISHERS."""
        return self.outcome_.method

    @property
    def grid(self) -> Grid:
        """The cells that were counted."""
        grid: Grid = self.release_.question
        return grid

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it holds, the label last."""
        return self.grid.columns + ((str(self.schema_.label),) if self._labelled else ())

    @property
    def _labelled(self) -> bool:
        return self.schema_.label is not None and self.release_.classes == self.schema_.classes

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, as values of the label."""
        return declared_values(self.schema_.classes)

    @property
    def verdict_(self) -> Verdict:
        """What the table says beside its noise, from the released answers alone."""
        return of_answers(self.releases_, self.schema_)

    @property
    def epsilon(self) -> Fraction:
        """What it cost."""
        return self.outcome_.epsilon

    @property
    def threshold(self) -> int | None:
        """The noisy count above which a cell was released; None if all were."""
        return threshold_of(self.release_)

    def marginal(self, columns: Sequence[str] = ()) -> Marginal:
        """Noisy counts by these columns, the label among them if it is wanted; by none, the number of all rows.

        The noise of a sum grows with the number of cells in it: fewer columns have fewer, but noisier counts.
        """
        columns = [columns] if isinstance(columns, str) else list(columns)
        places = [self._place(name) for name in columns]
        if len(set(places)) < len(places):
            raise BadInput("a marginal can hold a column only once")
        return Marginal(self.release_, {name: self._names(name) for name in columns}, *sums(self.release_, places))

    def query(self, where: Mapping[str, Any] | None = None, /, **more: Any) -> Estimate:
        """About how many rows lie in a box: `query(age=(30, 50), sex="Female")`.

        Categories by name or as a list of names, None for missing ones; numbers as a range (low, high), both included,
        in which None leaves an end open. Names that are no Python names go in a dict: `query({"marital status": ...})`.
        Rows count as evenly spread over the values of a group, and over a bin.
        """
        wanted = {**(where or {}), **more}
        for name in wanted:
            self._place(name)
        weights = [self._weights(axis, wanted) for axis in self.grid.axes]
        weights.append(self._class_weights(wanted))
        count, squares = weighted(self.release_, weights)
        return Estimate(count, sqrt(squares * variance(self.release_.noise_scale)), self.threshold)

    def to_frame(
        self,
        rows: int | None = None,
        random_state: Any = None,
        values: str = "uniform",
        *,
        missing: bool = True,
        all_columns: bool = False,
    ) -> Any:
        """Synthetic rows under the original names and in the original units: a pandas data frame, or without pandas an
        Arrow table.

        As many rows for each cell as were counted in it, none for a count below zero; or `rows` of them, drawn by these
        counts. Categories are drawn evenly from their group, numbers evenly from its bins and from within a bin
        (`values="midpoint"`: the mean of these). A value is missing only where a cell holds nothing but missing ones;
        `missing=False` leaves such cells out. Columns that the synopsis does not hold are left out too;
        `all_columns=True` draws them evenly from their declared domain, so that they tell nothing.
        """
        return as_frame(draw_columns(self.schema_, self.release_, rows, random_state, values, missing, all_columns))

    def to_arrow(self, rows: int | None = None, random_state: Any = None, values: str = "uniform", **more: bool) -> Any:
        """The same as an Arrow table; `more` is what `to_frame` takes."""
        options = {"missing": True, "all_columns": False, **more}
        return as_arrow(draw_columns(self.schema_, self.release_, rows, random_state, values, **options))

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Write the synopsis to a file that holds data only; `veil.load_synopsis` reads it back."""
        with new_file(path, force=force) as draft, writing(path):
            self.write(draft)

    def write(self, draft: "str | os.PathLike[str]") -> None:
        """Write it to this place, whatever is there."""
        write_parts(draft, synopsis_parts(self.outcome_))

    def _place(self, name: str) -> int:
        if name not in self.columns:
            known = ", ".join(map(readable, self.columns)) or "none"
            raise BadInput(f"the synopsis does not hold column {readable(name)!r}; it holds: {known}")
        return self.columns.index(name)

    def _names(self, name: str) -> tuple[str, ...]:
        place = self._place(name)
        return self.grid.axes[place].names if place < len(self.grid.axes) else self.schema_.classes

    def _weights(self, axis: Axis, wanted: Mapping[str, Any]) -> npt.NDArray[np.float64]:
        column = self.schema_.get(axis.column)
        if axis.column not in wanted or not isinstance(column, (Categorical, Numeric)):
            return np.ones(axis.size)
        return group_weights(axis, column, wanted[axis.column])

    def _class_weights(self, wanted: Mapping[str, Any]) -> npt.NDArray[np.float64]:
        label = str(self.schema_.label)
        if not self._labelled or label not in wanted:
            return np.ones(len(self.release_.classes))
        return class_weights(self.schema_.classes, label, wanted[label])

    def _summary(self) -> tuple[str, list[str], list[tuple[Any, ...]]]:
        cells, noise = large(self.grid.size * len(self.release_.classes)), number(self.release_.noise_scale)
        title = f"Synopsis of '{readable(self.schema_.name)}' by {readable(self.method)}"
        title += f" for epsilon {amount(self.epsilon)}: {cells} counts, noise scale {noise}"
        title += self.outcome_.mark + shown_verdict(self.verdict_)
        rows = [(readable(name), len(self._names(name)), shown(self._names(name))) for name in self.columns]
        return title, ["column", "groups", "of"], rows

    def __repr__(self) -> str:
        return text_table(*self._summary())

    def _repr_html_(self) -> str:
        return html_table(*self._summary(), None)


def shown(names: Sequence[str], most: int = NAMES) -> str:
    """The names of groups in a row, the middle of many left out."""
    return ", ".join(map(readable, names if len(names) <= most else [*names[: most - 2], "...", names[-1]]))


def synopsis_parts(outcome: Outcome[Any]) -> dict[str, bytes]:
    """Everything that the file of a synopsis holds, by name; in place of its table, which release that is."""
    place = next(i for i, release in enumerate(outcome.releases) if release is outcome.made)
    return make_parts("synopsis", replace(outcome, made=place))
