"""Compare without any file: what comes with Veil, and its curves over rows."""

import re
from operator import itemgetter
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from experiments.kept_comparison import FILES
from tests.explore.conftest import opened
from tests.explore.test_views import shown
from veil.explore.given import COMPARISON, Given, shipped
from veil.results import KEY, read_results


def test_without_results_the_page_shows_what_comes_with_veil() -> None:
    found = shipped()
    assert len(found.tables) >= 10 and {"logistic", "privpfc"} <= {*found.methods} and 0.1 in found.epsilons
    assert "fair" in shown(opened(Given()), "compare")


def test_what_comes_with_veil_has_seeds_margins_peers_seconds_and_memory() -> None:
    found, text = shipped(), shown(opened(Given()), "compare")
    assert COMPARISON.stat().st_size < 100_000 and {"dp-ebm", "diffprivlib-naive-bayes"} <= {*found.methods}
    for table in found.firm:
        group = found.group(table, "naive-bayes", 0.1)
        assert group is not None and len(group.seeds) >= 5
        assert all(group.summary(name)[1] is not None for name in ("auc", "seconds", "peak_memory"))
    assert "What it takes" in text and "MB with all libraries" in text and ">=<" in text
    assert re.search(r"naive-bayes on adult: \.\d+ ± \.0\d+, \d+ runs", text)


def test_what_comes_with_veil_is_what_was_kept_but_for_the_last_digits() -> None:
    results = Path(__file__).parents[2] / "experiments" / "results"
    found, key = read_results(COMPARISON).to_pylist(), itemgetter(*KEY)
    kept = {key(row): row for name in FILES for row in read_results(results / f"{name}.parquet").to_pylist()}
    assert len(found) == len(kept)
    for row in found:
        for name, value in row.items():
            near = 1e-2 if name in ("seconds", "peak_memory") else 1e-4
            assert value == (
                pytest.approx(kept[key(row)][name], rel=near) if isinstance(value, float) else kept[key(row)][name]
            )


def test_without_results_a_curve_over_rows_is_drawn_up_to_all_rows() -> None:
    client = opened(Given())
    text = shown(client, "compare")
    part = text[text.index("AUC over rows, at epsilon 0.1") :]
    assert all(f">{mark}<" in part for mark in ("1,000", "3,000", "10,000", "all")) and "c-main" in part
    assert "AUC over rows, at epsilon 0.5" in shown(client, "compare?epsilon=0.5&table=bank_additional")
    other = shown(client, "compare?epsilon=0.05")
    assert "AUC over rows" not in other and "Over rows, adult was measured at epsilon 0.1, 0.5, 1." in other
    small = shown(client, "compare?rows=1000")
    assert "learned from 1,000 rows" in small and "nursery</a>" not in small and "dp-ebm" not in small.split("<h2>")[1]


def test_tables_of_few_seeds_are_shown_if_asked_for_and_have_no_margins() -> None:
    client = opened(Given())
    assert "phoneme</a>" not in shown(client, "compare").split("<h2>")[1]
    text = shown(client, "compare?tables=all")
    assert re.search(r"logistic on phoneme: \.\d+, 2 runs", text) and not re.search(r"± [^,]+, [12] runs", text)


def test_all_means_come_as_csv(client: TestClient) -> None:
    answer = client.get("compare.csv")
    lines = answer.text.splitlines()
    assert 'filename="compare.csv"' in answer.headers["content-disposition"]
    assert lines[0].startswith("table,method,epsilon,rows,private,delta,runs,failed,auc,auc_margin")
    assert len(lines) == 1 + 2 * 2 * (4 * 2 + 1) and any(
        line.startswith("two,theirs,0.1,all,True,1e-06,0,4,,") for line in lines
    )
