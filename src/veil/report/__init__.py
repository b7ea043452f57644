"""Report: one run on one page, from released values, public scales, the schema and receipts; never rows."""

from .counts import CountsDisplay
from .page import report

__all__ = ["CountsDisplay", "report"]
