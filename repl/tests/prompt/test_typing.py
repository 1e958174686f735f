"""Typing: what Enter does, indentation, colours, history, completion, questions, rc file, vi."""

import re

from terminal import DOWN, HOME, LEFT, RIGHT, UP


def test_enter_runs_what_is_complete(terminal):
    terminal.send("function f2(a) =\r")
    terminal.sees("nesl> function f2(a) =\n  ...")
    # A body must follow: blank lines do not submit.
    terminal.send("\r\r")
    terminal.sees("nesl> function f2(a) =\n  ...\n  ...\n  ...")
    terminal.send("a + 1\r")
    terminal.sees("f2 = fn : int -> int")
    # So must the `in` of a `let`, and lines are indented by what is open.
    terminal.ready()
    for line in ["function g2(a) =", "let", "b = a;", "", ""]:
        rows = len(terminal.above())
        terminal.send(line + "\r")
        terminal.wait("a further line", lambda: len(terminal.above()) > rows and terminal.line() == "  ...")
    terminal.sees("nesl> function g2(a) =\n  ...   let\n  ...     b = a;\n  ...\n  ...")
    terminal.send("in b\r")
    terminal.sees("g2 = fn")
    # Elsewhere a blank line ends what cannot be completed.
    terminal.ready().send("(1 +\r")
    terminal.sees("nesl> (1 +\n  ...")
    terminal.send("\r")
    terminal.sees("Syntax error")


def test_further_lines_are_indented(terminal):
    terminal.send("{let y = {a\r")
    terminal.sees("nesl> {let y = {a\n  ...")
    assert terminal.screen.cursor.x == 6 + 6
    terminal.send(": a in [1]} in\r")
    terminal.sees(": a in [1]} in\n  ...")
    terminal.send("y[0] : b in [1, 2]}\r")
    terminal.sees("it = [1, 1] : [int]")


def test_the_mark_of_a_line_is_no_text(terminal):
    terminal.send("(1 +\r")
    terminal.sees("  ...")
    # Backspace takes the indentation, and then the whole mark; Left passes over it.
    terminal.send("\x7f\x7f\x7f")
    terminal.wait("one line", lambda: terminal.line() == "nesl> (1 +" and terminal.screen.cursor.x == 10)
    terminal.send("\r" + LEFT * 3 + " 2 *" + RIGHT + "3)\r")
    terminal.sees("it = 7 : int")


def test_alt_enter_begins_a_line(terminal):
    terminal.send("x = 1;\x1b\ry = 2\r")
    terminal.sees("y = 2 : int")
    terminal.ready().send(UP)
    terminal.sees("nesl> x = 1;\n  ... y = 2")


def test_the_text_is_coloured(terminal):
    terminal.send('if t then sum([1]) else #"ab" % no')
    terminal.sees("% no")
    colors = {text: {cell.fg for cell in terminal.style(text)} for text in ["if", "sum", '"ab"', "% no", "then"]}
    assert colors["if"] == colors["then"] == {"magenta"}, colors
    assert colors["sum"] == {"default"} and colors['"ab"'] == {"green"}, colors
    assert colors["% no"] == {"brightblack"}, colors


def test_brackets_at_the_cursor_are_matched(terminal):
    terminal.send("f(a, [(1)])")
    terminal.settle()
    line = terminal.screen.buffer[terminal.screen.cursor.y]
    assert [x - 6 for x in range(6, 30) if line[x].bold] == [1, 10]
    terminal.send("\x03")
    terminal.ready()
    # What was submitted has none.
    terminal.say("(1)")
    assert not any(cell.bold for cell in terminal.style("(1)"))


def test_no_color_is_obeyed(start):
    session = start(environment={"NO_COLOR": "1"}).ready()
    session.send("if t then 1 else 2")
    session.settle()
    assert b"\x1b[3" not in session.output.split(b"nesl>", 1)[1]
    assert {cell.fg for cell in session.style("if t then 1 else 2")} == {"default"}


