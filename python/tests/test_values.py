"""Values of every type to a session and back, through the real program (`NESL_BINARY`)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from nesl import Error, Ragged, Session, arrays


@pytest.fixture(scope="module", params=[64, 32])
def session(request):
    with Session(precision=request.param) as session:
        yield session


def plain(value):
    """A value made of Python's lists and numbers alone."""
    if isinstance(value, (np.ndarray, Ragged)):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, range)):
        kind = list if isinstance(value, range) else type(value)
        return kind(plain(element) for element in value)
    return value


VALUES = [
    3,
    -2.5,
    True,
    "text with é",
    "",
    (1, 2.5),
    (1, (2.5, False), "x"),
    [(1, "a"), (2, "bc")],
    [(1, [1, 2]), (2, [])],
    [[1, 2], [3]],
    [[], []],
    [],
    [[[1.5], []], [[]]],
    [("x", [1, 2]), ("y", [])],
    ["a", "", "bc"],
    [["a"], [], ["b", "cd"]],
    range(5),
    np.arange(10),
    np.linspace(0, 1, 5),
    np.array([True, False]),
    np.empty(0),
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=bool),
    np.arange(12).reshape(3, 4),
    np.arange(24.0).reshape(2, 3, 4),
    np.arange(16).reshape(2, 2, 2, 2),
    Ragged.from_rows([[1, 2], [], [3]]),
    Ragged.from_rows([]),
    [Ragged.from_rows([[1, 2], [3]]), Ragged.from_rows([[4]])],
    [np.arange(3), np.arange(2)],
    [np.ones((2, 2)), np.zeros((1, 3))],
    (np.arange(3), np.ones(2)),
    # Large enough to go to the runtime as they arrive.
    np.arange(5000),
    np.arange(5000) * 0.5,
    np.arange(5000) % 3 == 0,
    Ragged.from_rows([np.arange(i % 5) for i in range(3000)]),
    [(i, float(i)) for i in range(2000)],
    [str(i) for i in range(2000)],
    "x" * 10_000,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_values_come_back(session, value):
    session["x"] = value
    assert plain(session["x"]) == plain(value)
    assert plain(session.eval("x")) == plain(value)


@pytest.mark.parametrize("rows", [0, 3])
def test_arrays_keep_their_dimensions(session, rows):
    session["x"] = np.ones((rows, 4))
    assert session["x"].shape == (rows, 4 if rows else 0)
    session["x"] = np.ones((3, 0))
    assert session["x"].shape == (3, 0)


NUMBERS = np.arange(-3, 4000)


