"""Veil publishes from a private table under one differential-privacy budget."""

from .columns import Categorical, Numeric, Text
from .errors import BadInput, BudgetRefused, LedgerProblem, VeilError
from .kernel.budget import Budget
from .kernel.ledger import Ledger, Receipt
from .kernel.noise import OpenDPNoise, SeededNoise, SystemNoise
from .kernel.release import Release, SparseCounts
from .kernel.scores import Correct, Entropy, Gini, Majority, Rows
from .kernel.source import Source, open_source
from .models import NaiveBayesClassifier, PrivateClassifier, load_model
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
    "Entropy",
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
    "PrivateClassifier",
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
