"""The experiments with words: they run, their page says what they found, and the broken methods lose what is said."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.papers import words as again
from experiments.papers.words import agreement
from veil import BadInput, Schema
from veil.audit.broken_words import noise_cut_loss, threshold_testing
from veil.kernel import SeededNoise

pytestmark = pytest.mark.usefixtures("wide_terminal")
DOCS = Path(__file__).parents[2] / "docs"
SMALL = Schema.loads(
    'name = "small"\nlabel = "kind"\n[[column]]\nname = "kind"\nkind = "categorical"\nvalues = ["ham", "spam"]\n'
    '[[column]]\nname = "text"\nkind = "text"\n'
)


@pytest.fixture
def small(monkeypatch):
    """One set of 200 short texts instead of the papers' data, and few trials."""
    words = np.array([f"w{i}" for i in range(40)])
    chance = np.random.default_rng(0)
    kinds = np.where(np.arange(200) % 2, "spam", "ham")
    texts = [" ".join([kind * 2, *chance.choice(words, 6)]) for kind in kinds]
    monkeypatch.setattr(again, "TEXTS", {"small": 64})
    monkeypatch.setattr(again, "BOUND", {"small": 12})
    monkeypatch.setattr(again, "_read", lambda name: ({"text": texts, "kind": kinds}, SMALL))
    monkeypatch.setattr(again, "KEPT", 30)


def test_every_trial_runs_once_and_is_kept(small, tmp_path):
    out, told = tmp_path / "results.parquet", []
    found = again.reproduce_selection(quick=True, out=out, progress=lambda *step: told.append(step))
    rows = found.to_pylist()
    assert len({tuple(row[name] for name in again.KEY) for row in rows}) == len(rows) and len(told) == 2
    assert {row["private"] for row in rows if row["method"] == "threshold testing"} == {False}
    assert all(0 <= row["accuracy"] <= 1 for row in rows)
    exact = [row["accuracy"] for row in rows if row["method"] == "without privacy"]
    assert min(exact) > 0.9
    stamp = out.stat().st_mtime_ns
    assert again.reproduce_selection(quick=True, out=out).num_rows == len(rows)
    short = again.selection_summary(found)
    assert len(short) == len(rows) / 2 and all(row["folds"] == 2 for row in short) and stamp


def test_the_command_repeats_them(small, tmp_path, monkeypatch):
    monkeypatch.setattr(again, "trials", lambda bound: iter([again.Trial("no selection"), again.Trial("majority")]))
    command = ["reproduce", "selection", "--quick", "--out", str(tmp_path / "results.parquet")]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0 and "no sel" in result.output


def test_absent_data_are_bad_input(monkeypatch, tmp_path):
    monkeypatch.setenv("VEIL_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="VEIL_DATA"):
        again.reproduce_selection(quick=True)


def test_agreement_with_the_true_set_is_precision_recall_and_both():
    assert agreement({1, 2, 3, 4}, {3, 4, 5}) == {"precision": 0.5, "recall": 2 / 3, "f1": 4 / 7, "jaccard": 2 / 5}
    assert set(agreement(set(), set()).values()) == {1.0}
    assert set(agreement({1}, set()).values()) == {0.0} == set(agreement(set(), {1}).values())


def test_threshold_testing_has_an_answer_that_is_impossible_without_the_row():
    """Exact: without the row both counts are 0 and are selected together, for every threshold."""
    seen = [threshold_testing({"text": texts}, SeededNoise(0), 5_000)[:, :2] for texts in ([], ["ant"])]
    assert (seen[0][:, 0] == seen[0][:, 1]).all()
    assert (seen[1] == [1, 0]).all(axis=1).mean() > 0.4


def test_the_loss_of_noise_cut_grows_with_the_words():
    losses = [noise_cut_loss(words) for words in (1, 5, 20, 100)]
    assert losses == sorted(losses) and losses[0] < 1 < 4 < losses[1] and losses[3] > 80


def test_the_page_says_what_was_found():
    program = "from experiments.pages import selected; import sys; sys.stdout.write(selected.page())"
    done = subprocess.run([sys.executable, "-c", program], cwd=DOCS.parent, capture_output=True, text=True, check=True)
    assert done.stdout == (DOCS / "selection.md").read_text(encoding="utf-8"), "run `make docs`"


def test_the_figure_can_be_drawn_again(tmp_path):
    program = "from experiments.pages import selected; import sys, pathlib; selected.draw(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", program, tmp_path], cwd=DOCS.parent, check=True)
    name = "selection-curves.svg"
    assert (tmp_path / name).read_bytes() == (DOCS / "figures" / name).read_bytes()
