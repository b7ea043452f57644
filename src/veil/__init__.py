"""Veil publishes from a private table under one differential-privacy budget."""

from importlib import import_module
from typing import Any

from .bags import Bag
from .columns import Categorical, Numeric, Text
from .errors import BadInput, BudgetRefused, LedgerProblem, LittleLearned, VeilError
from .kernel.budget import Budget
from .kernel.ledger import Ledger, Receipt
from .kernel.noise import OpenDPNoise, SeededNoise, SystemNoise
from .kernel.release import Release, SparseCounts
from .kernel.scores import Correct, Difference, Discernibility, Entropy, ExpectedCorrect, Gini, Majority, Purity, Rows
from .kernel.source import Source, open_source
from .questions import WHOLE, Axis, Binned, CellScores, Grid, Linear, Predicted, Sum, Tree, axis, bag, grid
from .schema import Schema

__all__ = [
    "Axis",
    "BadInput",
    "Bag",
    "Binned",
    "Budget",
    "BudgetRefused",
    "Categorical",
    "CellScores",
    "Correct",
    "DecisionTreeClassifier",
    "Difference",
    "Discernibility",
    "Entropy",
    "ExpectedCorrect",
    "Gini",
    "Grid",
    "KDiscernibilitySelect",
    "Ledger",
    "LedgerProblem",
    "Linear",
    "LinearSVMClassifier",
    "LittleLearned",
    "LogisticRegressionClassifier",
    "Majority",
    "NaiveBayesClassifier",
    "Numeric",
    "OpenDPNoise",
    "Predicted",
    "PrivPfCClassifier",
    "PrivateClassifier",
    "PrivateClusterSelect",
    "PrivatePipeline",
    "PrivateSelectKBest",
    "PrivateSelectThreshold",
    "PrivateRocDisplay",
    "ProjectedHistogramClassifier",
    "RandomForestClassifier",
    "Purity",
    "Receipt",
    "Release",
    "Rows",
    "Schema",
    "SeededNoise",
    "Source",
    "SparseLogisticRegressionClassifier",
    "SparseNaiveBayesClassifier",
    "SparseCounts",
    "Sum",
    "Synopsis",
    "SystemNoise",
    "Text",
    "Tree",
    "VeilError",
    "Verdict",
    "WHOLE",
    "axis",
    "bag",
    "coefficients",
    "grid",
    "load_model",
    "load_synopsis",
    "open_source",
    "plot_tree",
    "private_accuracy",
    "private_auc",
    "private_calibration_curve",
    "private_confusion_matrix",
    "private_roc_curve",
    "publish",
]
MODELS = (
    "LinearSVMClassifier",
    "LogisticRegressionClassifier",
    "DecisionTreeClassifier",
    "NaiveBayesClassifier",
    "PrivPfCClassifier",
    "PrivateClassifier",
    "KDiscernibilitySelect",
    "PrivateClusterSelect",
    "PrivatePipeline",
    "PrivateSelectKBest",
    "PrivateSelectThreshold",
    "ProjectedHistogramClassifier",
    "RandomForestClassifier",
    "SparseLogisticRegressionClassifier",
    "SparseNaiveBayesClassifier",
    "coefficients",
    "load_model",
    "plot_tree",
)
EVALUATIONS = (
    "PrivateRocDisplay",
    "private_accuracy",
    "private_auc",
    "private_calibration_curve",
    "private_confusion_matrix",
    "private_roc_curve",
)
LATER = {
    **dict.fromkeys(MODELS, "models"),
    **dict.fromkeys(("Synopsis", "load_synopsis", "publish"), "synopsis"),
    **dict.fromkeys(EVALUATIONS, "evaluate"),
    "Verdict": "verdicts",
}


def __getattr__(name: str) -> Any:
    """Models, synopses and evaluations, loaded when they are first used: scikit-learn takes two seconds."""
    if name in LATER:
        return getattr(import_module(f".{LATER[name]}", __name__), name)
    raise AttributeError(f"module 'veil' has no attribute {name!r}")
