"""Evaluation of any classifier on private rows, under the same budget as everything else."""

from .display import PrivateRocDisplay
from .labels import (
    Accuracy,
    CalibrationCurve,
    ConfusionMatrix,
    private_accuracy,
    private_calibration_curve,
    private_confusion_matrix,
)
from .result import Evaluation
from .roc import Auc, RocCurve, RocCurves, private_auc, private_roc_curve, rehearse_roc_curve
from .together import fit_and_evaluate, rehearse_both

__all__ = [
    "Accuracy",
    "Auc",
    "CalibrationCurve",
    "ConfusionMatrix",
    "Evaluation",
    "PrivateRocDisplay",
    "RocCurve",
    "RocCurves",
    "fit_and_evaluate",
    "private_accuracy",
    "private_auc",
    "private_calibration_curve",
    "private_confusion_matrix",
    "private_roc_curve",
    "rehearse_both",
    "rehearse_roc_curve",
]
