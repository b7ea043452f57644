"""Addresses of ledgers in a database, such as postgresql://user@host/database?ledger=clinic, and how they are shown.

Nothing but texts: a password or another secret in an address is never part of what is shown.
"""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

LEDGER = "veil"  # the name of a ledger whose address names none
LIKE = re.compile(  # a path that had two slashes may have one left; and what somebody meant to be an address
    r"[\s'\"]*[a-z][a-z0-9+.-]+:/|.*postgres(?:ql)?:.*@|.*password *=", re.IGNORECASE | re.DOTALL
)
FORM = re.compile(  # behind a host comes a port: a password without a host is refused
    r"postgres(?:ql)?://(?:(?P<user>[^:@/?#]*)(?P<password>:[^@/?#]*)?@)?"
    r"(?P<place>(?:\[[^]@/?#;]*\]|[^][:@/?#;]|:[0-9]*(?=[,/?]|$))*(?:/[^@?#;]*)?)(?:\?(?P<more>[^@#;]*))?"
)
SECRET = re.compile("password|secret|scram|pwd|^pass$")
GIVEN = re.compile(  # behind a user, up to the @; if there is none, all that is no port
    r"(:/+[^\s:@/[]*):(?:(\S*@)|(?!\d*(?:[/?,'\"\s]|$))\S*)|((?:password|secret|pwd)\w*\s*=\s*)(?:'[^']*'?|[^&\s]*)",
    re.IGNORECASE,
)
TYPED = re.compile(r"[a-z][a-z0-9+.]*:/*[^:@/]*:(?:(.*)@|(?!\d*(?:[/?,]|$))(.*))", re.IGNORECASE | re.DOTALL)
OPTION = re.compile(r"([^?&;\s=]+)\s*=\s*('(?:[^'\\]|\\.)*'|[^&;\s]*)")
PIECE = 4  # letters of a part of a password that is looked for by itself: fewer are in any sentence
SPARK = "spark:"  # before a path or the name of a table that Spark reads
HIDDEN = "postgresql://..."


class Parts(NamedTuple):
    """An address taken apart: where its database is, the name of the ledger there, and the address without secrets."""

    database: str
    ledger: str
    shown: str


class Address(str):
    """An address that looks like one without its secrets."""

    def __repr__(self) -> str:
        return repr(shown(self))


def is_address(place: Any) -> bool:
    """Whether this text, or what a path made of it, looks like an address and not like the name of a file."""
    return isinstance(place, (str, os.PathLike)) and bool(LIKE.match(str(place)))


def is_spark(place: Any) -> bool:
    """Whether this text names rows that Spark is to read."""
    return isinstance(place, str) and place.startswith(SPARK)


def parts(address: str) -> Parts | None:
    """An address taken apart; None if it cannot be one. An @ stands at most once in it, behind user and password."""
    if not (found := FORM.fullmatch(address)) or not address.isprintable() or ":" in unquote(found["user"] or ""):
        return None
    more = [part for part in (found["more"] or "").split("&") if part]
    names = {part: unquote(part.partition("=")[0]).lower() for part in more}
    given = [unquote(part.partition("=")[2]) for part in more if names[part] == "ledger"]
    ledger = given[-1] if given else LEDGER
    if not ledger.isprintable() or not 0 < len(ledger) <= 100:
        return None
    user = found["user"] or ""
    known = f"{user}{found['password'] or ''}@" if user or found["password"] else ""
    place, own = found["place"], [part for part in more if names[part] != "ledger"]
    plain = [part for part in more if not SECRET.search(names[part])]
    return Parts(_joined(known + place, own), ledger, _joined(f"{user}@{place}" if user else place, plain))


def _joined(place: str, more: list[str]) -> str:
    return f"postgresql://{place}" + f"?{'&'.join(more)}" * bool(more)


def shown(place: Any) -> str:
    """A path as it is, and an address without its secrets."""
    if not is_address(place):
        return str(place)
    found = parts(str(place))
    return found.shown if found else HIDDEN


def without_passwords(text: str, words: Iterable[str] = ()) -> str:
    """A sentence, with addresses in it that were given in the place of a file, or of anything else, without their
    passwords; and without those that were typed among these words, wherever they were taken apart.

    >>> without_passwords("there is no file postgresql:/ann:hunter2@host/clinic: check the path")
    'there is no file postgresql:/ann@host/clinic: check the path'
    >>> without_passwords("there is no method 'hunter2@host/d'", ["--methods=postgresql://ann:my,hunter2@host/d"])
    "there is no method '...@host/d'"
    """
    for before, secret in sorted({*_secrets(words)}, key=lambda found: -len(found[1])):
        forms = {secret, repr(secret)[1:-1], re.sub("/+", "/", secret)}
        text = re.sub(f"(?<={before})(?:{'|'.join(map(re.escape, forms))})", "...", text)
        pieces = [piece for piece in re.split(r"[\s,;/:]+", secret) if len(piece) >= PIECE and piece != secret]
        for piece in pieces:
            text = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "...", text)
    return GIVEN.sub(lambda found: f"{found[1]}{'@' if found[2] else ':...'}" if found[1] else f"{found[3]}...", text)


def _secrets(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The passwords in words of a command line, each with the sign before it."""
    for word in words:
        yield from ((":", secret) for found in TYPED.finditer(word) for secret in found.groups() if secret)
        hidden = (value for name, value in OPTION.findall(word) if SECRET.search(unquote(name).lower()))
        yield from (("=", value) for value in hidden if value)
