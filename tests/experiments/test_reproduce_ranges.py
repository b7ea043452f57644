"""The experiments on range queries, repeated on small public tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from experiments import range_claims, ranges
from experiments.__main__ import app
from experiments.papers import ranges as papers
from veil import BadInput


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with one histogram of each kind, and two methods."""
    (tmp_path / "dpbench").mkdir()
    for name, shape in {"1D_A": (4096,), "2D_B": (256, 256)}.items():
        np.save(tmp_path / "dpbench" / f"{name}.npy", np.random.default_rng(0).poisson(1, shape))
    monkeypatch.setattr(ranges, "FOLDER", tmp_path)
    monkeypatch.setattr(ranges, "POINTS", ())
    monkeypatch.setattr(papers, "HISTOGRAMS", ["uniform", "identity"])
    return tmp_path


def test_dpbench_is_repeated_with_errors_in_its_unit_and_goes_on_where_it_was(small: Path) -> None:
    out = small / "out.parquet"
    said = CliRunner().invoke(app, ["reproduce", "dpbench", "--quick", "--json", "--out", str(out)])
    found = json.loads(said.stdout)
    assert {(line["axes"], line["workload"]) for line in found} == {
        *(("1D", name) for name in ("random", "prefixes")),
        *(("2D", name) for name in ("random", "rectangles")),
    }
    (line,) = (one for one in found if (one["workload"], one["method"], one["signal"]) == ("prefixes", "uniform", 100))
    assert line["scaled_error"] == pytest.approx(line["error"] / 64, rel=0.01)
    kept = pd.read_parquet(out)
    assert papers.dpbench(out, True) == found and pd.read_parquet(out).equals(kept)


def test_grids_are_repeated_on_points(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_points", lambda name, sides: np.ones(sides))
    monkeypatch.setattr(range_claims, "_points", lambda name, sides: np.ones(sides))
    monkeypatch.setattr(range_claims, "POINTS", ("flat",))
    found = papers.grids(small / "grids.parquet", True)
    assert {line["kind"] for line in found} == {"size", "same"} and all(line["error"] >= 0 for line in found)
    with pytest.raises(BadInput, match="is there already"):
        papers.grids(small / "grids.parquet", True)


def test_results_of_other_experiments_are_not_replaced_and_absent_data_are_told(small: Path) -> None:
    pd.DataFrame({"auc": [0.5]}).to_parquet(small / "other.parquet")
    with pytest.raises(BadInput, match="holds other results"):
        papers.dpbench(small / "other.parquet", True)
    (small / "dpbench").rename(small / "gone")
    with pytest.raises(BadInput, match="set VEIL_DATA"):
        papers.dpbench(small / "out.parquet", True)
