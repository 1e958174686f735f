"""The table of requests in the book is what the server does."""

import pathlib
import re

import pytest
from lsprotocol import types as t
from test_points import Raw

BOOK = pathlib.Path(__file__).resolve().parents[3] / "docs" / "book" / "src" / "protocol.md"
METHOD_NOT_FOUND = -32601


def table() -> dict[str, bool]:
    """The requests of the table, and whether they are answered."""
    text = BOOK.read_text().split("## Requests of LSP")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    return {name: not answer.startswith("no") for names, answer in rows
            for name in re.findall(r"`([^`]+)`", names)}


def requests() -> set[str]:
    """The requests of clients that the protocol knows."""
    return {method for method, kinds in t.METHOD_TO_TYPES.items()
            if kinds[1] is not None and t.message_direction(method) in ("clientToServer", "both")}


def test_every_request_is_in_the_table():
    assert set(table()) == requests()


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    client = Raw(folder)
    client.uri = client.open(folder / "a.nesl", "function g(x) = x + 1;\ng(1);\n")
    yield client
    client.end()


@pytest.mark.parametrize("method", sorted(set(table()) - {"initialize", "shutdown"}))
def test_a_request_is_answered_or_refused_as_the_table_says(raw, method):
    place = {"line": 0, "character": 9}
    there = {"start": place, "end": place}
    item = {"name": "g", "kind": 12, "uri": raw.uri, "range": there, "selectionRange": there, "data": 0}
    params = {
        "textDocument": {"uri": raw.uri}, "position": place, "range": there, "positions": [place],
        "context": {"includeDeclaration": True, "diagnostics": [], "triggerKind": 1,
                    "isRetrigger": False, "frameId": 1, "stoppedLocation": there}, "newName": "h",
        "options": {"tabSize": 2, "insertSpaces": True}, "ch": ";", "query": "g", "item": item,
        "previousResultId": "0", "previousResultIds": [], "label": "g", "title": "t", "files": [],
        "command": "nesl.stop", "arguments": [{"textDocument": {"uri": raw.uri}}], "name": "g",
        "kind": 12, "location": {"uri": raw.uri, "range": there}, "ranges": [there],
        "color": {"red": 0, "green": 0, "blue": 0, "alpha": 1},
        "uri": raw.uri, "reason": 1,
    }
    if method in ("inlayHint/resolve", "codeAction/resolve"):
        params = {"label": "x", "position": place, "title": "x"}
    if method == "documentLink/resolve":
        params = {"range": there}
    if method in ("codeLens/resolve", "completionItem/resolve"):
        params = {"range": there, "label": "g", "data": {"file": 0, "item": 1, "nth": 0}}
    answer = raw.ask(method, params)
    if table()[method]:
        assert "result" in answer, answer
    else:
        assert answer["error"]["code"] == METHOD_NOT_FOUND, answer
