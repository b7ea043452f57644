"""Linear models: files, settings and the command line treat them as any other."""

import numpy as np
import pytest

from veil import BadInput, LinearSVMClassifier, LogisticRegressionClassifier, PrivatePipeline, datasets, load_model

KINDS = [LogisticRegressionClassifier, LinearSVMClassifier]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["fair", "iris"])
def test_a_saved_model_predicts_the_same(kind, name, tmp_path):
    rows, schema = datasets.load(name)
    model = kind(epsilon=1, schema=schema, penalty=5).fit(rows)
    model.save(tmp_path / "m.veil")
    back = load_model(tmp_path / "m.veil")
    assert type(back) is kind and back.penalty == 5 and back.private_
    assert (back.predict_proba(rows) == model.predict_proba(rows)).all()
    assert [release.receipt for release in back.releases_] == [release.receipt for release in model.releases_]
    assert all((a.value == b.value).all() for a, b in zip(back.releases_, model.releases_, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_more_budget_comes_closer_to_the_truth(kind):
    rows, schema = datasets.load("fair")
    best = kind(epsilon=10**6, schema=schema, random_state=0).fit(rows).predict(rows)
    agree = [
        np.mean(
            [(kind(epsilon=e, schema=schema, random_state=s).fit(rows).predict(rows) == best).mean() for s in range(4)]
        )
        for e in (0.05, 1, 100)
    ]
    assert agree == sorted(agree) and agree[-1] > 0.97


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_penalty_is_refused_before_anything_is_charged(kind):
    rows, schema = datasets.load("fair")
    with pytest.raises(BadInput, match="penalty"):
        kind(epsilon=1, schema=schema, penalty=-1).fit(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_what_was_asked(kind):
    rows, schema = datasets.load("iris")
    model = kind(epsilon=1, schema=schema).fit(rows)
    assert "minimise" in model._repr_html_() and "sepal" in model._repr_html_()
    assert [release.receipt.verb for release in model.rehearse()][:2] == ["count", "minimise"]
    assert "minimise" in repr(model.releases_[-1]) and "petal" in repr(model.releases_[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_margins_decide_as_scikit_learn_has_them(kind):
    for name, classes in (("fair", 2), ("iris", 3)):
        rows, schema = datasets.load(name)
        model = kind(epsilon=10, schema=schema).fit(rows)
        margins, found = model.decision_function(rows), model.predict(rows)
        decided = (margins > 0).astype(int) if classes == 2 else margins.argmax(axis=1)
        assert margins.shape == ((len(rows),) if classes == 2 else (len(rows), 3))
        assert (model.classes_[decided] == found).all()
        whole = PrivatePipeline([kind()], epsilon=1, schema=schema).fit(rows)
        assert whole.decision_function(rows).shape == margins.shape
