"""The prompt within tmux, a terminal that is not ours: type-ahead, both ways of pasting, resizing, Ctrl-C, scroll-back."""

import os
import shutil
import subprocess
import tempfile
import time

import pytest
from terminal import BINARY, MAX_WAIT

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")

ENDLESS = "function forever(n) = if n < 0 then n else forever(n + 1)"
TRANSCRIPT = "nesl> x = 5\nx = 5 : int\nnesl> function f2(a) =\n  ...   a + x\nf2 = fn : int -> int\nnesl> f2(1)\nit = 6 : int\n"


class Tmux:
    """A session of `nesl` in a window of tmux, on a server of its own."""

    def __init__(self, folder, columns=80, rows=24):
        # The name of a socket may not be long.
        self.sockets = tempfile.mkdtemp(prefix="nesl-tmux-")
        environment = {
            "HOME": folder,
            "NESL_HISTORY": folder / "history",
            "NESL_RC": "",
            "LANG": "C.UTF-8",
        }
        words = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        size = ["-x", str(columns), "-y", str(rows)]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-c", str(folder), *size, *words, BINARY)
        self.tmux("set-option", "-g", "history-limit", "10000")

    def tmux(self, *arguments, text=None):
        command = ["tmux", "-S", f"{self.sockets}/s", "-u", *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=MAX_WAIT)
        return done.stdout

    def runs(self):
        """True until the program has ended, and the window with it."""
        command = ["tmux", "-S", f"{self.sockets}/s", "has-session"]
        return subprocess.run(command, capture_output=True).returncode == 0

    def end(self):
        """Ends the server."""
        if self.runs():
            self.tmux("kill-server")
        shutil.rmtree(self.sockets)

    def screen(self, *options):
        """The lines of the screen, without blanks at their ends."""
        return [line.rstrip() for line in self.tmux("capture-pane", "-p", *options).split("\n")]

    def all(self):
        """The lines of the screen, and those above it."""
        return "\n".join(self.screen("-S", "-")).rstrip() + "\n"

    def wait(self, what, condition):
        deadline = time.monotonic() + MAX_WAIT
        while not condition():
            assert time.monotonic() < deadline, f"no {what}:\n{self.all()}"
            time.sleep(0.02)

    def cursor(self):
        """The column and the row of the cursor."""
        x, y = self.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(x), int(y)

    def told_columns(self):
        """The columns of the screen that the program was told."""
        terminal = os.open(self.tmux("display-message", "-p", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.get_terminal_size(terminal).columns
        finally:
            os.close(terminal)

    def ready(self):
        """Waits for an empty prompt."""
        self.wait("prompt", lambda: (lambda at: at[0] == 6 and self.screen()[at[1]] == "nesl>")(self.cursor()))
        return self

    def keys(self, text):
        """Types a text."""
        self.tmux("send-keys", "-l", text)

    def press(self, *names):
        """Presses keys."""
        self.tmux("send-keys", *names)

    def say(self, text):
        """Enters a line, and waits for the next prompt."""
        self.ready()
        self.keys(text)
        # Otherwise the prompt that is seen next could be this one.
        self.wait("echo", lambda: self.cursor()[0] != 6)
        self.press("Enter")
        return self.ready()

    def paste(self, text, bracketed):
        """Pastes a text: with brackets if the program has asked for them, or without."""
        self.tmux("load-buffer", "-", text=text)
        self.tmux("paste-buffer", *(["-p"] if bracketed else []))

    def sees(self, text):
        self.wait(repr(text), lambda: text in self.all())


@pytest.fixture
def tmux(tmp_path):
    session = Tmux(tmp_path)
    yield session
    session.end()


def test_what_is_typed_ahead_is_there(tmux):
    tmux.keys("x = 40")
    tmux.press("Enter")
    tmux.keys("x + 2")
    tmux.press("Enter")
    tmux.sees("it = 42 : int")
    tmux.ready()


def test_what_is_typed_during_a_computation_is_there(tmux):
    tmux.say(ENDLESS)
    tmux.keys('print_line("beg" ++ "un"); forever(0)')
    tmux.press("Enter")
    tmux.sees("begun")
    tmux.press("C-c")
    tmux.keys("40 + 2")
    tmux.press("Enter")
    tmux.sees("Interrupted.")
    tmux.sees("it = 42 : int")


@pytest.mark.parametrize("bracketed", [True, False], ids=["with brackets", "without"])
def test_a_paste_of_many_forms(tmux, bracketed):
    tmux.ready().paste("".join(f"p{n} = {n} * {n};\n" for n in range(200)), bracketed)
    if bracketed:
        tmux.sees("p199 = 199 * 199;")
        assert "p0 = 0 : int" not in tmux.all()
        tmux.press("Enter")
    tmux.sees("p199 = 39601 : int")
    lines = tmux.ready().all().split("\n")
    assert [line for line in lines if line.endswith(" : int")] == [f"p{n} = {n * n} : int" for n in range(200)]


@pytest.mark.parametrize("bracketed", [True, False], ids=["with brackets", "without"])
def test_a_paste_of_a_form_of_several_lines(tmux, bracketed):
    tmux.ready().paste("function both(a) =\n  let b = a + 1 in\n\n  (a, b);\n", bracketed)
    if bracketed:
        tmux.press("Enter")
    tmux.sees("both = fn : int -> (int, int)")
    tmux.say("both(1)").sees("it = (1, 2) : int, int")


@pytest.mark.parametrize("bracketed", [True, False], ids=["with brackets", "without"])
def test_a_paste_of_a_transcript(tmux, bracketed):
    tmux.ready().paste(TRANSCRIPT, bracketed)
    if bracketed:
        tmux.press("Enter")
    tmux.sees("it = 6 : int")
    tmux.ready()
    assert "error" not in tmux.all()
    tmux.say("f2(2)").sees("it = 7 : int")


def test_resizing_while_a_line_is_typed(tmux):
    tmux.ready().keys("[" + ", ".join(str(n) for n in range(100, 130)) + "]")
    tmux.sees("129]")
    for columns, rows in [(40, 12), (30, 24), (100, 30)]:
        tmux.tmux("resize-window", "-x", str(columns), "-y", str(rows))
        tmux.keys(" ")
        tmux.wait("the line", lambda: "129]" in "".join(tmux.screen()))
    tmux.press("Enter")
    tmux.sees("it = [100, 101,")
    tmux.ready()
    # Values are shown as wide as the screen is now.
    tmux.say("{[0:i] : i in [0:60]}")
    assert any(70 < len(line) <= 100 for line in tmux.screen()), tmux.all()


@pytest.mark.parametrize("back", [0, 30], ids=["at the end", "within"])
@pytest.mark.parametrize("count", [12, 27, 200], ids=["short", "long", "higher than the screen"])
def test_resizing_leaves_no_row_behind_and_takes_none_above(tmux, back, count):
    for number in range(4):
        tmux.say(f"{number} * 1000")
    entry = "[" + ", ".join(str(n) for n in range(100, 100 + count)) + "]"
    tmux.paste(entry, True)
    tmux.sees(entry[-8:])
    for _ in range(back):
        tmux.press("Left")
    for columns in [50, 23, 24, 60, 35, 90, 20, 80]:
        tmux.tmux("resize-window", "-x", str(columns), "-y", "24")
        # The program hears of it some time later; a key comes behind what it does then.
        tmux.wait("the size", lambda: tmux.told_columns() == columns)
        tmux.keys("x")
        tmux.wait("the key", lambda: "x" in "".join(tmux.screen()))
        tmux.press("BSpace")
        tmux.wait("its end", lambda: "x" not in "".join(tmux.screen()))
        # Lines that the terminal has broken are whole here.
        lines = [line.rstrip() for line in tmux.tmux("capture-pane", "-p", "-J", "-S", "-").rstrip().split("\n")]
        results = [line for line in lines if line.startswith("it = ")]
        assert results == [f"it = {n * 1000} : int  it{n + 1}" for n in range(4)], (columns, lines)
        if count < 200:
            behind = lines[lines.index(results[-1]) + 1 :]
            assert "".join(behind).strip() == f"nesl> {entry}", (columns, behind)
    tmux.press("Enter")
    tmux.sees("it = [100, 101," if count < 200 else "it = 200 elements")
    tmux.ready()


def test_resizing_during_a_computation(tmux):
    tmux.say(ENDLESS)
    tmux.keys("forever(0)")
    tmux.press("Enter")
    tmux.sees("Ctrl-C stops")
    tmux.tmux("resize-window", "-x", "50", "-y", "12")
    tmux.press("C-c")
    tmux.sees("Interrupted.")
    tmux.say("40 + 2").sees("it = 42 : int")


def test_ctrl_c_drops_a_line_and_stops_what_runs(tmux):
    tmux.say("x = 41")
    tmux.keys("x + (")
    tmux.press("C-c")
    tmux.say(ENDLESS)
    for running in ["forever(0)", 'prompt("?")', 'shell_command("sleep 1000", "")']:
        tmux.ready().keys(f'print_line("beg" ++ "un"); {running}')
        seen = tmux.all().count("begun")
        tmux.press("Enter")
        tmux.wait("beginning", lambda: tmux.all().count("begun") > seen)
        tmux.press("C-c")
        tmux.ready()
    tmux.say("x + 1").sees("it = 42 : int")
    assert "^C" not in "\n".join(line for line in tmux.all().split("\n") if "error" in line)


def test_the_scroll_back_is_kept(tmux):
    for number in range(40):
        tmux.say(f"{number} * 1000")
    tmux.keys("wr\t")
    tmux.tmux("resize-window", "-x", "60", "-y", "10")
    tmux.press("C-c")
    tmux.say("{[0:i] : i in [0:60]}")
    # Everything is still above, once each and in order.
    results = [line for line in tmux.all().split("\n") if line.startswith("it = ") and "000 : int" in line]
    expected = [f"it = {number * 1000} : int  it{number + 1}" for number in range(1, 40)]
    assert results == expected, results


def test_a_plot_is_text_where_tmux_shows_no_pictures(tmux):
    tmux.ready().keys(":plot {i * i : i in [0:40]}")
    tmux.press("Enter")
    tmux.wait("a plot", lambda: "⡠" in tmux.all() or "\x1b" in tmux.all() or "SIXEL" in tmux.all())
    # Its answer to the question for its attributes is no text.
    tmux.say("40 + 2").sees("it = 42 : int")
    assert "62;" not in tmux.all() and "1;2" not in tmux.all()


def test_ctrl_d_leaves(tmux):
    tmux.ready().press("C-d")
    deadline = time.monotonic() + MAX_WAIT
    while tmux.runs():
        assert time.monotonic() < deadline
        time.sleep(0.02)
