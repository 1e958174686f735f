"""Values by rows of the screen, redefinitions, times, progress, the pager."""

import pytest

ENDLESS = "function forever(n) = if n < 0 then n else forever(n + 1)"


def test_what_fits_is_a_line(terminal):
    assert terminal.say("{i * i : i in [0:10]}") == ["it = [0, 1, 4, 9, 16, 25, 36, 49, 64, 81] : [int]"]
    assert terminal.say('"text"') == ['it = "text" : [char]']
    assert terminal.say("[(1, 2.5)]") == ["it = [(1, 2.5)] : [(int, float)]"]


def test_results_have_names(terminal):
    terminal.send("40 + 1\r")
    terminal.sees("it = 41 : int  it1")
    assert {cell.fg for cell in terminal.style("  it1")[2:]} == {"brightblack"}
    terminal.say("x = 1")
    terminal.say("nothing_there")
    terminal.say("[1, 2]")
    assert terminal.say("it1 + #it4") == ["it = 43 : int"]
    # Taking an entry back takes its name back, too.
    assert terminal.say(":undo") == ["`it` is what it was before."]
    assert "`it5` is undefined" in "\n".join(terminal.say("it5"))
    assert terminal.say("it") == ["it = [1, 2] : [int]"]


def test_a_nested_value_takes_ten_rows_and_tells_its_shape(terminal):
    shown = terminal.say("{[0:i] : i in [0:60]}")
    assert shown[0] == "it = 60 rows, 0–59 long : [[int]]"
    assert len(shown) == 10 and shown[3] == "2    #2  0 1" and shown[-1].endswith("… 58"), shown


@pytest.mark.parametrize("columns", [80, 40, 20])
def test_no_value_takes_more_than_ten_rows(start, columns):
    session = start(columns=columns).ready()
    for value in [
        "{[0:i] : i in [0:60]}",
        "{{i * j : j in [0:40]} : i in [0:40]}",
        "{{[0:j] : j in [0:i]} : i in [0:9]}",
        "{(i, sqrt(float(i)), {i * j : j in [0:i]}) : i in [0:1000]}",
        "({i : i in [0:1000]}, \"a text that is not short\", (1, 2, 3))",
        '{"row " ++ @i : i in [0:100]}',
        'flatten({"row " ++ @i ++ [newline] : i in [0:100]})',
        "[0:100000]",
    ]:
        shown = session.say(value)
        # What was typed may take several lines.
        at = next(at for at, line in enumerate(shown) if line.startswith("it ="))
        assert len(shown) - at <= 10, shown


def test_tuples_are_a_table(terminal):
    shown = terminal.say("{(i, sqrt(float(i))) : i in [0:1000]}")
    assert shown[0] == "it = 1,000 rows : [(int, float)]"
    assert shown[2].split() == ["int", "float"] and shown[5].split() == ["2", "2", "1.41421"], shown
    assert len(shown) == 10, shown


def test_a_few_lines_of_numbers_are_printed_as_ever(terminal):
    shown = terminal.say("[0:60]")
    assert shown[0].startswith("it = [0, 1, 2,") and "".join(shown).endswith("59] : [int]"), shown
    assert len(terminal.say("[0:100000]")) <= 10


def test_a_text_is_text(terminal):
    shown = terminal.say('"one" ++ [newline] ++ "two"')
    assert shown == ["it = 7 characters : [char]", "one", "two"], shown


def test_the_number_of_rows_can_be_chosen(terminal):
    terminal.say(":set rows 4")
    assert len(terminal.say("{[0:i] : i in [0:60]}")) == 4
    terminal.say(":set rows all")
    assert terminal.say("[[1], [2, 3]] ++ {[0:i] : i in [0:20]}")[0].startswith("it = [[1], [2, 3], [], [0]")


