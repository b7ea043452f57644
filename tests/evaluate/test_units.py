"""Every evaluation protects what the model's schema or the given one protects, and no complaint tells about rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import make_pipeline

from veil import (
    BadInput,
    Categorical,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    PrivateSelectKBest,
    Schema,
    Text,
    private_accuracy,
    private_auc,
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
)
from veil.evaluate.handing import handed
from veil.evaluate.scores import evaluation_schema
from veil.evaluate.together import fit_and_evaluate

SCHEMA = Schema(
    name="visits",
    label="ill",
    person="who",
    rows_per_person=3,
    column=[Numeric(name="age", bounds=(0, 99)), Categorical(name="ill", values=("0", "1"))],
)
AGES = np.arange(60) % 90
ROWS = pd.DataFrame({"age": AGES, "ill": (AGES > 40).astype(int), "who": [f"p{i // 2}" for i in range(60)]})
FITTED = NaiveBayesClassifier(epsilon=1, schema=SCHEMA, random_state=0).fit(ROWS)
ASKED = [private_accuracy, private_auc, private_calibration_curve, private_confusion_matrix, private_roc_curve]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("given", [{}, {"classes": (0, 1)}, {"classes": (True, False)}, {"schema": SCHEMA}])
def test_a_model_keeps_its_unit_whatever_else_is_given(ask, given):
    ledger = Ledger(1, "visits")
    found = ask(FITTED, ROWS, ROWS["ill"], epsilon=1, ledger=ledger, **given)
    units = {receipt.protects for receipt in found.receipts_}
    assert units == {receipt.protects for receipt in FITTED.receipts_} != {"one row"}
    assert (found.schema_.person, found.schema_.rows_per_person) == ("who", 3)


@pytest.mark.parametrize("ask", ASKED)
def test_values_that_were_handed_over_are_judged_in_the_unit_of_their_schema(ask):
    values = ROWS["ill"] if ask in (private_accuracy, private_confusion_matrix) else ROWS["age"] / 100
    found = ask(values, ROWS, epsilon=1, schema=SCHEMA, classes=(0, 1), ledger=Ledger(1, "visits"))
    assert (found.schema_.person, found.schema_.rows_per_person) == ("who", 3)


def test_a_model_inside_another_keeps_its_unit():
    alone = SCHEMA.model_copy(update={"person": None, "rows_per_person": 1})
    pipeline = make_pipeline(PrivateSelectKBest(k=1, schema=SCHEMA), NaiveBayesClassifier(schema=SCHEMA))
    for model in (pipeline, VotingClassifier([("one", FITTED)])):
        assert evaluation_schema(model, None, (0, 1)).person == "who"
    assert evaluation_schema(make_pipeline(NaiveBayesClassifier(schema=alone)), None, (0, 1)).person is None


def test_two_units_of_one_data_set_are_refused():
    for change in ({"person": None, "rows_per_person": 1}, {"rows_per_person": 2}, {"person": "age2"}):
        with pytest.raises(BadInput, match="protect different units"):
            private_accuracy(FITTED, ROWS, epsilon=1, schema=SCHEMA.model_copy(update=change))
    other = SCHEMA.model_copy(update={"name": "another", "person": None, "rows_per_person": 1})
    assert private_accuracy(FITTED, ROWS, epsilon=1, schema=other).schema_.person is None


def test_classes_beside_a_schema_are_its_own_in_another_order():
    assert evaluation_schema(FITTED, None, (1, 0)).classes == ("1", "0")
    for classes in ((0, 1, 2), (0,), (0, 0), ("no", "yes")):
        with pytest.raises(BadInput, match="classes must be those of the schema"):
            private_auc(FITTED, ROWS, epsilon=1, classes=classes)


def test_training_and_judging_in_one_run_protect_people():
    model = NaiveBayesClassifier(epsilon=1, schema=SCHEMA)
    found = fit_and_evaluate(model, ROWS, share=0.3, epsilon=1, ledger=Ledger(1, "visits"))
    units = {receipt.protects for receipt in (*found.receipts_, *model.receipts_)}
    assert units == {receipt.protects for receipt in FITTED.receipts_}
    assert (found.schema_.person, found.schema_.rows_per_person) == ("who", 3)


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("length", [0, 1, 59, 61])
def test_lengths_that_differ_are_refused_without_a_number(ask, length):
    values = [0.5] * length if ask not in (private_accuracy, private_confusion_matrix) else [1] * length
    for given in ({"schema": SCHEMA, "X": ROWS}, {"classes": (0, 1), "y": ROWS["ill"]}):
        with pytest.raises(BadInput, match="different lengths") as caught:
            ask(values, epsilon=1, **given)
        assert not any(number in str(caught.value) for number in ("60", str(length)))


ODD = np.array(["a", "1"])
ODD.view(np.uint32)[0] = 0x110000  # beyond the last character there is


def test_a_character_that_does_not_exist_is_a_missing_value():
    column = Categorical(name="a", values=("a", "1"))
    for values in (ODD, np.ma.array(ODD, mask=[False, False]), ODD[::-1][::-1]):
        assert column.encode(values).tolist() == [2, 1]
        assert Numeric(name="a", bounds=(0, 2), bins=2).encode(values).tolist() == [2, 1]
        assert Text(name="a", words=("a", "b")).encode(values).starts.tolist() == [0, 0, 0]
    assert handed([ODD, ["1", "1"]], None, None).one(0).tolist()[0][1] == 1
    assert column.encode(np.ma.zeros(2, [("a", "i4")])).tolist() == [2, 2]  # records are no values
    people = SCHEMA.model_copy(update={"rows_per_person": 1})
    rows = {"age": [3, 4], "ill": [0, 1], "who": ODD}
    found = private_confusion_matrix([0, 1], rows, epsilon=10**6, schema=people, random_state=0)
    assert found.counts.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("odd", [sparse.coo_array(np.array([0, 1, 0])), sparse.coo_array(np.zeros((2, 2, 2)))])
def test_a_sparse_column_that_is_no_matrix_is_refused(odd):
    schema = Schema(name="mail", column=[Text(name="text", words=("one", "two"))])
    for column in (*schema.column, Categorical(name="text", values=("a",)), Numeric(name="text", bounds=(0, 1))):
        with pytest.raises(BadInput, match="column 'text' must be a list, a series or an array of one dimension"):
            column.encode(odd)
    with pytest.raises(BadInput):
        schema.encode({"text": odd})
