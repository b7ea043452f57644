"""How long it takes to select of 33,000 words in 20,000 rows, beside scikit-learn, and what memory it takes."""

import sys
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_selection import SelectKBest, chi2

from veil import (
    Budget,
    Categorical,
    Ledger,
    PrivateClusterSelect,
    PrivateSelectKBest,
    PrivateSelectThreshold,
    Rows,
    Schema,
    Text,
    bag,
    open_source,
)

from .measure import Result, compare, in_its_own_process, resident, seconds, start_over

WORDS, ROWS = 33_000, 20_000
LABEL = Categorical(name="y", values=("no", "yes"))
SCHEMA = Schema(name="bench", label="y", column=[Text(name="text", buckets=WORDS, words_per_row=20), LABEL])


def rows(count: int = ROWS) -> tuple[Any, Any]:
    """A matrix with about thirty words a row, few of them frequent, and labels."""
    draw = np.random.default_rng(0)
    words = np.minimum(draw.zipf(1.3, count * 40) - 1, WORDS - 1)
    matrix = csr_matrix((np.ones(count * 40), (np.repeat(np.arange(count), 40), words)), shape=(count, WORDS))
    matrix.data[:] = 1
    return matrix, np.array(["no", "yes"], object)[draw.integers(0, 2, count)]


def selecting() -> Iterator[Result]:
    """Every selection from the matrix to what is kept, beside two seconds, and the usual one beside chi2."""
    matrix, labels = rows()
    common: dict[str, Any] = {"epsilon": 1, "schema": SCHEMA}
    ways = {
        "100 by peeling": PrivateSelectKBest(k=100, how="peel", **common),
        "100 by noisy counts": PrivateSelectKBest(k=100, how="perturb", **common),
        "100 above a threshold, peel and check": PrivateSelectThreshold(
            score="count", threshold=200, at_most=100, how="peel", **common
        ),
        "100 above a threshold, sparse vector": PrivateSelectThreshold(
            score="count", threshold=200, at_most=100, how="sieve", **common
        ),
        "100 by clusters": PrivateClusterSelect(k=100, **common),
    }
    for name, selector in ways.items():
        ours = median(seconds(lambda one=selector: one.fit(matrix, labels)) for _ in range(5))
        yield Result(f"select {name}, 20,000 x 33,000 / 2 s", ours * 1e3, 2e3, "ms", "< 1")
    usual, theirs = PrivateSelectKBest(k=100, **common), SelectKBest(chi2, k=100)
    name = "select 100 of 33,000 words / SelectKBest(chi2)"
    yield compare(name, lambda: usual.fit(matrix, labels), lambda: theirs.fit(matrix, labels), "< 10", 7)
    if sys.platform == "linux":
        peak, given = in_its_own_process(__file__, "--memory")
        yield Result("peak memory of selecting beside the matrix / the matrix", peak, given, "MB", "< 2")


def measure_memory() -> None:
    small, few = rows(1000)
    source = open_source({"text": small, "y": few}, SCHEMA, Ledger(2, "bench"))
    source.choose_best(bag(SCHEMA), Rows(), Budget(1), count=10)  # what is loaded once
    matrix, labels = rows()
    before = start_over()
    source = open_source({"text": matrix, "y": labels}, SCHEMA, Ledger(2, "bench"))
    source.choose_best(bag(SCHEMA), Rows(), Budget(1), count=100)
    source.count(bag(SCHEMA), Budget(1))
    held = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    print(resident("VmHWM") - before, held / 1e6)


if __name__ == "__main__" and "--memory" in sys.argv:
    measure_memory()
