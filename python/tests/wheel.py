#!/usr/bin/env python3
"""Installs the wheel of a folder into a fresh environment, tries all that it brings, and takes it away.

    python3 python/tests/wheel.py target/wheels
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SESSION = """
import nesl, numpy
with nesl.Session() as session:
    session["v"] = numpy.array([3.0, 4.0])
    assert session.eval("sqrt(sum({x * x : x in v}))") == 5.0
from pygments.lexers import get_lexer_by_name
get_lexer_by_name("nesl")
"""

NOTEBOOK = """
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="nesl")
reply = client.execute_interactive("1 + 2", timeout=30, output_hook=lambda message: None)
manager.shutdown_kernel()
assert reply["content"]["status"] == "ok", reply
"""


def files(folder):
    """The files that are of NESL by their names."""
    return sorted(path for path in folder.rglob("*") if "nesl" in path.name.lower())


def main():
    wheels = sorted(Path(sys.argv[1]).glob("nesl_lang-*.whl"), key=os.path.getmtime)
    if not wheels:
        sys.exit(f"there is no wheel in {sys.argv[1]}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "environment"
        venv.create(place, with_pip=True)
        programs = place / ("Scripts" if os.name == "nt" else "bin")
        # Neither the environment that is active nor the folder of the sources is to help.
        surroundings = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        for name in ("NESL_BINARY", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "JUPYTER_PATH"):
            surroundings.pop(name, None)

        def run(program, *arguments):
            done = subprocess.run(
                [programs / program, *arguments], env=surroundings, cwd=folder,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )
            if done.returncode:
                sys.exit(f"{program} {' '.join(map(str, arguments))} failed:\n{done.stdout}")
            return done.stdout

        pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
        run("python", *pip, "install", "jupyter_client", "pygments")
        run("python", *pip, "install", wheels[-1].resolve())
        print(run("nesl", "--version").strip())
        run("python", "-m", "nesl", "--version")
        assert "nesl" in run("jupyter", "kernelspec", "list")
        advice = run("nesl", "kernel", "doctor")
        assert "problem" not in advice, advice
        run("python", "-c", SESSION)
        run("python", "-c", NOTEBOOK)
        run("python", *pip, "uninstall", "--yes", "nesl-lang")
        assert not files(place), files(place)
    print("the wheel installs, runs and goes away")


if __name__ == "__main__":
    main()
