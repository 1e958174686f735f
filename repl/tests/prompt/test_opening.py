"""Nothing blocks typing while a GPU is opened, or the user's own definitions are read.

The GPU is simulated: its driver is not ready before a file is there.
"""

import os
from pathlib import Path

import pytest
from terminal import BINARY, opened

SIMULATOR = Path(BINARY).parent / "libnesl_sim.so"


@pytest.fixture
def opening(start, tmp_path):
    """Starts a session whose GPU is not ready; returns it with the file that makes the GPU ready."""
    if not SIMULATOR.is_file():
        pytest.skip(f"there is no {SIMULATOR}: `cargo build --package nesl-sim` makes it")
    folder = tmp_path / "driver"
    folder.mkdir()
    for name in ["libcuda.so", "libcuda.so.1"]:
        os.symlink(SIMULATOR, folder / name)
    gate = tmp_path / "ready"
    environment = {"LD_LIBRARY_PATH": str(folder), "NESL_SIM_GATE": str(gate)}
    return start("--runtime", "ptx", "--always-compile", environment=environment), gate


def test_typing_while_a_gpu_is_opened(opening):
    session, gate = opening
    session.ready()
    # Keys are shown, with colours, completed and taken back; lines are dropped; the history is there.
    session.send("if t then")
    session.sees("then")
    session.wait("colours", lambda: {cell.fg for cell in session.style("then")} == {"magenta"})
    session.send("\x03")
    session.ready().send(":kern\t")
    session.wait("a command", lambda: session.line() == "nesl> :kernels")
    session.send("\x15sum({i * i : i in [0:")
    session.send("100]})")
    session.wait("the line", lambda: session.line().endswith("[0:100]})"))
    assert not gate.exists() and "it =" not in session.text()
    session.send("\r")
    session.settle(0.2)
    assert "it =" not in session.text()
    gate.touch()
    session.sees("it = 328350 : int")
    session.ready()
    assert any(line.split()[:2] == ["→", "ptx"] for line in session.say(":devices"))


def test_leaving_while_a_gpu_is_opened(opening):
    session, _ = opening
    session.ready()
    session.send("\x04")
    session.sees("The session is still being loaded. Ctrl-D again leaves.")
    session.ready()
    session.send("\x04")
    assert session.end() == 0


def test_what_is_typed_ahead_while_a_gpu_is_opened(opening):
    session, gate = opening
    session.send("x = 40\rx + 2\r")
    session.settle(0.3)
    assert "it =" not in session.text()
    gate.touch()
    session.sees("it = 42 : int")
    session.ready()


def test_typing_while_the_users_own_definitions_are_read(start, tmp_path):
    # They wait for what is written into a pipe.
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "rc.nesl").write_text('told = read_string_from_file("pipe");\nprint_line("loaded");\n')
    session = start().ready()
    session.send("#told + (")
    session.wait("brackets", lambda: session.line() == "nesl> #told + (")
    session.send("1)")
    session.wait("brackets", lambda: session.line() == "nesl> #told + (1)")
    pipe = opened(session, tmp_path / "pipe")
    os.write(pipe, b"12345")
    os.close(pipe)
    # What they print stands above the line, which stays as it is.
    session.sees("loaded")
    session.wait("the line", lambda: session.line() == "nesl> #told + (1)")
    session.send("\r")
    session.sees("it = 6 : int")
