"""Completion, and the widths of lists."""

import pytest


@pytest.fixture
def session(terminal, tmp_path):
    """A session that has begun, in a folder with a file."""
    (tmp_path / "printed.nesl").write_text("x = 1;\n")
    terminal.say("function price(a) = a + 1")
    terminal.say('word = "a"')
    return terminal


def listed(session, text):
    """Presses Tab twice behind a text; returns what is listed."""
    session.ready()
    before = len(session.above())
    session.send(text)
    session.settle()
    session.send("\t")
    session.settle()
    session.send("\t")
    session.settle(0.2)
    found = session.above()[before + 1 :]
    session.send("\x03")
    session.settle()
    return found


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (":kernels of", ":kernels off"),
        (":edit pri", ":edit pri"),
        (":edit pric", ":edit price"),
        (":edit printed", ":edit printed.nesl"),
        (":help cos", ":help cos"),
        (":help brow", ":help browse"),
        (":help :brow", ":help :browse"),
        (":hel und", ":hel undo"),
        (":doc plus_s", ":doc plus_scan"),
    ],
)
def test_what_a_command_takes_is_completed(session, typed, completed):
    session.ready().send(typed)
    session.settle()
    session.send("\t")
    session.wait(completed, lambda: session.line().rstrip() == f"nesl> {completed}")


def test_words_of_a_command_stand_before_names(session):
    assert listed(session, ":kernels o")[:2] == ["on", "off"]
    assert {"odd_elts : [a] -> [a] :: (a in any)"} < set(listed(session, ":kernels o"))
    # What is not one's own cannot be edited.
    assert listed(session, ":edit pri") == ["price : int -> int  printed.nesl"]
    assert "cost  work, depth and parallelism, also over several sizes" in listed(session, ":help co")


def test_where_a_value_is_missing_all_are_listed_that_fit_first(session):
    found = listed(session, "price(")
    # What is called is rarely an argument of itself: the usual functions come before it.
    assert found[0].startswith("count : [bool] -> int") and len(found) < 40, found
    assert found[-1].startswith("… and ") and "first letters" in found[-1], found
    assert not any(line.startswith("word") for line in found[:2]), found
    # At the beginning of a line nobody asks.
    assert listed(session, "") == []


@pytest.mark.parametrize("columns", [40, 80])
def test_lists_break_no_words(start, columns):
    session = start(columns=columns, rows=60).ready()
    shown = session.say(":help") + session.say(":help :kernels")
    words = " ".join(shown).split()
    for word in ["expression", "explain", "parallelism,", "interval" "s", "evaluating", "definition"]:
        assert any(word in one for one in words), (word, shown)
    assert all(len(line) < columns for line in shown), shown
    session.send(":set \t\t")
    session.sees("editing")
    assert all(len(line) < columns for line in session.lines()), session.text()


def test_keys_behind_a_long_list_are_not_eaten(start):
    session = start(rows=12).ready()
    session.send(":\t\t")
    session.sees("more, by their first letters")
    session.send("type 1 + 1\r")
    session.sees("nesl> :type 1 + 1")
    assert "--More--" not in session.text(), session.text()
