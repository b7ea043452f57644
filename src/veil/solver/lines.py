"""Line search, and approximate second derivatives of losses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
STEPS = 8  # steps at least, so that their number says little
NEAREST = 1 / 16  # share of an interval: the next guess comes no closer to its ends


def curves(loss: Any, scores: Numbers, truth: Numbers, sharp: bool = False) -> Numbers:
    """The approximate second derivative by each score; it only affects the lengths of steps. For the hinge, where it is
    1 between two corners and 0 elsewhere, a smooth approximation unless `sharp`."""
    if type(loss).__name__ == "Hinge":
        corners = np.abs(1 - truth * scores) <= 0.5
        return np.asarray(corners * 1.0 if sharp else 1 / (1 + (2 - 2 * truth * scores) ** 4), np.float64)
    shares = loss.slopes(scores, np.zeros(1)) if loss.joint else np.abs(loss.slopes(scores, truth))
    return np.asarray(shares * (1 - shares))


def line_end(slope: Callable[[float], float], start: float, slack: float) -> float:
    """The step length along a line: where the slope is at most half of that at the start, and at least -slack times it.
    The last length that `slope` was asked for.

    It is found between a length that is too short and one that is too long: at a corner of the loss the slope changes
    sign at once, and plain interpolation would stop far before the corner, again and again.
    """
    start, length = max(start, 0.0), 1.0  # below zero by rounding only
    low, high = (0.0, start), (np.inf, 0.0)  # the lengths, and the slopes there
    for tried in range(60):
        if -slack * start <= (end := slope(length)) <= start / 2 or tried == 59:
            break
        low, high = ((length, end), high) if end > 0 else (low, (length, end))
        part = min(max(low[1] / max(low[1] - high[1], 1e-300), NEAREST), 1 - NEAREST)
        length = low[0] + part * (high[0] - low[0]) if high[0] < np.inf else 2 * length
    return length
