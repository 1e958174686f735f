"""A real `nesl` in a real terminal: pexpect gives it a pseudo-terminal, pyte keeps the screen."""

import base64
import os
import re
import tempfile
import time
from pathlib import Path

import pexpect
import pyte

ROOT = Path(__file__).resolve().parents[3]
BINARY = os.environ.get("NESL_BINARY", str(ROOT / "target/debug/nesl"))

# The time limit for anything that is waited for, in seconds: a hundred times what it takes.
MAX_WAIT = float(os.environ.get("NESL_MAX_WAIT", "100"))

# The size of a character, in pixels.
COLUMN_PIXELS, ROW_PIXELS = 8, 16

UP, DOWN, RIGHT, LEFT, HOME = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H"
PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"


def paste(keys, bracketed):
    """Keys as a terminal sends them when they are pasted."""
    return PASTE_BEGIN + keys + PASTE_END if bracketed else keys


class Terminal:
    """A session and its screen."""

    def __init__(self, arguments=(), folder=None, rows=40, columns=80, environment=None, program=None):
        self.folder = Path(folder or tempfile.mkdtemp(prefix="nesl-prompt-"))
        known = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "NESL_HISTORY": str(self.folder / "history"),
            "NESL_RC": str(self.folder / "rc.nesl"),
            "NESL_PAGER": "cat",
            **(environment or {}),
        }
        command = program or [BINARY, *arguments]
        self.process = pexpect.spawn(
            command[0],
            list(command[1:]),
            env={name: value for name, value in known.items() if value is not None},
            cwd=str(self.folder),
            dimensions=(rows, columns),
        )
        self.process.delaybeforesend = None
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.1)
        self.stream = pyte.ByteStream(self.screen)
        # Everything that the session has written.
        self.output = b""
        # The commands of kitty's protocol that were sent, and the lines at which images stand.
        self.graphics, self.images = b"", []
        self.unfinished = b""

    def read(self, seconds=0.05):
        """Takes in what the session has written; returns false at its end."""
        try:
            piece = self.process.read_nonblocking(1 << 16, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.output += piece
        self.feed(piece)
        return True

    def feed(self, piece):
        """Shows a piece of what was written. Pictures are put aside, as the screen holds characters: a terminal
        would draw them over the lines that they take up."""
        *pieces, self.unfinished = re.split(rb"(\x1b[_P][^\x1b]*\x1b\\)", self.unfinished + piece)
        for piece in pieces:
            if not piece.startswith((b"\x1b_G", b"\x1bP")):
                self.stream.feed(piece)
                continue
            self.graphics += piece if piece.startswith(b"\x1b_G") else b""
            if b"m=0;" in piece[:40]:
                text = b"".join(re.findall(rb"\x1b_G[^;]*;([^\x1b]*)", self.graphics))
                self.graphics = b""
                png = base64.b64decode(text)
                # A PNG begins with its size.
                height = int.from_bytes(png[20:24], "big")
                self.images.append((len(self.screen.history.top) + self.screen.cursor.y, png))
                self.stream.feed(b"\r\n" * (-(-height // ROW_PIXELS) - 1))
        begun = re.search(rb"\x1b(?:[_P][^\x1b]*(?:\x1b)?)?$", self.unfinished)
        end = begun.start() if begun else len(self.unfinished)
        self.stream.feed(self.unfinished[:end])
        self.unfinished = self.unfinished[end:]

    def wait(self, what, condition):
        """Waits until a condition holds."""
        deadline = time.monotonic() + MAX_WAIT
        while not condition():
            alive = self.read()
            if condition():
                return
            if not alive or time.monotonic() > deadline:
                raise AssertionError(f"no {what}:\n" + self.text())

    def lines(self):
        """The lines of the screen, and those that have left it at the top, without blanks at their ends."""
        above = ["".join(row[at].data for at in range(self.screen.columns)) for row in self.screen.history.top]
        return [line.rstrip() for line in [*above, *self.screen.display]]

    def text(self):
        """All that can be read."""
        return "\n".join(self.lines()).rstrip() + "\n"

    def line(self):
        """The line that the cursor is in."""
        return self.screen.display[self.screen.cursor.y].rstrip()

    def at_prompt(self):
        """True if an empty line can be typed."""
        return self.line() == "nesl>" and self.screen.cursor.x == 6

    def send(self, keys):
        self.process.send(keys)

    def ready(self):
        """Waits for an empty prompt."""
        self.wait("prompt", self.at_prompt)
        return self

    def say(self, text):
        """Types a line, waits for the next prompt, and returns the lines between the two, without the names of
        results."""
        self.ready()
        before = len(self.above())
        self.send(text + "\r")
        self.wait(f"answer to {text}", lambda: len(self.above()) > before and self.at_prompt())
        return [re.sub(r"  it\d+$", "", line) for line in self.above()[before + 1 :]]

    def above(self):
        """The lines above the cursor."""
        lines = self.lines()
        return lines[: len(self.screen.history.top) + self.screen.cursor.y]

    def sees(self, text):
        """Waits until a text can be read."""
        self.wait(repr(text), lambda: text in self.text())

    def mark(self):
        """Returns how much was written so far."""
        return len(self.output)

    def settle(self, seconds=0.1):
        """Takes in what comes until nothing has for some time."""
        before = -1
        while before != len(self.output):
            before = len(self.output)
            self.read(seconds)

    def style(self, text):
        """The colours and weights of the last line of the screen in which a text stands."""
        for y, line in reversed(list(enumerate(self.screen.display))):
            x = line.find(text)
            if x >= 0:
                return [self.screen.buffer[y][x + at] for at in range(len(text))]
        raise AssertionError(f"no {text!r}:\n" + self.text())

    def end(self):
        """Waits until the session has ended; returns its exit code."""
        deadline = time.monotonic() + MAX_WAIT
        while self.read() and time.monotonic() < deadline:
            pass
        self.process.wait()
        return self.process.exitstatus

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.close(force=True)


def opened(session, pipe):
    """Opens a pipe with a name for writing, once the session reads it."""
    found = []

    def is_read():
        try:
            found.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    session.wait("reader of " + str(pipe), is_read)
    return found[0]
