"""The real server behind real clients' capabilities.

    pip install -r server/tests/protocol/requirements.txt
    NESL_BINARY=target/debug/nesl pytest -q server/tests/protocol
"""

import asyncio
import os
import pathlib
import shutil

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

ROOT = pathlib.Path(__file__).resolve().parents[3]


def binary() -> str:
    """The program under test: NESL_BINARY, or what was built last here."""
    named = os.environ.get("NESL_BINARY")
    built = [ROOT / "target" / profile / "nesl" for profile in ("debug", "release")]
    found = [str(path) for path in built if path.exists()]
    path = named or (found[0] if found else shutil.which("nesl"))
    if path is None:
        pytest.exit("no nesl to test: build it, or set NESL_BINARY", 2)
    return str(pathlib.Path(path).resolve())


class Editor:
    """A client with a document open, which speaks in texts and words instead of numbers."""

    def __init__(self, client: LanguageClient, folder: pathlib.Path):
        self.client, self.folder = client, folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.heard: list[tuple[str, object]] = []
        self.news = asyncio.Event()
        handle = client.protocol._handle_notification

        # Whoever waits for one notification at a time misses the second of two that come together.
        def listen(method, params):
            self.heard.append((method, params))
            self.news.set()
            return handle(method, params)

        client.protocol._handle_notification = listen

    async def hear(self, method: str, wanted):
        """The first notification not heard yet that is wanted; those before it are passed over."""
        while True:
            while self.heard:
                name, params = self.heard.pop(0)
                if name == method and wanted(params):
                    return params
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 30)

    def open(self, text: str, name: str = "test.nesl") -> str:
        uri = (self.folder / name).as_uri()
        self.texts[uri], self.versions[uri] = text, 1
        item = t.TextDocumentItem(uri=uri, language_id="nesl", version=1, text=text)
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, old: str, new: str) -> None:
        """Replaces the one occurrence of a text by another."""
        text = self.texts[uri]
        assert text.count(old) == 1, f"{old!r} occurs once"
        start = text.index(old)
        there = t.Range(self.position(uri, start), self.position(uri, start + len(old)))
        self.texts[uri] = text[:start] + new + text[start + len(old):]
        self.versions[uri] += 1
        change = t.TextDocumentContentChangePartial(range=there, text=new)
        document = t.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.client.text_document_did_change(t.DidChangeTextDocumentParams(document, [change]))

    def position(self, uri: str, offset: int) -> t.Position:
        """In UTF-16, as long as no client of these tests asks for anything else."""
        before = self.texts[uri][:offset]
        column = before[before.rfind("\n") + 1:]
        return t.Position(before.count("\n"), len(column.encode("utf-16-le")) // 2)

    def at(self, uri: str, word: str, nth: int = 0, inside: int = 0) -> dict:
        """The place of a word in a document, as the arguments of most requests."""
        offset = -1
        for _ in range(nth + 1):
            offset = self.texts[uri].index(word, offset + 1)
        return {
            "text_document": t.TextDocumentIdentifier(uri),
            "position": self.position(uri, offset + inside),
        }

    def slice(self, uri: str, there: t.Range) -> str:
        """The text of a range."""
        lines = self.texts[uri].split("\n")

        def offset(position: t.Position) -> int:
            before = sum(len(line) + 1 for line in lines[:position.line])
            column = lines[position.line].encode("utf-16-le")[:2 * position.character]
            return before + len(column.decode("utf-16-le"))

        return self.texts[uri][offset(there.start):offset(there.end)]

    async def diagnostics(self, uri: str) -> list:
        """What is wrong with the current version."""
        params = await self.hear(
            t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            lambda p: p.uri == uri and p.version == self.versions[uri])
        return params.diagnostics

    async def ask(self, method: str, **params):
        """A request of our own."""
        return await self.client.protocol.send_request_async(method, params)

    async def values_after(self, uri: str, state: str = "done") -> list:
        """The values of a run when it has reached a state."""
        params = await self.hear(
            "nesl/values", lambda p: p.textDocument.uri == uri and p.state == state)
        return params.values


OPTIONS = {
    "preview": True, "values": "notification", "askArguments": True, "library": True,
    "hints": {"types": True, "parallelism": True},
}


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[binary(), "lsp"]),
    params=["visual_studio_code"],
)
async def client(request, lsp_client: LanguageClient):
    lsp_client.feature("nesl/values")(lambda params: None)
    lsp_client.feature("nesl/status")(lambda params: None)
    for asked in (t.WORKSPACE_INLAY_HINT_REFRESH, t.WORKSPACE_CODE_LENS_REFRESH,
                  t.CLIENT_REGISTER_CAPABILITY):
        lsp_client.feature(asked)(lambda _: None)
    await lsp_client.initialize_session(
        t.InitializeParams(
            capabilities=client_capabilities(request.param),
            root_uri=ROOT.as_uri(),
            initialization_options=OPTIONS,
        )
    )
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: LanguageClient, tmp_path: pathlib.Path) -> Editor:
    return Editor(client, tmp_path)
