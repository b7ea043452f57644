"""Who may ask: every attack of the design is refused, nothing is charged, and no file is opened but those given."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import veil
from tests.explore.conftest import HOST, PORT, opened
from tests.test_boundaries import imported
from veil.explore.app import application
from veil.explore.given import Given
from veil.explore.guard import Secrets
from veil.explore.page import digest, policy, script, style

VIEWS = ("compare", "plan", "ledger", "results", "choice")


@pytest.fixture
def door(given: Given) -> Iterator[tuple[TestClient, Secrets]]:
    """A browser without a cookie, and the secrets."""
    secret = Secrets()
    yield TestClient(application(given, secret, PORT), base_url=f"http://{HOST}", follow_redirects=False), secret


def cookie(secret: Secrets) -> dict[str, str]:
    return {"cookie": f"veil={secret.cookie}"}


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", "localhost.evil:8124", ""]
)
def test_a_name_that_was_made_to_lead_here_is_refused(door: Any, host: str) -> None:
    client, secret = door
    answer = client.get(f"{secret.base}compare", headers={**cookie(secret), "host": host})
    assert answer.status_code == 403 and "clinic" not in answer.text


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_its_own_names_are_let_through(door: Any, host: str) -> None:
    client, secret = door
    assert client.get(f"{secret.base}ledger", headers={**cookie(secret), "host": host}).status_code == 200


def test_without_the_token_nothing_is_shown(door: Any) -> None:
    client, secret = door
    assert client.get(f"{secret.base}ledger").status_code == 401
    assert client.get(f"{secret.base}ledger", headers={"cookie": "veil=wrong"}).status_code == 401
    assert client.get(f"{secret.base}?token=wrong").status_code == 401
    assert client.get(f"{secret.base}ledger?token={secret.token}").status_code == 401  # exchanged in one place alone
    assert client.get("/").status_code == client.get("/ledger", headers=cookie(secret)).status_code == 404


@pytest.mark.parametrize("more", ["veil=x; {}", "{}; veil=x", "a=b;{};c", "{}; bad name=\x01"])
def test_a_cookie_that_another_port_has_set_does_not_hide_ours(door: Any, more: str) -> None:
    """Browsers send cookies to all ports of a machine, so that another server may have set one of the same name."""
    client, secret = door
    headers = {"cookie": more.format(f"veil={secret.cookie}").encode()}
    assert client.get(f"{secret.base}ledger", headers=headers).status_code == 200
    assert client.get(f"{secret.base}ledger", headers={"cookie": more.format("veil=y")}).status_code == 401


@pytest.mark.parametrize("place", ["results/{}", "results/{}/report", "choice/{}", "{}"])
def test_a_path_of_any_length_is_answered_and_leaves_no_trace(door: Any, place: str) -> None:
    """Python refuses to read a number of more than 4,300 digits."""
    client, secret = door
    for digits in (5_000, 100, 18):
        address = secret.base + place.format("9" * digits)
        assert client.get(address, headers=cookie(secret)).status_code in (400, 404)


def test_the_token_is_exchanged_for_a_cookie_that_stays_under_the_random_path(door: Any) -> None:
    client, secret = door
    answer = client.get(f"{secret.base}?token={secret.token}")
    told = answer.headers["set-cookie"]
    assert answer.status_code == 303 and answer.headers["location"] == secret.base
    assert f"Path=/{secret.path}/" in told and "HttpOnly" in told and "SameSite=Strict" in told
    assert secret.token not in told and len(secret.path) >= 16
    assert client.get(secret.base).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none, same-origin"])
def test_what_another_page_asks_for_is_refused(door: Any, site: str) -> None:
    client, secret = door
    headers = {**cookie(secret), "sec-fetch-site": site}
    assert client.get(f"{secret.base}ledger", headers=headers).status_code == 403
    assert client.post(f"{secret.base}ledger/verify", headers=headers, data={"ledger": "0"}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:8125", "null", "https://127.0.0.1:8124"])
def test_a_form_of_another_origin_is_refused(door: Any, origin: str) -> None:
    client, secret = door
    headers = {**cookie(secret), "origin": origin}
    assert client.post(f"{secret.base}ledger/verify", headers=headers, data={"ledger": "0"}).status_code == 403
    assert client.get(f"{secret.base}ledger", headers=headers).status_code == 403


def test_a_form_that_does_not_say_where_it_comes_from_is_refused(door: Any) -> None:
    client, secret = door
    assert client.post(f"{secret.base}ledger/verify", headers=cookie(secret), data={"ledger": "0"}).status_code == 403
    typed = {**cookie(secret), "sec-fetch-site": "none"}
    assert client.post(f"{secret.base}ledger/verify", headers=typed, data={"ledger": "0"}).status_code == 403
    assert client.get(f"{secret.base}ledger", headers=typed).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(door: Any, method: str) -> None:
    client, secret = door
    assert client.request(method, f"{secret.base}ledger", headers=cookie(secret)).status_code == 405


@pytest.mark.parametrize("view", [*VIEWS, "compare/ranges", "nowhere", "results/1/report"])
def test_every_answer_has_the_headers_that_keep_it_here(client: TestClient, view: str) -> None:
    headers = client.get(view).headers
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer" and headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_the_policy_names_the_only_style_and_the_only_script(client: TestClient) -> None:
    text = client.get("compare").text
    assert f"<style>{style()}</style>" in text and f"<script>{script()}</script>" in text
    assert digest(style()) in policy() and digest(script()) in policy() and "unsafe" not in policy()
    assert len(script().encode()) <= 12_000 and "http" not in script() and "url(" not in style()


def test_no_address_of_another_host_is_on_any_page(client: TestClient) -> None:
    for view in VIEWS:
        assert (
            "http://" not in client.get(view).text.replace("http://www.w3.org", "")
            and "https://" not in client.get(view).text
        )


def test_paths_lead_nowhere_else(client: TestClient) -> None:
    for path in (
        "..%2f..%2fetc%2fpasswd",
        "results/..%2f..%2fDATA.csv",
        "%2e%2e/DATA.csv",
        "results/1.5",
        "results/-1",
    ):
        assert client.get(path).status_code == 404


def test_the_page_imports_nothing_that_reads_rows_or_shows_exact_numbers() -> None:
    forbidden = (
        "owner",
        "datasets",
        "compare",
        "drafts",
        "files.tables.read",
        "files.tables.RowFile",
        "kernel.open_source",
    )
    for path in (Path(veil.__file__).parent / "explore").glob("*.py"):
        found = [name for name in imported(path) if name.startswith(tuple(f"veil.{one}" for one in forbidden))]
        assert not found, (path.name, found)


WATCHED: list[Callable[[str], None]] = []


def _hook(event: str, arguments: Any) -> None:
    if (
        WATCHED
        and event in ("open", "os.listdir", "os.scandir")
        and isinstance(arguments[0], (str, bytes, os.PathLike))
    ):
        WATCHED[-1](os.fsdecode(arguments[0]))


sys.addaudithook(_hook)


def all_pages(client: TestClient, given: Given) -> None:
    """Ask for every view and every file."""
    origin = {"origin": f"http://{HOST}"}
    numbers = [one.number for one in given.published()]
    places = [*VIEWS, "ledger.csv", "plan/notebook", "compare?show=value", "plan?method=privpfc", "plan?goal=0.7"]
    places += ["compare.csv", "compare/ranges", "compare/ranges?data=4", "compare/ranges.csv", "compare/widths.csv"]
    places += [f"{place}/{number}" for number in numbers for place in ("results", "choice")]
    places += [f"results/{number}/{kind}" for number in numbers for kind in ("report", "page")]
    for place in places:
        assert client.get(place).status_code in (200, 400, 404)
    assert client.post("ledger/verify", data={"ledger": "0"}, headers=origin).status_code == 200
    assert client.post("plan", data={"text": "x"}, headers=origin).status_code == 200


def test_no_file_is_opened_but_those_given_and_no_ledger_is_charged(given: Given, folder: Path) -> None:
    allowed = {str(path) for path in (*given.results, *given.schemas, *given.ledgers)}
    trees = [
        str(folder / "out"),
        str(Path(veil.__file__).parent),
        sys.prefix,
        sys.base_prefix,
        os.environ["VEIL_STATE"],
    ]
    trees += [
        "/usr/share/zoneinfo",
        "/usr/share/fonts",
        "/proc/",
        "/dev/",
        "/sys/",
        os.path.expanduser("~/.cache/matplotlib"),
        os.path.expanduser("~/.config/matplotlib"),
        "/etc/",
    ]  # of libraries: fonts, clocks, processors
    strange = list[str]()
    before = (folder / "clinic.ledger").read_bytes()

    def look(path: str) -> None:
        full = os.path.abspath(path)
        if full not in allowed and not full.startswith(tuple(trees)):
            strange.append(full)

    client = opened(given)
    all_pages(client, given)  # what libraries load is loaded by now
    WATCHED.append(look)
    try:
        all_pages(opened(Given(given.results, given.schemas, given.ledgers, given.watch)), given)
        watched = len(strange)
        with open(folder / "DATA.csv", "rb"):  # the hook sees a file that was not given
            pass
    finally:
        WATCHED.pop()
    assert strange[watched:] == [str(folder / "DATA.csv")] and strange[:watched] == []
    assert (folder / "clinic.ledger").read_bytes() == before
