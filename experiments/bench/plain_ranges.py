"""HB and AG as they are commonly written: floating-point Laplace noise on a table of exact counts, block by block.

Written anew from the papers for the sake of speed ratios. NOT PRIVATE as code: the noise is in floating point, and AG
takes the number of rows as known.
"""

from math import ceil, sqrt
from typing import Any

import numpy as np

from veil.plans.ranges.hierarchy import branches, height

Array = Any


def plain_hb(counts: Array, epsilon: float, chance: np.random.Generator) -> Array:
    """HB on a line (Qardaji, Yang, Li 2013b): nodes of every level below the root, with Hay et al.'s two passes."""
    many = branches(len(counts))
    levels = [np.append(counts, np.zeros(many ** height(len(counts), many) - len(counts)))]
    while len(levels[0]) > many:
        levels.insert(0, levels[0].reshape(-1, many).sum(axis=1))
    noisy = [level + chance.laplace(0, len(levels) / epsilon, len(level)) for level in levels]
    up = [noisy[-1]]
    for depth, own in enumerate(reversed(noisy[:-1]), 2):
        weight = (many**depth - many ** (depth - 1)) / (many**depth - 1)
        up.insert(0, weight * own + (1 - weight) * up[0].reshape(-1, many).sum(axis=1))
    settled = up[0]
    for below in up[1:]:
        children = below.reshape(-1, many)
        settled = (children + ((settled - children.sum(axis=1)) / many)[:, None]).ravel()
    return settled[: len(counts)]


def plain_ag(counts: Array, epsilon: float, chance: np.random.Generator) -> Array:
    """AG on a square (Qardaji, Yang, Li 2013): half of epsilon for a coarse grid, half for finer ones in its blocks."""
    side, found = len(counts), np.zeros(counts.shape)
    coarse = max(10, ceil(sqrt(counts.sum() * epsilon / 10) / 4))
    length = max(side // coarse, 1)
    for top in range(0, side, length):
        for left in range(0, side, length):
            block = counts[top : top + length, left : left + length]
            found[top : top + length, left : left + length] = _block(block, epsilon / 2, chance)
    return found


def _block(block: Array, epsilon: float, chance: np.random.Generator) -> Array:
    """The cells of a coarse block: its noisy count, those of its finer blocks, and both made to agree."""
    whole = block.sum() + chance.laplace(0, 1 / epsilon)
    parts = max(ceil(sqrt(max(whole, 0) * epsilon / 5)), 1)
    length = max(len(block) // parts, 1)
    corners = [(i, j) for i in range(0, block.shape[0], length) for j in range(0, block.shape[1], length)]
    pieces = [block[i : i + length, j : j + length] for i, j in corners]
    noisy = [piece.sum() + chance.laplace(0, 1 / epsilon) for piece in pieces]
    agreed = (len(pieces) * whole + sum(noisy)) / (len(pieces) + 1)  # by inverse variance
    found = np.zeros(block.shape)
    for (i, j), piece, count in zip(corners, pieces, noisy, strict=True):
        found[i : i + length, j : j + length] = (count + (agreed - sum(noisy)) / len(pieces)) / piece.size
    return found
