"""Ctrl-C comes back within 100 ms, whatever runs.

Other programs may take the processor meanwhile, which says nothing about ours: of some tries the best counts.
"""

import os
import shutil
import time

import pytest
from terminal import PASTE_BEGIN, PASTE_END, opened, paste

MAX_SECONDS = 0.1
TRIES = 5
ENDLESS = "function forever(n) = if n < 0 then n else forever(n + 1)"
SAY = 'print_line("beg" ++ "un"); '


def until_prompt(session):
    """Presses Ctrl-C; returns the time until something else can be typed, in seconds."""
    screen = session.screen
    before = len(screen.history.top) + screen.cursor.y
    pressed = time.monotonic()
    session.send("\x03")
    # Reading what the screen shows would take longer than stopping.
    session.wait("prompt", lambda: session.at_prompt() and len(screen.history.top) + screen.cursor.y >= before)
    return time.monotonic() - pressed


def best(stop):
    """Checks that one of some tries to stop is quick enough."""
    times = []
    for _ in range(TRIES):
        times.append(stop())
        if min(times) < MAX_SECONDS:
            return
    raise AssertionError(times)


def stops(session, entry, begun="begun", beside=lambda: None):
    """Checks that an entry stops that says when it has begun."""

    def stop():
        session.ready()
        seen = session.text().count(begun)
        session.send(entry + "\r")
        session.wait("beginning", lambda: session.text().count(begun) > seen)
        beside()
        # It is past its beginning.
        time.sleep(0.05)
        return until_prompt(session)

    best(stop)
    assert session.say("40 + 2")[-1] == "it = 42 : int"


@pytest.mark.parametrize(
    "arguments",
    [("--runtime", "reference"), ("--always-compile",), ("--runtime", "kir", "--always-compile")],
    ids=["interpreted", "compiled", "kernels interpreted"],
)
def test_a_loop(start, arguments):
    session = start(*arguments).ready()
    session.say(ENDLESS)
    stops(session, SAY + "forever(0)")


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_kernel_over_a_large_space(start, threads):
    session = start("--always-compile", "--threads", threads).ready()
    stops(session, SAY + "sum({sqrt(sqrt(float(i))) : i in [0:10000000000]})")


def test_a_sort(terminal):
    stops(terminal, SAY + "#sort({rand(1.0) : i in [0:20000000]})")


@pytest.mark.parametrize("seconds", [0.4, 1.5], ids=["read", "formatted"])
def test_a_large_value_in_one_line(terminal, seconds):
    terminal.say(":set rows all")
    terminal.say("set print_length 1000000000;")
    stops(terminal, SAY + "{i : i in [0:20000000]}", beside=lambda: time.sleep(seconds))


def test_a_read_without_end(terminal):
    # What was read meanwhile is a lot to give back.
    stops(terminal, SAY + '#read_string_from_file("/dev/zero")', beside=lambda: time.sleep(0.8))


def test_a_read_of_the_terminal(terminal):
    stops(terminal, 'prompt("beg" ++ "un")')


def test_a_read_of_a_pipe(terminal):
    stops(terminal, SAY + 'shell_command("sleep 1000", "")')


@pytest.mark.parametrize(
    "read",
    [
        'read_string_from_file("pipe")',
        'read_csv((0, 0), "pipe")',
        'let (s, ok, why) = open_in_file("pipe") in read_line(s)',
    ],
    ids=["text", "table", "stream"],
)
@pytest.mark.parametrize("is_open", [False, True], ids=["nobody writes", "slow"])
def test_a_read_of_a_pipe_with_a_name(terminal, tmp_path, read, is_open):
    os.mkfifo(tmp_path / "pipe")
    writers = []

    def write():
        if is_open:
            writers.append(opened(terminal, tmp_path / "pipe"))
            os.write(writers[-1], b"1, ")

    stops(terminal, SAY + read, beside=write)
    for writer in writers:
        os.close(writer)


