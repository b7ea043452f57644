"""Files of version 0.2 that name verbs about words, which later versions call by other names, still open."""

import json
from pathlib import Path

import numpy as np
import pytest

import veil
from veil.trusted import WORDS, files_used

FILES = Path(__file__).parent / "of_0_2"
SAID = json.loads((FILES / "predicted.json").read_text())  # as that version wrote it
TEXTS = {"text": ["alpha beta gamma", "beta delta", "alpha", "gamma delta alpha epsilon", ""]}


@pytest.mark.parametrize("name", SAID)
def test_a_model_of_words_of_version_0_2_opens_and_predicts_as_it_did(name):
    model = veil.load_model(FILES / f"{name}.veil")
    assert [receipt.verb for receipt in model.receipts_] == SAID[name]["verbs"]
    assert model.predict_proba(TEXTS) == pytest.approx(np.array(SAID[name]["proba"]), abs=1e-12)
    assert model.verdict_.words and "epsilon" in model.report() and not model.private_
    used = {file.name for file in files_used(model.schema_, model.releases_, model.receipts_)}
    assert {f"{word}.py" for word in WORDS} <= used and len(used) > len(WORDS)
    verb = SAID[name]["verbs"][-1].removesuffix("_words")
    assert f"kernel/verbs/{verb}.py" in used


@pytest.mark.parametrize("name", SAID)
def test_what_is_opened_is_stored_again_as_it_was(name, tmp_path):
    model = veil.load_model(FILES / f"{name}.veil")
    model.save(tmp_path / "again.veil")
    again = veil.load_model(tmp_path / "again.veil")
    assert again.receipts_ == model.receipts_ and (again.predict_proba(TEXTS) == model.predict_proba(TEXTS)).all()
