"""Models: private classifiers with scikit-learn's interface. Each is a plan and its settings; `base` does the rest."""

import os

import numpy as np

from ..errors import BadInput
from .base import PrivateClassifier
from .files import read_model
from .naive_bayes import NaiveBayesClassifier

METHODS: dict[str, type[PrivateClassifier]] = {"naive-bayes": NaiveBayesClassifier}

__all__ = ["METHODS", "NaiveBayesClassifier", "PrivateClassifier", "load_model"]


def load_model(path: str | os.PathLike[str]) -> PrivateClassifier:
    """The model in a file that `save` or `veil train` wrote; safe to use on files from strangers.

    Its classes are text, as the schema has them: the type that labels had in a data frame may tell about the rows
    (one missing value makes integers floats), so no file says it.
    """
    held = read_model(path)
    if held["method"] not in METHODS:
        raise BadInput(f"{path} holds a model of a method that this version of Veil does not have: upgrade")
    try:
        model = METHODS[held["method"]](**held["settings"], schema=held["schema"])
    except TypeError:
        raise BadInput(f"{path} has settings that this version of Veil does not have: upgrade") from None
    model._keep(held["schema"], np.array(held["schema"].classes), held["scorer"], held["releases"])
    return model
