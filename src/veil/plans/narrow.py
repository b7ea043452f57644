"""Narrow: a stand-in for Source that shows a plan fewer columns, or fewer words, than the rows have."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..kernel import Release, Source, replaced
from ..questions import Bag
from ..schema import Schema


class Narrow:
    """An open source with a schema of fewer columns, or of fewer words of its text, as a selection leaves them.

    Every question goes to the source, which checks and charges it as any other. Questions about words, and what is
    recorded of them, are in the places that words have in the smaller vocabulary. Parts of it are narrow too.
    """

    def __init__(self, source: Source, schema: Schema) -> None:
        self._source, self.schema = source, schema
        text, whole = schema.texts[:1], source.schema.texts[:1]
        places = {name: place for place, name in enumerate(whole[0].names)} if text else {}
        self._words = tuple(places[name] for name in text[0].names) if text else ()

    @property
    def record(self) -> Any:
        """The releases and receipts of the source so far, in order; questions about words in the smaller vocabulary."""
        found = self._source.record
        return found._replace(releases=[*map(self._narrow, found.releases)])

    def recode(self, *columns: Any) -> "Narrow":
        """A source of the same rows in which each given column replaces the one of the same name."""
        return Narrow(self._source.recode(*columns), replaced(self.schema, columns))

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb.startswith("_"):
            raise AttributeError(verb)
        ask = getattr(self._source, verb)
        wide = self._wide
        return lambda *asked, **how: self._narrow(ask(*map(wide, asked), **{name: wide(how[name]) for name in how}))

    def _wide(self, asked: Any) -> Any:
        """A question in the words of the source, or a list of them."""
        if isinstance(asked, (list, tuple)):
            return [*map(self._wide, asked)]
        if not isinstance(asked, Bag):
            return asked
        return replace(asked, words=tuple(self._words[code] for code in asked.codes))

    def _narrow(self, answer: Any) -> Any:
        """An answer with words numbered as in this schema's vocabulary; the parts of a split as Narrow."""
        if isinstance(answer, tuple) and any(isinstance(part, (Source, Narrow)) for part in answer):
            return tuple(Narrow(part, self.schema) for part in answer)
        if isinstance(answer, tuple):
            return tuple(map(self._narrow, answer))
        if not isinstance(answer, Release) or not isinstance(answer.question, Bag):
            return answer
        place = {code: place for place, code in enumerate(self._words)}
        asked = tuple(place.get(int(code), -1) for code in answer.question.codes)
        return replace(answer, question=replace(answer.question, words=None if asked == (*place.values(),) else asked))
