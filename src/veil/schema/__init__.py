"""What is public about a table, and how its values become codes."""

from .columns import Categorical, Numeric, Text
from .dates import Date
from .schema import Schema

__all__ = ["Categorical", "Date", "Numeric", "Schema", "Text"]