@pytest.mark.parametrize("command", [":load", ":watch"])
def test_a_program_that_nobody_writes(terminal, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")

    def stop():
        terminal.ready()
        terminal.send(f"{command} pipe\r")
        terminal.sees(f"{command} pipe")
        time.sleep(0.2)
        return until_prompt(terminal)

    best(stop)
    assert terminal.say("40 + 2")[-1] == "it = 42 : int"


def test_a_pipe_with_a_name_is_read_to_its_end(terminal, tmp_path):
    os.mkfifo(tmp_path / "pipe")

    terminal.send('read_string_from_file("pipe")\r')
    pipe = opened(terminal, tmp_path / "pipe")
    for word in [b"one ", b"two ", b"three"]:
        os.write(pipe, word)
        terminal.settle(0.02)
    os.close(pipe)
    terminal.sees('it = "one two three" : [char]')


@pytest.mark.parametrize("entry", [":full [0:2000000]", 'print_string(flatten({"0123456789" : i in [0:10000000]}))'])
def test_printing(terminal, entry):
    def stop():
        terminal.ready()
        before = terminal.mark()
        terminal.send(entry + "\r")
        terminal.wait("much", lambda: terminal.mark() > before + 10_000)
        pressed = time.monotonic()
        terminal.send("\x03")
        # The screen would take longer to keep up than the session to stop.
        tail = b""
        while not tail.endswith(b"nesl> \x1b[m") and b"nesl> " not in tail[-64:]:
            tail += terminal.process.read_nonblocking(1 << 16, timeout=100)
        took = time.monotonic() - pressed
        terminal.output += tail
        terminal.stream.feed(tail[-4096:])
        return took

    best(stop)
    assert terminal.say("40 + 2")[-1] == "it = 42 : int"


def forms(count):
    return "".join(f"p{n} = {n} * {n};\r" for n in range(count))


def test_a_paste_that_runs(terminal):
    terminal.say(ENDLESS)

    def stop():
        terminal.ready()
        terminal.send(PASTE_BEGIN + forms(100) + "forever(0);\r" + 'wrong = "wr" ++ "ong";\r' * 200 + PASTE_END)
        terminal.settle()
        seen = terminal.text().count("p99 = 9801")
        terminal.send("\r")
        terminal.wait("results", lambda: terminal.text().count("p99 = 9801") > seen)
        return until_prompt(terminal)

    best(stop)
    assert '"wrong"' not in terminal.text()


def test_a_paste_that_was_not_entered(terminal):
    def stop():
        terminal.ready()
        terminal.send(PASTE_BEGIN + forms(300) + PASTE_END)
        terminal.sees("p299 = 299")
        terminal.settle()
        return until_prompt(terminal)

    best(stop)
    assert "p1 = 1 : int" not in terminal.text()


def test_the_rest_of_a_paste_without_brackets_is_dropped(terminal):
    terminal.say(ENDLESS)

    def stop():
        terminal.ready()
        seen = terminal.text().count("begun")
        terminal.send(SAY + "forever(0);\r" + 'wrong = "wr" ++ "ong";\r' * 60)
        terminal.wait("beginning", lambda: terminal.text().count("begun") > seen)
        return until_prompt(terminal)

    best(stop)
    terminal.settle(0.3)
    assert '"wrong"' not in terminal.text()
    assert terminal.say("40 + 2") == ["it = 42 : int"]


def test_the_users_own_definitions(start, tmp_path):
    # Nobody has entered anything: the key comes to the line editor.
    (tmp_path / "rc.nesl").write_text(f"before = 42;\n{ENDLESS};\nforever(0);\n")

    def stop():
        session = start().ready()
        session.send("1 + ")
        session.wait("echo", lambda: session.line() == "nesl> 1 +")
        pressed = time.monotonic()
        session.send("\x03")
        session.sees("nterrupted")
        took = time.monotonic() - pressed
        assert session.say("before")[-1] == "it = 42 : int"
        session.process.close(force=True)
        return took

    best(stop)


def test_the_users_own_definitions_while_an_entry_waits(start, tmp_path):
    (tmp_path / "rc.nesl").write_text(f"before = 42;\n{ENDLESS};\nforever(0);\n")

    def stop():
        session = start().ready()
        session.send("before\r")
        session.settle(0.2)
        pressed = time.monotonic()
        session.send("\x03")
        session.ready()
        took = time.monotonic() - pressed
        assert session.say("before")[-1] == "it = 42 : int"
        session.process.close(force=True)
        return took

    best(stop)


def pressed_in(session, program):
    """Presses Ctrl-C some times in a program that has the terminal, which has begun; leaves it by `q`."""
    session.sees(program)
    for _ in range(3):
        session.send("\x03")
        session.settle()
    session.send("q")


@pytest.mark.skipif(not shutil.which("less"), reason="less is not installed")
def test_a_pager_has_the_key_for_itself(start):
    session = start(environment={"NESL_PAGER": "less"}, rows=12).ready()
    session.say("x = 41")
    # What was entered with it runs when the pager is left.
    session.send(paste(":full [0:2000]\rx + 1", True))
    session.settle()
    session.send("\r")
    pressed_in(session, "\n:")
    session.sees("it = 42 : int")
    session.ready()
    assert "nterrupted" not in session.text() and "Stopping" not in session.text(), session.text()
    assert session.say("x") == ["it = 41 : int"]


def test_an_editor_has_the_key_for_itself(start, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\ntrap 'echo pressed' INT\necho be''gun\nwhile ! read key; do :; done\necho 40 + 2 > $1\n")
    editor.chmod(0o755)
    session = start(environment={"VISUAL": str(editor)}).ready()
    session.say("1")
    session.send(":edit\r")
    session.sees("begun")
    for _ in range(2):
        session.send("\x03")
        session.settle()
    session.send("q\r")
    session.sees("it = 42 : int")
    session.ready()
    assert "nterrupted" not in session.text() and "Stopping" not in session.text(), session.text()


def test_a_watch_that_waits(terminal, tmp_path):
    program = tmp_path / "program.nesl"

    def stop():
        terminal.ready()
        program.write_text("x = 41;\nx;\n")
        seen = terminal.text().count("41 : int")
        terminal.send(":watch program.nesl\r")
        terminal.wait("a run", lambda: terminal.text().count("41 : int") > seen)
        terminal.settle()
        return until_prompt(terminal)

    best(stop)
    # Nothing runs that is saved afterwards, and what the file has defined is there.
    program.write_text("x = 43;\nx;\n")
    terminal.settle(0.5)
    assert terminal.say("x + 1") == ["it = 42 : int"]
    assert "43" not in terminal.text()
    # Presses behind the first one are for the line.
    terminal.send(":watch program.nesl\r")
    terminal.sees("43 : int")
    terminal.send("\x03\x03\x03")
    terminal.settle(0.3)
    assert terminal.ready().say("x + 1")[-1] == "it = 44 : int"
