#!/usr/bin/env python3
"""Runs the corpus of this grammar without tree-sitter's program, which not every machine can get.

    corpus.py [TEXT]         only tests whose name contains TEXT

Needs `pip install tree-sitter` and a C compiler.
"""

import pathlib
import re
import sys
import tempfile

import tree_sitter

from check import HERE, load_language

HEAD = re.compile(r"^={3,}\n(?P<name>.+?)\n(?P<marks>(?::.*\n)*)={3,}\n", re.M)


def cases(path):
    """Name, program and tree of each test of a file."""
    text = path.read_text()
    heads = list(HEAD.finditer(text))
    for head, behind in zip(heads, [*heads[1:], None]):
        body = text[head.end():behind.start() if behind else len(text)]
        program, _, tree = re.split(r"^(-{3,})\n", body, maxsplit=1, flags=re.M)
        yield head["name"].strip(), program, tree, head["marks"]


def words(tree):
    """A tree without the blanks and comments that people lay it out with."""
    tree = re.sub(r";.*", "", tree)
    return re.findall(r"[()]|[^\s()]+", tree)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    passed, failed = 0, []
    with tempfile.TemporaryDirectory() as folder:
        parser = tree_sitter.Parser(load_language(folder))
        for path in sorted((HERE / "test/corpus").glob("*.txt")):
            for name, program, tree, marks in cases(path):
                if wanted not in name:
                    continue
                root = parser.parse(program.removesuffix("\n").encode()).root_node
                found = words(str(root))
                right = root.has_error if ":error" in marks else found == words(tree)
                if right:
                    passed += 1
                else:
                    failed.append(name)
                    print(f"{path.name}: {name}\n  {root}")
    print(f"corpus: {passed} of {passed + len(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
