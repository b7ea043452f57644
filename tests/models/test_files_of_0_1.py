"""Files that version 0.1 wrote still open, and say what they said."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

import veil

FILES = Path(__file__).parent / "of_0_1"
SCORES = {
    "forest": "d2d2b63de5380146",
    "logistic": "442bc5bea0434172",
    "naive-bayes": "dbdba3fc09dce45f",
    "privpfc": "854cb605e4ad9505",
    "projected": "b4e1c75beb6477b3",
    "svm": "4500946bf5525f09",
    "tree": "5422bc823daa040d",
}  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
def test_a_model_of_version_0_1_opens_and_predicts_as_it_did(name):
    model, (rows, schema) = veil.load_model(FILES / f"{name}.veil"), veil.datasets.load("iris")
    scores = np.ascontiguousarray(model.scorer_.scores(schema.encode(rows, label=False)), np.int64)  # whole numbers
    assert hashlib.sha256(scores.tobytes()).hexdigest()[:16] == SCORES[name]
    assert model.method == name and model.verdict_.words and "epsilon" in model.report()
    assert {receipt.run for receipt in model.receipts_} == {""} and not model.private_


def test_a_synopsis_of_version_0_1_opens_and_answers():
    synopsis = veil.load_synopsis(FILES / "synopsis.veil")
    assert synopsis.query().count == pytest.approx(150, abs=40) and len(synopsis.to_frame(rows=10)) == 10
