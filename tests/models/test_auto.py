"""AutoClassifier: a classifier like the others, whose method follows from paid and public facts."""

import json
import zipfile
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

from veil import (
    AutoClassifier,
    BadInput,
    Budget,
    Categorical,
    Ledger,
    LittleLearned,
    Numeric,
    PrivatePipeline,
    PrivateSelectKBest,
    Schema,
    Text,
    datasets,
    load_model,
    open_source,
)
from veil.choice.classifiers import OPTIONS, facts_of_counts
from veil.models.auto import CHOICES
from veil.models.files import write_model

FLOWERS, IRIS = datasets.load("iris")


@pytest.fixture(scope="module")
def fitted(fair):
    rows, schema = fair
    return AutoClassifier(epsilon="1/3", schema=schema, random_state=0).fit(rows), rows


@pytest.mark.parametrize("option", CHOICES)
@pytest.mark.parametrize("epsilon", ["1/3", "1/100"])
def test_it_costs_epsilon_exactly_whatever_is_chosen(option, epsilon):
    ledger = Ledger(1, IRIS.name)
    model = AutoClassifier(epsilon=epsilon, schema=IRIS, ledger=ledger, options=[option], random_state=0).fit(FLOWERS)
    assert model.chosen_ == option and model.outcome_.epsilon == ledger.spent == Fraction(epsilon)
    assert model.trace_.price == Fraction(epsilon) * 3 / 100


def test_the_totals_are_paid_for_once(fitted):
    model, _ = fitted
    counts = [receipt for receipt in model.receipts_ if receipt.verb == "count" and receipt.question == "all rows"]
    assert len(counts) == 1 and counts[0].epsilon == Fraction(1, 100)


def test_the_choice_is_a_function_of_what_was_released():
    """Over neighbouring tables and draws of noise, equal released totals lead to the same choice."""
    chosen = {}
    for seed in range(12):
        for rows in (FLOWERS, FLOWERS.iloc[1:], FLOWERS.iloc[:-1]):
            model = AutoClassifier(epsilon=2, schema=IRIS, random_state=seed).fit(rows)
            totals = tuple(model.releases_[0].value[0].tolist())
            chosen.setdefault(totals, set()).add(model.chosen_)
    assert {len(found) for found in chosen.values()} == {1}


def test_a_saved_model_says_again_what_was_chosen_and_why(fitted, tmp_path):
    model, rows = fitted
    model.save(tmp_path / "m.veil")
    again = load_model(tmp_path / "m.veil")
    assert isinstance(again, AutoClassifier) and again.trace_ == model.trace_
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert np.array_equal(again.model_.predict(rows), model.predict(rows))