def test_the_width_follows_the_screen(start):
    session = start(columns=50).ready()
    assert all(len(line) <= 50 for line in session.say("{[0:i] : i in [0:60]}"))
    session.process.setwinsize(40, 70)
    session.screen.resize(40, 70)
    session.settle()
    session.say("1")
    widest = max(len(line) for line in session.say("{[0:i] : i in [0:60]}"))
    assert 50 < widest <= 70, widest


def test_full_shows_all(terminal):
    terminal.say("{[0:i] : i in [0:30]}")
    shown = "".join(terminal.say(":full"))
    assert shown.startswith("it = [[], [0], [0, 1],") and shown.endswith("28]] : [[int]]"), shown
    # The value is still `it`.
    assert terminal.say("#it") == ["it = 30 : int"]
    assert "".join(terminal.say(":full [0:300]")).endswith("299] : [int]")


def test_a_pager_shows_what_the_screen_does_not_hold(start, tmp_path):
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged $(wc -c)\n")
    pager.chmod(0o755)
    session = start(rows=10, environment={"NESL_PAGER": str(pager)}).ready()
    assert session.say(":full 1 + 1") == ["it = 2 : int"]
    assert session.say(":full [0:1000]")[0].startswith("paged 49")


def test_the_time_in_a_pager_is_not_that_of_the_entry(start, tmp_path):
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\nsleep 2\necho paged $(wc -c)\n")
    pager.chmod(0o755)
    session = start(rows=10, environment={"NESL_PAGER": str(pager)}).ready()
    shown = session.say(":full [0:1000]")
    assert len(shown) == 1 and shown[0].startswith("paged 49"), shown


def test_an_entry_of_several_values_is_taken_back_whole(terminal):
    terminal.say("x = 1; 10")
    assert terminal.say("20; x = 2; x + 1; 30") == ["it = 20 : int", "x = 2 : int", "it = 3 : int", "it = 30 : int"]
    assert terminal.say(":undo") == ["`it`, `x` are what they were before."]
    assert terminal.say("(x, it)") == ["it = (1, 10) : int, int"]
    assert "`it2` is undefined" in "\n".join(terminal.say("it2"))


def test_a_redefinition_is_a_line(terminal):
    terminal.say("x = [1, 2]")
    terminal.say("function area(a) = sum(x) + a")
    terminal.say("function disc(a) = #x + a")
    assert terminal.say("x = 2.5") == ["x = 2.5 : float", "x was [int]; area, disc keep the old one"]
    assert {cell.fg for cell in terminal.style("x was [int]")} == {"brightblack"}
    # The same type takes the place of the old one: nothing is to be said.
    assert terminal.say("x = 3.5") == ["x = 3.5 : float"]


def test_progress_and_time_of_what_takes_long(terminal):
    terminal.say(ENDLESS)
    terminal.send("forever(0)\r")
    terminal.sees("Ctrl-C stops")
    assert terminal.line().startswith(("0.", "1.", "2.", "3."))
    # Wait for the second that makes the time worth telling.
    terminal.wait("a second", lambda: not terminal.line().startswith("0."))
    terminal.send("\x03")
    terminal.ready()
    lines = terminal.lines()
    assert not any("Ctrl-C stops" in line for line in lines), lines
    # It is told once where it was interrupted, and then what it took.
    assert sum("nterrupted" in line for line in lines) == 1, lines
    at = next(at for at, line in enumerate(lines) if line.startswith("───╯"))
    assert lines[at + 1] == "" and " s" in lines[at + 2], lines


def test_progress_does_not_disturb_what_programs_print(terminal):
    terminal.say(ENDLESS)
    terminal.send('print_string("half a line"); forever(0)\r')
    terminal.sees("half a line")
    for _ in range(20):
        terminal.read(0.05)
    terminal.send("\x03")
    terminal.ready()
    assert "half a line" in terminal.lines()


def test_progress_tells_forms(terminal):
    terminal.say(ENDLESS)
    terminal.send("1; 2; forever(0);\r")
    terminal.sees("form 3 of 3")
    terminal.send("\x03")
    terminal.ready()


