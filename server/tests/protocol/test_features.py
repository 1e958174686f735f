"""A test for each feature, against the real binary."""

import asyncio

import pytest
from lsprotocol import types as t


async def test_problems_are_told_and_go(editor):
    uri = editor.open("function dbl(x) = x + x;\ndbl(1) + tow;\n")
    problems = await editor.diagnostics(uri)
    assert [p.code for p in problems] == ["name"]
    assert "tow" in problems[0].message
    editor.change(uri, "dbl(1) + tow", "dbl(1)")
    assert not await editor.diagnostics(uri)


async def test_types_that_disagree_say_why(editor):
    uri = editor.open("x = 1;\nx + 2.0;\n")
    [problem] = await editor.diagnostics(uri)
    assert problem.code == "type"
    assert problem.related_information


async def test_hover_has_type_and_flattened_form(editor):
    uri = editor.open("function dot(a, b) \"Dot.\" = sum({x * y : x in a; y in b});\n")
    hover = await editor.client.text_document_hover_async(t.HoverParams(**editor.at(uri, "dot")))
    assert "([a], [a]) -> a :: (a in number)" in hover.contents.value
    assert "1 launch" in hover.contents.value


async def test_definitions_lead_to_texts(editor):
    uri = editor.open("function dbl(x) = x + x;\ndbl(3);\nwordify(\"a\");\nplus_scan([1]);\n")
    definition = editor.client.text_document_definition_async
    [own] = await definition(t.DefinitionParams(**editor.at(uri, "dbl", 1)))
    assert editor.slice(uri, own.target_selection_range) == "dbl"
    for word in ["wordify", "plus_scan"]:
        [there] = await definition(t.DefinitionParams(**editor.at(uri, word)))
        assert there.target_uri.startswith("nesl-library:/")
        answer = await editor.ask("nesl/library", uri=there.target_uri)
        line = answer.text.split("\n")[there.target_selection_range.start.line]
        assert word in line


async def test_renames_and_refusals(editor):
    uri = editor.open("é = \"😀\"; function dbl(Long) = long + LONG;\n")
    edit = await editor.client.text_document_rename_async(
        t.RenameParams(**editor.at(uri, "Long"), new_name="n"))
    assert len(edit.changes[uri]) == 3
    assert {editor.slice(uri, e.range).lower() for e in edit.changes[uri]} == {"long"}
    with pytest.raises(Exception, match="no words of the language"):
        await editor.client.text_document_rename_async(
            t.RenameParams(**editor.at(uri, "Long"), new_name="let"))


async def test_the_preview_keeps_the_last_good_view(editor):
    uri = editor.open("function dot(a, b) = sum({x * y : x in a; y in b});\n")
    place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 12}}
    stages = await editor.ask("nesl/stages")
    assert {"types", "ir", "simple", "flat", "fused", "kir"} < {stage["id"] for stage in stages}
    for stage in stages:
        view = await editor.ask("nesl/ir", stage=stage["id"], **place)
        assert view.text and not view.stale, stage["id"]
        assert view.lines or not stage["preview"], stage["id"]
    view = await editor.ask("nesl/ir", stage="kir", **place)
    # What nothing launches is not shown.
    assert "a thread for each element" in view.text and "whole program" not in view.text
    editor.change(uri, "sum({x * y", "sum({x * ")
    view = await editor.ask("nesl/ir", stage="fused", **place)
    assert view.stale and "kernel" in view.text
    assert view.message == "showing the last version without errors"


async def test_values_come_and_go_with_their_text(editor):
    uri = editor.open("a = [1, 2, 3];\nsum(a);\na[7];\n")
    await editor.ask("nesl/run", textDocument={"uri": uri})
    values = await editor.values_after(uri)
    assert [(v.position.line, v.text, v.error) for v in values][1] == (1, "= 6", False)
    assert values[2].error
    editor.change(uri, "sum(a)", "\n\nmax_val(a)")
    values = (await editor.values_after(uri))
    assert [v.position.line for v in values] == [0, 4]


async def test_a_run_can_be_stopped(editor):
    uri = editor.open("function forever(n) = if n < 0 then 0 else forever(n + 1);\nforever(1);\n")
    await editor.ask("nesl/run", textDocument={"uri": uri})
    await asyncio.sleep(0.3)
    await editor.ask("nesl/stop", textDocument={"uri": uri})
    await asyncio.wait_for(editor.values_after(uri, "stopped"), 5)


async def test_functions_run_with_arguments(editor):
    uri = editor.open("function dbl(x) = x + x;\nnever_asked_for = dbl(1);\ndbl(2);\n")
    await editor.ask("nesl/run", textDocument={"uri": uri}, expression="dbl(21)",
                     position={"line": 0, "character": 24})
    values = await editor.values_after(uri)
    assert [(v.position.line, v.text) for v in values] == [(0, "dbl(21) = 42")]


async def test_an_edited_form_loses_its_value(editor):
    uri = editor.open("1 + 2;\n3 * 4;\n")
    await editor.ask("nesl/run", textDocument={"uri": uri})
    assert [v.position.line for v in await editor.values_after(uri)] == [0, 1]
    editor.change(uri, "3 * 4", "3 * 5")
    assert [v.position.line for v in await editor.values_after(uri)] == [0]


async def test_what_a_form_costs(editor):
    uri = editor.open("a = [0:1000];\nsum(a);\n")
    cost = await editor.ask(
        "nesl/cost", textDocument={"uri": uri}, position={"line": 1, "character": 1})
    assert "work" in cost.text and "depth" in cost.text
    hover = await editor.client.text_document_hover_async(t.HoverParams(**editor.at(uri, "sum")))
    assert cost.text in hover.contents.value


async def test_a_run_tells_what_it_has_counted(editor):
    editor.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(
        settings={"nesl": {"values": "notification", "runtime": "reference"}}))
    uri = editor.open("a = [0:1000];\nsum(a);\n")
    await editor.ask("nesl/run", textDocument={"uri": uri})
    await editor.values_after(uri)
    hover = await editor.client.text_document_hover_async(t.HoverParams(**editor.at(uri, "sum")))
    assert "Measured:** work" in hover.contents.value


async def test_how_flattening_sees_it(editor):
    uri = editor.open("m = [[2, 1], [7, 3, 0]];\n{sum({x * x : x in r}) : r in m};\n")
    answer = await editor.ask(
        "nesl/segments", textDocument={"uri": uri}, position={"line": 1, "character": 3})
    assert not getattr(answer, "message", None)
    last = answer.steps[-1].output
    assert last.value == "[5, 58]"
    nested = [v for step in answer.steps for v in step.inputs if v.value == "[[2, 1], [7, 3, 0]]"]
    assert nested and nested[0].data == [["2", "1", "7", "3", "0"]]
    assert list(nested[0].levels[-1].lengths) == [2, 3]


async def test_settings_of_others_change_nothing(editor):
    uri = editor.open("x = {a * a : a in [1, 2]};\n")
    client = editor.client
    client.workspace_did_change_configuration(t.DidChangeConfigurationParams(settings={}))
    lenses = await client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uri)))
    assert any(lens.command is None for lens in lenses), "the preview's lens is there"
    client.workspace_did_change_configuration(
        t.DidChangeConfigurationParams(settings={"nesl": {"lenses": False}}))
    assert not await client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uri)))
