"""What a newcomer meets: names to complete, warnings, progress, and what notebooks show."""

import gzip
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest

import veil
from shell import output, run
from veil.cli.output import amounts
from veil.display import html_table
from veil.evaluate import fit_and_evaluate
from veil.plans.outcome import keep_apart, share_rows
from veil.progress import told as progress_told
from veil.report.counts import CountsDisplay, height


def test_everything_that_is_offered_can_be_completed_and_had():
    assert {*veil.__all__} <= {*dir(veil)}
    assert all(getattr(veil, name) is not None for name in veil.__all__)
    assert veil.datasets.load("iris")


def test_listing_the_names_loads_nothing_heavy():
    program = "import veil, sys; dir(veil); assert 'sklearn' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="no attribute 'METHODS'"):
        veil.METHODS  # noqa: B018


def told_while(work):
    told = []
    with progress_told(lambda *step: told.append(step)):
        work()
    return told


@pytest.mark.parametrize(
    "model", [veil.NaiveBayesClassifier, veil.DecisionTreeClassifier, veil.LogisticRegressionClassifier]
)
def test_progress_tells_the_same_of_a_table_and_of_its_neighbour(model):
    """Of the same answers: with seeded noise and so large an epsilon that one row changes none of them."""
    rows, schema = veil.datasets.load("iris")
    settings = {"epsilon": 10**6, "schema": schema, "random_state": 0}
    whole, fewer = (told_while(lambda part=part: model(**settings).fit(part)) for part in (rows, rows[:-1]))
    assert whole == fewer and len(whole) > 3
    assert all(0 <= done <= total for _, done, total in whole if total)


def test_scoring_candidates_moves_in_shares_of_their_public_number():
    rows, schema = veil.datasets.load("iris")
    told = told_while(lambda: veil.publish(rows, schema, epsilon=1, random_state=0))
    scored = [(done, total) for work, done, total in told if work == "scoring candidates"]
    assert [done for done, _ in scored] == list(range(1, scored[0][1] + 1))


def test_a_progress_bar_is_shown_on_a_terminal_and_nowhere_else(capfd, monkeypatch):
    rows, schema = veil.datasets.load("iris")
    with veil.progress():
        veil.publish(rows, schema, epsilon=1, random_state=0)
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with veil.progress(), veil.progress():
        veil.publish(rows, schema, epsilon=1, random_state=0)
    assert "scoring candidates" in capfd.readouterr().err


@pytest.fixture(scope="module")
def iris():
    return veil.datasets.load("iris")


@pytest.fixture(scope="module")
def fitted(iris):
    rows, schema = iris
    ledger = veil.Ledger(10, "iris")
    return veil.NaiveBayesClassifier(epsilon=1, schema=schema, ledger=ledger).fit(rows), ledger


def runs_without_a_ledger(rows, schema, **more):
    model = veil.NaiveBayesClassifier(epsilon=1, schema=schema, **more)
    steps = [veil.PrivateSelectKBest(k=2), veil.NaiveBayesClassifier()]
    yield lambda: model.fit(rows)
    yield lambda: veil.publish(rows, schema, epsilon=1, **more)
    yield lambda: veil.PrivatePipeline(steps, epsilon=1, schema=schema, **more).fit(rows)
    yield lambda: veil.private_accuracy(rows[schema.label], y=rows[schema.label], schema=schema, epsilon=1, **more)


def test_private_rows_that_are_asked_without_a_ledger_are_warned_about_at_the_line_that_asked(iris):
    for ask in runs_without_a_ledger(*iris):
        with pytest.warns(veil.NoLedger, match="epsilon 1 of 'iris' is charged to no ledger") as caught:
            made = ask()
        assert {warning.filename for warning in caught} == {__file__}
        assert sum(warning.category is veil.NoLedger for warning in caught) == 1
        assert "charged to no ledger" in made._repr_html_()


def test_seeded_public_and_accounted_runs_do_not_warn(iris):
    rows, schema = iris
    public = schema.model_copy(update={"public": True})
    with warnings.catch_warnings():
        warnings.simplefilter("error", veil.NoLedger)
        for ask in (*runs_without_a_ledger(rows, schema, random_state=0), *runs_without_a_ledger(rows, public)):
            ask()
        for ask in runs_without_a_ledger(rows, schema, ledger=veil.Ledger(10, "iris")):
            assert "no ledger" not in ask()._repr_html_()
        veil.NaiveBayesClassifier(epsilon=1, schema=schema).rehearse()


