"""Evaluation of any classifier on private rows, under the same budget as everything else."""

from .roc import Auc, RocCurve, RocCurves, private_auc, private_roc_curve

__all__ = ["Auc", "RocCurve", "RocCurves", "private_auc", "private_roc_curve"]
