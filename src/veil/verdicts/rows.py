"""Whether rows and values arrived as declared, judged from released counts."""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..display import readable
from ..kernel import Release
from ..questions import Bag, Grid
from ..schema import Schema
from ..schema.columns import MISSING
from .evidence import Releases

SURE = 2  # standard deviations
FEW = 100  # rows
MANY = 1000  # rows of noise, which a whole table could hide in
NEARLY_ALL = 0.9  # of the rows, without a declared value
CHECK = "compare the file with the schema: veil schema check SCHEMA --rows DATA"
DENSE = ("count", "count_gradually")  # of every cell
LEFT_OUT = "rows whose label is none of the schema's values are left out"


@dataclass(frozen=True)
class Counted:
    """The noisy number of rows, the standard deviation of its noise, and whether it is of a part of the rows."""

    rows: float
    deviation: float
    part: bool

    @property
    def none(self) -> bool:
        """Whether the number of rows may be zero."""
        return self.rows <= SURE * self.deviation

    @property
    def hidden(self) -> str:
        """How many rows the noise could hide, as text."""
        return f"{max(round(SURE * self.deviation), 1):,}"

    def short(self, schema: Schema) -> bool:
        """Whether there are certainly fewer than half of the rows that the schema declares."""
        if schema.rows is None or schema.person is not None or self.part:
            return False
        return self.rows + SURE * self.deviation < schema.rows / 2

    @property
    def few(self) -> bool:
        """Whether there may be too few rows: not whether that is likely, since noise makes many rows of few."""
        return self.rows - SURE * self.deviation < FEW

    def level(self, schema: Schema) -> str:
        return "nothing" if self.none else "poor" if self.few or self.short(schema) else "good"

    def words(self, schema: Schema) -> str:
        """A sentence part: what is wrong with the number of rows; "" if nothing is."""
        if self.none:
            return f"the released counts show no rows beyond their noise, in which up to {self.hidden} could hide"
        about = f"about {max(round(self.rows), 1):,}"
        if self.short(schema):
            return f"only {about} of the {schema.rows:,} rows that the schema declares were counted"
        if self.rows >= FEW and self.few:
            return f"{about} rows were counted, but with this noise there may be fewer than {FEW}"
        return f"only {about} rows were counted" if self.few else ""

    def advice(self) -> str:
        """A sentence part: what to do if rows are missing."""
        if self.none and self.deviation > MANY:
            return f"try a larger epsilon; if you have more than {self.hidden} rows, {CHECK} ({LEFT_OUT})"
        return f"if you expected more rows, {CHECK} ({LEFT_OUT})"


def counted(releases: Releases) -> Counted | None:
    """The number of rows from all tables of counts, averaged by inverse variance; None without tables.

    If answers are about several parts of the rows, those about all rows are used, or else those about the first part.
    """
    counts = [release for release in releases if release.receipt.verb in DENSE]
    tables = [release for release in counts if not isinstance(release.question, Bag)]  # whose rows count many times
    if not tables:
        return None
    accounts = [release.receipt.account for release in tables]
    place = "/" if "/" in accounts else accounts[0]
    sums = [_sum(release) for release in tables if release.receipt.account == place]
    least = min(deviation for _, deviation in sums)
    trust = np.array([(least / deviation) ** 2 for _, deviation in sums])
    rows = float(trust @ np.array([total for total, _ in sums]) / trust.sum())
    return Counted(rows, least / sqrt(trust.sum()), place != "/")


def _sum(release: Release[Any]) -> tuple[float, float]:
    value = np.asarray(release.value)
    return float(value.sum()), max(sqrt(2 * value.size) * release.noise_scale, 1e-9)


def mostly_missing(releases: Releases) -> list[str]:
    """The names of columns in which nearly no row has a declared value, as counts show beyond their noise."""
    found = [side.column for side in _sides(releases) if side.names[-1] == MISSING and side.holds_nearly_all(-1)]
    return [*map(readable, dict.fromkeys(found))]


def mostly_first(releases: Releases) -> list[str]:
    """The names of columns whose first group holds missing values too, and nearly all rows: no others stand out."""
    sides = [side for side in _sides(releases) if side.names[0].endswith(f" or {MISSING}")]
    return [
        *map(readable, dict.fromkeys(side.column for side in sides if side.holds_nearly_all(0) and side.rest_drowns))
    ]


class Side(NamedTuple):
    """The rows in each group of a column, from tables of counts; the deviation of the noise of each, and how many
    deviations make sure, among so many tables."""

    column: str
    names: tuple[str, ...]
    rows: npt.NDArray[np.float64]
    deviation: float
    sure: float

    def holds_nearly_all(self, group: int) -> bool:
        certain = self.rows[group] - self.sure * self.deviation
        return bool(certain > 0 and self.rows[group] >= NEARLY_ALL * self.rows.sum())

    @property
    def rest_drowns(self) -> bool:
        """Whether all groups but the first may be without a row."""
        return bool(self.rows[1:].sum() <= self.sure * self.deviation * sqrt(len(self.rows) - 1))


def _sides(releases: Releases) -> list[Side]:
    """Every column as it is grouped in tables of counts, with the rows of all these tables averaged by their noise."""
    sure = SURE + sqrt(2 * log(max(len(releases), 1)))  # of many tables, one has large noise by chance
    tables = [one for one in releases if one.receipt.verb in DENSE and isinstance(one.question, Grid)]
    found: dict[Any, list[tuple[Any, float]]] = {}
    for table in tables:
        for place, axis in enumerate(table.question.axes):
            found.setdefault((axis.column, axis.names), []).append(_along(table, place))
    return [_averaged(column, names, some, sure) for (column, names), some in found.items()]


def _along(release: Release[Any], place: int) -> tuple[Any, float]:
    """The rows in each group of one axis of a table, and the deviation of the noise of each."""
    sizes, value = [axis.size for axis in release.question.axes], np.asarray(release.value, np.float64)
    rows = np.moveaxis(value.reshape([*sizes, -1]), place, 0).reshape(sizes[place], -1).sum(axis=1)
    return rows, max(sqrt(2 * value.size / sizes[place]) * release.noise_scale, 1e-9)


def _averaged(column: str, names: tuple[str, ...], tables: list[tuple[Any, float]], sure: float) -> Side:
    trust = np.array([deviation**-2 for _, deviation in tables])
    rows = trust @ np.array([rows for rows, _ in tables]) / trust.sum()
    return Side(column, names, rows, float(trust.sum() ** -0.5), sure)
