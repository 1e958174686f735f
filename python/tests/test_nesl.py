"""Tests of the Python module through the real program (`NESL_BINARY`)."""

import gc
import io
import os
import signal
import threading
import time

import nesl
import numpy as np
import pytest
from nesl import Error, Interrupted, Ragged, Session, arrays


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        yield session


def test_values_have_the_types_of_python(session):
    assert isinstance(session.eval("1 + 2"), int)
    assert isinstance(session.eval("1.0"), float)
    assert session.eval("1 == 1") is True
    assert session.eval('"abc"') == "abc"
    assert isinstance(session.eval("[1, 2]"), np.ndarray)
    assert session.eval("{[0:i] : i in [0:3]}") == Ragged.from_rows([[], [0], [0, 1]])
    assert session.eval("{[i, i] : i in [0:3]}").shape == (3, 2)
    assert session.eval("(1, `a, [t])")[1] == "a"
    assert session.eval("datatype point(int, float); [point(1, 2.0)]") == [(1, 2.0)]
    assert session.eval("x = 3;") is None


def test_definitions_and_arrays_are_shared(session):
    session.define("function norm(v) = sqrt(sum({x * x : x in v}))")
    session["v"] = np.array([3.0, 4.0])
    assert session.eval("norm(v)") == 5.0
    session["v"] = np.arange(1000.0)
    assert session.eval("norm(v)") == pytest.approx(np.linalg.norm(np.arange(1000.0)))


def test_errors_have_a_place(session):
    with pytest.raises(Error) as raised:
        session.eval("1 +\n[2]", name="there")
    assert raised.value.kind == "Type error"
    assert "there:" in str(raised.value)
    with pytest.raises(KeyError):
        session["nothing_of_this_name"]
    with pytest.raises(Error):
        session["let"] = 3
    with pytest.raises(TypeError):
        session["x"] = {1: 2}
    # It goes on.
    assert session.eval("2 + 2") == 4


def test_output_goes_to_standard_output(session, capsys):
    session.define('print_line("hello");')
    assert capsys.readouterr().out == "hello\n"


def test_a_computation_can_be_interrupted(session):
    session["kept"] = 17
    timer = threading.Timer(0.3, session.interrupt)
    timer.start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        session.eval("function turn(n) = turn(n + 1); turn(0)")
    assert time.monotonic() - began < 5
    assert session["kept"] == 17


def test_a_program_asks():
    asked = []

    def ask(question):
        asked.append(question)
        return f"answer {len(asked)}"

    with Session(ask=ask) as session:
        assert session.eval('(prompt("name? "), prompt("age? "))') == ("answer 1", "answer 2")
        session.define("(line, ok, _) = read_line(stdin);")
        assert session["line"] == ("answer 3", False)
        [shown] = session.show('prompt("again? ")')
        assert shown["text"].startswith('"answer 4"')
    assert asked == ["name? ", "age? ", "", "again? "]


def test_a_program_asks_by_input(session, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("Ada\n"))
    assert session.eval('prompt("name? ")') == "Ada"
    assert capsys.readouterr().out == "name? "
    # The input has ended.
    with pytest.raises(Error, match="nobody can be asked for input here"):
        session.eval('prompt("name? ")')
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(Error, match="nobody can be asked for input here"):
        session.eval('prompt("name? ")')


def test_nobody_is_asked():
    with Session(ask=None) as session:
        with pytest.raises(Error, match="nobody can be asked for input here"):
            session.eval('prompt("name? ")')
        assert session.eval("1 + 1") == 2


def test_a_question_goes_wrong():
    raised = [KeyboardInterrupt(), ZeroDivisionError("by us")]

    def ask(question):
        if raised:
            raise raised.pop(0)
        return session.eval("3") if question == "nested" else 7

    with Session(ask=ask) as session:
        session["kept"] = 17
        with pytest.raises(Interrupted):
            session.eval('prompt("name? ")')
        with pytest.raises(ZeroDivisionError):
            session.eval('prompt("name? ")')
        with pytest.raises(TypeError, match="an answer is a string, not a int"):
            session.eval('prompt("name? ")')
        with pytest.raises(RuntimeError, match="waits for the answer"):
            session.eval('prompt("nested")')
        assert session["kept"] == 17


def test_the_keyboard_interrupts_a_question():
    def ask(question):
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        time.sleep(20)

    with Session(ask=ask) as session:
        began = time.monotonic()
        with pytest.raises(Interrupted):
            session.eval('prompt("name? ")')
        assert time.monotonic() - began < 5
        assert session.eval("1 + 1") == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_completion(session):
    session.define("zebra = 3;")
    assert ("zebra", "int") in session.complete("1 + zeb")


def test_a_session_ends_with_its_last_reference():
    session = Session()
    process = session._connection.process
    session.eval("1")
    gc.disable()
    try:
        del session
        process.wait(10)
    finally:
        gc.enable()


def test_what_is_no_text_is_refused(session):
    for wrong in (lambda: session.eval(5), lambda: session.define(None), lambda: session.__setitem__(3, 1)):
        with pytest.raises(TypeError):
            wrong()


def test_sessions_end():
    session = Session()
    process = session._connection.process
    session.close()
    session.close()
    assert process.poll() == 0
    with pytest.raises(RuntimeError):
        session.eval("1")


def test_types():
    assert arrays.parse("[(int, point([char], float))]") == (
        "seq",
        ("tuple", ["int", ("record", "point", [("seq", "char"), "float"])]),
    )
    with pytest.raises(ValueError):
        arrays.parse("[int")


def test_the_lexer():
    pytest.importorskip("pygments")
    from nesl.lexer import NeslLexer
    from pygments.token import Error as Wrong

    text = ':time\nfunction f1(x) = {a * 2.5e3 : a in x | a > `b} % no % "s\\"";\n'
    assert not [token for token, _ in NeslLexer().get_tokens(text) if token is Wrong]


def test_the_module_loads_in_ipython():
    assert callable(nesl.load_ipython_extension)
    assert callable(nesl.unload_ipython_extension)
