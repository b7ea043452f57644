"""Effort: about how long a run takes on one core and how much memory, beyond a start of Veil. It loads no method.

The constants are fitted to what `make bench-scale` measured and keeps in `experiments/bench/scale.json`: a whole `veil
train` on rows of 14 columns in Parquet, less a start. Of a fixed amount and one for each row, none below zero, those
are taken whose relative errors have the least sum of squares, and rounded to two digits (`fitted` in
`experiments/bench/scale.py` does it again). What a tree takes for its nodes grows with the rows until there are GROWN
of them, and what PrivPfC holds of its grids until there are FULL. Methods that are not in that file were measured once,
on 10^5 and 10^6 rows of the same tables.
"""

from typing import NamedTuple

COLUMNS = 14  # of the tables that were measured, besides the label
GROWN, FULL = 10**6, 10**7
GRIDS = 12_400  # about so many small grids there are of ten columns; of fourteen, 89,673
EACH, LOOK = 3.6e-5, 5e-9  # seconds for each candidate, and for each row that is looked at


class Effort(NamedTuple):
    """What a run takes: seconds in any case, for each of the first rows, and for each row; MB, and bytes a row."""

    seconds: float = 0.0
    early: float = 0.0
    each: float = 0.0
    megabytes: float = 0.0
    held: float = 0.0


EFFORTS = {
    "naive-bayes": Effort(0.27, 0, 1.9e-7, 30),
    "logistic": Effort(0.098, 0, 7.0e-7, 43),
    "svm": Effort(0, 0, 1.9e-6, 55),
    "tree": Effort(0, 1.3e-5, 9.1e-7, 180, 3.3),
    "privpfc": Effort(0.27, 0, 1.9e-7, 100, 36),  # beside the choice
    "blend": Effort(0.37, 0, 8.9e-7, 140, 36),  # as PrivPfC and logistic regression, beside the choice
    "forest": Effort(0, 3e-6, 1e-6, 45),
    "shares": Effort(0, 0, 1e-7, 17),
    "projected": Effort(0, 0, 7e-7, 60),
    "diffgen": Effort(0, 0, 1.4e-6, 60),
    "privgene": Effort(0, 0, 2.8e-5, 30),
}
READING = EFFORTS["naive-bayes"]  # which hardly does more than read and count
CHOOSING = ("privpfc", "blend")  # which choose among about three grids for each row at epsilon 1, up to 100,000


def run_seconds(effort: Effort, rows: int, columns: int) -> float:
    """The seconds of a run on so many rows and columns."""
    share = max(columns, 1) / COLUMNS
    return effort.seconds + share * (effort.early * min(rows, GROWN) + effort.each * rows)


def run_megabytes(effort: Effort, rows: int) -> float:
    """The private memory of a run in MB. Few rows take less: a tree in proportion, blocks of rows by the root."""
    part: float = min(rows / GROWN, 1.0) ** (1.0 if effort.early else 0.5)
    return effort.megabytes * part + effort.held * min(rows, FULL) / 1e6


def to_choose(candidates: int, rows: int, columns: int) -> float:
    """About how many seconds it takes to choose one of so many grids: with 14 columns, rows are looked at once for
    about a hundred of them; with more columns, grids have less in common."""
    return candidates * (EACH + min((columns / COLUMNS) ** 3 / 100, 1) * rows * LOOK)


def grids(rows: int, columns: int) -> int:
    """About how many grids a method chooses among at epsilon 1."""
    return int(min(100_000, max(100, 3 * rows), GRIDS * (columns / 10) ** 6))
