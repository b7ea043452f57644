"""Synopsis: a noisy table published for classification; queries, synthetic rows and files are made of it alone."""

from .answers import Estimate, Marginal
from .histogram.publishing import HISTOGRAMS
from .histogram.table import Histogram
from .publish import PUBLISHERS, SYNTHESISERS, find_plan, load_synopsis, publish, rehearse_publish
from .synthetic import SyntheticTable
from .table import Synopsis

__all__ = [
    "Estimate",
    "HISTOGRAMS",
    "Histogram",
    "Marginal",
    "PUBLISHERS",
    "SYNTHESISERS",
    "Synopsis",
    "SyntheticTable",
    "find_plan",
    "load_synopsis",
    "publish",
    "rehearse_publish",
]
