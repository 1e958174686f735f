"""Pastes with and without brackets, and transcripts: what is entered of them, and what is not."""

import random
import time

import pytest
from terminal import UP, paste

NOTICE = "A result in what was pasted; it was not run."
BOTH = pytest.mark.parametrize("bracketed", [True, False], ids=["with brackets", "without"])
TRANSCRIPT = (
    "nesl> x = 5\rx = 5 : int\rnesl> function f2(a) =\r  ...   a + x\rf2 = fn : int -> int\r"
    "nesl> {f2(i) : i in [0:3]}\rit = [5, 6, 7] : [int]\rnesl> f2(1)\rit = 6 : int\r"
)


def pasted(terminal, keys, bracketed, end):
    """Pastes and enters a text; returns what stands below the paste once a line ends it."""
    terminal.send(paste(keys, bracketed))
    if bracketed:
        terminal.settle()
        before = len(terminal.above()) + 1
        terminal.send("\r")
    else:
        before = 1
    terminal.wait(end, lambda: terminal.above()[-1].startswith(end) and terminal.at_prompt())
    return terminal.above()[before:]


@BOTH
def test_a_transcript_is_what_was_typed_in_it(terminal, bracketed):
    lines = pasted(terminal, TRANSCRIPT, bracketed, NOTICE)
    assert lines == [
        "nesl> x = 5",
        "x = 5 : int",
        "nesl> function f2(a) =",
        "  ...   a + x",
        "f2 = fn : int -> int",
        "nesl> {f2(i) : i in [0:3]}",
        "it = [5, 6, 7] : [int]  it3",
        "nesl> f2(1)",
        "it = 6 : int  it4",
        NOTICE,
    ]
    time.sleep(0.5)
    assert "Syntax error" in "\n".join(terminal.say("f2(1) )"))
    # The history has the entries, without prompts.
    terminal.send("{f2" + UP)
    terminal.wait("an entry", lambda: terminal.line() == "nesl> {f2(i) : i in [0:3]}")


@BOTH
def test_results_are_never_run(terminal, bracketed):
    terminal.say("x = 1")
    transcript = (
        'nesl> "x = 2" ++ [newline] ++ "x = 3"\rit = 11 characters : [char]\rx = 2\rx = 3\r'
        "nesl> area = 4\rarea = 4 : int\rarea was [int]; disc keeps the old one\r"
        "nesl> :type x\rx : int\rnesl> :vars\rname  type\rx     int\rx\r\r"
        "nesl> {[i] : i in [0:30]}\rit = 30 rows, 1 long : [[int]]\r0   #1  0\r1   #1  1\r"
        "nesl> 40 + 2\rit = 42 : int  it9\rnesl> "
    )
    lines = pasted(terminal, transcript, bracketed, NOTICE)
    assert lines.count(NOTICE) == 1 and "rror" not in "\n".join(lines), lines
    typed = [line[6:] for line in lines if line.startswith("nesl> ")]
    assert typed[-5:] == ["area = 4", ":type x", ":vars", "{[i] : i in [0:30]}", "40 + 2"], typed
    assert terminal.say("x") == ["it = 1 : int"]


@BOTH
def test_a_transcript_that_was_selected_from_behind_its_first_prompt_on(terminal, bracketed):
    pasted(terminal, "x = 5\rx = 5 : int\rnesl> x + 1\rit = 6 : int\r", bracketed, NOTICE)
    assert terminal.say("x") == ["it = 5 : int"]


@BOTH
def test_lines_without_terminators_are_entries(terminal, bracketed):
    lines = pasted(terminal, "x = 5\ry = 6\rx + y\r", bracketed, "it = 11 : int")
    assert lines == ["nesl> x = 5", "x = 5 : int", "nesl> y = 6", "y = 6 : int", "nesl> x + y", "it = 11 : int  it3"]


@BOTH
def test_further_lines_keep_their_indentation(terminal, bracketed):
    pasted(terminal, "function f2(a) =\r let b = {a +\r a : i in [1]} in\r  b\r", bracketed, "f2 = fn")
    terminal.send(UP)
    terminal.sees("nesl> function f2(a) =\n  ...  let b = {a +\n  ...  a : i in [1]} in\n  ...   b\n")


@BOTH
def test_a_tab_is_a_character_of_what_is_pasted(terminal, bracketed):
    form = 'x\t=\t{a + 1\r\t: a in [1, 2]}\r#"a\tb"\r'
    lines = pasted(terminal, form, bracketed, "it = 3 : int")
    assert "x = [2, 3] : [int]" in lines, lines
    # A single line, too.
    terminal.send(paste('#"a\tb\tc"', bracketed) + "\r")
    terminal.sees("it = 5 : int")
    assert "possibilities" not in terminal.text()


