"""A full disk: seen before anything is charged; if it fills up later, what was saved and what not is said."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from shell import output, run
from veil import BadInput, Ledger, NaiveBayesClassifier, Schema, VeilError, load_model
from veil.cli import main


@pytest.fixture
def files(tmp_path: Path, rows: pd.DataFrame, schema: Schema) -> Path:
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "s.toml").write_text(schema.to_toml(), encoding="utf-8")
    Ledger.create(tmp_path / "l.ledger", 10, schema.name)
    return tmp_path


def commands(folder: Path) -> dict[str, list[Any]]:
    told = ["--schema", folder / "s.toml", "--epsilon", 1, "--ledger", folder / "l.ledger"]
    rows = folder / "rows.csv"
    return {
        "train": ["train", rows, *told, "--out", folder / "m.veil"],
        "publish": ["publish", rows, *told, "--out", folder / "t.veil", "--synthetic", folder / "syn.csv"],
        "select": ["select", rows, *told, "--k", 1, "--out", folder / "few.toml"],
    }


def spent(folder: Path) -> Any:
    return Ledger.open(folder / "l.ledger").spent


@pytest.mark.parametrize("name", ["train", "publish", "select", "evaluate"])
def test_too_little_space_is_seen_before_a_charge(files: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    output(*commands(files)["train"])
    before, there = spent(files), sorted(files.iterdir())
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9, 1000))
    asked = commands(files)["train"][1:8]
    told = (
        ["evaluate", files / "m.veil", *asked, "--out", files / "e.html"]
        if name == "evaluate"
        else commands(files)[name]
    )
    told = [str(part).replace("m.veil", "n.veil") if name == "train" else part for part in told]
    with pytest.raises(
        BadInput, match="the disk has too little space for .*: make room there, or choose another folder"
    ):
        run(*told)
    assert spent(files) == before and sorted(files.iterdir()) == there


def full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def failing(arguments: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command that ends with exit code 1 says."""
    monkeypatch.setattr("sys.argv", ["veil", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    return capsys.readouterr().err.replace("\n", " ")


def test_a_report_that_cannot_be_written_is_not_the_loss_of_the_model(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("veil.report.report", full)
    said = failing(commands(files)["train"], monkeypatch, capsys)
    assert f"saved and whole: {files / 'm.veil'}; not saved: {files / 'm.html'}" in said
    assert "epsilon 1 was charged" in said and f"{files / 'm.html'} was not saved: the disk is full" in said
    assert load_model(files / "m.veil").receipts_ and not (files / "m.html").exists()
    assert not list(files.glob(".*.draft"))


def test_of_several_files_those_are_named_that_are_saved(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("veil.report.report", full)
    said = failing(commands(files)["publish"], monkeypatch, capsys)
    assert f"saved and whole: {files / 't.veil'}, {files / 'syn.csv'}; not saved: {files / 't.html'}" in said
    assert (files / "syn.csv").exists()


def test_a_model_that_cannot_be_written_is_called_lost(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("veil.models.files.write_parts", full)
    said = failing(commands(files)["train"], monkeypatch, capsys)
    assert f"{files / 'm.veil'} was not saved: the disk is full" in said and "epsilon 1 was charged" in said
    assert "saved and whole" not in said and not (files / "m.veil").exists() and not (files / "m.html").exists()


def test_a_selection_that_cannot_be_written_is_said(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "fsync", lambda number: None)
    monkeypatch.setattr(Path, "write_text", full)
    said = failing(commands(files)["select"], monkeypatch, capsys)
    assert "selected: " in said and f"{files / 'few.toml'} was not saved: the disk is full" in said


def test_predictions_that_cannot_be_written_are_called_so(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output(*commands(files)["train"])
    predict = ["predict", files / "m.veil", files / "rows.csv", "--out", files / "p.csv"]
    with monkeypatch.context() as patch:
        patch.setattr("veil.cli.predict.write_tables", full)
        said = failing(predict, patch, capsys)
    assert said.strip() == f"veil: {files / 'p.csv'} was not saved: the disk is full"
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9, 100))
    with pytest.raises(BadInput, match="the disk has too little space for"):
        run(*predict)
    assert not (files / "p.csv").exists()


def test_a_disk_that_fills_up_at_the_end_is_seen(
    rows: pd.DataFrame, schema: Schema, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = NaiveBayesClassifier(schema=schema).fit(rows)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VeilError, match="model.veil was not saved: the disk is full"):
        model.save(tmp_path / "model.veil")
    assert not list(tmp_path.iterdir())
