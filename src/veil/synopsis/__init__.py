"""Synopsis: a noisy table published for classification; queries, synthetic rows and files are made of it alone."""

from .answers import Estimate, Marginal
from .publish import PUBLISHERS, find_plan, load_synopsis, publish, rehearse_publish
from .table import Synopsis

__all__ = [
    "Estimate",
    "Marginal",
    "PUBLISHERS",
    "Synopsis",
    "find_plan",
    "load_synopsis",
    "publish",
    "rehearse_publish",
]
