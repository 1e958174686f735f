"""What an editor shows of a text as a whole: outlines, folds, colours, hints, lenses, formatting."""

import pytest
from lsprotocol import types as t

TEXT = """\
% Points, and what is done to them. %
datatype point (float, float);

function norm(point(x, y)) : point -> float
"The distance from the origin.
 Example: norm(point(3.0, 4.0)) → 5.0"
= sqrt(x * x + y * y);

ps = [point(3.0, 4.0), point(0.0, 1.0)];
norms = {norm(p) : p in ps};
sum(norms);
"""


@pytest.fixture
def uri(editor):
    return editor.open(TEXT)


def document(uri):
    return t.TextDocumentIdentifier(uri)


async def test_outline(editor, uri):
    symbols = await editor.client.text_document_document_symbol_async(
        t.DocumentSymbolParams(document(uri)))
    assert [s.name for s in symbols][:4] == ["point", "norm", "ps", "norms"]
    assert symbols[1].kind == t.SymbolKind.Function
    assert "point -> float" in symbols[1].detail


async def test_workspace_symbols(editor, uri):
    editor.open("function normalise(v) = {x / sum(v) : x in v};\n", "other.nesl")
    found = await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams(query="nrm"))
    assert {s.name for s in found} >= {"norm", "norms", "normalise"}


async def test_folds_are_of_several_lines(editor, uri):
    folds = await editor.client.text_document_folding_range_async(
        t.FoldingRangeParams(document(uri)))
    assert any(f.start_line == 3 and f.end_line == 6 for f in folds)
    assert all(f.start_line < f.end_line for f in folds)


async def test_selections_grow(editor, uri):
    place = editor.at(uri, "x * x")["position"]
    [chain] = await editor.client.text_document_selection_range_async(
        t.SelectionRangeParams(document(uri), [place]))
    texts = []
    while chain:
        texts.append(editor.slice(uri, chain.range))
        chain = chain.parent
    assert texts[:3] == ["x", "x * x", "x * x + y * y"]
    assert texts[-1] == TEXT


async def test_colours_whole_and_changed(editor, uri):
    client = editor.client
    whole = await client.text_document_semantic_tokens_full_async(
        t.SemanticTokensParams(document(uri)))
    assert len(whole.data) % 5 == 0 and len(whole.data) > 100
    editor.change(uri, "0.0, 1.0", "0.5, 1.0 + 2.0")
    delta = await client.text_document_semantic_tokens_full_delta_async(
        t.SemanticTokensDeltaParams(document(uri), previous_result_id=whole.result_id))
    data = list(whole.data)
    for edit in delta.edits:
        data[edit.start:edit.start + edit.delete_count] = edit.data or []
    fresh = await client.text_document_semantic_tokens_full_async(
        t.SemanticTokensParams(document(uri)))
    assert data == list(fresh.data)
    first = t.Range(t.Position(0, 0), t.Position(2, 0))
    part = await client.text_document_semantic_tokens_range_async(
        t.SemanticTokensRangeParams(document(uri), range=first))
    assert 0 < len(part.data) < len(fresh.data)


async def test_hints(editor, uri):
    everything = t.Range(t.Position(0, 0), t.Position(99, 0))
    hints = await editor.client.text_document_inlay_hint_async(
        t.InlayHintParams(document(uri), everything))
    labels = [h.label if isinstance(h.label, str) else "".join(part.value for part in h.label)
              for h in hints]
    assert any("[float]" in label for label in labels)
    assert any("launch" in label for label in labels)


async def test_lenses(editor, uri):
    lenses = await editor.client.text_document_code_lens_async(t.CodeLensParams(document(uri)))
    commands = {lens.command.command for lens in lenses if lens.command}
    assert commands == {"nesl.run", "nesl.runFunction", "nesl.cost"}
    unresolved = [lens for lens in lenses if not lens.command]
    resolved = await editor.client.code_lens_resolve_async(unresolved[-1])
    assert resolved.command.command == "nesl.showIr"
    assert "launch" in resolved.command.title
    run = next(lens for lens in reversed(lenses) if lens.command and lens.command.command == "nesl.run")
    await editor.client.workspace_execute_command_async(
        t.ExecuteCommandParams(command="nesl.run", arguments=run.command.arguments))
    values = await editor.values_after(uri)
    assert [(v.position.line, v.text) for v in values] == [(10, "= 6.0")]


async def test_calls(editor, uri):
    client = editor.client
    [norm] = await client.text_document_prepare_call_hierarchy_async(
        t.CallHierarchyPrepareParams(**editor.at(uri, "norm")))
    incoming = await client.call_hierarchy_incoming_calls_async(
        t.CallHierarchyIncomingCallsParams(norm))
    assert [call.from_.name for call in incoming] == ["norms"]
    outgoing = await client.call_hierarchy_outgoing_calls_async(
        t.CallHierarchyOutgoingCallsParams(incoming[0].from_))
    assert [call.to.name for call in outgoing] == ["norm"]


