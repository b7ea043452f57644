"""Automatic choice among private plans (Imola, Yang 2018), in three nouns: Option, Metafeature and ChoiceMaker."""

from .looking import look
from .maker import ChoiceMaker
from .nearby import Nearby, calibrated
from .options import Metafeature, Option, Situation
from .synthesis import Formula, Proposal, Rule, propose
from .trace import Fact, Prediction, Trace
from .traces import Traces, read_traces
from .training import Database, train

__all__ = [
    "ChoiceMaker",
    "Database",
    "Fact",
    "Formula",
    "Metafeature",
    "Nearby",
    "Option",
    "Prediction",
    "Proposal",
    "Rule",
    "Situation",
    "Trace",
    "Traces",
    "calibrated",
    "look",
    "propose",
    "read_traces",
    "train",
]
