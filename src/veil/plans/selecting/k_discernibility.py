"""k-discernibility (Vinterbo, ECML-PKDD 2012): columns that together tell rows of different classes apart."""

from ...errors import BadInput
from ...kernel import Budget, Source, whole
from ...questions import Bag
from ..histograms.projected_histogram import private_kd
from .features import Selected, feature_names, features

ANY = 2.0**1000  # cells that can be afforded: there is no handicap, since nothing is counted afterwards


def k_discernibility(source: Source, budget: Budget, k: int) -> Selected:
    """`k` columns, each chosen for the pairs of rows that it tells apart beyond those before it; all, for nothing, if
    there are no more.

    Budget: an equal part for each.

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
