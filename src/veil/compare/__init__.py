"""Comparison: methods on public data, measured over splits, budgets and seeds, into one tidy table."""

from .figure import plot
from .runs import compare
from .summary import summary

__all__ = ["compare", "plot", "summary"]
