"""Errors: titled by entry, as in `nesl run`, with the types of the parts."""


def test_errors_are_titled_by_entry(terminal):
    terminal.say("x = 1")
    assert "In [2]:1:" in "\n".join(terminal.say("1 +* 2"))
    assert "In [3]:1:" in "\n".join(terminal.say("[x][5]"))
    assert "In [4]:1:" in "\n".join(terminal.say(":type nothing_there"))


def test_lines_are_counted_within_the_entry(terminal):
    terminal.send("y = [1,\r2] ++\r3.5;\r")
    terminal.sees("In [1]:")
    terminal.ready()
    assert "Type error" in terminal.text()


def test_a_type_error_tells_the_types_of_the_parts(terminal):
    terminal.say("xs = [1, 2]")
    terminal.say("y = 2.5")
    # The message says at `y` that it is a float.
    shown = terminal.say("{x + y : x in xs}")
    assert shown[-1] == "xs : [int]", shown
    assert {cell.fg for cell in terminal.style("xs : [int]")} == {"brightblack"}
    assert terminal.say("y + 1 + #xs")[-1] == "xs : [int]"
    # Other errors have no types to tell.
    assert "xs : [int]" not in "\n".join(terminal.say("xs[9]"))


def test_what_the_message_has_said_is_not_said_again(terminal):
    terminal.say("function area(r) = 3.14 * r * r")
    terminal.say("xs = [1, 2, 3]")
    shown = terminal.say("area(xs)")
    assert any("Note: `area` : float -> float" in line for line in shown), shown
    assert any("a sequence [int]" in line for line in shown) and "╯" in shown[-2], shown
    assert terminal.say("area(sum(xs))")[-1] == "xs : [int]"


def test_the_excerpt_of_a_commands_form_is_what_was_typed(terminal):
    for command in [":type 1 + oops", ":time 2 1 + oops", ":full 1 + oops", ":kernels oops", ":plot oops", ":cost oops(1)"]:
        shown = terminal.say(command)
        assert f" 1 │ {command}" in shown, shown
        # The name that is wrong is pointed at.
        at = shown.index(f" 1 │ {command}")
        assert shown[at + 1].index("┬") == shown[at].index("oops"), shown
    assert " 1 │ :type 1 +" in terminal.say(":type 1 +")


def test_each_form_behind_type_has_its_own(terminal):
    assert terminal.say(":type 1; 2.5; [t]") == ["1 : int", "2.5 : float", "[t] : [bool]"]
    assert terminal.say(":type x = 3; x") == ["x = 3 : int", "x : int"]
