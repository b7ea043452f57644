"""Refuse: how whatever is trusted says no, before anything is charged."""

from typing import NoReturn

from ..errors import BadInput


def refuse(bad: object, message: str, kind: type[Exception] = BadInput) -> None:
    """Raise this kind of error if something is bad; the message names public things alone."""
    if bad:
        raise kind(message)


class Sealed:
    """What cannot be copied or pickled, and shows nothing of itself but a name."""

    sealed, copied = "private rows", "private rows cannot be copied or pickled: open the source again where you need it"

    def __reduce__(self) -> NoReturn:
        raise TypeError(self.copied)

    def __repr__(self) -> str:
        return f"<{self.sealed}>"
