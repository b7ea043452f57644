"""Veil publishes from a private table under one differential-privacy budget."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import BadInput, BudgetRefused, LedgerProblem, LittleLearned, NoLedger, SameRows, VeilError
from .files.tables import read_csv
from .kernel import (
    Budget,
    Correct,
    Dependence,
    Difference,
    Discernibility,
    Entropy,
    ExpectedCorrect,
    Gini,
    Ledger,
    Majority,
    OpenDPNoise,
    Purity,
    Receipt,
    Release,
    Rows,
    SeededNoise,
    Source,
    SparseCounts,
    SystemNoise,
    open_source,
)
from .plans.outcome import Outcome
from .progress import progress
from .questions import WHOLE, Axis, Bag, Binned, CellScores, Grid, Linear, Predicted, Sum, Tree, axis, bag, grid
from .schema import Categorical, Date, Numeric, Schema, Text

if TYPE_CHECKING:
    from . import datasets
    from .choice import ChoiceMaker, Database, Metafeature, Option, Trace, Traces, read_traces
    from .evaluate import *
    from .models import *
    from .synopsis import *
    from .verdicts import Verdict

ROOMS = (
    "verdicts",
    "choice",
    "synopsis",
    "models",
    "evaluate",
)  # their names are loaded when first used: scikit-learn takes two seconds
__all__ = [
    "AutoClassifier",
    "Axis",
    "BadInput",
    "Bag",
    "BestOf",
    "Binned",
    "BlendClassifier",
    "Budget",
    "BudgetRefused",
    "Categorical",
    "CellScores",
    "ChoiceMaker",
    "ClassSharesClassifier",
    "Correct",
    "Database",
    "DecisionTreeClassifier",
    "Dependence",
    "DiffGenClassifier",
    "Difference",
    "Discernibility",
    "Entropy",
    "ExpectedCorrect",
    "Gini",
    "Grid",
    "Histogram",
    "KDiscernibilitySelect",
    "Ledger",
    "LedgerProblem",
    "Linear",
    "LinearSVMClassifier",
    "LittleLearned",
    "LogisticRegressionClassifier",
    "Majority",
    "Metafeature",
    "NaiveBayesClassifier",
    "Date",
    "NoLedger",
    "Numeric",
    "OpenDPNoise",
    "Option",
    "Outcome",
    "Predicted",
    "PrivGeneClassifier",
    "PrivPfCClassifier",
    "PrivateClassifier",
    "PrivateClusterSelect",
    "PrivatePipeline",
    "PrivateRocDisplay",
    "PrivateSelectKBest",
    "PrivateSelectThreshold",
    "ProjectedHistogramClassifier",
    "Purity",
    "RandomForestClassifier",
    "Receipt",
    "Release",
    "Rows",
    "SameRows",
    "Schema",
    "SeededNoise",
    "Source",
    "SparseCounts",
    "SparseLogisticRegressionClassifier",
    "SparseNaiveBayesClassifier",
    "Sum",
    "Synopsis",
    "SyntheticTable",
    "SystemNoise",
    "Text",
    "Trace",
    "Traces",
    "Tree",
    "VeilError",
    "Verdict",
    "WHOLE",
    "axis",
    "bag",
    "coefficients",
    "datasets",
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
    "progress",
    "publish",
    "read_csv",
    "read_traces",
]


def __getattr__(name: str) -> Any:
    """Data sets, models, synopses and evaluations: whatever a room offers under this name."""
    if name == "datasets":
        return import_module(".datasets", __name__)
    for room in ROOMS if name in __all__ else ():
        offered = import_module(f".{room}", __name__)
        if name in offered.__all__:
            return getattr(offered, name)
    raise AttributeError(f"module 'veil' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All that is offered, loaded or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
