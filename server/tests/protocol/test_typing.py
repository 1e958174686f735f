"""What helps while typing: completion, signatures, fixes."""

from lsprotocol import types as t


async def complete(editor, uri, place):
    answer = await editor.client.text_document_completion_async(t.CompletionParams(**place))
    return answer.items


async def test_completion_in_a_broken_text(editor):
    uri = editor.open("function total(rows) =\n  {sum(r) + su : r in rows")
    items = await complete(editor, uri, editor.at(uri, "su :", inside=2))
    labels = [item.label for item in items]
    assert "sum" in labels and "subseq" in labels
    sums = next(item for item in items if item.label == "sum")
    assert "[a] -> a" in sums.detail


async def test_what_fits_comes_first(editor):
    uri = editor.open("count = 3;\nratio = 2.5;\nx = 1.5 + ;\n")
    items = await complete(editor, uri, editor.at(uri, "1.5 + ", inside=6))
    order = {item.label: item.sort_text for item in items}
    assert order["ratio"] < order["count"]


async def test_completions_are_explained_when_asked(editor):
    uri = editor.open("plus_s;\n")
    items = await complete(editor, uri, editor.at(uri, "plus_s", inside=6))
    scan = next(item for item in items if item.label == "plus_scan")
    if scan.documentation is None:
        scan = await editor.client.completion_item_resolve_async(scan)
    assert "sum of the elements before it" in scan.documentation.value


async def test_where_nothing_is_typed_the_client_knows_what_to_replace(editor):
    uri = editor.open("x = ;\ny = 1.5+pl;\n")
    items = await complete(editor, uri, editor.at(uri, "x = ", inside=4))
    assert len(items) > 100 and all(item.text_edit is None for item in items)
    scan = next(item for item in items if item.label == "plus_scan")
    scan = await editor.client.completion_item_resolve_async(scan)
    assert "sum of the elements before it" in scan.documentation.value
    # `+` may be a part of a word to one client or another.
    for inside in (4, 6):
        items = await complete(editor, uri, editor.at(uri, "1.5+pl", inside=inside))
        assert items and all(item.text_edit is not None for item in items)


async def test_nothing_is_completed_in_comments_and_strings(editor):
    uri = editor.open('% su % "su";\n')
    for nth in (0, 1):
        assert await complete(editor, uri, editor.at(uri, "su", nth, inside=2)) == ()


async def test_signatures(editor):
    uri = editor.open("function add(a, b, n := 1) = a + b + n;\nadd(1, ")
    help = await editor.client.text_document_signature_help_async(
        t.SignatureHelpParams(**editor.at(uri, "add(1, ", inside=7)))
    [signature] = help.signatures
    assert signature.label.startswith("add(")
    start, end = signature.parameters[help.active_parameter].label
    assert signature.label[start:end].startswith("b")


async def fixes(editor, uri, word, nth=0):
    start = editor.at(uri, word, nth)["position"]
    there = t.Range(start, t.Position(start.line, start.character + len(word)))
    problems = await editor.diagnostics(uri)
    context = t.CodeActionContext(diagnostics=problems)
    return await editor.client.text_document_code_action_async(
        t.CodeActionParams(t.TextDocumentIdentifier(uri), there, context))


def applied(editor, uri, action):
    text = editor.texts[uri]
    lines = text.split("\n")

    def offset(position):
        return sum(len(line) + 1 for line in lines[:position.line]) + position.character

    edits = sorted(action.edit.changes[uri], key=lambda e: -offset(e.range.start))
    for edit in edits:
        text = text[:offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end):]
    return text


async def test_slips_are_mended(editor):
    for text, word, expected in [
        ("total = 1;\ntotl + 1;\n", "totl", "total = 1;\ntotal + 1;\n"),
        ("if 1 = 2 then 3 else 4;\n", "=", "if 1 == 2 then 3 else 4;\n"),
        ("x = let a = 1\na + 1;\n", "a + 1", "x = let a = 1 in\na + 1;\n"),
    ]:
        uri = editor.open(text, f"{abs(hash(text))}.nesl")
        actions = await fixes(editor, uri, word)
        preferred = [a for a in actions if a.is_preferred] or actions
        assert preferred, text
        assert applied(editor, uri, preferred[0]) == expected
        assert preferred[0].diagnostics, text


async def test_a_recursion_that_is_a_map(editor):
    uri = editor.open(
        "function every(v) = if #v == 0 then [] int else [2 * v[0]] ++ every(drop(v, 1));\n")
    actions = await fixes(editor, uri, "every")
    rewritten = [applied(editor, uri, a) for a in actions if a.kind.startswith("refactor")]
    assert any("{2 * x : x in v}" in text for text in rewritten), [a.title for a in actions]


async def test_an_unfinished_form_is_wrong_at_its_end(editor):
    for below in ["y = 4;", "sum([1]);", "function g(x) = x;"]:
        uri = editor.open(f"x = [1, 2]\n\n{below}\n", f"{len(below)}.nesl")
        [problem] = await editor.diagnostics(uri)
        assert editor.slice(uri, problem.range) == "]"
        actions = await editor.client.text_document_code_action_async(t.CodeActionParams(
            t.TextDocumentIdentifier(uri), problem.range, t.CodeActionContext([problem])))
        [fix] = [action for action in actions if action.diagnostics]
        assert applied(editor, uri, fix) == f"x = [1, 2];\n\n{below}\n"