def test_up_walks_by_what_is_typed(terminal):
    for entry in ["x = 1", "sum([x])", "x = 2", "y = 3"]:
        terminal.say(entry)
    terminal.send("x" + UP)
    terminal.wait("x = 2", lambda: terminal.line() == "nesl> x = 2")
    terminal.send(UP)
    terminal.wait("x = 1", lambda: terminal.line() == "nesl> x = 1")
    terminal.send(UP + DOWN)
    terminal.wait("x = 2", lambda: terminal.line() == "nesl> x = 2")
    terminal.send(DOWN)
    terminal.wait("x", lambda: terminal.line().startswith("nesl> x") and terminal.screen.cursor.x == 7)
    terminal.send("\x03")
    terminal.ready().send(UP + UP + UP)
    terminal.wait("sum", lambda: terminal.line() == "nesl> sum([x])")


def test_entries_of_several_lines_come_back_whole(start):
    session = start().ready()
    session.send("function f2(a) =\r")
    session.sees("  ...")
    session.send("a + 1\r")
    session.sees("f2 = fn")
    session.ready().send("\x04")
    session.end()
    session = start().ready()
    session.send("fu" + UP)
    session.sees("nesl> function f2(a) =\n  ...   a + 1")
    session.send("0\r")
    session.sees("f2 = fn : int -> int")
    assert session.say("f2(1)") == ["it = 11 : int"]


def test_the_last_entry_that_begins_so_is_hinted(terminal):
    terminal.say("sum([1, 2, 3])")
    terminal.send("sum(")
    # The hint is there with the first letter; the last one typed is behind it.
    hinted = lambda: terminal.line() == "nesl> sum([1, 2, 3])" and terminal.screen.cursor.x == 10
    terminal.wait("a hint", hinted)
    assert {cell.fg for cell in terminal.style("[1, 2, 3])")} == {"brightblack"}
    terminal.send(RIGHT + "\r")
    terminal.wait("two results", lambda: terminal.text().count("it = 6 : int") == 2)
    # What is submitted is what was typed.
    terminal.ready().send("sum([1, 2\x03")
    terminal.ready()


def test_ctrl_r_searches(terminal):
    terminal.say("alpha = 1")
    terminal.say("beta = 2")
    terminal.send("\x12alp")
    terminal.sees("alpha = 1")
    terminal.send("\r")
    terminal.wait("two results", lambda: terminal.text().count("alpha = 1 : int") == 2)


def test_escape_ends_a_search_and_leaves_what_was_found(terminal):
    terminal.say("alpha = 1")
    terminal.say("beta = 2")
    terminal.send("be")
    terminal.settle()
    terminal.send("\x12alp")
    terminal.sees("`alp': alpha = 1")
    terminal.send("\x1b")
    terminal.wait("what was found", lambda: terminal.line() == "nesl> alpha = 1")
    terminal.send("\x054\r")
    terminal.sees("alpha = 14 : int")
    # Ctrl-G brings back what was typed.
    terminal.ready().send("bet")
    terminal.settle()
    terminal.send("\x12alp")
    terminal.sees("`alp': alpha = 14")
    terminal.send("\x07")
    terminal.wait("what was typed", lambda: terminal.line().startswith("nesl> bet") and terminal.screen.cursor.x == 9)
    terminal.send("a\r")
    terminal.sees("it = 2 : int")


def test_tab_completes(terminal, tmp_path):
    (tmp_path / "values.npy").write_bytes(b"")
    terminal.say("remembered = 3")
    terminal.send("1 + remembe\t")
    terminal.wait("the name", lambda: terminal.line() == "nesl> 1 + remembered")
    terminal.send("\x03")
    terminal.ready().send("let some_local = 1 in some_l\t")
    terminal.wait("a local", lambda: terminal.line() == "nesl> let some_local = 1 in some_local")
    terminal.send('\x03')
    terminal.ready().send('read_npy([0], "val\t')
    terminal.wait("a file", lambda: terminal.line().endswith('"values.npy'))
    terminal.send("\x03")
    terminal.ready().send(":kern\t")
    terminal.wait("a command", lambda: terminal.line() == "nesl> :kernels")
    terminal.send("\x03")
    terminal.ready().send(":set run\t")
    terminal.wait("a setting", lambda: terminal.line() == "nesl> :set runtime")


def test_several_completions_are_listed_with_types(terminal):
    terminal.send("read_\t\t")
    terminal.sees("read_npy : ")