def test_a_file_whose_trace_was_damaged_is_refused(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path / "m.veil")
    said = {"option": "logistic", "measure": "auc", "value": 0.5, "low": 0.0, "high": 1.0}
    price = {"name": "rows", "value": 1.0, "noise": 0.0, "price": "1e999999999"}
    for change in (
        *({"chosen": "nothing"}, {"facts": "none"}, None, {"predictions": [said, said]}, {"facts": [price]}),
        *({"predictions": [{**said, name: "other"}]} for name in ("option", "measure")),
    ):
        with zipfile.ZipFile(tmp_path / "m.veil") as file:
            parts = {name: file.read(name) for name in file.namelist()}
        body = json.loads(parts["model.json"])
        body["trace"] = None if change is None else {**body["trace"], **change}
        parts["model.json"] = json.dumps(body).encode()
        manifest = json.loads(parts["manifest.json"])
        manifest["parts"]["model.json"] = sha256(parts["model.json"]).hexdigest()
        parts["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(tmp_path / "odd.veil", "w") as file:
            for name, content in parts.items():
                file.writestr(name, content)
        with pytest.raises(BadInput, match="odd.veil is not a model, or was damaged"):
            load_model(tmp_path / "odd.veil")


def test_a_trace_in_a_file_of_another_method_is_refused(fitted, tmp_path):
    model, _ = fitted
    named = model.model_
    write_model(tmp_path / "odd.veil", replace(named.outcome_, trace=model.outcome_.trace))
    with pytest.raises(BadInput, match="odd.veil is not a model, or was damaged"):
        load_model(tmp_path / "odd.veil")
    named.save(tmp_path / "named.veil")
    assert type(load_model(tmp_path / "named.veil")) is type(named)


def test_its_report_shows_facts_and_predictions(fitted):
    model, _ = fitted
    page = model.report()
    assert "The choice" in page and model.chosen_ in page and "What the choice knew" in page
    assert all(option in page for option in OPTIONS)
    assert model.chosen_ in model._summary()
    assert "logarithm" not in page and "rows times epsilon for each weight" in page


def test_its_report_says_that_a_verdict_knows_more_than_an_expectation():
    said = "before the rows were asked; the verdict of this report says what came of it"
    few = AutoClassifier(epsilon="1/1000", schema=IRIS, random_state=0).fit(FLOWERS)
    assert few.verdict_.bad and said in few.report()


def test_a_linear_model_of_too_many_values_is_left_out():
    values = [f"v{code}" for code in range(600)]
    columns = [Categorical(name=f"c{place}", values=values) for place in range(40)]
    schema = Schema(name="wide", label="y", column=[*columns, Categorical(name="y", values=("a", "b"))])
    model = AutoClassifier(schema=schema, options=["logistic", "naive-bayes"])
    usable = {option.name: option.refusal(schema, Budget(1)) for option in model._choices()}
    assert "too many values" in usable["logistic"] and usable["naive-bayes"] == ""


@pytest.mark.parametrize(("columns", "values", "classes"), [(2, 2, 2), (20, 10, 2), (6, 20, 8), (60, 5, 3)])
@pytest.mark.parametrize("option", CHOICES)
def test_what_is_not_left_out_is_not_refused_later(option, columns, values, classes):
    """At the least epsilon that an option is used for, and without a row, a fit still goes through."""
    features = [
        Categorical(name=f"c{place}", values=[f"v{code}" for code in range(values)]) for place in range(columns)
    ]
    label = Categorical(name="y", values=[f"k{code}" for code in range(classes)])
    schema = Schema(name="least", label="y", column=[*features, label])
    codes = sum(column.size for column in features) * classes
    epsilon = Fraction(codes, 10**6) * Fraction(100, 97)
    model = AutoClassifier(epsilon=epsilon, schema=schema, options=[option], random_state=0)
    assert model.fit({column.name: [] for column in schema.column}).outcome_.epsilon == epsilon
    if option != "shares":
        ledger = Ledger(1, "least")
        with pytest.raises(BadInput, match="too small"):
            AutoClassifier(epsilon=epsilon / 2, schema=schema, options=[option], ledger=ledger).fit(
                {column.name: [] for column in schema.column}
            )
        assert ledger.spent == 0


def test_texts_alone_are_left_to_the_method_for_texts():
    words = ("free", "prize", "now", "see", "you")
    label = Categorical(name="kind", values=("ham", "spam"))
    schema = Schema(name="mail", label="kind", column=[Text(name="text", words=words, words_per_row=3), label])
    texts = {"text": ["free prize now", "see you"] * 60, "kind": ["spam", "ham"] * 60}
    model = AutoClassifier(epsilon=1, schema=schema, random_state=0).fit(texts)
    assert model.chosen_ == "sparse-naive-bayes" and model.outcome_.epsilon == 1
    assert "Veil took sparse-naive-bayes, the method for texts alone." in model.report()
    assert (model.predict(texts) == texts["kind"]).mean() > 0.9


def test_texts_beside_columns_are_said_to_be_left_out(fair):
    rows, schema = fair
    for words, left_out in ((("a", "b"), {"sparse-naive-bayes"}), ((), set())):
        text = Text(name="text", words=words, words_per_row=2) if words else Text(name="text")
        wide = Schema(name="wide", label=schema.label, column=[text, *schema.column])
        model = AutoClassifier(epsilon=1, schema=wide, random_state=0).fit(rows.assign(text="a"))
        assert {*model.trace_.left_out} == left_out and ("not used" in model.report()) == bool(left_out)


def test_what_cannot_be_chosen_from_is_refused_before_a_charge(fair):
    rows, schema = fair
    ledger = Ledger(1, schema.name)
    label = Categorical(name="kind", values=("ham", "spam"))
    mail = Schema(name=schema.name, label="kind", column=[Text(name="text", words=("a",), words_per_row=1), label])
    for settings in (
        *({"goal": "fame"}, {"options": ["magic"]}, {"options": "logistic"}, {"options": []}),
        *({"goal": ["auc"]}, {"options": None}, {"options": [["logistic"]]}),
    ):
        with pytest.raises(BadInput):
            AutoClassifier(schema=schema, ledger=ledger, **settings).fit(rows)
        with pytest.raises(BadInput):
            AutoClassifier(schema=mail, ledger=ledger, **settings).fit({"text": ["a"], "kind": ["ham"]})
    alone = Schema(name="one", label="y", column=[Categorical(name="y", values=("a", "b"))])
    own = Ledger(1, "one")
    with pytest.raises(BadInput, match="no column besides the label"):
        AutoClassifier(schema=alone, ledger=own).fit({"y": ["a", "b"]})
    assert ledger.spent == own.spent == 0


def test_goals_weigh_what_is_expected(fair):
    rows, schema = fair
    for goal in ("auc", "accuracy", "both"):
        model = AutoClassifier(epsilon=1, schema=schema, goal=goal, random_state=0).fit(rows)
        weights = {"auc": goal != "accuracy", "accuracy": goal != "auc"}
        worth = dict.fromkeys(OPTIONS, 0.0)
        for one in model.trace_.predictions:
            worth[one.option] += weights[one.measure] * one.value
        assert worth[model.chosen_] == max(worth.values())


def test_it_stands_in_a_pipeline_and_on_an_open_source(fair):
    rows, schema = fair
    pipeline = PrivatePipeline([PrivateSelectKBest(k=4), AutoClassifier()], schema=schema, epsilon=1, random_state=0)
    assert pipeline.fit(rows).outcome_.epsilon == 1
    source = open_source(rows, schema, Ledger(2, schema.name), noise=0)
    model = AutoClassifier().fit_source(source, "1/2")
    assert model.outcome_.epsilon == Fraction(1, 2) and model.chosen_ in OPTIONS


def test_with_a_huge_epsilon_it_is_the_chosen_method_without_noise(fair):
    rows, schema = fair
    model = AutoClassifier(epsilon=10**6, schema=schema, options=["naive-bayes"], random_state=0).fit(rows)
    alone = CHOICES["naive-bayes"](epsilon=10**6, schema=schema, random_state=1).fit(rows)
    assert np.abs(model.predict_proba(rows) - alone.predict_proba(rows)).max() < 0.01


def test_a_rehearsal_asks_what_a_fit_would_ask(fair):
    _, schema = fair
    plan = AutoClassifier(epsilon=1, schema=schema).rehearse()
    assert plan[0].receipt.question == "all rows" and len(plan) > 1
    assert sum(receipt.epsilon for receipt in {one.receipt.number: one.receipt for one in plan}.values()) == 1


def test_what_is_expected_is_a_share():
    """On the tables of which most is expected, too."""
    label = Categorical(name="y", values=("a", "b"))
    schema = Schema(name="made", label="y", column=[*(Numeric(name=f"x{i}", bounds=(0, 1)) for i in range(9)), label])
    rows = {**{f"x{i}": np.zeros(40) for i in range(9)}, "y": ["a", "b"] * 20}
    for epsilon in (10**-3, 1, 10**9):
        found = AutoClassifier(epsilon=epsilon, schema=schema, random_state=0).fit(rows).trace_.predictions
        assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found)


