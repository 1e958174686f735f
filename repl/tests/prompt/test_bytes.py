"""The bytes that a key costs: counted, as times would depend on the machine."""

import pytest


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
