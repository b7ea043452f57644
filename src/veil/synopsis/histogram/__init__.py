"""Histogram: noisy counts over one to a few columns, for range queries, maps and synthetic points."""

from .table import Histogram

__all__ = ["Histogram"]
