"""Alike: which declared category a spelling stands for. It follows from what is declared; no row comes here.

Whichever it is, a value's code follows from its own text.
"""

from collections import Counter
from functools import lru_cache

from .spelling import spelling


@lru_cache(maxsize=64)
def alike(values: tuple[str, ...]) -> dict[str, str]:
    """The declared value of each spelling: the one that is written so, else the only one that is spelled so. True and 1
    stand for each other where only one of them is declared, False and 0 likewise."""
    spelled = [spelling(value) for value in values]
    times = Counter(spelled)
    found = {name: value for name, value in zip(spelled, values, strict=True) if times[name] == 1 or name == value}
    for one, other in (("True", "1"), ("1", "True"), ("False", "0"), ("0", "False")):
        if one not in times and other in found:
            found[one] = found[other]
    return found
