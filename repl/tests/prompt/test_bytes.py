"""The bytes that a key costs: counted, as times would depend on the machine."""

import pytest
from terminal import DOWN, LEFT, UP, paste


def cost(terminal, key):
    """The bytes that the prompt writes for a key."""
    before = terminal.mark()
    x = (terminal.screen.cursor.x, terminal.screen.cursor.y)
    terminal.send(key)
    terminal.wait("the key", lambda: (terminal.screen.cursor.x, terminal.screen.cursor.y) != x)
    terminal.settle(0.02)
    return terminal.mark() - before


def test_a_letter_of_a_name_is_written_alone(terminal):
    costs = [cost(terminal, key) for key in "length of names"]
    # `of` is a name, too; the blanks between are as plain.
    assert costs[1:6] == [1] * 5, costs
    assert sum(costs) < 400, costs


def test_a_line_is_repainted_at_most(terminal):
    text = '{if x > 1 then "a" else "b" : x in [1, 2, 3]} % done'
    costs = [cost(terminal, key) for key in text]
    # The prompt, the line with its colours, and the moves of the cursor.
    assert max(costs) < 100 + 4 * len(text), costs


def test_the_cost_does_not_grow_with_the_history(start, tmp_path):
    lines = "".join(f"value_{n} = {n}\n" for n in range(10_000))
    (tmp_path / "history").write_text("#V2\n" + lines)
    session = start().ready()
    costs = [cost(session, key) for key in "other + names"]
    assert sum(costs) < 400, costs


@pytest.mark.parametrize("lines", [10, 40])
def test_an_entry_of_many_lines_costs_its_text(start, lines):
    session = start(rows=60).ready()
    session.send("\x1b[200~" + "{1 +\r" * lines + "\x1b[201~")
    session.settle()
    assert cost(session, "x") < 200 + 40 * lines


@pytest.mark.parametrize("form", ["lines", "one line"])
def test_an_entry_longer_than_the_screen_costs_the_screen(start, form):
    session = start(rows=24).ready()
    text = "{a + \r" * 200 if form == "lines" else '"' + "ab cd " * 1000
    session.send(paste(text, True))
    session.settle(0.3)
    above = len(session.screen.history.top)
    costs = [cost(session, key) for key in "x + y "] + [cost(session, LEFT) for _ in range(10)]
    costs += [cost(session, key) for key in "[1]"]
    assert max(costs) < 24 * 80 * 2 + 3000, costs
    # Nothing moves out of the screen.
    assert len(session.screen.history.top) == above


def test_a_high_entry_is_above_the_screen_once(start):
    session = start(rows=12).ready()
    session.send(paste("xs = [" + ",\r".join(f"{n}000" for n in range(40)) + "]", True))
    session.settle(0.3)
    # Up to the first line, and back to the end.
    for key in [UP] * 39 + [DOWN] * 39 + ["\x05"]:
        session.send(key)
        session.settle(0.02)
    session.send("\r")
    session.sees("xs = [0, 1000,")
    session.ready()
    # It comes back from the history, and is dropped.
    session.send(UP)
    session.settle()
    assert session.line() == "  ... 39000]"
    assert session.screen.display[0].startswith("  ... 28000,")
    session.send(UP * 20 + "\x03")
    session.ready()
    lines = session.lines()
    assert [line for line in lines if line == "nesl> xs = [0000,"] == ["nesl> xs = [0000,"], lines
    assert lines.count("  ... 5000,") == 1, lines


def test_what_is_typed_in_a_high_entry_stands_where_the_cursor_is(start):
    session = start(rows=10).ready()
    session.send(paste("xs = [" + ",\r".join(f"{n}" for n in range(30)) + "]", True))
    session.settle(0.3)
    session.send(UP * 25)
    session.settle(0.3)
    assert session.line() == "  ... 4,"
    session.send(" 44,")
    session.settle()
    session.send(DOWN)
    session.settle()
    assert session.line() == "  ... 5,"
    session.send(" 55,\r")
    session.sees("xs = [0, 1, 2, 3")
    session.ready()
    assert session.say("#{x in xs | x > 40}") == ["it = 2 : int"]
