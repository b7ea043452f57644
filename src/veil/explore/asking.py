"""What a request asks for, each parameter against its list; whatever is not on it is refused with a sentence."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..display import readable
from ..errors import BadInput
from ..kernel import Budget

MOST_LETTERS = 100  # of a parameter
SHOWN = 12  # choices that a complaint lists
STOPS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")


class Asking(dict[str, str]):
    """The parameters of one request, by name, each once."""

    @classmethod
    def of(cls, given: Iterable[tuple[str, str]], known: Collection[str]) -> "Asking":
        """The parameters, if all of them have names that this view knows. Raises BadInput otherwise."""
        found = cls()
        for name, value in given:
            if name not in known:
                raise BadInput(
                    f"this page takes no {readable(name)!r}: it takes {', '.join(sorted(known)) or 'nothing'}"
                )
            if name in found:
                raise BadInput(f"{readable(name)!r} was given twice: give it once")
            found[name] = value
        return found

    def choice(self, name: str, options: Sequence[str], default: str | None = None) -> str:
        """The chosen one of some options; the default, or the first, if none was chosen."""
        value = self.get(name)
        if value is None or value == "" and "" not in options:
            return options[0] if default is None or default not in options else default
        if value not in options:
            listed = ", ".join(map(readable, options[:SHOWN])) + (", ..." if len(options) > SHOWN else "")
            raise BadInput(
                f"there is no {name} {readable(value)!r}: choose one of {listed or 'nothing, for none is open'}"
            )
        return value

    def whole(self, name: str, low: int, high: int, default: int) -> int:
        """A whole number between two ends."""
        text = self.get(name, "").strip().replace(",", "")
        if not text:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high):
            raise BadInput(f"{name} must be a whole number from {low:,} to {high:,}, not {readable(self[name])!r}")
        return int(text)

    def share(self, name: str) -> float | None:
        """A number above 0 and at most 1; None if none was given."""
        text = self.get(name, "").strip()
        if not text:
            return None
        try:
            found = float(text) if text.isascii() else -1.0
        except ValueError:
            found = -1.0
        if not 0 < found <= 1:
            raise BadInput(f"{name} must be a number above 0 and at most 1, such as 0.85, not {readable(text)!r}")
        return found

    def epsilon(self, default: str = "1") -> Budget:
        """The epsilon that was asked for."""
        text = self.get("epsilon", "").strip() or default
        if len(text) > MOST_LETTERS:
            raise BadInput("epsilon must be a number such as 0.5 or 1/2")
        return Budget(text)


def changed(now: Mapping[str, Any], **changes: Any) -> dict[str, str]:
    """Parameters with some of them changed; what is empty is left out."""
    return {name: str(value) for name, value in {**now, **changes}.items() if value not in (None, "")}
