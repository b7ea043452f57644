"""Comparison: methods on public data, measured over splits, budgets and seeds, into one tidy table."""

from .figure import plot
from .public_columns import columns_by_mda
from .runs import compare
from .summary import summary

__all__ = ["columns_by_mda", "compare", "plot", "summary"]
