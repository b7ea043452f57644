"""Whether rows and values arrived, by released counts."""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

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
LEFT_OUT = "rows whose label is none of the schema's values are left out"


@dataclass(frozen=True)
class Counted:
    """The rows that released counts add up to, the deviation of their noise, and whether they are a part of all."""

    rows: float
    deviation: float
    part: bool

    @property
    def none(self) -> bool:
        """Whether there may be no rows at all."""
        return self.rows <= SURE * self.deviation

    @property
    def hidden(self) -> str:
        """How many rows the noise could hide."""
        return f"{max(round(SURE * self.deviation), 1):,}"

    def short(self, schema: Schema) -> bool:
        """Whether there are certainly fewer than half of the rows that the schema declares."""
        if schema.rows is None or schema.person is not None or self.part:
            return False
        return self.rows + SURE * self.deviation < schema.rows / 2

    def level(self, schema: Schema) -> str:
        return "nothing" if self.none else "poor" if self.rows < FEW or self.short(schema) else "good"

    def words(self, schema: Schema) -> str:
        """What is wrong with the number of rows; nothing if all is well."""
        if self.none:
            return f"the released counts show no rows beyond their noise, in which up to {self.hidden} could hide"
        about = f"about {max(round(self.rows), 1):,}"
        if self.short(schema):
            return f"only {about} of the {schema.rows:,} rows that the schema declares were counted"
        return f"only {about} rows were counted" if self.rows < FEW else ""

    def advice(self) -> str:
        """What to do about it."""
        if self.none and self.deviation > MANY:
            return f"try a larger epsilon; if you have more than {self.hidden} rows, {CHECK} ({LEFT_OUT})"
        return f"if you expected more rows, {CHECK} ({LEFT_OUT})"


def counted(releases: Releases) -> Counted | None:
    """The rows that all tables together show: each adds up to them, and counts by how little noise its sum has.

    Of answers about several parts of the rows, those about all of them, or else about the first part.
    """
    counts = [release for release in releases if release.receipt.verb == "count"]
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
    """The columns of which nearly no row has a declared value, where released counts show it beyond their noise."""
    sure = SURE + sqrt(2 * log(max(len(releases), 1)))  # the noise of one of many tables goes far by chance
    return [readable(release.question.columns[0]) for release in releases if _is_missing(release, sure)]


def _is_missing(release: Release[Any], sure: float) -> bool:
    grid = release.question
    if release.receipt.verb != "count" or not isinstance(grid, Grid) or len(grid.axes) != 1:
        return False
    rows = np.asarray(release.value).sum(axis=1)
    certain = rows[-1] - sure * sqrt(2 * len(release.classes)) * release.noise_scale
    return grid.axes[0].names[-1] == MISSING and bool(certain > 0 and rows[-1] >= NEARLY_ALL * rows.sum())
