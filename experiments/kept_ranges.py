"""python -m experiments.kept_ranges: what `veil explore` shows about ranges without any file, kept in the package.

Exact counts of public rows whose licence lets them be handed on, at most 512 cells of one column or 64 x 64 of two, one
noisy draw of each method through the kernel, and errors by width over five. Needs the folder VEIL_DATA.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from veil.compare.ranges import measured
from veil.explore.given import RANGES
from veil.files.kept_ranges import Ranged, write_ranges
from veil.schema import Numeric, Schema

FOLDER = Path(os.environ.get("VEIL_DATA") or "../shared/data")
METHODS = ("adaptive-tree", "adaptive-grid", "dawa", "hierarchy", "identity")
EPSILONS = (0.01, 0.1, 1.0)
TRIALS = 5
GEONAMES = "GeoNames, places of 500 and more people, CC BY 4.0"
ROADS = "UK Department for Transport, Open Government Licence"
BANK = "UCI Bank Marketing (Moro, Cortez, Rita 2014), CC BY 4.0"
ADULT = "UCI Adult (Becker, Kohavi 1996), CC BY 4.0"
EAST, NORTH = (-9, 2), (49, 61)  # of Great Britain
ERRORS_ALONE = ("identity", "hierarchy")  # whose maps would take more than all else together
# what it is called, where the rows are, who made them, and for each column its name here, its name there and its cells
Column = tuple[str, str, tuple[float, float], int, bool]
TABLES: tuple[tuple[str, str, str, list[Column]], ...] = (
    ("places of the world", "geo_world_places", GEONAMES, [("longitude", "x", (-180, 180), 512, False)]),
    ("road accidents", "geo_uk_accidents", ROADS, [("latitude", "y", NORTH, 256, False)]),
    ("calls of a bank", "bank_additional", BANK, [("seconds", "duration", (0, 5119), 256, True)]),
    ("adults", "adult", ADULT, [("hours a week", "hours-per-week", (1, 99), 99, True)]),
    (
        *("road accidents", "geo_uk_accidents", ROADS),
        [("longitude", "x", EAST, 64, False), ("latitude", "y", NORTH, 64, False)],
    ),
)


def rows_of(file: str, columns: list[Column]) -> tuple[Any, Schema]:
    """The rows, and a schema that cuts their columns into these cells."""
    frame = pd.read_csv(FOLDER / f"{file}.csv.gz", usecols=[there for _, there, *_ in columns])
    frame = frame.rename(columns={there: here for here, there, *_ in columns})
    declared = [
        Numeric(name=here, bounds=bounds, bins=cells, scale="linear", integer=integer)
        for here, _, bounds, cells, integer in columns
    ]
    return frame, Schema(name="ranges", column=declared, public=True)


def tables() -> Iterator[Ranged]:
    """All of them, measured anew."""
    for name, file, source, columns in TABLES:
        rows, schema = rows_of(file, columns)
        _, kept = measured(name, rows, schema, [here for here, *_ in columns], METHODS, EPSILONS, TRIALS)
        print(kept.title, flush=True)
        small = [replace(draw, cells=None) if len(columns) > 1 and draw.method in ERRORS_ALONE else draw
                 for draw in kept.draws]  # fmt: skip
        yield replace(kept, source=source, draws=tuple(small))


if __name__ == "__main__":
    write_ranges(RANGES, list(tables()))
    print(f"{RANGES.name}: {RANGES.stat().st_size / 1000:.1f} kB")
