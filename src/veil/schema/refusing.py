"""Refuse: how whatever is trusted says no, before anything is charged."""

from ..errors import BadInput


def refuse(bad: object, message: str, kind: type[Exception] = BadInput) -> None:
    """Raise this kind of error if something is bad; the message names public things alone."""
    if bad:
        raise kind(message)
