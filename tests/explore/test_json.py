"""What a view shows comes as JSON too: the ledger's entries, and the trace of a choice."""

import json
from collections.abc import Callable
from pathlib import Path

from starlette.testclient import TestClient

from veil import Ledger, load_model
from veil.choice import Trace


def test_the_ledger_and_choices_come_as_json_too(
    client: TestClient, folder: Path, number_of: Callable[[str], int]
) -> None:
    found = client.get("ledger.json?ledger=0")
    told, opened_ledger = json.loads(found.text), Ledger.open(folder / "clinic.ledger")
    assert found.headers["content-type"] == "application/json" and "ledger.json" in found.headers["content-disposition"]
    assert [one["total"] for one in told["receipts"]] == [str(total) for _, total in opened_ledger.charges()]
    assert opened_ledger.verify(told["receipts"]) > 0  # as a witness too
    assert 'href="' in client.get("ledger").text and "All entries as JSON" in client.get("ledger").text
    coming = json.loads(client.get("choice.json?epsilon=0.5&rows=2000").text)
    number = number_of("model.veil")
    made = json.loads(client.get(f"choice/{number}.json").text)
    assert coming["chosen"] and Trace.from_dict(made) == load_model(folder / "out" / "model.veil").trace_
    assert all("The trace as JSON" in client.get(place).text for place in ("choice", f"choice/{number}"))
    named = client.get(f"choice/{number_of('tree.veil')}.json")
    assert named.status_code == 400 and "nothing was chosen" in named.text
    assert client.get("choice.json?rows=x").status_code in (400, 404)
