"""Files full of markup, in a real browser: every text is shown as it is, and nothing in it runs or is fetched."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_markup_in_names_files_and_results_makes_no_element_and_runs_nowhere(attacked: Any) -> None:
    assert attacked["active"] == {} and attacked["dialogs"] == [] and attacked["visited"] > 60


@pytest.mark.parametrize("view", ["compare", "plan?epsilon=0.5", "ledger", "results", "choice"])
def test_markup_is_shown_as_it_is(attacked: Any, view: str) -> None:
    """So the test looks where the names are, at what a reader sees."""
    assert attacked["shown"][view] == [200, True]


def test_markup_fetches_nothing(attacked: Any) -> None:
    """An image of another host that a report asks for is refused before it leaves."""
    assert attacked["foreign"] == []


def test_a_report_that_somebody_made_by_hand_is_shown_without_its_script(attacked: Any) -> None:
    assert attacked["byHand"] >= 1


def test_no_path_leads_out_of_the_folder(attacked: Any) -> None:
    assert attacked["leaked"] == [] and len(attacked["outside"]) == 16
    assert {status for place, status in attacked["outside"].items() if "?" not in place} == {404}
    assert all(status in (200, 400, 404) for status in attacked["outside"].values())
