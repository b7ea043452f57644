"""UG, the uniform grid: equal blocks of cells, as many as balance noise and uneven rows (Qardaji, Yang and Li 2013)."""

from math import ceil

from ...kernel import Budget, Source
from .domain import Domain, Integers, numbered
from .layers import Layers, noisy_rows
from .spread import Spread

UNEVEN = 10  # c: rows x epsilon of a block, in two dimensions
TO_ROWS = "0.02"  # of the budget, for the number of rows


def uniform_grid(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count equal blocks of cells.

    Budget: 2 % for the number of rows, from which the number of blocks follows; the rest for one count of the blocks.
    """
    to_rows, to_count = budget.split(TO_ROWS, "0.98")
    rows = noisy_rows(source, to_rows, domain)
    parts = parts_of_an_axis(rows * float(source.per_row(budget)), domain, UNEVEN)
    layers = Layers(domain)
    layers.count(source, to_count, [blocks(domain, parts)])
    return layers.spread()


def parts_of_an_axis(signal: float, domain: Domain, uneven: float) -> int:
    """m = (rows x epsilon / c)^(2 / (d + 2)), rounded up, and at least 1.

    A range has noise of sqrt(2 r m^d) / epsilon from the blocks inside of it, r their share, and is off by N / (c' m)
    where it cuts through blocks; m makes the sum least. In two dimensions it is the paper's sqrt(N epsilon / 10).
    """
    parts: float = (signal / uneven) ** (2 / (len(domain.shape) + 2))
    return max(ceil(parts), 1)


def blocks(domain: Domain, parts: int) -> Integers:
    """The block of each cell. All blocks have one whole length on an axis, those at the end excepted: uneven lengths
    would favour some of them."""
    lengths = [max(size // parts, 1) for size in domain.shape]
    return numbered([place // length for place, length in zip(domain.along, lengths, strict=True)])