def test_numbers_need_no_tight_bounds():
    columns = [
        Numeric(name=column.name, bounds=(0, 1000)) if isinstance(column, Numeric) else column for column in IRIS.column
    ]
    schema = Schema(name="loose", label=IRIS.label, column=columns)
    model = AutoClassifier(epsilon=20, schema=schema, random_state=0).fit(FLOWERS)
    assert (model.predict(FLOWERS) == FLOWERS[IRIS.label]).mean() > 0.6


def test_weights_are_checked_by_their_own_odds(fair):
    """Values that never arrived, or labels that nothing predicts, are not called a success."""
    rows, schema = fair
    settings = {"epsilon": 1, "schema": schema, "options": ["logistic"], "random_state": 0}
    missing = rows.assign(**{column.name: None for column in schema.features})
    shuffled = rows.assign(**{schema.label: rows[schema.label].sample(frac=1, random_state=1).to_numpy()})
    assert AutoClassifier(**settings).fit(rows).verdict_.level == "fair"
    for table in (missing, shuffled):
        with pytest.warns(LittleLearned):
            model = AutoClassifier(**settings).fit(table)
        assert model.verdict_.bad and "in its own odds" in model.verdict_.words
    receipt = model.releases_[-1].receipt
    assert receipt.epsilon == Fraction(97, 100) * Fraction(3, 100) and receipt in model.receipts_


@pytest.mark.parametrize("counted", [-5_000, -400, 0, 300, 20_000])
def test_the_rows_to_expect_are_never_none_and_follow_the_count_where_it_is_sure(counted):
    """With noise of a deviation of 400, below zero about as many as it could hide, far above zero the count."""
    facts = facts_of_counts([counted / 2] * 2, 200, 0.05, codes=30, columns=5, numbers=3, classes=2)
    assert counted <= facts["rows"] <= max(counted, 0) + 400 and facts["rows"] > 20
    assert counted < 2_000 or facts["rows"] == pytest.approx(counted)


def test_a_linear_model_of_few_rows_is_expected_to_have_few_weights():
    """Columns of numbers have wide bins then; those of categories have all their values."""
    sizes = {"codes": 1 + 4 * 16 + 7, "columns": 5, "numbers": 4, "classes": 2}
    few, many = (np.exp(facts_of_counts([rows / 2] * 2, 1, 1, **sizes)["weights"]) for rows in (200, 10**6))
    assert few == pytest.approx(1 + 4 * 4 + 7) and many == pytest.approx(1 + 4 * 16 + 7)
