"""Verdicts: how good a result is in relation to its noise, as a level, a sentence and an advice.

All of it follows from releases, their public noise scales, receipts and the schema; no function here takes a row.
"""

from .learned import of_answers
from .measured import of_intervals
from .selected import of_selection
from .verdict import Verdict

__all__ = ["Verdict", "of_answers", "of_intervals", "of_selection"]
