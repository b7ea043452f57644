"""veil methods: what can be trained, in one line each."""

from dataclasses import asdict
from typing import Annotated

from ..plans.catalogue import CARDS
from .output import Json, console, print_json, show_table

LEGEND = (
    "Pure epsilon: one row more or less changes the odds of any outcome by a factor of e^epsilon at most, and there is "
    "no delta. Use: veil train --method METHOD --preset PRESET; without one, a method has its first preset."
)


def methods(as_json: Annotated[bool, Json] = False) -> None:
    """List all methods: what each promises, whose paper it follows, and when it is good."""
    if as_json:
        print_json([asdict(card) for card in CARDS])
        return
    rows = [(card.method, card.preset or "", card.guarantee, card.paper, card.good_for) for card in CARDS]
    show_table("Methods", ["method", "preset", "guarantee", "paper", "good for"], rows)
    console.print(LEGEND, markup=False)
