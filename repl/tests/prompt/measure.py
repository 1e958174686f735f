"""Measures prompts: `measure.py [PROGRAM …]`, each a command line, `nesl` if there is none.

Times are in milliseconds, the least and the median of several starts; keys in microseconds, the median and the
99th percentile; memory in megabytes, of the process at its first prompt.
"""

import re
import shlex
import statistics
import sys
import time

from terminal import BINARY, Terminal

STARTS = 5
# The terminal of the tests does not tell where its cursor is; IPython would wait for the answer.
QUIET = {"PROMPT_TOOLKIT_NO_CPR": "1"}
ANY = re.compile(b".+", re.DOTALL)
KEYS = 'total(values) + sum({x * y : x in values; y in [1, 2, 3]}) ' * 4

# How the first prompt ends, and what to type for a first result.
PROMPTS = {
    "ipython": ("In [1]: ", "1 + 41"),
    "utop": ("utop # ", "1 + 41;;"),
    "ghci": ("> ", "1 + 41"),
    "nesl": ("nesl> ", "1 + 41"),
}


def memory(pid):
    """The resident memory of a process."""
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def until(session, text):
    """Waits until a prompt can be seen."""
    session.wait(text, lambda: text.rstrip() in session.text())


def measure(command):
    """Measures a prompt."""
    name = next(name for name in PROMPTS if name in command[0].rsplit("/", 1)[-1])
    prompt, form = PROMPTS[name]
    starts, results, memories = [], [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        with Terminal(program=command, environment=QUIET) as session:
            until(session, prompt)
            starts.append((time.perf_counter() - began) * 1e3)
            session.settle()
            memories.append(memory(session.process.pid))
            sent = time.perf_counter()
            session.send(form + "\r")
            session.wait("result", lambda: "42" in session.text())
            results.append((time.perf_counter() - sent) * 1e3)
    keys = []
    with Terminal(program=command, columns=200, environment=QUIET) as session:
        until(session, prompt)
        session.settle()
        written = session.mark()
        for key in KEYS[:180]:
            began = time.perf_counter()
            session.send(key)
            before = session.mark()
            while session.mark() == before:
                session.process.expect(ANY)
                keys.append((time.perf_counter() - began) * 1e6)
                session.output += session.process.after
            session.settle(0.01)
        each = (session.mark() - written) / len(keys)
    keys.sort()
    return (
        f"{name:8} prompt {min(starts):6.0f} {statistics.median(starts):6.0f} ms   "
        f"result {min(results):6.0f} {statistics.median(results):6.0f} ms   "
        f"memory {statistics.median(memories):5.0f} MB   "
        f"key {statistics.median(keys):6.0f} {keys[int(len(keys) * 0.99)]:6.0f} µs, {each:5.0f} bytes"
    )


if __name__ == "__main__":
    for program in sys.argv[1:] or [BINARY]:
        print(measure(shlex.split(program)), flush=True)
