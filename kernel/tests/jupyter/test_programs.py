"""The kernel in other programs of Jupyter: `jupyter console` in a terminal, and `jupyter nbconvert`, which
runs a notebook and writes a page.

`cargo xtask jupyter` runs them.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pexpect
import pytest

ROOT = Path(__file__).resolve().parents[3]

# How long the kernel, in an unoptimized build on a busy machine, may take for an answer, in seconds.
MAX_SECONDS = 60

# What a terminal takes for colours and movements of the cursor.
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>]")


@pytest.fixture
def console():
    """A console with the kernel, at its first prompt."""
    arguments = ["-m", "jupyter_console", "--kernel", "nesl", "--simple-prompt"]
    environment = dict(os.environ, TERM="dumb", JUPYTER_PLATFORM_DIRS="1")
    child = pexpect.spawn(
        sys.executable, arguments, env=environment, encoding="utf-8", timeout=MAX_SECONDS
    )
    child.setwinsize(50, 120)
    child.expect_exact("In [1]: ")
    yield child
    child.close(force=True)


def answer(console, entry, number):
    """What the console says to an entry, before its next prompt."""
    console.sendline(entry)
    console.expect_exact(f"In [{number + 1}]: ")
    return SEQUENCE.sub("", console.before)


def test_the_console_runs_entries(console):
    assert "xs : [int]" in answer(console, "xs = [1, 2, 3];", 1)
    assert "Out[2]: 6 : int" in answer(console, "sum(xs)", 2)
    assert "hello" in answer(console, 'print_line("hello");', 3)
    said = answer(console, "xs[7]", 4)
    assert "Runtime error: Sequence reference" in said
    assert "In [4]:1:1" in said
    assert "[int]" in answer(console, ":type xs", 5)
    assert "Out[6]: 3 : int" in answer(console, "#xs", 6)


def test_the_console_asks_what_a_program_asks(console):
    console.sendline('prompt("Who are you? ")')
    console.expect_exact("Who are you? ")
    console.sendline("Guy")
    console.expect_exact('Out[1]: "Guy" : [char]')


def test_the_console_interrupts(console):
    console.sendline("function spin(n) = if n == 0 then 0 else spin(rem(n + 1, 1000000) + 1);")
    console.expect_exact("In [2]: ")
    console.sendline("spin(1)")
    with pytest.raises(pexpect.TIMEOUT):
        console.expect_exact("In [3]: ", timeout=2)
    console.sendintr()
    console.expect_exact("Interrupted.")
    console.expect_exact("In [3]: ")
    assert "Out[3]: 2 : int" in answer(console, "1 + 1", 3)


def test_the_console_leaves(console):
    console.sendline("exit;")
    console.expect(pexpect.EOF)


@pytest.fixture
def lexer(tmp_path):
    """A folder by which Python finds what the wheel says of itself: that it has a lexer for Pygments."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = tmp_path / "site" / "nesl_lang-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: nesl-lang\nVersion: 0\n")
    lines = []
    for group, entries in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines.extend(f"{name} = {value}" for name, value in entries.items())
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return os.pathsep.join([str(folder.parent), str(ROOT / "python")])


def test_nbconvert_runs_a_notebook_and_colours_it(tmp_path, lexer):
    sources = [
        'function twice(x) "Two of x." = x * 2; % a remark %\n\n{twice(x) : x in [1, 2, 3]}',
        "{(i, i * i) : i in [0:5]}",
        ":plot {i * i : i in [0:20]}",
        "1 / 0",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[-1].metadata.tags = ["raises-exception"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "nesl", "display_name": "NESL", "language": "nesl"}
    path = tmp_path / "page.ipynb"
    nbformat.write(notebook, path)
    # How the language is coloured is looked for before the notebook is run: it has to be noted in it, as
    # any program does that runs it.
    for target in [["notebook", "--inplace"], ["html"]]:
        command = [sys.executable, "-m", "nbconvert", "--execute", "--to", *target, str(path)]
        environment = dict(os.environ, PYTHONPATH=lexer)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    page = path.with_suffix(".html").read_text(encoding="utf-8")

    cell = re.search(r'<div class="highlight[^"]*"><pre>.*?</pre>', page, re.DOTALL).group()
    for kind, text in [("k", "function"), ("s", "Two of x"), ("m", "2"), ("c", "% a remark %")]:
        assert re.search(rf'<span class="{kind}[a-z0-9]*">[^<]*{text}', cell), (text, cell)
    assert "[2, 4, 6]" in page
    assert re.search(r"<td[^>]*>16</td>", page)
    assert "data:image/svg+xml;base64," in page
    # The message has the colours of the terminal.
    message = re.search(r"<span class=\"ansi-[^\"]*\">Runtime error:</span>", page)
    assert message
    assert "In [4]:1:1" in re.sub(r"<[^>]*>", "", page)
