"""The settings for editors that are only files: they can be read, and start the server.

    python3 editors/settings.py
"""

import json
import pathlib
import plistlib
import re
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SERVER = ("nesl", ["lsp"])


def helix():
    settings = tomllib.loads((HERE / "helix/languages.toml").read_text())
    server = settings["language-server"]["nesl"]
    assert (server["command"], server["args"]) == SERVER
    language, = settings["language"]
    assert language["language-servers"] == ["nesl"] and language["file-types"] == ["nesl"]
    grammar, = settings["grammar"]
    assert grammar["source"]["path"].endswith("editors/tree-sitter-nesl")
    queries = {path.name for path in (HERE / "helix/queries/nesl").iterdir()}
    assert {"highlights.scm", "indents.scm", "textobjects.scm"} <= queries


def kakoune():
    text = (HERE / "kakoune/kak-lsp.toml").read_text()
    server = tomllib.loads(text)["language_server"]["nesl"]
    assert (server["command"], server["args"]) == SERVER and server["filetypes"] == ["nesl"]
    # The table that later versions take from an option stands in a comment.
    table = re.search(r"lsp_servers %{\n(.*?)\n#\s+}", text, re.DOTALL).group(1)
    server = tomllib.loads(re.sub(r"^#", "", table, flags=re.MULTILINE))["nesl"]
    assert (server["command"], server["args"]) == SERVER


def sublime():
    text = (HERE / "sublime/LSP.sublime-settings").read_text()
    # Sublime Text takes comments, and commas behind the last entry.
    plain = re.sub(r",(\s*[}\]])", r"\1", re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    client = json.loads(plain)["clients"]["nesl"]
    assert (client["command"][0], client["command"][1:]) == SERVER
    syntax = (HERE / "sublime/NESL.sublime-syntax").read_text()
    assert f"scope: {client['selector']}\n" in syntax
    comments = plistlib.loads((HERE / "sublime/Comments.tmPreferences").read_bytes())
    assert client["selector"] in comments["scope"]
    try:
        import yaml
    except ImportError:
        return
    assert "main" in yaml.safe_load(syntax)["contexts"]


for check in (helix, kakoune, sublime):
    check()
    print(f"{check.__name__}: fine")
