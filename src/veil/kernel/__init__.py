"""The only door to private rows: what may be asked, what it costs, and what comes back.

Outside of this folder everything is imported from here; what is not in this list is nobody's business but the kernel's.
"""

from ..views import Receipt
from .budget import Budget, exact
from .entries import PATH, Entries, line_of
from .goals import OrderedBeyond, RightBeyond
from .ledger import VERSION, Ledger
from .losses import MOST_CLASSES, Hinge, Logistic, Loss, Softmax
from .noise import SMALLEST_EPSILON, SystemNoise
from .opendp import OpenDPNoise
from .owning import MOST_COUNTS, Owner, whole
from .recoding import replaced
from .release import Release, SparseCounts
from .scores import (
    PARTS,
    Cellwise,
    Correct,
    Dependence,
    Difference,
    Discernibility,
    Entropy,
    ExpectedCorrect,
    Gini,
    Majority,
    Purity,
    Rows,
    Score,
)
from .seeded import SeededNoise
from .settings import LARGEST_COLUMN, MOST_CURVATURE
from .source import Source, make_noise, open_source
from .store import store_at
from .tally import stacked
from .verbs.minimise import WEIGHT_UNIT
from .verbs.segments import MOST_CELLS as MOST_SEGMENTED

# fmt: off
__all__ = [
    "Budget", "Cellwise", "Correct", "Dependence", "Difference", "Discernibility", "Entries", "Entropy",
    "ExpectedCorrect", "Gini", "Hinge", "LARGEST_COLUMN", "Ledger", "Logistic", "Loss", "MOST_CLASSES",
    "MOST_CURVATURE", "MOST_COUNTS", "MOST_SEGMENTED", "Majority", "OpenDPNoise", "OrderedBeyond", "Owner",
    "PARTS", "PATH", "Purity", "Receipt", "Release", "RightBeyond", "Rows", "SMALLEST_EPSILON", "Score",
    "SeededNoise", "Softmax", "Source", "SparseCounts", "SystemNoise", "VERSION", "WEIGHT_UNIT",
    "exact", "line_of",
    "make_noise", "open_source", "replaced", "stacked", "store_at", "whole",
]
# fmt: on