def test_a_loop_is_warned_about_once(iris):
    rows, schema = iris
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", veil.NoLedger)
        for _ in range(3):
            veil.NaiveBayesClassifier(epsilon=1, schema=schema).fit(rows)
    assert len(caught) == 1


def test_a_model_that_is_judged_by_its_training_rows_is_cautioned_about(iris, fitted):
    (rows, _), (model, ledger) = iris, fitted
    with pytest.warns(veil.SameRows, match="the figures flatter it"):
        curve = veil.private_roc_curve(model, rows, epsilon=1, ledger=ledger)
    assert curve.same_rows_ and "Flattered" in curve.report()


def test_other_ledgers_and_disjoint_parts_are_no_reason_for_caution(iris, fitted):
    (rows, schema), (model, _) = iris, fitted
    ledger = veil.Ledger(2, "iris")
    with warnings.catch_warnings():
        warnings.simplefilter("error", veil.SameRows)
        right = veil.private_accuracy(model, rows, epsilon=1, ledger=ledger)
        trained = veil.NaiveBayesClassifier(epsilon=1, schema=schema)
        apart = fit_and_evaluate(trained, rows, share=0.3, epsilon=1, ledger=ledger)
    assert not right.same_rows_ and not apart.same_rows_ and "Flattered" not in apart.report()


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("/", "/", True),
        ("/", "/3.1", True),
        ("/3.0", "/3.1", False),
        ("/3.0", "/3.0", True),
        ("/3.0", "/4.1", True),
        ("/3.0/7.1", "/3.0/7.2", False),
        ("/3.0/7.1", "/3.0", True),
        ("/3.0/7.1", "/3.1/7.1", False),
    ],
)
def test_parts_of_one_split_share_no_row(fitted, first, second, shared):
    receipt = fitted[0].receipts_[0]
    accounts = [[replace(receipt, account=account)] for account in (first, second)]
    assert share_rows(*accounts) == shared
    assert not share_rows([receipt], [replace(receipt, ledger="another")])
    assert keep_apart(accounts[0], {(receipt.ledger, second)}) != shared
    assert not keep_apart([receipt], {("another", second)}) and not keep_apart([receipt], set())


def test_an_evaluation_says_which_model_it_judged(iris, fitted, tmp_path):
    (rows, schema), (model, _) = iris, fitted
    model.save(tmp_path / "flowers.veil")
    found = veil.private_accuracy(veil.load_model(tmp_path / "flowers.veil"), rows, epsilon=1)
    assert (found.judged_.method, found.judged_.data, found.judged_.file) == ("naive-bayes", "iris", "flowers.veil")
    page = found.report()
    assert "flowers.veil" in page and "naive-bayes" in page and model.receipts_[-1].hash[:12] in page
    handed = veil.private_accuracy(rows[schema.label], y=rows[schema.label], epsilon=1, schema=schema)
    assert handed.judged_.kind == "values that were handed over"


def test_whatever_was_published_has_a_page(iris, fitted, tmp_path):
    (rows, schema), (model, _) = iris, fitted
    steps = [veil.PrivateSelectKBest(k=2), veil.NaiveBayesClassifier()]
    two = rows[schema.label] == "setosa"
    published = {
        "model": model,
        "pipeline": veil.PrivatePipeline(steps, epsilon=1, schema=schema).fit(rows),
        "synopsis": veil.publish(rows, schema, epsilon=1),
        "matrix": veil.private_confusion_matrix(model, rows, epsilon=1),
        "area": veil.private_auc(model, rows, epsilon=1),
        "calibration": veil.private_calibration_curve(two * 1.0, y=two, classes=(False, True), epsilon=1),
    }
    pages = {name: made.report(tmp_path / f"{name}.html").read_text() for name, made in published.items()}
    assert all("What it cost" in page for page in pages.values())
    assert "left to spend of 10" in pages["model"] and "left to spend" not in pages["synopsis"]
    with pytest.raises(veil.BadInput, match="exists already"):
        published["matrix"].report(tmp_path / "matrix.html")
    shown = published["matrix"].report()
    assert shown == pages["matrix"] and shown._repr_html_().startswith("<iframe srcdoc=")