def test_no_empty_line_stands_below_an_answer(terminal):
    terminal.send('prompt("name? ")\r')
    terminal.wait("the question", lambda: terminal.line() == "name?")
    terminal.send("Bob\r")
    terminal.sees("[char]")
    terminal.ready()
    lines = terminal.lines()
    at = lines.index("name? Bob")
    assert lines[at + 1].startswith('it = "Bob" : [char]'), lines


def test_what_the_terminal_would_obey_is_shown(terminal):
    title = '"a" ++ [code_char(27)] ++ "]0;title" ++ [code_char(7)]'
    assert terminal.say(title) == ['it = "a␛]0;title␇" : [char]']
    assert terminal.say(":full") == ['it = "a␛]0;title␇" : [char]']
    assert b"\x1b]0;" not in terminal.output


def test_a_nested_value_on_a_narrow_screen(start):
    session = start(columns=30).ready()
    session.say("xs = {[0:i*7] : i in [0:60]};")
    lines = session.say("xs")
    assert 8 <= len(lines) <= 11, lines
    assert any(line.startswith("0 ") for line in lines) and lines[-1].startswith("59 "), lines


def test_a_name_of_the_users_is_no_name_of_a_result(terminal):
    terminal.say("it3 = 77")
    terminal.say("1")
    terminal.send("2\r")
    terminal.sees("it = 2 : int")
    terminal.ready()
    assert "it3" not in terminal.above()[-1], terminal.text()
    assert terminal.say("it3") == ["it = 77 : int"]


def is_broken(lines, columns):
    """True if a line goes on in the next one in the middle of a word."""
    pairs = zip(lines, lines[1:])
    return any(len(line) == columns and line[-1] != " " and below[:1] not in ("", " ") for line, below in pairs)


@pytest.mark.parametrize("columns", [30, 40])
def test_answers_and_messages_are_wrapped_between_words(start, columns):
    session = start(columns=columns, rows=80).ready()
    session.say("long_name_of_values = {(i, float(i)) : i in [0:60]}")
    said = {
        text: session.say(text)
        for text in [":help", ":help :cost", "?sum", ":set", ":vars", ":devices", ":stats", ":what", '1 + "a"', "f(1)"]
    }
    for text, lines in said.items():
        assert not is_broken(lines, columns), (text, lines)
        assert all(len(line) <= columns for line in lines), (text, lines)
    if columns == 30:
        vars = ["long_name_of_values", "  type: [(int, float)]", "  shape: 60", "  bytes: 1,920", "  where: host"]
        assert said[":vars"] == vars, said[":vars"]


@pytest.mark.parametrize("columns", [40, 60])
def test_measurements_are_wrapped_between_words(start, columns):
    session = start(columns=columns, rows=80).ready()
    session.say("function add_up_all_of_them(n) = sum({i * i : i in [0:n]})")
    asked = [
        ":kernels",
        ":time add_up_all_of_them(1000)",
        ":time 10 add_up_all_of_them(1000)",
        ":kernels add_up_all_of_them(1000000)",
        ":kernels",
        ":kernels on",
        ":cost add_up_all_of_them for n = 1e2, 1e3, 1e4, 1e5, 1e6",
    ]
    for text in asked:
        lines = session.say(text)
        assert lines and not is_broken(lines, columns), (text, lines)
        # In its last column a terminal may begin the next line.
        assert all(len(line) < columns for line in lines), (text, lines)


def test_digits_of_floats_in_tables(terminal):
    table = "{(i, 1234567.0 + float(i) / 3.0) : i in [0:30]}"
    for digits, second in (("all", "1234567.3333333333"), ("3", "1234567.0"), ("9", "1234567.33")):
        terminal.say(f":set digits {digits}")
        assert terminal.say(table)[4].split() == ["1", "1", second]