async def test_formatting(editor):
    uri = editor.open("a=1;\nb   =   2;\nc = 3;\n")
    client = editor.client
    options = t.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(
        t.DocumentFormattingParams(document(uri), options))
    assert edits and all(e.range.start.line < 2 for e in edits)
    second = t.Range(t.Position(1, 0), t.Position(1, 5))
    edits = await client.text_document_range_formatting_async(
        t.DocumentRangeFormattingParams(document(uri), second, options))
    assert {e.range.start.line for e in edits} == {1}
    edits = await client.text_document_on_type_formatting_async(t.DocumentOnTypeFormattingParams(
        document(uri), t.Position(0, 4), ch=";", options=options))
    assert {e.range.start.line for e in edits} == {0}


async def test_links_to_what_is_loaded(editor, tmp_path):
    (tmp_path / "tools.nesl").write_text("function dbl(x) = x + x;\n")
    uri = editor.open('load "tools";\ndbl(3);\nload "nowhere";\n')
    problems = await editor.diagnostics(uri)
    assert ["nowhere" in p.message for p in problems] == [True]
    [link] = await editor.client.text_document_document_link_async(
        t.DocumentLinkParams(document(uri)))
    assert link.target.endswith("tools.nesl")
    [definition] = await editor.client.text_document_definition_async(
        t.DefinitionParams(**editor.at(uri, "dbl")))
    assert definition.target_uri.endswith("tools.nesl")


def open_notebook(editor, tmp_path, texts):
    """Opens a notebook of named cells: its address, those of the cells, and the cells."""
    notebook = (tmp_path / "test.ipynb").as_uri()
    uris = {name: f"vscode-notebook-cell:/test.ipynb#{name}" for name in texts}
    cells = [t.NotebookCell(kind=t.NotebookCellKind.Code, document=uri) for uri in uris.values()]
    items = [t.TextDocumentItem(uri=uris[name], language_id="nesl", version=1, text=text)
             for name, text in texts.items()]
    editor.client.notebook_document_did_open(t.DidOpenNotebookDocumentParams(
        t.NotebookDocument(uri=notebook, notebook_type="jupyter-notebook", version=1, cells=cells),
        items))
    editor.versions = {uri: 1 for uri in uris.values()}
    editor.texts = {uris[name]: text for name, text in texts.items()}
    return notebook, uris, cells


async def test_cells_are_entries(editor, tmp_path):
    texts = {
        # Commands stand before the forms, and the last terminator may be missing.
        "a": ":set precision 32\n\nfunction dbl(x) = x + x",
        "b": "1 + 2;\ny = dbl(21)\n",
        "c": ":time dbl(y)",
        "d": "dbl(y) + d",
    }
    _, uris, _ = open_notebook(editor, tmp_path, texts)
    for name in "abc":
        assert not await editor.diagnostics(uris[name]), name
    hover = await editor.client.text_document_hover_async(
        t.HoverParams(**editor.at(uris["c"], "dbl")))
    assert "dbl" in hover.contents.value and "from cell 1" in hover.contents.value
    completions = await editor.client.text_document_completion_async(
        t.CompletionParams(**editor.at(uris["d"], "+ d", inside=3)))
    assert "dbl" in {item.label for item in completions.items}
    tokens = await editor.client.text_document_semantic_tokens_full_async(
        t.SemanticTokensParams(t.TextDocumentIdentifier(uris["b"])))
    assert tokens.data
    lenses = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uris["b"])))
    assert lenses
    # A run sees the definitions of the cells above, and none of their expressions.
    await editor.ask("nesl/run", textDocument={"uri": uris["d"]}, expression="dbl(y)",
                     position={"line": 0, "character": 6})
    values = await editor.values_after(uris["d"])
    assert [(v.position.line, v.text) for v in values] == [(0, "dbl(y) = 84")]
    await editor.ask("nesl/run", textDocument={"uri": uris["b"]})
    values = await editor.values_after(uris["b"])
    assert [(v.position.line, v.text) for v in values] == [(0, "= 3"), (1, "= 42")]


async def test_cells_see_those_above(editor, tmp_path):
    texts = {"a": "x = 21;", "b": "x + x;", "c": "x + yy;"}
    notebook, uris, cells = open_notebook(editor, tmp_path, texts)
    assert not await editor.diagnostics(uris["b"])
    hover = await editor.client.text_document_hover_async(
        t.HoverParams(**editor.at(uris["b"], "x")))
    assert "x : int" in hover.contents.value
    editor.heard.clear()
    # The third cell goes, the first one moves behind the second.
    array = t.NotebookCellArrayChange(start=0, delete_count=3, cells=[cells[1], cells[0]])
    change = t.NotebookDocumentCellChanges(structure=t.NotebookDocumentCellChangeStructure(
        array=array, did_close=[t.TextDocumentIdentifier(uris["c"])]))
    editor.client.notebook_document_did_change(t.DidChangeNotebookDocumentParams(
        t.VersionedNotebookDocumentIdentifier(version=2, uri=notebook),
        t.NotebookDocumentChangeEvent(cells=change)))
    problems = await editor.diagnostics(uris["b"])
    assert [p.code for p in problems] == ["name"]
