"""The pages in a real browser: for every eye, without script, on paper, by keyboard, and under attack."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser
VIEWS = ("compare", "ranges", "map", "plan", "ledger", "results", "choice")
THEMES = ("light", "dark")


def test_every_check_came_to_its_end(seen: Any) -> None:
    assert not [value for name, value in seen.items() if name.startswith("failed")]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(seen: Any, view: str, theme: str) -> None:
    assert seen[f"axe {view} {theme}"] == []


def test_axe_finds_nothing_on_results_and_reports(seen: Any) -> None:
    found = {name: value for name, value in seen.items() if name.startswith(("axe result", "axe report"))}
    assert len(found) >= 18 and not {name: value for name, value in found.items() if value}


def test_results_choices_and_reports_fit_on_a_telephone_and_on_paper(seen: Any) -> None:
    pages = ("sideways result ", "sideways report ")
    sideways = {name: value for name, value in seen.items() if name.startswith(pages)}
    assert len(sideways) >= 9 and not {name: value for name, value in sideways.items() if value > 0}
    papers = {name: value for name, value in seen.items() if name.startswith("paper ")}
    assert papers.keys() == {name.replace("sideways", "paper") for name in sideways}
    plain = {"shown": 0, "torn": 0, "ink": "rgb(0, 0, 0)", "wide": 0}
    assert not {name: value for name, value in papers.items() if {key: value[key] for key in plain} != plain}
    assert {value["paper"] for value in papers.values()} <= {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_scrolls_sideways_on_a_telephone(seen: Any, view: str, theme: str) -> None:
    assert seen[f"sideways {view} {theme}"] <= 0


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_is_fetched_from_elsewhere_and_nothing_complains(seen: Any, theme: str) -> None:
    assert seen[f"foreign {theme}"] == [] and seen[f"errors {theme}"] == []


def test_everything_works_without_script(seen: Any) -> None:
    assert {seen[f"no script {view}"] for view in VIEWS} == {200} and seen["no script form"] == [True, True]


def test_the_script_keeps_the_state_in_the_address_and_the_grid_to_one_stop(seen: Any) -> None:
    assert seen["state in the address"] and seen["arrows"] and seen["one tab stop"] == 1


def test_a_range_is_moved_by_keyboard_without_script_and_dragged_on_a_picture(seen: Any) -> None:
    moved = seen["slider by keyboard"]
    assert moved["changed"] and moved["address"] and moved["focus"] == "to"
    assert moved["said"][0] == moved["said"][1] != moved["before"]
    assert seen["no script slider"] == [True, True]
    assert seen["drag"]["errors"] == []
    low, high = seen["drag"]["bars"]
    assert 0.2 * 512 < low < 0.3 * 512 < 0.65 * 512 < high < 0.75 * 512
    assert seen["drag"]["map"] == [16, 47, 32, 47]


def test_a_print_of_ranges_has_no_controls_and_keeps_maps_whole(seen: Any) -> None:
    assert seen["print ranges"] == {"controls": "none", "tabs": "none", "figure": "avoid"}


def test_a_command_is_copied_in_four_choices_by_keyboard_alone(seen: Any) -> None:
    found = seen["keyboard"]
    assert found["reached"] == [True, True, True] and found["choices"] <= 4 and found["seconds"] <= 60
    assert found["copied"].startswith("veil train DATA.csv") and "--epsilon 0.25" in found["copied"]


def test_a_print_has_no_controls_and_keeps_figures_whole(seen: Any) -> None:
    assert seen["print"] == {"controls": "none", "menu": "none", "figure": "avoid", "ink": "rgb(0, 0, 0)"}
    assert seen["pdf"] > 10_000


@pytest.mark.parametrize("attack", ["form", "link"])
def test_what_another_port_of_this_machine_sends_is_refused(seen: Any, attack: str) -> None:
    assert seen[f"attack {attack}"] == 403


def test_no_frame_and_no_script_of_another_page_sees_anything(seen: Any) -> None:
    assert seen["attack frame"] is False and seen["attack fetch"] in ("refused", "read 0")


def test_the_cookie_goes_to_no_other_port(seen: Any) -> None:
    assert seen["attack cookies"] == []


def test_a_name_that_was_made_to_lead_here_and_a_stranger_are_refused(seen: Any) -> None:
    assert seen["attack name"] == [403, False] and seen["attack no token"] == 401
