"""`python -m nesl …`: the program of this installation, wherever the shell looks for programs."""

import os
import subprocess
import sys

from .session import program


def main():
    path = program()
    if os.name == "posix":
        os.execv(path, [path, *sys.argv[1:]])
    sys.exit(subprocess.run([path, *sys.argv[1:]]).returncode)


if __name__ == "__main__":
    main()
