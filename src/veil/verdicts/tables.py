"""The noise of released tables of counts beside a typical count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel import Release, SparseCounts
from ..questions import Grid


@dataclass(frozen=True)
class TableNoise:
    """A table of counts: how many fields, the scale of their noise, its 95 % error, and a typical released count."""

    name: str
    fields: int
    scale: float
    error: int
    typical: int

    @property
    def drowned(self) -> bool:
        """Whether a typical count may be zero."""
        return self.typical <= self.error


def noise_of(releases: "Sequence[Release[Any]]") -> list[TableNoise]:
    """The noise of every release that holds counts."""
    return [_noise(release) for release in releases if release.receipt.verb.startswith("count")]


def _noise(release: "Release[Any]") -> TableNoise:
    question, sparse = release.question, isinstance(release.value, SparseCounts)
    counts = np.asarray(release.value.counts if sparse else release.value)
    name = " x ".join(question.columns) or "all rows" if isinstance(question, Grid) else question.describe()
    fields = question.size * len(release.classes)
    return TableNoise(name, fields, release.noise_scale, release.error(), _typical(counts))


def _typical(counts: Any) -> int:
    """The count of the field that a typical row is in: half of the counted rows are in fields at least as large.

    A median over fields would be that of an empty one wherever a column has more codes than it needs.
    """
    sizes = np.sort(np.maximum(counts, 0), axis=None)[::-1]
    rows = np.cumsum(sizes, dtype=np.float64)  # in a file, counts can be as large as any number
    return int(sizes[np.searchsorted(rows, rows[-1] / 2)]) if sizes.size else 0