@pytest.mark.parametrize(
    "array",
    [
        NUMBERS.astype(np.int8),
        NUMBERS.astype(np.int32),
        NUMBERS.astype(np.uint8),
        abs(NUMBERS).astype(np.uint64),
        NUMBERS.astype(">i8"),
        NUMBERS.astype(">f8"),
        NUMBERS.astype(np.float32) / 2,
        NUMBERS.astype(np.float16),
        NUMBERS[::2],
        NUMBERS[::-1],
        np.arange(6000).reshape(60, 100).T,
        np.asfortranarray(np.arange(6000.0).reshape(60, 100)),
        np.arange(60.0).reshape(3, 4, 5)[:, ::2, ::-1],
        np.broadcast_to(7, (50, 40)),
        np.array(3),
        np.array(2.5, dtype=np.float32),
        np.array(["ab", "c"]),
        np.array([1, 2, 3], dtype=object),
        np.array([[1, 2], [3]], dtype=object),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
def test_arrays_of_every_kind(session, array):
    session["x"] = array
    assert plain(session["x"]) == array.tolist()


def test_arrays_that_cannot_be_written_are_given(session):
    array = np.arange(5000)
    array.flags.writeable = False
    session["x"] = array
    back = session["x"]
    assert (back == array).all()
    # What comes back is the caller's own.
    back[0] = 9
    assert session.eval("x[0]") == 0


def test_structured_arrays_are_sequences_of_tuples(session):
    array = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f4")])
    session["x"] = array
    assert session["x"] == [(1, 2.5), (3, 4.5)]


@pytest.mark.parametrize(
    ("value", "exception", "words"),
    [
        ({1: 2}, TypeError, "a dict has no type"),
        (None, TypeError, "None has no type"),
        (1j, TypeError, "complex"),
        (np.array([1j]), TypeError, "complex128"),
        (np.array(["2020-01-01"], dtype="M8[D]"), TypeError, "datetime64"),
        (np.array([1, "a", None], dtype=object), TypeError, "an int and a str"),
        (np.ma.masked_array([1, 2], [True, False]), TypeError, "masked"),
        ((1,), TypeError, "two components"),
        ([(1, 2), (1, 2, 3)], TypeError, "a tuple of 2 and a tuple of 3"),
        (["a", 1], TypeError, "a str and an int"),
        ([[1], 2], TypeError, "a list and an int"),
        (2**63, OverflowError, "64 bits"),
        ([2**63, -1], OverflowError, "64 bits"),
        ([(2**63, 1), (-1, 2)], OverflowError, "64 bits"),
        ([np.uint64(2**63), 1], OverflowError, "64 bits"),
        ([1, None], TypeError, "an int and None"),
        ([1, [2]], TypeError, "an int and a list"),
        (np.zeros(2, dtype=[("a", "i8"), ("b", "f8", (2,))]), TypeError, "the field b"),
        (np.array([2**63], dtype=np.uint64), OverflowError, "64 bits"),
    ],
    ids=lambda case: str(case)[:20],
)
def test_what_has_no_type_is_refused(session, value, exception, words):
    session["kept"] = 1
    with pytest.raises(exception, match=words):
        session["kept"] = value
    assert session["kept"] == 1


def test_parts_of_ragged_rows_are_looked_at():
    with pytest.raises(TypeError, match="offsets are ints"):
        Ragged([0.0, 1.7], [1])
    with pytest.raises(ValueError, match="flat array"):
        Ragged([0, 1], [[1, 2]])


def test_ints_fit_the_precision():
    with Session(precision=32) as session:
        with pytest.raises(Error, match="32 bits"):
            session["n"] = 3_000_000_000
        session["n"] = -(2**31)
        assert session.eval("n + 1") == 1 - 2**31


def test_floats_have_the_precision():
    with Session(precision=32) as session:
        session["s"] = np.array([0.1, 1e300])
        assert session.eval("s[0] == 0.1")
        assert session.eval("s[1]") == np.inf


def test_words_of_the_language_are_no_names(session):
    session["v"] = 1
    assert [name in session for name in ("v", "sum", "if", "let", "nowhere")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_names_that_cannot_be(session):
    for name in ("let", "x y", "1x", "sum"):
        if name == "sum":
            continue
        with pytest.raises(Error):
            session[name] = np.arange(5000)
    assert session.eval("1 + 1") == 2


def test_a_session_without_room_says_so():
    with Session(memory="10M") as session:
        with pytest.raises(Error, match="(?i)memory"):
            session["x"] = np.zeros(10_000_000)
        session["x"] = np.zeros(1000)
        assert session.eval("sum(x)") == 0.0


def test_functions_are_no_data(session):
    with pytest.raises(Error, match="functions"):
        session.eval("sqrt")


def test_an_expression_that_is_not_the_last_gives_no_value(session):
    assert session.eval("y = 3;") is None
    assert session.eval("1; 2") == 2


def test_definitions_that_wait_are_computed_when_asked_for(session):
    session.define("squares = {i * i : i in [0:6]};")
    assert session["squares"].tolist() == [0, 1, 4, 9, 16, 25]
    assert "squares" in session
    assert "no_such_name" not in session


def test_columns_are_the_memory_of_the_array():
    array = np.arange(1000.0)
    _, columns = arrays.encode(array)
    (piece,) = columns[1].pieces()
    assert np.shares_memory(np.frombuffer(piece), array)


def children(pid):
    """The processes that a process started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_python_is_killed(how, tmp_path):
    source = """
import numpy, nesl
s = nesl.Session()
s["x"] = numpy.zeros(1_000_000)
print("ready", flush=True)
s.eval("function turn(n) = turn(n + 1); turn(0)")
"""
    python = subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert python.stdout.readline() == "ready\n"
    (own,) = children(python.pid)
    time.sleep(0.2)
    os.kill(python.pid, how)
    python.wait()
    python.stdout.close()
    ends = time.monotonic() + 10
    while os.path.exists(f"/proc/{own}") and time.monotonic() < ends:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{own}")
    assert not list(tmp_path.iterdir())


def test_memory_is_given_back():
    def resident(pid):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    if not os.path.isdir("/proc/self"):
        pytest.skip("looks at /proc")
    with Session() as session:
        pid = session._connection.process.pid
        array = np.zeros(10_000_000)
        session["x"] = array
        session["x"]
        full = resident(pid)
        for _ in range(5):
            session["x"] = array
        assert resident(pid) < full + 100_000_000
        del array
        session["x"] = 0
        session["y"] = 1
        assert session.eval("x + y") == 1
    with pytest.raises(RuntimeError):
        session["x"]


def test_a_keyboard_interrupt_ends_the_computation_and_nothing_else():
    source = """
import os, signal, threading, time, numpy, nesl
s = nesl.Session()
s["kept"] = numpy.arange(100_000)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    s.eval("function turn(n) = turn(n + 1); turn(0)")
except nesl.Interrupted:
    print("interrupted", s["kept"].sum())
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"interrupted {sum(range(100_000))}\n", done.stderr


def test_a_keyboard_interrupt_while_values_move_is_not_lost():
    source = """
import os, signal, threading, numpy, nesl
s = nesl.Session()
big = numpy.arange(2_000_000)
hits = 0
for round in range(20):
    timer = threading.Timer(0.002 * round, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        timer.start()
        for _ in range(10_000):
            s["x"] = big
            assert s["x"][-1] == 1_999_999
    except (KeyboardInterrupt, nesl.Interrupted):
        hits += 1
assert s.eval("#x") == 2_000_000
print(hits)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120)
    assert done.stdout == "20\n", done.stderr


def test_a_runtime_that_is_not_there_is_an_error_at_once():
    with pytest.raises(RuntimeError, match="no_such_runtime"):
        Session(runtime="no_such_runtime")
