"""The list of trusted files that a result used: whatever of them runs on rows is in it."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import veil
from veil import (
    BestOf,
    Budget,
    Categorical,
    Date,
    KDiscernibilitySelect,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    PrivatePipeline,
    PrivateSelectKBest,
    Schema,
    SparseNaiveBayesClassifier,
    Text,
    datasets,
    open_source,
    private_accuracy,
    private_roc_curve,
    publish,
    trusted,
)
from veil.evaluate.together import fit_and_evaluate
from veil.models import METHODS
from veil.models.base import PrivateEstimator
from veil.plans.catalogue import CARDS
from veil.questions import CellScores, Odds, Predicted, grid

SOURCE = f"{Path(veil.__file__).parent}/"
LISTS = (trusted.CORE, *trusted.VERBS.values(), *trusted.QUESTIONS.values())
LISTED = {f"{name}.py" for names in (*LISTS, trusted.WORDS, trusted.DATES, trusted.PEOPLE) for name in names}
INSIDE = tuple(f"{SOURCE}kernel/{name}" for name in ("verbs/", "reading.py"))
FLOWERS, IRIS = datasets.load("iris")
LABEL = Categorical(name="kind", values=("ham", "spam"))
WORDS = ("free", "prize", "now", "see", "you", "at", "the", "meeting")
MAIL = Schema(name="mail", label="kind", column=[Text(name="text", words=WORDS, words_per_row=3), LABEL])
TEXTS = {"text": ["free prize now", "see you at the meeting", "prize you"] * 60, "kind": ["spam", "ham", "spam"] * 60}
CHANCE = np.random.default_rng(0)
VISITS = Schema(
    name="visits",
    label="kind",
    person="who",
    rows_per_person=2,
    column=[Numeric(name="dose", bounds=(0, 9)), Date(name="day", bounds=("2020-01-01", "2021-01-01")), LABEL],
)
ILL = CHANCE.integers(0, 2, 400)
PATIENTS = pd.DataFrame(
    {
        "who": CHANCE.integers(0, 250, 400),
        "dose": ILL * 5 + CHANCE.uniform(0, 4, 400),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(CHANCE.integers(0, 360, 400), unit="D"),
        "kind": np.where(ILL, "spam", "ham"),
    }
)
TABLES = {"iris": (FLOWERS, IRIS), "mail": (TEXTS, MAIL), "visits": (PATIENTS, VISITS)}


def fitted(model, name):
    rows, schema = TABLES[name]
    return model.set_params(schema=schema, epsilon=10, random_state=3, ledger=Ledger(10, schema.name)).fit(rows)


def of_part():
    """A model of a part of the rows that was set apart by the odds of a scorer."""
    source = open_source(FLOWERS, IRIS, Ledger(1, "iris"), noise=3)
    scores = CellScores(grid(IRIS, IRIS.features[0].name), np.zeros((IRIS.features[0].size, 3)))
    return NaiveBayesClassifier().fit_source(source.split(Predicted(Odds(scores, 0)))[0], Budget(1))


def published_pipeline():
    """What the page of a pipeline is about, which left out the dates that it could have selected."""
    steps = [PrivateSelectKBest(k=1), NaiveBayesClassifier()]
    return fitted(PrivatePipeline(steps), "visits")._published()


def walked(name, goal):
    rows, schema = TABLES[name]
    model = NaiveBayesClassifier(schema=schema, ledger=Ledger(10, schema.name), random_state=3)
    return model.fit_until(rows, goal=goal, at_most=10)


def judged(evaluate, name="visits", kind=NaiveBayesClassifier):
    rows, schema = TABLES[name]
    return evaluate(fitted(kind(), name), rows, epsilon=10, ledger=Ledger(10, schema.name), random_state=3)


def both(kind, name):
    rows, schema = TABLES[name]
    model = kind(schema=schema, epsilon=10, random_state=3)
    return fit_and_evaluate(model, rows, share=0.5, epsilon=10, ledger=Ledger(10, schema.name))


OF_ROWS = [card for card in CARDS if not card.method.startswith("sparse")]
MADE = {
    **{
        f"{card.method} {card.preset}": lambda card=card: fitted(
            METHODS[card.method](**({"preset": card.preset} if card.preset else {})), "iris"
        )
        for card in OF_ROWS
    },
    **{name: lambda kind=kind: fitted(kind(), "mail") for name, kind in METHODS.items() if name.startswith("sparse")},
    "tree of people": lambda: fitted(METHODS["tree"](), "visits"),
    "best words": lambda: fitted(PrivateSelectKBest(k=3), "mail"),
    "best columns together": lambda: fitted(KDiscernibilitySelect(k=2), "iris"),
    "pipeline of words": lambda: fitted(
        PrivatePipeline([PrivateSelectKBest(k=3), SparseNaiveBayesClassifier()]), "mail"
    ),
    "pipeline without dates": published_pipeline,
    "synopsis": lambda: publish(PATIENTS, VISITS, epsilon=10, random_state=3, ledger=Ledger(10, "visits")),
    **{
        method: lambda method=method: publish(
            PATIENTS, VISITS, epsilon=10, method=method, random_state=3, ledger=Ledger(10, "visits")
        )
        for method in ("marginals", "privbayes")
    },
    "links": lambda: publish(PATIENTS, VISITS, epsilon=1000, method="marginals", random_state=3),
    "part": of_part,
    "walk": lambda: walked("iris", "accuracy=0.5"),
    "walk of people": lambda: walked("visits", "auc=0.6"),
    "best of two": lambda: fitted(BestOf([METHODS["naive-bayes"](), METHODS["tree"]()]), "visits"),
}
JUDGED = {
    "accuracy": lambda: judged(private_accuracy),
    "roc": lambda: judged(private_roc_curve),
    "roc of a forest": lambda: judged(private_roc_curve, "iris", METHODS["forest"]),
    "accuracy on texts": lambda: judged(private_accuracy, "mail", SparseNaiveBayesClassifier),
    "both": lambda: both(NaiveBayesClassifier, "visits"),
    "both of texts": lambda: both(SparseNaiveBayesClassifier, "mail"),
}


def traced(make, everywhere=False):
    """What was made, and the trusted files of which something ran inside a verb or where rows are read."""
    ran = set()

    def note(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(SOURCE) and name.removeprefix(SOURCE) in LISTED - ran:
            above = frame
            while above is not None and not (everywhere or above.f_code.co_filename.startswith(INSIDE)):
                above = above.f_back
            ran.update({name.removeprefix(SOURCE)} if above is not None else ())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        return make(), ran
    finally:
        sys.setprofile(before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MADE)
def test_a_result_names_every_trusted_file_that_its_rows_went_through(name):
    made, ran = traced(MADE[name])
    outcome = made.outcome_
    assert ran <= {file.name for file in trusted.files_used(outcome.schema, outcome.releases, outcome.receipts)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", JUDGED)
def test_an_evaluation_names_what_rows_go_through_on_their_way_to_a_score_too(name, monkeypatch):
    monkeypatch.setattr(PrivateEstimator, "search_for", lambda *_: None)  # of the fit, whose report lists it
    made, ran = traced(JUDGED[name], everywhere=name in ("accuracy", "roc"))
    outcome = made.outcome_
    used = trusted.files_used(outcome.schema, outcome.releases, outcome.receipts, judged=True)
    assert ran <= {file.name for file in used}
    page = made.report()
    assert all(file.name in page for file in used) and "but that of the model" in page


def test_the_kernel_page_says_how_long_the_trusted_part_is():
    others = [*trusted.WORDS, *trusted.DATES, *trusted.PEOPLE, *trusted.SHARED, *trusted.SPARK, *trusted.OPENDP]
    every = {*trusted.CORE, *others, *(name for names in LISTS[1:] for name in names)}
    core, verb, whole = (
        sum(map(trusted.lines_of, trusted.CORE)),
        max(trusted.lines_of(name) for name in every if name.startswith("kernel/verbs/")),
        sum(map(trusted.lines_of, every)),
    )
    said = (Path(__file__).parents[1] / "docs" / "kernel.md").read_text(encoding="utf-8").replace("\n", " ")
    assert f"the core has {core:,} lines, the longest file of a verb {verb}, and all of it {whole:,};" in said


def test_the_readme_says_how_much_an_auditor_of_naive_bayes_reads():
    outcome = NaiveBayesClassifier(schema=IRIS, random_state=0).fit(FLOWERS).outcome_
    used = trusted.files_used(outcome.schema, outcome.releases, outcome.receipts)
    said = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"for plain naive Bayes {len(used)} of them, {sum(file.lines for file in used):,} lines" in said
