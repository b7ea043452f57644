"""Veil publishes from a private table under one differential-privacy budget."""

from typing import Any

from .columns import Categorical, Numeric, Text
from .errors import BadInput, BudgetRefused, LedgerProblem, VeilError
from .kernel.budget import Budget
from .kernel.ledger import Ledger, Receipt
from .kernel.noise import OpenDPNoise, SeededNoise, SystemNoise
from .kernel.release import Release, SparseCounts
from .kernel.scores import Correct, Discernibility, Entropy, ExpectedCorrect, Gini, Majority, Rows
from .kernel.source import Source, open_source
from .questions import WHOLE, Axis, Binned, CellScores, Grid, Linear, Predicted, Tree, axis, grid
from .schema import Schema

__all__ = [
    "Axis",
    "BadInput",
    "Binned",
    "Budget",
    "BudgetRefused",
    "Categorical",
    "CellScores",
    "Correct",
    "Discernibility",
    "Entropy",
    "ExpectedCorrect",
    "Gini",
    "Grid",
    "Ledger",
    "LedgerProblem",
    "Linear",
    "Majority",
    "NaiveBayesClassifier",
    "Numeric",
    "OpenDPNoise",
    "Predicted",
    "PrivPfCClassifier",
    "PrivateClassifier",
    "ProjectedHistogramClassifier",
    "Receipt",
    "Release",
    "Rows",
    "Schema",
    "SeededNoise",
    "Source",
    "SparseCounts",
    "SystemNoise",
    "Text",
    "Tree",
    "VeilError",
    "WHOLE",
    "axis",
    "grid",
    "load_model",
    "open_source",
]
MODELS = (
    "NaiveBayesClassifier",
    "PrivPfCClassifier",
    "PrivateClassifier",
    "ProjectedHistogramClassifier",
    "load_model",
)


def __getattr__(name: str) -> Any:
    """The models, loaded when they are first used: scikit-learn takes two seconds that other uses need not wait."""
    if name in MODELS:
        from . import models

        return getattr(models, name)
    raise AttributeError(f"module 'veil' has no attribute {name!r}")
