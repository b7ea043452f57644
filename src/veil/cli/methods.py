"""veil methods: what can be trained, in one line each."""

from dataclasses import asdict
from typing import Annotated

from ..display import number
from ..plans.catalogue import CARDS
from .output import Json, console, print_json, show_table

LEGEND = (
    "Seconds: of one core, for 100,000 rows of ten columns (or ten words), about; more rows take more in proportion. "
    "Without a preset, a method has its first one. All promise pure epsilon: one row more or less changes the odds of "
    "any outcome by a factor of e^epsilon at most. Not sure? Without --method, veil train chooses; or train "
    "two with --test-share 0.3, and compare. The papers: --json."
)


def methods(as_json: Annotated[bool, Json] = False) -> None:
    """List all methods: what each is, when it is good, how long it takes and, with --json, whose paper it follows."""
    if as_json:
        print_json([asdict(card) for card in CARDS])
        return
    rows = [(card.method, card.preset or "", card.what, card.good_for, number(card.seconds)) for card in CARDS]
    show_table("Methods", ["--method", "--preset", "what it is", "good for", "seconds"], rows)
    console.print(LEGEND, markup=False)