def test_a_curve_is_drawn_in_notebooks_whatever_its_classes_are_called(iris, fitted):
    (rows, schema), (model, _) = iris, fitted
    assert "<img alt=" in veil.private_roc_curve(model, rows, epsilon=1)._repr_html_()
    truth = rows[schema.label] == "setosa"
    names = {True: r"$\bad{", False: "<b>"}
    curve = veil.private_roc_curve(truth * 1.0, y=truth.map(names), classes=tuple(names.values()), epsilon=1)
    assert "data:image/svg+xml;base64," in curve._repr_html_() and "<b>" not in curve._repr_html_()


def test_a_rehearsal_shows_the_plan_and_stays_a_tuple_of_releases(iris):
    plan = veil.NaiveBayesClassifier(epsilon=1, schema=iris[1]).rehearse()
    assert isinstance(plan, tuple) and isinstance(plan[0], veil.Release) and len(plan) == len(plan.plan()) == 5
    assert "noise scale" in repr(plan) and "petal width (cm)[13]" in repr(plan) and len(repr(plan).splitlines()) == 7
    assert sum(row[2] for row in plan.plan()) == pytest.approx(1)


def test_tables_that_are_cut_say_so_and_where_all_rows_are(iris, fitted):
    model, _ = fitted
    release = model.releases_[0]
    hidden = len(release.columns()["count"]) - 20
    assert f"... {hidden} more rows; all are in .columns()" in repr(release)
    assert f"... {hidden} more rows; all are in .columns()" in release._repr_html_()
    assert html_table("", ["a"], [("x",)] * 21).count("<td>x") == 20
    assert "1 more row" in html_table("", ["a"], [("x",)] * 21) and "more" not in html_table("", ["a"], [("x",)] * 20)


def test_a_query_shows_a_rounded_number_and_its_error(iris):
    synopsis = veil.publish(*iris, epsilon=1, random_state=0)
    assert re.fullmatch(
        r"about [\d.,]+ rows, standard error [\d.,]+(;.*)?", repr(synopsis.query({iris[1].label: "setosa"}))
    )


def test_a_pipeline_and_a_calibration_show_their_numbers(iris):
    rows, schema = iris
    steps = [veil.PrivateSelectKBest(k=2), veil.NaiveBayesClassifier()]
    model = veil.PrivatePipeline(steps, epsilon=1, schema=schema, random_state=0).fit(rows)
    assert "<td>PrivateSelectKBest</td><td>0.5</td>" in model._repr_html_() and "epsilon 1" in model.summary()
    truth = rows[schema.label] == "setosa"
    curve = veil.private_calibration_curve(truth * 1.0, y=truth, classes=(False, True), epsilon=9, random_state=0)
    assert curve._repr_html_().count("<tr>") == 11 and "share that is positive" in curve._repr_html_()


def test_a_lazy_frame_is_fitted_on_and_predicted_but_public_only_in_memory(iris):
    lazy = pytest.importorskip("polars").from_pandas(iris[0]).lazy()
    model = veil.NaiveBayesClassifier(schema=iris[1], random_state=1).fit(lazy)
    assert (
        model.predict(iris[0])
        == veil.NaiveBayesClassifier(schema=iris[1], random_state=1).fit(iris[0]).predict(iris[0])
    ).all()
    assert (model.predict(lazy) == model.predict(iris[0])).all()
    with pytest.raises(veil.BadInput, match="lazy: collect them first"):
        veil.NaiveBayesClassifier(schema="public").fit(lazy, iris[0]["target"])


def test_a_short_heat_map_has_room_for_every_label():
    classes = tuple(f"class number {i}" for i in range(8))
    display = CountsDisplay([[9] * 8, [50] * 8], 3, column="job", names=("a", "b"), classes=classes).plot()
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert not boxes[0].overlaps(boxes[1]) and height(display) > 1


def test_a_large_tree_is_drawn_as_far_as_a_screen_can_show_it():
    rows, schema = veil.datasets.load("fair")
    model = veil.DecisionTreeClassifier(epsilon=20, schema=schema, random_state=0).fit(rows)
    axes = veil.plot_tree(model)
    assert axes.figure.get_size_inches()[0] <= 16 and min(text.get_fontsize() for text in axes.texts) >= 4.5
    assert any("..." in text.get_text() for text in axes.texts)
    assert veil.plot_tree(model, max_depth=6).figure.get_size_inches()[0] > 16