def test_what_is_not_complete_stays_in_the_editor(terminal):
    terminal.send("x = 5\rfunction f2(a) =\r  a +")
    terminal.sees("nesl> function f2(a) =\n  ...   a +")
    terminal.settle()
    terminal.send(" x\r")
    terminal.sees("f2 = fn : int -> int")
    # Lines go on where the cursor is.
    terminal.ready().send("10 + ")
    terminal.settle()
    terminal.send("f2(1)\r20 + f2(1)\r")
    terminal.sees("nesl> 10 + f2(1)\nit = 16 : int")
    terminal.sees("nesl> 20 + f2(1)\nit = 26 : int")


def test_a_long_line_without_brackets_is_painted_once(terminal):
    line = "x = [" + ", ".join(str(n) for n in range(1000)) + "]"
    before = terminal.mark()
    terminal.send(line)
    terminal.wait("the line", lambda: terminal.screen.display[terminal.screen.cursor.y].rstrip().endswith("999]"))
    assert terminal.mark() - before < 10 * len(line), terminal.mark() - before
    terminal.send("\r")
    terminal.sees("[int]")
    assert terminal.ready().say("#x") == ["it = 1000 : int"]


@BOTH
def test_a_paste_of_a_megabyte(start, bracketed):
    session = start(environment={"NO_COLOR": "1"}).ready()
    # It is too large to be edited, and runs at once.
    session.send(paste("xs = [" + ("1234567, " * 10 + "\r") * 12_000 + "0];\r", bracketed))
    session.wait("the answer", lambda: session.at_prompt() and "xs = 120,001 elements" in session.text())
    session.send("#xs\r")
    session.sees("it = 120001 : int")


def test_bytes_that_are_no_text_end_nothing(terminal):
    terminal.process.send(bytes(range(128, 256)) + b"\xff\xfe\x00\x01\x1c\x1d\x1e")
    terminal.settle()
    terminal.send("\x03")
    terminal.settle()
    assert terminal.say("40 + 2") == ["it = 42 : int"]


def test_values_of_one_line_have_names(terminal):
    assert terminal.say("10; 20; it1 + it2")[-1] == "it = 30 : int"
    assert terminal.say("it1 + it2 + it3") == ["it = 60 : int"]


def test_no_keys_end_the_session(terminal):
    keys = random.Random(5)
    for _ in range(20):
        # But Ctrl-D leaves, and Ctrl-\\ ends it.
        terminal.send(keys.randbytes(200).replace(b"\x04", b"").replace(b"\x1c", b""))
        terminal.settle(0.02)
    for _ in range(4):
        terminal.send("\x07\x03")
        terminal.settle(0.5)
    terminal.send("40 + 2\r")
    terminal.sees("it = 42 : int")


def test_tab_behind_any_character_completes(terminal):
    for text in ["é", "x 漢", ":help\u3000", ":edit é", ":set\u3000p", "\u00a0"]:
        terminal.send(text)
        terminal.settle(0.05)
        terminal.send("\t\t")
        terminal.settle(0.1)
        terminal.send("\x03")
        terminal.settle(0.1)
    assert terminal.say("40 + 2") == ["it = 42 : int"]


def test_a_transcript_that_comes_line_by_line(terminal):
    for line in ["nesl> x = 5", "x = 5 : int", 'nesl> "a" ++ [newline] ++ "x"', "it = 3 characters : [char]", "a", "x", "nesl> x + 1"]:
        terminal.send(line + "\r")
        terminal.settle(0.03)
    terminal.sees("it = 6 : int  it3")
    terminal.ready()
    text = terminal.text()
    # On a busy machine the pause between two lines may be long enough for the notice to be told again.
    assert NOTICE in text and "error" not in text, text


@BOTH
@pytest.mark.parametrize(
    "keys, result",
    [
        ("function h(x) =\r  let\r    y = x;\r\r  in y\rh(3)\r", "it = 3 : int"),
        ("[1,\r\r2]\r", "it = [1, 2] : [int]"),
        ("1\rdatatype pt(float, float)\rpt(1.0, 2.0)\r", "it = pt(1.0, 2.0) : pt"),
    ],
    ids=["let", "bracket", "datatype"],
)
def test_blank_lines_and_definitions_end_no_entry_too_soon(terminal, keys, result, bracketed):
    terminal.send(paste(keys.rstrip("\r") if bracketed else keys, bracketed))
    if bracketed:
        terminal.settle()
        terminal.send("\r")
    terminal.sees(result)
    terminal.ready()
    assert "error" not in terminal.text(), terminal.text()
