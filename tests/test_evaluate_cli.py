"""veil evaluate, and veil train --test-share."""

import json

import pytest

from veil import Ledger, datasets


@pytest.fixture
def trained(files, start):
    assert start("ledger", "create", "l.ledger", "--limit", 3, "--name", "fair")[0] == 0
    ledger = ("--ledger", "l.ledger")
    asked = ("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, *ledger, "--out", "m.veil")
    assert start(*asked)[0] == 0
    return ("evaluate", "m.veil", "fair.csv", "--schema", "fair.toml", *ledger)


def test_an_evaluation_is_charged_reported_and_given_to_machines(trained, start, files):
    code, said, _ = start(*trained, "--epsilon", "0.2", "--json")
    found = json.loads(said)
    low, high = found["auc_interval"]
    assert code == 0 and found["epsilon"] == 0.2 and found["left_exact"] == "9/5" and found["private"]
    assert 0 <= low <= found["auc"] <= high <= 1
    assert len(found["fpr"]) == len(found["tpr"]) == len(found["thresholds"])
    assert "<svg" in (files / "evaluation.html").read_text()
    code, said, _ = start(*trained, "--epsilon", "0.2", "--force")
    assert code == 0 and "AUC" in said and "1.6 of 3 left" in said


def test_a_dry_run_shows_the_plan_and_touches_nothing(trained, start, files, wide_terminal):
    (files / "fair.csv").write_text((files / "fair.csv").read_text().partition("\n")[0] + "\n\xff\n")  # no row is read
    there = sorted(path.name for path in files.iterdir())
    code, said, _ = start(*trained, "--epsilon", "0.2", "--dry-run")
    assert code == 0 and "noise scale" in said and "2 of 3 left" in said and "Nothing was charged" in said
    code, said, _ = start(*trained, "--epsilon", "0.2", "--dry-run", "--json")
    plan = json.loads(said)
    assert code == 0 and [row["answer"] for row in plan["plan"]] == ["count", "quantiles", "count"]
    assert (
        sum(float(row["epsilon"]) for row in plan["plan"]) == pytest.approx(0.2, rel=0.01) and plan["left_exact"] == "2"
    )
    assert sorted(path.name for path in files.iterdir()) == there and Ledger.open("l.ledger").spent == 1
    assert "It would refuse this" in start(*trained, "--epsilon", 5, "--dry-run")[1]
    assert start(*trained, "--epsilon", 1, "--dry-run", "--positive", "maybe")[0] == 2


def test_what_the_ledger_cannot_pay_is_refused(trained, start, files):
    code, _, complaint = start(*trained, "--epsilon", 5)
    assert code == 3 and "left in the ledger" in complaint
    assert not (files / "evaluation.html").exists()


def test_a_file_without_the_label_is_refused_by_name(trained, start, files):
    lines = (files / "fair.csv").read_text().splitlines()
    label = lines[0].split(",")[-1]
    (files / "bare.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines))
    code, _, complaint = start("evaluate", "m.veil", "bare.csv", *trained[3:], "--epsilon", 1)
    assert code == 2 and repr(label) in complaint


def test_training_and_testing_in_one_run_costs_the_dearer_part(files, start):
    assert start("ledger", "create", "l.ledger", "--limit", 5, "--name", "fair")[0] == 0
    asked = ("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--ledger", "l.ledger", "--out", "m.veil")
    code, said, _ = start(*asked, "--test-share", "0.3", "--test-epsilon", "0.5", "--json")
    found = json.loads(said)
    assert code == 0 and found["left_exact"] == "4" and found["epsilon"] == 1
    assert found["evaluation"]["epsilon"] == 0.5 and len(found["evaluation"]["auc_interval"]) == 2
    assert (files / "m.veil").exists() and "<svg" in (files / "m-evaluation.html").read_text()
    model, judgement = ((files / name).read_text() for name in ("m.html", "m-evaluation.html"))
    for page in (model, judgement):
        assert "a share of 0.3" in page and "about all rows" not in page and "other answers" not in page
        assert "Every charge is about the same part of the rows, so they add up." in page and "spent in all 1<" in page
    code, said, _ = start(*asked, "--force", "--test-share", "0.3", "--test-epsilon", "1.5")
    assert code == 0 and "It cost epsilon 1.5; the ledger has 2.5 of 5 left." in said
    code, _, complaint = start(*asked, "--force", "--test-epsilon", 1)
    assert code == 2 and "--test-share" in complaint
    code, _, complaint = start(*asked, "--force", "--test-share", "1.5")
    assert code == 2 and "between 0 and 1" in complaint


def test_training_and_testing_in_one_run_works_for_more_than_two_classes(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, schema = datasets.load("wine")
    rows.to_csv("wine.csv", index=False)
    (tmp_path / "wine.toml").write_text(schema.to_toml())
    asked = ("train", "wine.csv", "--schema", "wine.toml", "--epsilon", 100, "--out", "m.veil", "--test-share", "0.5")
    code, said, _ = start(*asked, "--json")
    found = json.loads(said)["evaluation"]
    assert code == 0 and [*found["curves"]] == [*schema.classes] and found["epsilon"] == 100
    assert found["auc"] > 0.8 and found["auc_interval"][0] <= found["auc"] <= found["auc_interval"][1]
    page = (tmp_path / "m-evaluation.html").read_text()
    assert page.count("<svg") >= 3 and "M of Hand and Till" in page
    assert "ROC curves of 3 classes: M" in start(*asked, "--force")[1]
