"""A model of a published grid takes any scikit-learn classifier as its learner."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from veil import BadInput, Ledger, datasets, load_model
from veil.models import PrivPfCClassifier, ProjectedHistogramClassifier

MODELS = [PrivPfCClassifier, ProjectedHistogramClassifier]
LEARNERS = [DecisionTreeClassifier(max_depth=3, random_state=0), LinearSVC(), LogisticRegression(max_iter=1000)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("kind", MODELS)
def test_a_learner_is_trained_and_written_down_as_text(kind, learner, tmp_path):
    rows, schema = datasets.load("iris")
    model = kind(epsilon=100, schema=schema, random_state=0, learner=learner).fit(rows)
    assert (model.predict(rows) == rows["target"]).mean() > 0.7
    assert model.settings_["learner"] == repr(learner)
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    with pytest.raises(BadInput, match="learner again"):
        again.fit(rows)


@pytest.mark.parametrize("kind", MODELS)
def test_a_learner_without_weights_is_refused_before_the_charge(kind):
    rows, schema = datasets.load("iris")
    ledger = Ledger(1, schema.name)
    with pytest.raises(BadInput, match="sample_weight"):
        kind(schema=schema, ledger=ledger, learner=KNeighborsClassifier()).fit(rows)
    assert ledger.spent == 0