def test_an_interrupt_at_any_time_ends_in_a_sentence():
    stopping = "import builtins; load = builtins.__import__\n"
    stopping += "def stop(name, *more): \n  if name == 'numpy': raise KeyboardInterrupt\n  return load(name, *more)\n"
    early = f"{stopping}builtins.__import__ = stop\nfrom _veil import main; main()"
    late = "import veil.cli.methods as m, sys\ndef stop(*_): raise KeyboardInterrupt\nm.show_table = stop\n"
    late += "sys.argv = ['veil', 'methods']\nfrom _veil import main; main()"
    for program in (early, late):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert (done.returncode, done.stderr.strip()) == (130, "veil: stopped")


@pytest.fixture(scope="module")
def folder(iris, tmp_path_factory):
    """A folder with a table, its schema, a ledger, and a model trained on a part of the rows."""
    place, (rows, schema) = tmp_path_factory.mktemp("iris"), iris
    rows.to_csv(place / "iris.csv", index=False)
    (place / "iris.toml").write_text(schema.to_toml())
    output("ledger", "create", place / "iris.ledger", "--limit", 9, "--name", "iris")
    asked = (place / "iris.csv", "--schema", place / "iris.toml", "--epsilon", 1, "--ledger", place / "iris.ledger")
    output("train", *asked, "--out", place / "model.veil", "--test-share", "0.3")
    return place, asked


def test_pages_of_a_model_and_of_its_evaluation_link_to_each_other(folder):
    place, asked = folder
    model, judged = (place / name for name in ("model.html", "model-evaluation.html"))
    assert 'href="model-evaluation.html"' in model.read_text() and 'href="model.html"' in judged.read_text()
    (place / "pages").mkdir()
    said = output("evaluate", place / "model.veil", *asked, "--out", place / "pages" / "again.html")
    page = (place / "pages" / "again.html").read_text()
    assert 'href="../model.html"' in page and "model.veil" in page and "entry" in page
    assert "Caution: by its receipts" in said and "Flattered" in page and "Flattered" not in judged.read_text()


def test_publishing_says_which_columns_are_in_and_which_are_not(folder):
    place, asked = folder
    said = " ".join(output("publish", *asked, "--out", place / "table.veil", "--synthetic", place / "rows.csv").split())
    held = re.search(r"The table and its synthetic rows hold (.*?)\. (?:Nothing of (.*?):|Next)", said)
    inside, others = held[1].split(", "), held[2].split(", ") if held[2] else []
    assert {*inside, *others} == {column.name for column in veil.Schema.read(place / "iris.toml").column}
    assert (place / "rows.csv").read_text().partition("\n")[0].replace('"', "").split(",") == inside
    with pytest.raises(veil.BadInput, match="holds a synopsis, not a model: veil.load_synopsis opens it"):
        run("evaluate", place / "table.veil", *asked)


def test_complaints_name_what_was_typed(folder, tmp_path):
    place, asked = folder
    (tmp_path / "empty.csv").touch()
    with pytest.raises(veil.BadInput, match="the limit must be a finite number"):
        run("ledger", "create", tmp_path / "new.ledger", "--limit", "abc", "--name", "x")
    with pytest.raises(veil.BadInput, match=r"nodir/x.veil cannot be written: there is no folder"):
        run("train", *asked, "--out", tmp_path / "nodir" / "x.veil")
    with pytest.raises(veil.BadInput, match="empty.csv is empty: its first line must name the columns"):
        run("train", tmp_path / "empty.csv", *asked[1:], "--out", tmp_path / "x.veil")


def test_help_shows_no_type_behind_a_flag():
    assert "--dry-run" in output("train", "--help") and "bool" not in output("train", "--help") + output("--help")


def test_amounts_for_machines_are_numbers_with_the_exact_text_beside():
    assert amounts(left=Fraction(1, 10)) == {"left": 0.1, "left_exact": "1/10"}


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_reading_a_file_tells_the_share_of_its_bytes_and_no_number_of_rows(tmp_path, name):
    text, told = b"a,b\n" + b"1,2\n" * 300_000, []
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    with progress_told(lambda *step: told.append(step)):
        veil.read_csv(tmp_path / name)
    size = (tmp_path / name).stat().st_size
    assert {work for work, _, _ in told} == {"reading the file"} and told[-1][1:] == (size, size)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_progress_tells_the_same_of_few_rows_and_of_many():
    rows, schema = veil.datasets.load("iris")
    few, many = (told_while(lambda times=times: schema.encode(pd.concat([rows] * times))) for times in (1, 200))
    assert few == many
