"""The list of methods: complete, the same in the docs, and printed by the command for people and machines."""

import json
from pathlib import Path

import pytest

from shell import output
from veil.models import METHODS
from veil.plans.catalogue import CARDS, NAMES, presets
from veil.plans.trees.trees import FORESTS, TREES

ALGORITHMS = Path(__file__).parent.parent / "docs" / "algorithms.md"


def test_every_method_and_preset_has_one_card() -> None:
    assert set(NAMES) == set(METHODS)
    assert {name: presets(name) for name in NAMES if presets(name)} == {
        "tree": (*TREES, "jostle"),
        "forest": (*FORESTS,),
    }
    assert len({(card.method, card.preset) for card in CARDS}) == len(CARDS)


def test_a_method_without_a_preset_is_its_first_one() -> None:
    for name in NAMES:
        if presets(name):
            assert METHODS[name]().get_params()["preset"] == presets(name)[0]


def test_the_page_of_algorithms_says_the_same() -> None:
    text = ALGORITHMS.read_text(encoding="utf-8")
    for card in CARDS:
        if card.preset in (None, "veil"):
            assert f"`veil train --method {card.method}`" in text and card.good_for in text
        else:
            assert f"{card.method} `{card.preset}`" in text
        year = card.paper.split()[-1]
        assert not year.isdigit() or all(name in text for name in (card.paper.split(",")[0].split()[-1], year))


@pytest.mark.usefixtures("wide_terminal")
def test_the_command_lists_them() -> None:
    said = output("methods")
    assert all(card.method in said and (card.preset or "") in said for card in CARDS)
    assert "pure epsilon" in said and all(card.what in said and card.good_for in said for card in CARDS)
    found = json.loads(output("methods", "--json"))
    assert [card["paper"] for card in found] == [card.paper for card in CARDS]
    assert len(found) == len(CARDS)
    assert found[0] == {
        "method": "naive-bayes",
        "what": "each column by itself, multiplied",
        "good_for": "tables with up to some dozens of columns; a first model for any table",
        "seconds": 0.1,
        "paper": "Vaidya, Shafiq, Basu, Hong 2013",
        "preset": None,
        "guarantee": "pure epsilon",
    }


@pytest.mark.usefixtures("wide_terminal")
def test_the_help_of_train_names_all_of_them() -> None:
    said = " ".join(output("train", "--help").split())
    assert all(name in said for name in NAMES) and "veil methods" in said
