"""What users of editors have met, and should not meet again: a test for each."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import Editor, OPTIONS, binary
from lsprotocol import types as t


class Raw:
    """A client that writes its own bytes."""

    def __init__(self, *opened, **more):
        self.process = subprocess.Popen(
            [binary(), "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.count = 0
        self.told = []
        folders = [{"uri": folder.as_uri(), "name": folder.name} for folder in opened] or None
        self.capabilities = self.ask("initialize", {
            "processId": os.getpid(), "rootUri": None, "workspaceFolders": folders,
            "capabilities": more.pop("capabilities", {}), "initializationOptions": OPTIONS | more,
        })["result"]["capabilities"]
        self.tell("initialized", {})

    def write(self, data: bytes):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: dict):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def read(self) -> dict:
        """The next message of the server; requests of the server are answered."""
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            assert line, "the server has ended"
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(length))
        if "method" in message and "id" in message:
            self.send({"id": message["id"], "result": None})
        return message

    def ask(self, method, params=None) -> dict:
        self.count += 1
        number = self.count
        self.send({"id": number, "method": method} | ({} if params is None else {"params": params}))
        while (message := self.read()).get("id") != number or "method" in message:
            # The server may tell something before it answers.
            self.told.append(message)
        return message

    def hear(self, method, wanted=lambda params: True):
        """What the server tells next, or has told since something was heard last."""
        while True:
            message = self.told.pop(0) if self.told else self.read()
            if message.get("method") == method and wanted(message["params"]):
                return message["params"]

    def open(self, path, text):
        uri = path.as_uri()
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "nesl", "version": 1, "text": text}})
        return uri

    def end(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "lib.nesl").write_text("function dbl(x) = x + x;\n")
    (tmp_path / "user.nesl").write_text('load "lib";\ndbl(3);\n')
    return tmp_path


@pytest.fixture
def raw(folder):
    client = Raw(folder)
    yield client
    client.end()


def at(uri, line, character):
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def test_point_2_files_that_are_not_open_are_renamed_too(raw, folder):
    lib = raw.open(folder / "lib.nesl", (folder / "lib.nesl").read_text())
    user = (folder / "user.nesl").as_uri()
    found = raw.ask("textDocument/references", at(lib, 0, 10) | {"context": {"includeDeclaration": True}})
    assert {place["uri"] for place in found["result"]} == {lib, user}
    edit = raw.ask("textDocument/rename", at(lib, 0, 10) | {"newName": "twice"})
    assert set(edit["result"]["changes"]) == {lib, user}


def problems(raw, uri, wanted):
    params = raw.hear("textDocument/publishDiagnostics",
                      lambda p: p["uri"] == uri and wanted([d["message"] for d in p["diagnostics"]]))
    return params["diagnostics"]


def test_point_3_files_that_change_on_the_disk_are_noticed(folder):
    watch = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    raw = Raw(folder, capabilities=watch)
    try:
        registered = None
        while registered is None:
            message = raw.read()
            if message.get("method") == "client/registerCapability":
                registered = message["params"]["registrations"][0]
        assert registered["method"] == "workspace/didChangeWatchedFiles"
        user = raw.open(folder / "user.nesl", (folder / "user.nesl").read_text())
        problems(raw, user, lambda all: not all)
        changed = lambda kind: raw.tell("workspace/didChangeWatchedFiles", {
            "changes": [{"uri": (folder / "lib.nesl").as_uri(), "type": kind}]})
        (folder / "lib.nesl").write_text("\nfunction dbl(x) = x + tow;\n")
        changed(2)
        [problem] = problems(raw, user, lambda all: len(all) == 1)
        assert "`lib.nesl` has an error in line 2" in problem["message"]
        assert problem["relatedInformation"][0]["location"]["uri"].endswith("lib.nesl")
        (folder / "lib.nesl").write_text("function triple(x) = 3 * x;\n")
        changed(2)
        problems(raw, user, lambda all: len(all) == 1 and "dbl" in all[0])
        (folder / "lib.nesl").unlink()
        changed(3)
        problems(raw, user, lambda all: any("there is no `lib.nesl` or `lib`" in one for one in all))
        (folder / "lib.nesl").write_text("function dbl(x) = x + x;\n")
        changed(1)
        problems(raw, user, lambda all: not all)
    finally:
        raw.end()


def test_point_20_why_a_file_is_not_loaded(raw, folder):
    new = raw.open(folder / "new.nesl", 'load "none.nesl";\nload "new";\n')
    none, circle = problems(raw, new, lambda all: len(all) == 2)
    assert none["message"].startswith("there is no `none.nesl` in the folder")
    (folder / "new.nesl").write_text("")
    raw.tell("textDocument/didChange", {"textDocument": {"uri": new, "version": 2},
                                        "contentChanges": [{"text": 'load "new";\n'}]})
    [circle] = problems(raw, new, lambda all: len(all) == 1)
    assert "circle" in circle["message"]


async def test_point_4_a_broken_form_keeps_its_lenses_and_hints(editor: Editor):
    text = "function g(a) = {x + 1 : x in a};\nfunction h(a) = let y = g(a) in sum(y);\nh([1]);\n"
    uri = editor.open(text)
    document = t.TextDocumentIdentifier(uri)
    lenses = lambda: editor.client.text_document_code_lens_async(t.CodeLensParams(document))
    whole = t.Range(t.Position(0, 0), t.Position(9, 0))
    hints = lambda: editor.client.text_document_inlay_hint_async(t.InlayHintParams(document, whole))
    before = [[lens.range.start.line for lens in await lenses()], len(await hints())]
    for old, new in [("x + 1 :", "x + 1 + :"), ("+ 1 + :", "+ 1 + ( :")]:
        editor.change(uri, old, new)
        assert [[lens.range.start.line for lens in await lenses()], len(await hints())] == before
    editor.change(uri, "+ 1 + ( :", "+ 1 :")
    assert [[lens.range.start.line for lens in await lenses()], len(await hints())] == before


async def test_point_5_a_call_in_the_file_is_measured(editor: Editor):
    uri = editor.open("function total(a) = sum(a);\ntotal([1, 2, 3]);\n"
                      "function forever(n) = if n < 0 then 0 else 1 + forever(n + 1);\nforever(1);\n")
    place = {"line": 0, "character": 12}
    cost = await editor.ask("nesl/cost", textDocument={"uri": uri}, position=place)
    assert cost.measured and cost.subject == "total([1, 2, 3])" and "work" in cost.text
    lenses = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uri)))
    assert any(lens.command and cost.text in lens.command.title for lens in lenses)
    place = {"line": 2, "character": 12}
    cost = await editor.ask("nesl/cost", textDocument={"uri": uri}, position=place)
    assert not cost.measured and "Recursion too deep" in cost.text
    hover = await editor.client.text_document_hover_async(
        t.HoverParams(**editor.at(uri, "forever")))
    assert "Measured" not in hover.contents.value


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_point_7_a_run_ends_with_a_killed_server(raw, folder):
    text = "function forever(n) = if n < 0 then 0 else forever(rem(n + 1, 1000));\nforever(1);\n"
    uri = raw.open(folder / "forever.nesl", text)
    raw.ask("nesl/run", {"textDocument": {"uri": uri}})
    raw.hear("nesl/values", lambda p: any(value["running"] for value in p["values"]))
    children = open(f"/proc/{raw.process.pid}/task/{raw.process.pid}/children").read().split()
    threads = os.listdir(f"/proc/{raw.process.pid}/task")
    for thread in threads:
        children += open(f"/proc/{raw.process.pid}/task/{thread}/children").read().split()
    assert children, "the run is a process"
    os.kill(raw.process.pid, signal.SIGKILL)
    raw.process.wait()
    end = time.time() + 10
    while any(os.path.exists(f"/proc/{child}") and "Z" not in state(child) for child in children):
        assert time.time() < end, "the run is still there"
        time.sleep(0.1)


def state(process):
    try:
        return open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"


async def test_point_8_other_values_stay_and_are_stale_when_what_they_use_changes(editor: Editor):
    uri = editor.open("function inc1(x) = x + 1;\ninc1(1);\n2 * 3;\ninc1(5);\n")
    await editor.ask("nesl/run", textDocument={"uri": uri})
    await editor.values_after(uri)
    line = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 5}}
    await editor.ask("nesl/run", textDocument={"uri": uri}, range=line)
    values = await editor.values_after(uri)
    assert [(v.position.line, v.stale) for v in values] == [(1, False), (2, False), (3, False)]
    editor.change(uri, "x + 1", "x + 2")
    values = await editor.values_after(uri)
    assert [(v.position.line, v.stale) for v in values] == [(1, True), (2, False), (3, True)]
    line = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 5}}
    await editor.ask("nesl/run", textDocument={"uri": uri}, range=line)
    values = await editor.values_after(uri)
    assert [(v.position.line, v.text, v.stale) for v in values] == [
        (1, "= 2", True), (2, "= 6", False), (3, "= 7", False)]


async def test_values_stay_when_lines_are_put_above_their_forms(editor: Editor):
    uri = editor.open("a = 1 + 1;\na + 2;\n{x + a : x in [1, 2]};\n")
    await editor.ask("nesl/run", textDocument={"uri": uri})
    await editor.values_after(uri)
    for old, new, lines in [
        ("a + 2;", "\na + 2;", [0, 2, 3]),
        ("a + 2;\n", "a + 2;\n\n", [0, 2, 4]),
        ("{x + a", "% Sums. %\n{x + a", [0, 2, 5]),
        ("a + 2", "a  +  2", [0, 2, 5]),
    ]:
        editor.change(uri, old, new)
        values = await editor.values_after(uri)
        assert [(v.position.line, v.stale) for v in values] == [(line, False) for line in lines]
    # A second run has one value for each form.
    await editor.ask("nesl/run", textDocument={"uri": uri})
    assert len(await editor.values_after(uri)) == 3
    editor.change(uri, "a  +  2", "a + 3")
    assert [v.position.line for v in await editor.values_after(uri)] == [0, 5]


def test_values_are_stale_when_a_loaded_file_changes(raw, folder):
    user = raw.open(folder / "user.nesl", (folder / "user.nesl").read_text())
    raw.ask("nesl/run", {"textDocument": {"uri": user}})
    done = lambda p: p["state"] == "done"
    assert [v["stale"] for v in raw.hear("nesl/values", done)["values"]] == [False]
    (folder / "lib.nesl").write_text("function dbl(x) = 2 * x;\n")
    raw.tell("workspace/didChangeWatchedFiles", {
        "changes": [{"uri": (folder / "lib.nesl").as_uri(), "type": 2}]})
    assert [v["stale"] for v in raw.hear("nesl/values", done)["values"]] == [True]
    # So they are when the file is open, and changed there.
    raw.ask("nesl/run", {"textDocument": {"uri": user}})
    while [v["stale"] for v in raw.hear("nesl/values", done)["values"]] != [False]:
        pass
    raw.open(folder / "lib.nesl", "function dbl(x) = 2 * x + 0;\n")
    assert [v["stale"] for v in raw.hear("nesl/values", done)["values"]] == [True]


async def test_point_9_a_long_run_is_seen_and_can_be_stopped(editor: Editor):
    uri = editor.open("1 + 2;\nfunction forever(n) = if n < 0 then 0 else forever(rem(n + 1, 1000));\n"
                      "forever(1);\n[1][7];\n")
    await editor.ask("nesl/run", textDocument={"uri": uri})
    params = await editor.hear("nesl/values", lambda p: any(v.running for v in p.values))
    assert [(v.position.line, v.text) for v in params.values] == [(0, "= 3"), (2, "… running")]
    lenses = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uri)))
    [stop] = [lens for lens in lenses if lens.command and lens.command.title.startswith("■ Stop")]
    assert stop.range.start.line == 2
    await editor.ask("nesl/stop", textDocument={"uri": uri})
    values = await editor.values_after(uri, "stopped")
    assert values[1].text.startswith("stopped after ")


async def test_point_9_errors_at_run_time_are_problems(editor: Editor):
    uri = editor.open("function third(a) = a[2];\nthird([1]);\n")
    assert not await editor.diagnostics(uri)
    await editor.ask("nesl/run", textDocument={"uri": uri})
    [problem] = await editor.diagnostics(uri)
    assert (problem.code, editor.slice(uri, problem.range)) == ("runtime", "a[2]")
    [caller] = problem.related_information
    assert (caller.message, editor.slice(uri, caller.location.range)) == ("called from here", "third([1])")
    editor.change(uri, "a[2]", "a[0]")
    assert not await editor.diagnostics(uri)


def test_an_error_at_run_time_in_a_loaded_file_is_a_problem_of_the_call(raw, folder):
    (folder / "picks.nesl").write_text("\n\n\nfunction pick(v, i) = v[i];\n")
    user = raw.open(folder / "main.nesl", 'load "picks";\na = [1];\npick(a, 5);\n1 + 1;\n')
    problems(raw, user, lambda all: not all)
    raw.ask("nesl/run", {"textDocument": {"uri": user}})
    [problem] = problems(raw, user, lambda all: all)
    assert problem["range"]["start"] == {"line": 2, "character": 0}
    assert problem["range"]["end"]["line"] == 2
    assert "(in `picks.nesl`, line 4)" in problem["message"]


def test_a_program_runs_where_the_files_are_that_it_names(raw, folder):
    (folder / "data").mkdir()
    (folder / "lessons").mkdir()
    (folder / "lessons" / "own").mkdir()
    (folder / "data" / "a.txt").write_text("above")
    (folder / "lessons" / "own" / "a.txt").write_text("beside")
    (folder / "lessons" / "part.nesl").write_text("function part(x) = x;\n")
    done = lambda p: p["state"] == "done"

    def values(text, name):
        uri = raw.open(folder / "lessons" / name, text)
        raw.ask("nesl/run", {"textDocument": {"uri": uri}})
        mine = lambda p: done(p) and p["textDocument"]["uri"] == uri
        return [v["text"] for v in raw.hear("nesl/values", mine)["values"]]

    read = 'load "part";\npart(read_string_from_file("{}"));\n'
    assert values(read.format("data/a.txt"), "1.nesl") == ['= "above"']
    assert values(read.format("own/a.txt"), "2.nesl") == ['= "beside"']
    [missing] = values(read.format("data/b.txt"), "3.nesl")
    assert "data/b.txt" in missing


async def test_point_12_the_type_of_a_selection(editor: Editor):
    uri = editor.open("function g(a) = sum({float(x) * 2.0 : x in a});\n")
    start, end = 20, 20 + len("{float(x) * 2.0 : x in a}")
    there = {"start": {"line": 0, "character": start}, "end": {"line": 0, "character": end}}
    hover = await editor.ask("nesl/hover", textDocument={"uri": uri}, range=there)
    assert ": [float]" in hover.contents.value


async def test_point_14_no_name_of_the_library_is_taken(editor: Editor):
    uri = editor.open("function dbl(x) = x + x;\n")
    with pytest.raises(Exception, match="a name of the library"):
        await editor.client.text_document_rename_async(
            t.RenameParams(**editor.at(uri, "dbl"), new_name="linify"))


@pytest.mark.parametrize("bad", [b'{"a":', b"\xff\xfe\xfd\xfc", b"[1]"])
def test_point_16_what_is_no_message_is_answered(raw, bad):
    raw.write(b"Content-Length: %d\r\n\r\n%s" % (len(bad), bad))
    while "error" not in (answer := raw.read()):
        pass
    assert answer["id"] is None
    assert "result" in raw.ask("shutdown", {})
    raw.tell("exit", None)
    assert raw.process.wait(10) == 0


@pytest.mark.parametrize("bad", [b"hello world\r\n\r\n", b"Content-Length: 100000000000000\r\n\r\n{}"])
def test_point_16_malformed_headers_end_the_server_with_a_reason(raw, bad):
    raw.write(bad)
    assert raw.process.wait(10) == 1
    assert b"nesl lsp: " in raw.process.stderr.read()


def test_point_16_exit_without_shutdown_is_an_error(raw):
    raw.tell("exit", None)
    assert raw.process.wait(10) == 1


async def test_point_17_crlf_line_ends_stay(editor: Editor):
    uri = editor.open("x=1;\r\ny = 2;\r\nfunction g(x) =\r\n  x+1;\r\n")
    edits = await editor.client.text_document_formatting_async(t.DocumentFormattingParams(
        t.TextDocumentIdentifier(uri), t.FormattingOptions(2, True)))
    assert all("\n" not in edit.new_text.replace("\r\n", "") for edit in edits)
    assert all(edit.range.start.line != 1 for edit in edits)


async def test_point_23_lenses_can_be_turned_off_by_kind(editor: Editor):
    uri = editor.open("function dot(a, b) = sum({x * y : x in a; y in b});\nx = 3;\n1 + x;\n")
    document = t.CodeLensParams(t.TextDocumentIdentifier(uri))
    lenses = await editor.client.text_document_code_lens_async(document)
    assert [lens.range.start.line for lens in lenses] == [0, 0, 0, 2]
    editor.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(
        settings={"nesl": OPTIONS | {"lenses": {"ir": False, "cost": False}}}))
    lenses = await editor.client.text_document_code_lens_async(document)
    assert [lens.command.title for lens in lenses] == ["▶ Run …", "▶ Run"]


async def test_point_25_names_that_are_not_used_are_grey(editor: Editor):
    uri = editor.open("function g(a, b) = a;\n")
    [hint] = await editor.diagnostics(uri)
    assert list(hint.tags) == [t.DiagnosticTag.Unnecessary]
    assert hint.severity == t.DiagnosticSeverity.Hint
    assert editor.slice(uri, hint.range) == "b"


async def test_point_25_declarations_and_definitions(editor: Editor):
    uri = editor.open("function g(x) : int -> int;\ny = g(1);\nfunction g(x) = x + 1;\n")
    ask = editor.client
    [declared] = await ask.text_document_declaration_async(
        t.DeclarationParams(**editor.at(uri, "g(1)")))
    [defined] = await ask.text_document_implementation_async(
        t.ImplementationParams(**editor.at(uri, "g(1)")))
    assert declared.target_selection_range.start.line == 0
    assert defined.target_selection_range.start.line == 2


def test_point_25_diagnostics_on_demand(folder):
    raw = Raw(folder, pull=True)
    try:
        assert raw.capabilities["diagnosticProvider"]["interFileDependencies"]
        uri = raw.open(folder / "a.nesl", "x = tow;\n")
        report = raw.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})["result"]
        assert report["kind"] == "full"
        assert "tow" in report["items"][0]["message"]
        # What the client has already is not sent again.
        known = {"textDocument": {"uri": uri}, "previousResultId": report["resultId"]}
        again = raw.ask("textDocument/diagnostic", known)["result"]
        assert again == {"kind": "unchanged", "resultId": report["resultId"]}
        raw.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2},
                                            "contentChanges": [{"text": "x = 2;\n"}]})
        assert raw.ask("textDocument/diagnostic", known)["result"]["items"] == []
    finally:
        raw.end()


def test_diagnostics_on_demand_of_a_long_text_are_those_of_what_has_changed(folder):
    """After a key only what it may have changed is looked at again."""
    raw = Raw(folder, pull=True)
    forms = [f"function g{n}(x) = {{a + {n} : a in x}};\nv{n} = g{n}([1, 2]);\n" for n in range(1500)]
    try:
        uri = raw.open(folder / "long.nesl", "".join(forms))

        def pulled():
            begun = time.perf_counter()
            report = raw.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})["result"]
            return time.perf_counter() - begun, [one["message"] for one in report["items"]]

        whole, items = pulled()
        assert not items
        again = []
        for version, last in enumerate(["v", "v7", "v7 ", "v7 +", "v7 + ", "v7 + 1"], 2):
            raw.tell("textDocument/didChange", {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [{"range": {"start": {"line": 3000, "character": 0},
                                              "end": {"line": 3000, "character": 99}}, "text": last}]})
            seconds, items = pulled()
            again.append(seconds)
            assert len(items) == (1 if last in ("v", "v7 +", "v7 + ", "v7 + 1") else 0), (last, items)
        assert min(again) < whole / 5, (whole, again)
    finally:
        raw.end()


def test_point_25_renamed_files_are_loaded_by_their_new_names(raw, folder):
    files = [{"oldUri": (folder / "lib.nesl").as_uri(), "newUri": (folder / "sub" / "base.nesl").as_uri()}]
    edit = raw.ask("workspace/willRenameFiles", {"files": files})["result"]
    [change] = edit["changes"][(folder / "user.nesl").as_uri()]
    assert change["newText"] == "sub/base"
    files = [{"oldUri": (folder / "user.nesl").as_uri(), "newUri": (folder / "sub" / "user.nesl").as_uri()}]
    edit = raw.ask("workspace/willRenameFiles", {"files": files})["result"]
    [change] = edit["changes"][(folder / "user.nesl").as_uri()]
    assert change["newText"] == "../lib"


def test_point_25_types_beside_completions(folder):
    item = {"completionItem": {"labelDetailsSupport": True}}
    raw = Raw(folder, capabilities={"textDocument": {"completion": item}})
    try:
        uri = raw.open(folder / "a.nesl", "pl\n")
        all = raw.ask("textDocument/completion", at(uri, 0, 2))["result"]["items"]
        [scan] = [item for item in all if item["label"] == "plus_scan"]
        assert "[a] -> [a]" in scan["labelDetails"]["description"]
    finally:
        raw.end()


async def test_point_25_paths_after_load(editor: Editor):
    (editor.folder / "points.nesl").write_text("1;\n")
    (editor.folder / "sub").mkdir()
    (editor.folder / "sub" / "deep.nesl").write_text("1;\n")
    uri = editor.open('load "";\nload "sub/";\n')
    labels = {}
    for nth, word in enumerate(['load "', 'load "sub/']):
        place = editor.at(uri, word, nth=0 if nth else 0, inside=len(word))
        all = await editor.client.text_document_completion_async(t.CompletionParams(**place))
        labels[word] = [item.label for item in all.items]
    assert labels == {'load "': ["points", "sub/"], 'load "sub/': ["deep"]}


async def test_point_25_hints_lead_to_datatypes(editor: Editor):
    uri = editor.open("datatype point (float, float);\nfunction g(x) = point(x, x);\n")
    whole = t.Range(t.Position(0, 0), t.Position(2, 0))
    hints = await editor.client.text_document_inlay_hint_async(
        t.InlayHintParams(t.TextDocumentIdentifier(uri), whole))
    parts = [part for hint in hints if isinstance(hint.label, list) for part in hint.label]
    [linked] = [part for part in parts if part.location]
    assert (linked.value, linked.location.range.start.line) == ("point", 0)


async def test_point_18_a_very_long_text_is_checked_only_and_that_is_said(editor: Editor):
    filler = "% " + "x" * (5 << 20) + " %\n"
    uri = editor.open(filler + "function twice(x) = 2 * x;\ntwice(1) + y;\n")
    said = await editor.hear(t.WINDOW_SHOW_MESSAGE, lambda m: "more than 4 MB" in m.message)
    assert "not formatted" in said.message
    problems = await editor.diagnostics(uri)
    assert [problem.message.split("\n")[0] for problem in problems] == ["`y` is undefined"]
    place = {"text_document": t.TextDocumentIdentifier(uri), "position": t.Position(2, 1)}
    hover = await editor.client.text_document_hover_async(t.HoverParams(**place))
    assert "int -> int" in hover.contents.value
    document = t.TextDocumentIdentifier(uri)
    options = t.FormattingOptions(tab_size=2, insert_spaces=True)
    client = editor.client
    assert await client.text_document_formatting_async(t.DocumentFormattingParams(document, options)) is None
    assert await client.text_document_code_lens_async(t.CodeLensParams(document)) is None
    assert await client.text_document_document_symbol_async(t.DocumentSymbolParams(document)) is None


def test_point_19_lenses_of_a_long_file_are_told_when_they_are_seen(raw, folder):
    text = "".join(f"function name{i}(a) = sum({{x * {i} : x in a}});\n" for i in range(500))
    uri = raw.open(folder / "long.nesl", text)
    lenses = raw.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
    assert len(lenses) == 1500 and not any("command" in lens for lens in lenses)
    titles = [raw.ask("codeLens/resolve", lens)["result"]["command"]["title"] for lens in lenses[:3]]
    assert titles == ["▶ Run …", "IR: 1 launch", "Cost"]


def test_point_25_the_progress_of_a_long_run(folder):
    raw = Raw(folder, capabilities={"window": {"workDoneProgress": True}}, values="hints")
    try:
        text = "function forever(n) = if n < 0 then 0 else forever(rem(n + 1, 1000));\nforever(1);\n"
        uri = raw.open(folder / "forever.nesl", text)
        raw.ask("nesl/run", {"textDocument": {"uri": uri}})
        begin = raw.hear("$/progress", lambda p: p["value"]["kind"] == "begin")
        assert begin["value"]["title"] == "Running forever.nesl"
        raw.hear("$/progress", lambda p: p["value"].get("message", "").endswith(" s"))
        raw.ask("nesl/stop", {"textDocument": {"uri": uri}})
        raw.hear("$/progress", lambda p: p["value"]["kind"] == "end")
    finally:
        raw.end()
