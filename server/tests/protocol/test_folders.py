"""Several open folders, and names of files in strings."""

import pytest
from conftest import Editor
from lsprotocol import types as t
from test_points import Raw, at, problems


@pytest.fixture
def roots(tmp_path):
    """A library in one folder, and a program that loads it in another."""
    library, lessons = tmp_path / "library", tmp_path / "lessons"
    library.mkdir()
    lessons.mkdir()
    (library / "lib.nesl").write_text("function dbl(x) = x + x;\n")
    (library / "near.nesl").write_text('load "lib";\ndbl(1);\n')
    (lessons / "user.nesl").write_text('load "../library/lib";\ndbl(3);\n')
    return library, lessons


def references(raw, uri):
    place = at(uri, 0, 10) | {"context": {"includeDeclaration": True}}
    return {place["uri"] for place in raw.ask("textDocument/references", place)["result"]}


def folder(path):
    return {"uri": path.as_uri(), "name": path.name}


def test_references_and_renames_go_over_all_open_folders(roots):
    library, lessons = roots
    raw = Raw(library, lessons)
    try:
        lib = raw.open(library / "lib.nesl", (library / "lib.nesl").read_text())
        near, user = (library / "near.nesl").as_uri(), (lessons / "user.nesl").as_uri()
        assert references(raw, lib) == {lib, near, user}
        edit = raw.ask("textDocument/rename", at(lib, 0, 10) | {"newName": "twice"})
        changes = edit["result"]["changes"]
        assert {uri: [one["newText"] for one in all] for uri, all in changes.items()} == {
            lib: ["twice"], near: ["twice"], user: ["twice"]}
        # A name is found wherever it is used: from the other folder, too.
        opened = raw.open(lessons / "user.nesl", (lessons / "user.nesl").read_text())
        found = raw.ask("textDocument/definition", at(opened, 1, 1))["result"]
        [place] = found if isinstance(found, list) else [found]
        assert place.get("uri", place.get("targetUri")) == lib
        symbols = raw.ask("workspace/symbol", {"query": "dbl"})["result"]
        assert [one["location"]["uri"] for one in symbols] == [lib]
    finally:
        raw.end()


def test_folders_that_are_opened_and_closed_later(roots):
    library, lessons = roots
    raw = Raw(library)
    try:
        lib = raw.open(library / "lib.nesl", (library / "lib.nesl").read_text())
        near, user = (library / "near.nesl").as_uri(), (lessons / "user.nesl").as_uri()
        assert references(raw, lib) == {lib, near}
        change = lambda added, removed: raw.tell("workspace/didChangeWorkspaceFolders", {
            "event": {"added": added, "removed": removed}})
        change([folder(lessons)], [])
        assert references(raw, lib) == {lib, near, user}
        # Both at once, as a client does that exchanges one for another.
        change([], [folder(lessons)])
        assert references(raw, lib) == {lib, near}
        change([folder(lessons)], [folder(library)])
        assert references(raw, lib) == {lib, user}
        # The open file stays what it is in its editor, and what it loads is still known.
        text = 'load "near";\ndbl(2) + ' + "1;\n"
        new = raw.open(library / "new.nesl", text)
        problems(raw, new, lambda all: not all)
        edit = raw.ask("textDocument/rename", at(lib, 0, 10) | {"newName": "twice"})
        assert {lib, user, new} <= set(edit["result"]["changes"])
    finally:
        raw.end()


def test_one_folder_inside_another(roots):
    library, lessons = roots
    raw = Raw(library.parent, library)
    try:
        lib = raw.open(library / "lib.nesl", (library / "lib.nesl").read_text())
        near, user = (library / "near.nesl").as_uri(), (lessons / "user.nesl").as_uri()
        assert references(raw, lib) == {lib, near, user}
        # What is in the other folder, too, stays known.
        raw.tell("workspace/didChangeWorkspaceFolders", {
            "event": {"added": [], "removed": [folder(library)]}})
        assert references(raw, lib) == {lib, near, user}
        edit = raw.ask("textDocument/rename", at(lib, 0, 10) | {"newName": "twice"})
        assert {uri: len(all) for uri, all in edit["result"]["changes"].items()} == {
            lib: 1, near: 1, user: 1}
    finally:
        raw.end()


async def offered(editor: Editor, uri: str, word: str):
    place = editor.at(uri, word, inside=len(word))
    found = await editor.client.text_document_completion_async(t.CompletionParams(**place))
    return [item.label for item in found.items]


async def test_names_of_files_are_completed_where_functions_take_them(editor: Editor):
    folder = editor.folder
    (folder / "data").mkdir()
    for name in ["lib.nesl", "points.csv", "data/image.npy", ".hidden"]:
        (folder / name).write_text("")
    uri = editor.open('load "l";\nx = read_csv((0, 0.0), "p");\ny = read_npy([0.0], "data/i");\n'
                      'ok = write_string_to_file("te", "o");\nz = print_line("pr");\n'
                      'w = read_string_from_file("")')
    assert await offered(editor, uri, 'load "l') == ["data/", "lib"]
    assert await offered(editor, uri, '0.0), "p') == ["data/", "points.csv"]
    assert await offered(editor, uri, '"data/i') == ["image.npy"]
    assert await offered(editor, uri, '"o') == ["data/", "points.csv"]
    assert await offered(editor, uri, 'from_file("') == ["data/", "points.csv"]
    # Other strings are no names.
    assert await offered(editor, uri, '"te') == []
    assert await offered(editor, uri, '"pr') == []
    place = editor.at(uri, '"data/i', inside=7)
    found = await editor.client.text_document_completion_async(t.CompletionParams(**place))
    assert editor.slice(uri, found.items[0].text_edit.range) == "i"


def test_data_is_completed_in_the_folder_above_that_is_open(tmp_path):
    lessons = tmp_path / "lessons"
    lessons.mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    raw = Raw(tmp_path)
    try:
        text = 'read_csv(0, "data/");\n'
        one = raw.open(lessons / "one.nesl", text)
        found = raw.ask("textDocument/completion", at(one, 0, text.index('");')))["result"]
        assert [item["label"] for item in found["items"]] == ["a.csv"]
    finally:
        raw.end()
