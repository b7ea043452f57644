"""k-discernibility (Vinterbo, ECML-PKDD 2012): columns that together tell rows of different classes apart."""

from ...errors import BadInput
from ...kernel import Budget, Source, whole
from ...questions import Bag
from ..histograms.projected_histogram import private_kd
from .features import Selected, feature_names, features

ANY = 2.0**1000  # cells without a handicap: any number, since nothing is counted afterwards


def k_discernibility(source: Source, budget: Budget, k: int) -> Selected:
    """`k` columns chosen greedily, each for the pairs of rows of different classes that it separates and those before
    it do not; if there are no more than `k`, all of them for nothing.

    Budget: an equal share for each column.

    Returns the columns in the order in which they were chosen, without scores.
    """
    axes = features(source.schema)
    if isinstance(axes, Bag):
        raise BadInput("discernibility is of columns, not of words: use another score")
    if whole(k, "k", 1, 2**31) >= len(axes):
        return Selected(tuple(range(len(axes))))
    names = feature_names(source.schema)
    grid = private_kd(source, budget, axes, k, "discernibility", 1.0, ANY)
    return Selected(tuple(names.index(name) for name in grid.columns))
