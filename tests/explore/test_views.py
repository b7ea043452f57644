"""Every view answers, tells what it knows and no more, and says in a sentence what is wrong."""

import json
import re
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from tests.explore.conftest import HOST, made_up_results, opened
from tests.shell import output
from veil import BadInput, Ledger, Schema, grid, open_source, publish, read_csv
from veil.choice.trace import Fact, Trace
from veil.explore import results
from veil.explore.asking import Asking
from veil.explore.choice import facts as facts_of
from veil.explore.compare import is_tie
from veil.explore.given import Given, kind_of
from veil.explore.page import Site
from veil.explore.pages_read import blocks_of, evaluation_of
from veil.explore.picking import picked
from veil.results import FIRST, Results, read_results

VIEWS = ("compare", "plan", "ledger", "results", "choice")
VOID = {"meta", "input", "link", "br"}


class Page(HTMLParser):
    """A page; raises if tags are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.styled = self.handled = 0
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.styled += sum(name == "style" for name, _ in attributes)
        self.handled += sum(name.startswith("on") for name, _ in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(client: TestClient, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.text[:500]
    page = Page(answer.text)
    assert page.styled == page.handled == 0  # the policy would refuse both
    return str(answer.text)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_a_whole_page_and_a_part_for_the_script(client: TestClient, view: str) -> None:
    text = shown(client, view)
    assert "Traceback" not in text and 'id="content"' in text and "never charges" in text
    part = client.get(f"{view}?part=1").text
    assert part.startswith("<h1>") and 'id="content"' in part and "<html" not in part


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_what_to_do_if_nothing_is_open(view: str) -> None:
    text = shown(opened(Given()), view)
    assert "veil" in text and "unforeseen" not in text


def test_compare_shows_ties_gaps_and_why_there_is_no_number(client: TestClient) -> None:
    text = shown(client, "compare?epsilon=0.1&measure=auc&table=two")
    row = text[text.index("naive-bayes</th>") :]
    assert "logistic on one" in text and ">=<" in row and "only two classes" in text
    assert "changes the odds of anything by at most 11 %" in text and "NOT private" in text and "2026-11-02" in text
    values = shown(client, "compare?show=value&who=pure")
    assert "theirs</th>" not in values and ".9" in values
    assert "over rows" in text and "veil compare --data two" in text


def test_the_command_that_makes_results_again_has_their_number_of_seeds(client: TestClient) -> None:
    assert "--seeds 4 --out" in shown(client, "compare") and "--seeds 5" not in shown(client, "compare")


def test_a_tie_is_told_from_a_gap_by_the_same_seeds(given: Given) -> None:
    now = picked(given.comparison()[0], Asking(epsilon="0.1", rows="all"))
    assert now.best("one") == "logistic" and is_tie(now, "one", "logistic", "logistic")
    assert not is_tie(now, "one", "tree", "logistic")


def test_results_of_the_earlier_form_are_read_and_others_refused(tmp_path: Path) -> None:
    new = read_results(made_up_results(tmp_path / "new.parquet"))
    pq.write_table(new.select([name for name, _ in FIRST]), tmp_path / "old.parquet")
    old = read_results(tmp_path / "old.parquet")
    assert old.num_rows == new.num_rows and old["rows"].null_count == old.num_rows
    newer = new.append_column("magic", pa.nulls(new.num_rows, pa.string()))
    pq.write_table(newer, tmp_path / "newer.parquet")
    (tmp_path / "text.parquet").write_text("no parquet")
    pq.write_table(pa.table({"age": [1, 2]}), tmp_path / "rows.parquet")
    said = {"newer": "newer version", "text": "no results", "rows": "no results"}
    for name, words in said.items():
        text = shown(opened(Given((tmp_path / f"{name}.parquet",))), "compare")
        assert words in text and f"{name}.parquet" in text


def test_plan_tells_quality_questions_price_and_what_is_left(client: TestClient) -> None:
    text = shown(client, "plan?epsilon=0.5&rows=20000&method=privpfc")
    assert "What to expect of 20,000 rows at epsilon 0.5" in text and "one of up to" in text and "90 % between" in text
    assert "clinic.ledger has 2 of 4 left; after this it would have 1.5" in text
    assert "veil train DATA.csv" in text and "--method privpfc" in text
    refused = shown(client, "plan?epsilon=3")
    assert "it would refuse this" in refused


def test_plan_solves_for_epsilon(client: TestClient) -> None:
    text = shown(client, "plan?rows=100000&measure=auc&goal=0.75")
    assert "Expect an AUC of 0.75 with 100,000 rows from epsilon" in text
    assert "No epsilon up to 10 is expected" in shown(client, "plan?measure=auc&goal=1")


def test_a_pasted_schema_is_planned_for_and_not_kept(client: TestClient, given: Given, folder: Path) -> None:
    text = (folder / "clinic.toml").read_text().replace("clinic", "pasted")
    answer = client.post("plan", data={"text": text, "epsilon": "0.2"}, headers={"origin": "http://127.0.0.1:8124"})
    assert (
        answer.status_code == 200
        and "Plan for pasted" in answer.text
        and "Save the schema as schema.toml" in answer.text
    )
    assert 'method="post"' in answer.text and given.schemas == (folder / "clinic.toml",)
    assert "pasted" not in client.get("plan").text
    bad = client.post("plan", data={"text": "name = <b>"}, headers={"origin": "http://127.0.0.1:8124"})
    assert "The text is no schema" in bad.text and "<b>" not in bad.text
    long = client.post("plan", data={"text": "x" * 400_000}, headers={"origin": "http://127.0.0.1:8124"})
    assert long.status_code == 400 and "too long" in long.text


def test_the_ledger_tells_runs_totals_and_disjoint_parts(client: TestClient, folder: Path) -> None:
    text = shown(client, "ledger")
    assert "model v1" in text and "model.veil, found" in text and "/2.0" in text and "limit, for ever" in text
    ledger = Ledger.open(folder / "clinic.ledger")
    assert sum(receipt.epsilon for receipt in ledger.receipts()) > ledger.spent == 2  # what a sum of entries would say
    assert "<b>2</b>spent" in text
    lines = client.get("ledger.csv").text.splitlines()
    assert len(lines) == len(ledger.receipts()) + 1 and lines[0].startswith("entry,time,run")


def test_verify_tells_what_every_published_file_says(client: TestClient) -> None:
    answer = client.post("ledger/verify", data={"ledger": "0"}, headers={"origin": "http://127.0.0.1:8124"})
    assert "is sound" in answer.text and answer.text.count("confirmed") >= 4 and "CONTRADICTS" not in answer.text


def test_amounts_without_a_short_decimal_are_rounded_and_told_exactly(tmp_path: Path, small_schema: Schema) -> None:
    book = Ledger.create(tmp_path / "s.ledger", limit=2, name="s")
    open_source({"a": [1, 2], "y": ["no", "yes"]}, small_schema, book).count(grid(small_schema), Fraction(1357, 750))
    text = opened(Given(ledgers=(tmp_path / "s.ledger",))).get("ledger").text
    assert '<span title="exactly 1357/750">1.809</span>' in text and "1.809 of 2 spent" in text
    assert ">0.1907</span>" in text and ">1357/750<" not in text


def test_facts_that_were_all_free_are_said_to_be_so_once() -> None:
    def told(*facts: Fact) -> str:
        return facts_of(Trace(facts, (), "a"))

    free = told(Fact("classes", 2.0), Fact("columns", 8.0))
    assert free.count("earlier answers") == 1 and "none" not in free
    assert told(Fact("classes", 2.0), Fact("many", 1.0, 3.0, Fraction(1, 10))).count("earlier answers") == 1


def test_verify_tells_which_file_contradicts(given: Given, folder: Path, tmp_path: Path) -> None:
    receipts = [receipt.to_dict() for receipt in Ledger.open(folder / "clinic.ledger").receipts()]
    (tmp_path / "forged.json").write_text(json.dumps([{**receipts[-1], "hash": "0" * 64}]))
    client = opened(Given(ledgers=given.ledgers, watch=tmp_path))
    answer = client.post("ledger/verify", data={"ledger": "0"}, headers={"origin": "http://127.0.0.1:8124"})
    assert "CONTRADICTS" in answer.text


def test_results_join_a_model_with_its_evaluation(client: TestClient, number_of: Callable[[str], int]) -> None:
    text = shown(client, "results")
    assert "model.veil" in text and re.search(r"AUC (\d\.\d+ \(|not known)", text) and "not found" not in text
    one = shown(client, f"results/{number_of('model.veil')}")
    assert "Measured on rows kept apart" in one and "Why this method" in one
    assert "It was not measured" in shown(client, f"results/{number_of('tree.veil')}")


def test_an_evaluation_on_rows_kept_apart_goes_before_a_newer_one_that_flatters(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEIL_STATE", str(tmp_path / "state"))  # or the ledger in `folder` would be an old copy
    for name in ("clinic.ledger", "out/model.veil", "out/model-evaluation.html"):
        shutil.copy2(folder / name, tmp_path)
    asked = ["--schema", folder / "clinic.toml", "--ledger", tmp_path / "clinic.ledger", "--epsilon", "0.5"]
    output("evaluate", tmp_path / "model.veil", folder / "DATA.csv", *asked, "--out", tmp_path / "newer.html")
    client = opened(given := Given(watch=tmp_path))
    place = next(one.number for one in given.published() if one.name == "model.veil")
    one = shown(client, f"results/{place}")
    assert "Measured on rows kept apart" in one and "perhaps on rows" not in one + shown(client, "results")
    (tmp_path / "model-evaluation.html").unlink()
    one = shown(client, f"results/{place}")
    assert "Measured, perhaps on rows it was trained on, which flatters it" in one and "kept apart" not in one
    assert "perhaps on rows it was trained on" in shown(client, "results")


def test_a_published_table_answers_queries(client: TestClient, number_of: Callable[[str], int]) -> None:
    place = f"results/{number_of('map.veil')}"
    text = shown(client, f"{place}?where=age in 20..30&column=yrs_married")
    assert (
        "Where age in 20..30" in text
        and "95 % sure between" in text
        and "Rows by yrs_married" in text
        and "Map" in text
    )
    assert "about" in shown(client, f"results/{number_of('table.veil')}")
    assert "is no condition" in shown(client, f"{place}?where=magic", 404)
    assert "has no column" in shown(client, f"{place}?where=weight = 2", 404)


def test_a_synthetic_table_is_listed_and_answers_queries(folder: Path, tmp_path: Path) -> None:
    ledger, rows = Ledger(1, "clinic"), read_csv(folder / "DATA.csv")
    publish(rows, folder / "clinic.toml", epsilon=1, method="marginals", ledger=ledger).save(tmp_path / "rows.veil")
    client = opened(given := Given(watch=tmp_path))
    assert "a synthetic table of clinic" in shown(client, "results")
    text = shown(client, f"results/{given.published()[0].number}?where=age in 20..30&column=religious")
    assert "Rows by religious" in text and "as the model says" in text and "95 % sure" not in text


def test_the_folder_one_works_in_is_not_called_by_a_dot() -> None:
    assert Given(watch=Path(".")).in_words == "Open: what is published in this folder."


def test_reports_come_under_a_policy_in_which_nothing_runs(client: TestClient, number_of: Callable[[str], int]) -> None:
    made = client.get(f"results/{number_of('tree.veil')}/report")
    kept = client.get(f"results/{number_of('model-evaluation.html')}/page")
    for answer in (made, kept):
        assert answer.status_code == 200 and "receipts" in answer.text
        assert (
            "sandbox" in answer.headers["content-security-policy"]
            and "script-src" not in answer.headers["content-security-policy"]
        )


def test_choices_that_were_made_are_told_from_methods_that_were_named(client: TestClient) -> None:
    assert "nothing, tree was named" in shown(client, "choice").partition("Choices that were made")[2]


def test_a_ledger_in_a_database_is_told_from_a_file() -> None:
    with pytest.raises(BadInput, match="veil ledger show ADDRESS"):
        Given(ledgers=(Path("postgresql://ann@db.example/privacy?ledger=clinic"),)).check()


def test_choice_tells_every_option_and_where_it_flips(client: TestClient, number_of: Callable[[str], int]) -> None:
    text = shown(client, "choice?rows=5000&epsilon=0.3")
    assert "would be chosen" in text and "less on average" in text and "Where the choice flips" in text
    made = shown(client, f"choice/{number_of('model.veil')}")
    assert "It picked" in made and "share of the largest class" in made and "asked" in made
    assert "Nothing was chosen" in shown(client, f"choice/{number_of('tree.veil')}")


@pytest.mark.parametrize(
    "address",
    [
        *("compare?measure=magic", "compare?epsilon=0.3", "compare?table=three", "compare?rows=5", "compare?who=me"),
        *("compare?colour=red", "compare?measure=auc&measure=m", "plan?schema=9", "plan?schema=../x", "plan?rows=-1"),
        *("plan?epsilon=abc", "plan?epsilon=0", "plan?goal=2", "plan?method=magic", "plan?rows=1e9", "ledger?ledger=1"),
        *("results/999", "results/0/report", "choice/77", "nowhere", "results/../../etc/passwd", "plan/notebook?x=1"),
        *("ledger.csv?ledger=7", "choice?epsilon=-1", "choice?rows=0", "plan?epsilon=" + "9" * 200),
    ],
)
def test_what_is_not_on_a_list_gets_a_page_that_says_so(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code in (400, 404) and "Traceback" not in answer.text and "unforeseen" not in answer.text
    assert 'role="alert"' in answer.text or answer.text == "There is nothing here."


def test_names_that_hold_markup_are_shown_as_they_are(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    schema = f"""name = '{evil}'\nlabel = "y"\n
[[column]]\nname = '{evil}'\nkind = "categorical"\nvalues = ["{evil}", "b"]
[[column]]\nname = "y"\nkind = "categorical"\nvalues = ["no", "'><img src=x>"]\n"""
    (tmp_path / "evil.toml").write_text(schema)
    client = opened(Given(schemas=(tmp_path / "evil.toml",)))
    for view in ("plan", "choice", f"compare?table={evil}", f"compare?{evil}=1"):
        text = client.get(view).text
        assert "<script>alert" not in text and "<img" not in text
        Page(text)


def test_a_plan_is_of_the_first_schema_that_can_be_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "draft.toml").write_text('name = "t"\nlabel = "?"\n', encoding="utf-8")
    client = opened(Given((), (tmp_path / "draft.toml", folder / "clinic.toml"), (), None))
    assert "cannot be read" not in shown(client, "plan")
    assert "cannot be read" in shown(client, "plan?schema=0")


def test_rows_are_told_in_whole_ones(folder: Path) -> None:
    given = Given((), (), (), folder / "out")
    client = opened(given)
    number = next(one.number for one in given.published() if one.name == "map.veil")
    text = shown(client, f"results/{number}")
    assert re.search(r"about [\d,]+ rows", text) and not re.search(r"about [\d,]+\.\d", text)


def test_files_that_break_or_vanish_are_a_sentence(folder: Path, tmp_path: Path) -> None:
    for name in ("clinic.toml", "clinic.ledger", "results.parquet"):
        shutil.copy(folder / name, tmp_path / name)
    shutil.copytree(folder / "out", tmp_path / "out")
    given = Given(
        (tmp_path / "results.parquet",), (tmp_path / "clinic.toml",), (tmp_path / "clinic.ledger",), tmp_path / "out"
    )
    client = opened(given)
    number = next(one.number for one in given.published() if one.name == "tree.veil")
    assert client.get(f"results/{number}").status_code == 200
    (tmp_path / "out/tree.veil").unlink()
    assert "not there any more" in shown(client, f"results/{number}", 404)
    (tmp_path / "out/broken.veil").write_bytes((tmp_path / "out/model.veil").read_bytes()[:-40] + b"x" * 40)
    damaged = tmp_path / "out/map.veil"
    damaged.write_bytes(damaged.read_bytes().replace(b"schema.toml", b"schemA.toml"))
    assert "damaged or changed" in shown(client, "results")
    (tmp_path / "clinic.toml").write_text("name = ")
    assert "cannot be read; veil schema check clinic.toml lists what to mend" in shown(client, "plan")
    text = (tmp_path / "clinic.ledger").read_text().replace("epsilon", "epsilom", 1)
    (tmp_path / "clinic.ledger").write_text(text)
    assert "cannot be shown" in shown(client, "ledger")
    (tmp_path / "clinic.ledger").unlink()
    assert "there is no ledger" in shown(client, "ledger")
    (tmp_path / "results.parquet").unlink()
    assert "not there any more" in shown(client, "compare")
    shutil.rmtree(tmp_path / "out")
    assert "cannot be read any more" in shown(client, "results")


def test_a_ledger_that_somebody_is_charging_is_shown_all_the_same(
    given: Given, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veil.explore.given.PATIENCE", 0.05)
    hold = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.flock(f, 2); print('held', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(folder / "clinic.ledger")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        text = shown(opened(given), "ledger")
        other.communicate("\n")
    assert "model v1" in text  # reading takes no lock, so that looking never holds up a charge


def test_groups_of_the_same_run_are_counted_once(tmp_path: Path) -> None:
    rows = read_results(made_up_results(tmp_path / "r.parquet")).to_pylist()
    twice = Results([*rows, *rows])
    assert all(len({*group.seeds}) == len(group.seeds) for group in twice.groups.values())


def test_a_page_of_beginnings_without_an_end_is_read_once(tmp_path: Path) -> None:
    begin, page = '<script type="application/json" id="receipts">\n', tmp_path / "page.html"
    page.write_text(begin * 40_000, encoding="utf-8")  # each read to the end of the page would take minutes
    assert blocks_of(page) == {}
    page.write_text(f"{begin}[1]\n</script>{begin * 40_000}", encoding="utf-8")
    assert blocks_of(page) == {"receipts": [1]}


@pytest.mark.parametrize("name", ["many.veil", "many.json", "lists.html"])
def test_a_small_file_that_would_take_much_memory_is_none_of_ours(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "lists.html":
        lists = "[]," * 1_000_000
        path.write_text(f'<script type="application/json" id="receipts">\n[{lists}[]]\n</script>', encoding="utf-8")
    else:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("model.json", b"{}")
            for number in range(90_000):
                file.writestr(zipfile.ZipInfo(f"{number:x}"), b"")
    tracemalloc.start()
    tracemalloc.reset_peak()
    assert kind_of(path) == ""
    assert tracemalloc.get_traced_memory()[1] < 5 * path.stat().st_size
    tracemalloc.stop()


def test_a_synthetic_table_is_shown_asked_and_a_witness(small_schema: Schema, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "s.ledger", 1, "s")
    rows = {"a": [1.0, 8.0] * 200, "y": ["no", "yes"] * 200}
    publish(rows, small_schema, epsilon=1, method="marginals", ledger=ledger).save(tmp_path / "rows.veil")
    client = opened(Given(ledgers=(tmp_path / "s.ledger",), watch=tmp_path))
    assert "a synthetic table of s" in client.get("results").text
    page = client.get("results/1?where=y+%3D+yes&column=y").text
    assert re.search(r"about \d+ rows", page) and "Rows by y" in page and "unforeseen" not in page
    assert client.get("results/1/report").status_code == 200
    said = client.post("ledger/verify", headers={"origin": f"http://{HOST}"}, data={"ledger": "0"}).text
    assert "rows.veil" in said and "confirmed" in said


@pytest.mark.parametrize("name", ["data", "method", "epsilon", "seed", "status"])
def test_results_of_nothing_in_particular_are_refused(name: str, tmp_path: Path) -> None:
    table = pq.read_table(path := made_up_results(tmp_path / "r.parquet"))
    place = table.schema.get_field_index(name)
    pq.write_table(table.set_column(place, table.schema.field(name), pa.nulls(len(table), table[name].type)), path)
    page = opened(Given(results=(path,))).get("compare")
    assert "was damaged" in page.text and "unforeseen" not in page.text


def test_results_whose_texts_are_none_are_refused(tmp_path: Path) -> None:
    table = pq.read_table(path := made_up_results(tmp_path / "r.parquet"))
    broken = pa.array([b"\xff"] * len(table), pa.binary()).view(pa.string())
    pq.write_table(table.set_column(0, table.schema.field(0), broken), path)
    with pytest.raises(BadInput, match="no results of a comparison"):
        read_results(path)


def test_results_of_a_few_bytes_that_name_a_long_text_again_and_again_are_refused(tmp_path: Path) -> None:
    """Of 3 kB they took 5 GB."""
    table = pq.read_table(path := made_up_results(tmp_path / "r.parquet")).slice(0, 1)
    many, place = pa.concat_tables([table] * 300), table.schema.get_field_index("reason")
    reasons = pa.DictionaryArray.from_arrays(pa.array([0] * 300), pa.array(["x" * 1_000_000]))
    how = {
        "store_schema": False,
        "dictionary_pagesize_limit": 1 << 22,
        "compression": "zstd",
        "write_statistics": False,
    }
    pq.write_table(many.set_column(place, "reason", reasons), path, **how)
    assert path.stat().st_size < 20_000
    tracked = pa.total_allocated_bytes()
    with pytest.raises(BadInput, match="too large to be results"):
        read_results(path)
    assert pa.total_allocated_bytes() - tracked < 1 << 22


def test_an_evaluation_is_read_once_however_many_models_there_are(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty models beside thirty evaluations of eight megabytes each took four minutes."""
    read: list[Path] = []
    monkeypatch.setattr(results, "evaluation_of", lambda path: read.append(path) or evaluation_of(path))
    for _ in range(2):
        said = results.results(Site("/", ""), given, Asking.of([], ()))
        assert said.content.count("tree.veil") and read == [given.watch and given.watch / "model-evaluation.html"]
