"""The commands that need a terminal, an editor or a file; the others are tested with the table of commands."""

from terminal import UP


def editor(folder, script):
    """Makes an editor that runs a script on the file that it is given."""
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"VISUAL": str(path)}


def test_edit_runs_what_was_saved(start, tmp_path):
    session = start(environment=editor(tmp_path, "sed -i 's/1/10/' $1")).ready()
    session.say("function g2(a) = a + 1")
    assert session.say(":edit") == ["g2 = fn : int -> int"]
    assert session.say("g2(5)") == ["it = 15 : int"]
    session.say(":edit g2")
    assert session.say("g2(5)") == ["it = 105 : int"]
    assert "nothing that can be edited is called `oops`" in session.say(":edit oops")[0]
    (tmp_path / "p.nesl").write_text("y = 1;\n")
    assert session.say(":edit p.nesl") == ["y = 10 : int"]


def test_edit_of_nothing_runs_nothing(start, tmp_path):
    session = start(environment=editor(tmp_path, "true")).ready()
    assert "there is no entry yet" in session.say(":edit")[0]
    session.say("1 + 1")
    assert session.say(":edit") == ["Nothing was changed, and nothing run."]
    session = start(environment=editor(tmp_path, "exit 3")).ready()
    session.say("1 + 1")
    assert "nothing was run" in "".join(session.say(":edit"))


def test_a_watched_file_runs_when_it_is_saved(terminal, tmp_path):
    program = tmp_path / "p.nesl"
    program.write_text("n = 1;\n")
    terminal.send(":watch p\r")
    terminal.sees("Watching p.nesl")
    program.write_text("n = 20;\n")
    terminal.sees("n = 20 : int")
    program.write_text("n = oops;\n")
    terminal.sees("`oops`")
    program.write_text("n = 300;\n")
    terminal.sees("n = 300 : int")
    terminal.send("\x03")
    terminal.ready()
    assert terminal.say("n") == ["it = 300 : int"]


def test_cd_save_load_browse(terminal, tmp_path):
    (tmp_path / "inner").mkdir()
    assert terminal.say(":cd inner")[-1].endswith("inner")
    terminal.say("kept = 3")
    assert terminal.say(":save mine") == ["1 form in mine.nesl"]
    terminal.say(":reset")
    assert terminal.say(":load mine") == ["kept = 3 : int"]
    assert terminal.say(":browse")[-1].split() == ["kept", "int"]
    assert any("cpu" in line for line in terminal.say(":devices"))


def test_plot_draws(terminal):
    shown = terminal.say(":plot {i * i : i in [0:40]}")
    assert any("⡠" in line for line in shown) and shown[-1].split() == ["0", "39"], shown


def test_plots_can_go_to_files(terminal, tmp_path):
    terminal.say(":set plots svg")
    assert terminal.say(":plot {i * i : i in [0:40]}") == ["Drew plot-1.svg."]
    assert terminal.say(":histogram [1, 2, 2]") == ["Drew plot-2.svg."]
    assert "<svg" in (tmp_path / "plot-2.svg").read_text()


def test_help_names_every_command(terminal):
    shown = "\n".join(terminal.say(":help"))
    for command in (
        ":help :type :doc :info :browse :vars :load :reload :edit :save :cd :time :cost :ir :flatten :kernels "
        ":stats :set :devices :undo :plot :watch :full :quit"
    ).split():
        assert f"\n  {command} " in shown, command


def test_commands_are_in_the_history_and_completed(terminal):
    terminal.say(":type [1]")
    terminal.send(":ty" + UP)
    terminal.wait(":type [1]", lambda: terminal.line() == "nesl> :type [1]")
    terminal.send("\x03")
    terminal.ready().send(":edi\t")
    terminal.wait(":edit", lambda: terminal.line() == "nesl> :edit")
