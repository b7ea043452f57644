"""Automatic choice among private plans (Imola, Yang 2018), in three nouns: Option, Metafeature and ChoiceMaker."""

from .looking import look
from .maker import ChoiceMaker
from .nearby import Nearby, calibrated
from .options import Metafeature, Option, Situation
from .trace import Fact, Prediction, Trace
from .traces import Traces, read_traces
from .training import Database, train

__all__ = [
    "ChoiceMaker",
    "Database",
    "Fact",
    "Metafeature",
    "Nearby",
    "Option",
    "Prediction",
    "Situation",
    "Trace",
    "Traces",
    "calibrated",
    "look",
    "read_traces",
    "train",
]
