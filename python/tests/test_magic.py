"""Tests of `%%nesl` in IPython, and in a notebook where nbclient is there."""

import os
import signal
import threading

import numpy as np
import pytest

IPython = pytest.importorskip("IPython")

from IPython.core.completer import provisionalcompleter  # noqa: E402
from IPython.core.error import UsageError  # noqa: E402
from IPython.testing.globalipapp import start_ipython  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402
from nesl.magic import CellError  # noqa: E402


@pytest.fixture(scope="module")
def shell():
    shell = start_ipython() or IPython.get_ipython()
    shell.run_line_magic("load_ext", "nesl")
    yield shell
    shell.run_line_magic("unload_ext", "nesl")


def cell(shell, line, text):
    with capture_output() as captured:
        shell.run_cell_magic("nesl", line, text)
    return captured


def test_names_go_both_ways(shell):
    shell.user_ns["v"] = np.array([3.0, 4.0])
    shell.user_ns["words"] = ["a", "bc"]
    cell(shell, "-i v,words -o n,sizes", "n = sqrt(sum({x * x : x in v}));\nsizes = {#w : w in words}")
    assert shell.user_ns["n"] == 5.0
    assert shell.user_ns["sizes"].tolist() == [1, 2]
    assert shell.run_line_magic("nesl", "n + 1.0") == 6.0


def test_an_option_may_be_given_again(shell):
    shell.user_ns.update(v=np.array([100]), w=np.array([7]))
    cell(shell, "-i v -i w -o q -o r", "q = sum(v); r = sum(w)")
    assert (shell.user_ns["q"], shell.user_ns["r"]) == (100, 7)


def test_values_are_shown_in_every_form(shell):
    shown = cell(shell, "", "z = 3;\n1;\n[(1, 2.5)]").outputs
    assert [output.data["text/plain"] for output in shown] == [
        "z : int",
        "1 : int",
        "[(1, 2.5)] : [(int, float)]",
    ]
    assert "<table" in shown[-1].data["text/html"]
    assert cell(shell, "", 'print_line("hello")').stdout == "hello\n"


def test_commands_work_in_cells(shell):
    assert "int" in cell(shell, "", ":type 1 + 1").outputs[0].data["text/plain"]


def test_errors_have_the_place_in_the_cell(shell):
    with pytest.raises(CellError) as raised:
        cell(shell, "", "1;\n[1] + 2;\nnothing_here")
    # The magic's own line is the first, as in the notebook.
    assert ":3:5" in str(raised.value) and ":4:1" in str(raised.value)
    assert raised.value.kind == "Type error"
    assert any("\x1b[" in line for line in raised.value._render_traceback_())
    with pytest.raises(CellError, match="undefined"):
        shell.run_line_magic("nesl", "nothing_here")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-i no_such_variable", "there is no variable no_such_variable"),
        ("-o no_such_variable", "defines no variable no_such_variable"),
        ("-i unfit", "unfit cannot be given: a dict"),
        ("-o apply", "apply cannot be taken"),
        ("--runtime no_such_runtime", "no session begins: .*no_such_runtime"),
        ("--precision many", "invalid int"),
        ("--no-such-option", "unrecognized"),
        ('-i "', "quotation"),
    ],
)
def test_mistakes_in_the_line(shell, line, words):
    shell.user_ns["unfit"] = {1: 2}
    with pytest.raises(UsageError, match=words):
        cell(shell, line, "function apply(x) = x;")
    # The session goes on.
    assert shell.run_line_magic("nesl", "1 + 1") == 2


def test_an_interrupt_is_one_of_the_keyboard(shell):
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        cell(shell, "", "function turn(n) = turn(n + 1); turn(0)")
    assert shell.run_line_magic("nesl", "2 + 2") == 4


def test_a_cell_asks_as_the_shell_does(shell, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda question: question.upper())
    assert shell.run_line_magic("nesl", 'prompt("name? ")') == "NAME? "
    shown = cell(shell, "", 'print_line("before"); prompt("age? ")')
    assert shown.stdout == "before\n"
    assert shown.outputs[-1].data["text/plain"].startswith('"AGE? "')

    def interrupted(question):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cell(shell, "", 'prompt("name? ")')
    assert shell.run_line_magic("nesl", "2 + 2") == 4


def test_options_begin_a_session(shell):
    shell.run_cell_magic("nesl", "", "kept = 17;")
    cell(shell, "--runtime cpu", "kept")
    begun = cell(shell, "--precision 32", "1.0 / 3.0")
    assert "new session" in begun.stderr and "0.33333334" in begun.outputs[0].data["text/plain"]
    cell(shell, "--precision 64", "1")


def test_names_are_completed_in_cells(shell):
    cell(shell, "", "zebra_stripes = [1];")
    text = "%%nesl\nsum(zebra_st"
    with provisionalcompleter():
        found = [each.text for each in shell.Completer.completions(text, len(text))]
    assert found == ["zebra_stripes"]


def test_a_notebook_runs():
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    cells = [
        "%load_ext nesl\nimport numpy as np\nv = np.arange(4.0)",
        "%%nesl -i v -o total\ntotal = sum(v)",
        "print(total)",
        "%%nesl\n1;\n[1, 2][7]",
        # Nobody is in front of this notebook.
        '%%nesl\nprompt("name? ")',
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=60).execute()
    assert notebook.cells[2].outputs[0].text == "6.0\n"
    lonely = notebook.cells[4].outputs[-1]
    assert lonely.ename == "CellError"
    assert "nobody can be asked for input here" in "".join([*lonely.traceback, lonely.evalue])
    error = notebook.cells[3].outputs[-1]
    assert error.output_type == "error" and error.ename == "CellError"
    assert "In [4]:3:1" in error.traceback[0] or "In [4]:3:1" in error.evalue