def test_a_question_is_answered(terminal):
    for question in ["?plus_scan", "plus_scan?"]:
        assert terminal.say(question)[0].startswith("plus_scan : [a] -> [a]")
    assert any(":type EXPR" in line for line in terminal.say("?"))
    assert terminal.say("?:time")[0] == ":time [N] FORM"
    for question in ["?let", "?function", "?(", '?"']:
        assert terminal.say(question), question


def test_the_users_own_definitions_are_known(start, tmp_path):
    (tmp_path / "rc.nesl").write_text(":set rows 5\nfunction mine(a) = a + 100;\n")
    session = start().ready()
    assert session.say("mine(1)") == ["it = 101 : int"]
    assert session.say(":set rows") == ["rows 5"]


def test_what_is_wrong_in_them_is_told_and_stops_nothing(start, tmp_path):
    (tmp_path / "rc.nesl").write_text("fine = 1;\nfine + oops;\n")
    # The path is as long as the folder of the tests has it.
    session = start(columns=160)
    session.sees("rc.nesl:2:8")
    session.ready()
    assert session.say("fine") == ["it = 1 : int"]


def test_a_wrong_command_in_them_stops_nothing(start, tmp_path):
    (tmp_path / "rc.nesl").write_text(":set rows abc\n\n:set rows 5\nfine = 1;\n")
    session = start()
    session.sees("rc.nesl:1: ")
    session.ready()
    assert session.say(":set rows") == ["rows 5"]
    assert session.say("fine") == ["it = 1 : int"]


def test_a_command_may_stand_below_a_form_in_them(start, tmp_path):
    (tmp_path / "rc.nesl").write_text(
        "function mine(a) = a +\n  100;\n:set rows 5\nfine = 1\n:set digits 3\nmore = mine(1);\n"
    )
    session = start()
    session.ready()
    assert session.say(":set rows") == ["rows 5"]
    assert session.say("fine + more") == ["it = 102 : int"]


def test_vi_keys(terminal):
    terminal.say(":set editing vi")
    terminal.ready().send("1 + 2\x1b")
    # `0` goes to the beginning, `x` deletes.
    terminal.settle(0.6)
    terminal.send("0xi4\x1b")
    terminal.wait("4 + 2", lambda: terminal.line() == "nesl> 4 + 2")
    # Escape and Enter in a piece are not Alt-Enter here.
    terminal.send("i\x1b\r")
    terminal.sees("it = 6 : int")


def test_the_cursor_tells_the_mode_of_vi(terminal):
    def shape():
        shapes = re.findall(rb"\x1b\[(\d) q", terminal.output)
        return shapes[-1] if shapes else None

    terminal.say("40 + 2")
    assert shape() is None
    terminal.say(":set editing vi")
    bar, block, underline = b"6", b"2", b"4"
    assert shape() == bar
    # Escape by itself, and in a piece with the next key; commands that begin to insert, and some that do not.
    for keys, expected in [
        ("1 + 2\x1b", block),
        ("0", block),
        ("i", bar),
        ("\x1bh", block),
        ("cw", bar),
        ("3\x1b", block),
        ("R", underline),
        ("4\x1b", block),
        ("A", bar),
    ]:
        terminal.send(keys)
        terminal.settle()
        terminal.wait(f"{expected} behind {keys!r}", lambda: shape() == expected)
    before = terminal.mark()
    terminal.send("\r")
    terminal.settle()
    terminal.ready()
    # What runs has the cursor of the terminal.
    assert re.findall(rb"\x1b\[(\d) q", terminal.output[before:]) == [b"0", bar]
    terminal.say(":set editing emacs")
    assert shape() == b"0"


def test_home_goes_behind_the_mark(terminal):
    terminal.send("(1 +\r2)" + HOME + "10 * \r")
    terminal.sees("it = 21 : int")


def test_a_narrow_screen_and_wide_characters(start):
    session = start(columns=20).ready()
    session.send('"漢字かな交じり文である"')
    session.settle()
    session.send("\r")
    session.wait("a result", lambda: "it =" in session.text() and session.at_prompt())


def test_without_a_line_editor(start):
    session = start(environment={"TERM": "dumb"})
    session.ready()
    session.send("1 + 2\r")
    session.sees("it = 3 : int")
