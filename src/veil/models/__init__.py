"""Models: private classifiers with scikit-learn's interface. Each is a plan and its settings; `base` does the rest."""

import os
from typing import Any

from ..errors import BadInput
from ..kernel import Budget
from .auto import AutoClassifier
from .base import PrivateClassifier
from .best_of import BestOf
from .blend import BlendClassifier
from .class_shares import ClassSharesClassifier
from .displays import coefficients, plot_tree
from .files import read_model
from .histograms import DiffGenClassifier, PrivPfCClassifier, ProjectedHistogramClassifier
from .linear import LinearSVMClassifier, LogisticRegressionClassifier
from .naive_bayes import NaiveBayesClassifier
from .pipeline import PrivatePipeline
from .privgene import PrivGeneClassifier
from .selectors import KDiscernibilitySelect, PrivateClusterSelect, PrivateSelectKBest, PrivateSelectThreshold
from .sparse import SparseLogisticRegressionClassifier, SparseNaiveBayesClassifier
from .trees import DecisionTreeClassifier, RandomForestClassifier

CLASSIFIERS = (
    AutoClassifier,
    NaiveBayesClassifier,
    PrivPfCClassifier,
    DiffGenClassifier,
    ProjectedHistogramClassifier,
    LogisticRegressionClassifier,
    LinearSVMClassifier,
    DecisionTreeClassifier,
    RandomForestClassifier,
    PrivGeneClassifier,
    BlendClassifier,
    ClassSharesClassifier,
    SparseNaiveBayesClassifier,
    SparseLogisticRegressionClassifier,
)
SELECTORS = (PrivateSelectKBest, PrivateSelectThreshold, PrivateClusterSelect, KDiscernibilitySelect)
METHODS: dict[str, type[PrivateClassifier]] = {kind.method: kind for kind in CLASSIFIERS}

__all__ = [
    "AutoClassifier",
    "BestOf",
    "BlendClassifier",
    "ClassSharesClassifier",
    "DecisionTreeClassifier",
    "DiffGenClassifier",
    "KDiscernibilitySelect",
    "METHODS",
    "LinearSVMClassifier",
    "LogisticRegressionClassifier",
    "NaiveBayesClassifier",
    "PrivGeneClassifier",
    "PrivPfCClassifier",
    "PrivateClassifier",
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
]


def load_model(path: str | os.PathLike[str]) -> PrivateClassifier:
    """The model in a file that `save` or `veil train` wrote; safe to use on files from strangers."""
    held = read_model(path)
    if held.method not in METHODS:
        raise BadInput(f"{path} holds a model of a method that this version of Veil does not have: upgrade")
    kind, settings = METHODS[held.method], held.settings
    if not {"epsilon"} <= set(settings) <= set(kind().settings()):  # those of earlier versions may be fewer
        raise BadInput(f"{path} has settings that this version of Veil does not have: upgrade")
    try:
        if held.trace is not None and kind is not AutoClassifier:
            raise BadInput("only a choice has a trace")
        model = kind(**{**settings, "epsilon": _number(settings["epsilon"])}, schema=held.schema).hold(held)
    except BadInput:
        raise BadInput(f"{path} is not a model, or was damaged or changed: get it again from whoever made it") from None
    model.file_ = os.path.basename(path)
    return model


def _number(epsilon: str) -> Any:
    """An epsilon as an int or float if one is exactly that number, else the text unchanged."""
    try:
        exact = Budget(epsilon).epsilon
        found = int(exact) if exact.denominator == 1 else float(exact)
        return found if Budget(found).epsilon == exact else epsilon
    except (BadInput, OverflowError):  # no float is that large, or that small
        return epsilon
