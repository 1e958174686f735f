"""Type-ahead, pastes, transcripts, Ctrl-C and Ctrl-D: nothing is lost."""

import os
import signal

import pytest
from terminal import UP, paste

ENDLESS = "function forever(n) = if n < 0 then n else forever(n + 1)"


def test_what_is_typed_before_the_prompt_is_there(start):
    session = start()
    session.send("x = 40\rx + 2\r")
    session.sees("it = 42 : int")
    session.ready()


def test_what_is_typed_during_a_computation_is_there(terminal):
    terminal.say(ENDLESS)
    terminal.send('print_line("beg" ++ "un"); forever(0)\r')
    terminal.sees("begun")
    terminal.send("\x03")
    terminal.send("1 + 1\r")
    terminal.sees("Interrupted.")
    terminal.sees("it = 2 : int")


@pytest.mark.parametrize("bracketed", [True, False])
def test_a_paste_of_many_forms(terminal, bracketed):
    lines = "".join(f"p{n} = {n} * {n};\r" for n in range(30))
    terminal.send(paste(lines, bracketed) + ("\r" if bracketed else ""))
    terminal.sees("p29 = 841 : int")
    assert [line for n in range(30) for line in terminal.lines() if line == f"p{n} = {n * n} : int"] == [
        f"p{n} = {n * n} : int" for n in range(30)
    ]


@pytest.mark.parametrize("bracketed", [True, False])
def test_a_form_of_several_lines(terminal, bracketed):
    form = "function both(a) =\r  let b = a + 1 in\r\r  (a, b);\r"
    terminal.send(paste(form, bracketed) + ("\r" if bracketed else ""))
    terminal.sees("both = fn : int -> (int, int)")
    assert terminal.say("both(1)") == ["it = (1, 2) : int, int"]


@pytest.mark.parametrize("bracketed", [True, False])
def test_a_string_of_several_lines_stays_what_it_is(terminal, bracketed):
    terminal.send(paste('count = #("a\r  b\r");\r', bracketed) + ("\r" if bracketed else ""))
    terminal.sees("count = 6 : int")


def test_ctrl_c_at_the_prompt_drops_the_line_only(terminal):
    terminal.say("x = 41")
    terminal.send("x + (")
    terminal.sees("x + (")
    terminal.send("\x03")
    assert terminal.say("x") == ["it = 41 : int"]


def test_ctrl_c_stops_what_runs_and_never_the_session(terminal):
    terminal.say("x = 41")
    terminal.say(ENDLESS)
    for running in [
        'print_line("beg" ++ "un"); forever(0)',
        'prompt("beg" ++ "un")',
        'print_line("beg" ++ "un"); shell_command("sleep 1000", "")',
    ]:
        terminal.send(running + "\r")
        seen = terminal.text().count("begun")
        terminal.wait("beginning", lambda: terminal.text().count("begun") > seen)
        terminal.send("\x03")
        terminal.ready()
    assert terminal.say("x + 1") == ["it = 42 : int"]


def test_a_signal_at_the_prompt_does_not_end_it(terminal):
    os.kill(terminal.process.pid, signal.SIGINT)
    # It takes back what is being typed when it arrives.
    terminal.settle()
    terminal.send("40 + 2\r")
    terminal.sees("it = 42 : int")
    terminal.ready()


def test_what_fails_changes_nothing(terminal):
    terminal.say("41 + 1")
    for wrong in ["1 +* 2", "nothing_there", '1 + "a"', "[1, 2][7]"]:
        assert "error" in "\n".join(terminal.say(wrong))
    assert terminal.say("it") == ["it = 42 : int"]


def test_ctrl_d_leaves(terminal):
    terminal.send("\x04")
    assert terminal.end() == 0


def test_ctrl_d_asks_while_a_picture_is_not_written(start, tmp_path):
    (tmp_path / "nowhere").write_text("a file, and no folder")
    session = start("--pictures", str(tmp_path / "nowhere")).ready()
    shown = session.say('w_make_window(((0, 0), (9, 9)), "W", w_white, display)')
    assert any("cannot make the folder" in line for line in shown), shown
    session.send("\x04")
    session.sees("1 picture could not be written. Ctrl-D again leaves.")
    (tmp_path / "nowhere").unlink()
    session.say("1")
    session.send("\x04")
    assert session.end() == 0
    assert list((tmp_path / "nowhere").glob("*.svg"))


def test_a_terminal_that_goes_away_loses_no_history(start):
    session = start().ready()
    session.send("function kept(a) =\r")
    session.sees("  ...")
    session.send("a + 1\r")
    session.sees("kept = fn")
    session.say("12345 + 1")
    session.process.close(force=True)
    session = start().ready()
    session.send(UP)
    session.wait("the last entry", lambda: session.line() == "nesl> 12345 + 1")
    session.send(UP)
    session.sees("nesl> function kept(a) =\n  ...   a + 1")


@pytest.mark.parametrize("ahead", ["\x04", "x = 42\r\x04", "x = 42\rx\x7f\r\r\x04"])
def test_ctrl_d_that_is_typed_ahead_leaves_at_the_next_empty_prompt(terminal, ahead):
    terminal.send('print_line("beg" ++ "un"); shell_command("sleep 1", "")\r')
    terminal.sees("begun")
    terminal.settle()
    terminal.send(ahead)
    assert terminal.end() == 0
    # What was typed before it has run, in its order.
    assert ("x = 42 : int" in terminal.text()) == ("x" in ahead), terminal.text()


def test_ctrl_d_that_is_typed_ahead_behind_a_text_leaves_it(terminal):
    terminal.send('print_line("beg" ++ "un"); shell_command("sleep 1", "")\r')
    terminal.sees("begun")
    terminal.settle()
    terminal.send("40 +\x04 2")
    terminal.wait("the text", lambda: terminal.line() == "nesl> 40 + 2")
    terminal.send("\r")
    terminal.sees("it = 42 : int")


def test_keys_that_are_pressed_while_the_terminal_is_asked_are_as_any_others(terminal):
    # This one does not answer, and half a second passes.
    terminal.send(":plot [1, 2, 3]\r")
    terminal.wait("the question", lambda: b"\x1b[c" in terminal.output)
    terminal.send("2\x1b[D4\r\x04")
    terminal.sees("it = 42 : int")
    assert terminal.end() == 0
