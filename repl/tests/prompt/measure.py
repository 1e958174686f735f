"""Measures prompts: `measure.py [PROGRAM …]`, each a command line, `nesl` if there is none.

Times are in milliseconds, the least and the median of several starts; keys in microseconds, the median and the
99th percentile of the best of several rounds, as they pass on the clock and as the processor works for them, which
other programs disturb less; for `nesl` also those at the end of an entry of many lines; memory in megabytes, of the process at its first prompt.
"""

import os
import re
import shlex
import statistics
import sys
import time

from terminal import BINARY, PASTE_BEGIN, PASTE_END, Terminal

STARTS = 5
ROUNDS = 5
# The terminal of the tests does not tell where its cursor is; IPython would wait for the answer.
QUIET = {"PROMPT_TOOLKIT_NO_CPR": "1"}
ANY = re.compile(b".+", re.DOTALL)
KEYS = 'total(values) + sum({x * y : x in values; y in [1, 2, 3]}) ' * 4

# An entry that goes on below, and the number of its lines.
LONG_LINES = 1500
LONG = "long = [\r" + "  {x * y : x in [1, 2, 3]; y in [4, 5]}, % a comment %\r" * (LONG_LINES - 1)

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
    keys, work, each = best(command, prompt)
    long = ""
    if name == "nesl":
        keys_of_long, work_of_long, _ = best(command, prompt, LONG)
        long = (
            f"   in {LONG_LINES} lines {statistics.median(keys_of_long):6.0f} {percentile(keys_of_long):6.0f} µs, "
            f"of work {statistics.median(work_of_long):6.0f} {percentile(work_of_long):6.0f} µs"
        )
    return (
        f"{name:8} prompt {min(starts):6.0f} {statistics.median(starts):6.0f} ms   "
        f"result {min(results):6.0f} {statistics.median(results):6.0f} ms   "
        f"memory {statistics.median(memories):5.0f} MB   "
        f"key {statistics.median(keys):6.0f} {percentile(keys):6.0f} µs, "
        f"of work {statistics.median(work):6.0f} {percentile(work):6.0f} µs, {each:5.0f} bytes{long}"
    )


def best(command, prompt, above=""):
    """Types a line several times; returns what `typing` does of the rounds that other programs have disturbed least."""
    rounds = [typing(command, prompt, above) for _ in range(ROUNDS)]
    keys = min((keys for keys, _, _ in rounds), key=percentile)
    _, work, each = min(rounds, key=lambda one: percentile(one[1]))
    return keys, work, each


def percentile(times):
    """The 99th percentile of sorted times."""
    return times[int(len(times) * 0.99)]


def worked(pid):
    """The time that the processor has worked for the threads of a process, in microseconds."""
    nanoseconds = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as stat:
            nanoseconds += int(stat.read().split()[0])
    return nanoseconds / 1e3


def typing(command, prompt, above):
    """Types a line, below others that are pasted if there are some; returns the times of the keys in microseconds,
    sorted, those that the processor worked for them, and the mean of the bytes of each."""
    keys, work = [], []
    with Terminal(program=command, columns=200, environment=QUIET) as session:
        until(session, prompt)
        session.settle()
        if above:
            session.send(PASTE_BEGIN + above + PASTE_END)
            session.settle(1.0)
        written = session.mark()
        for key in KEYS[:180]:
            began, worked_before = time.perf_counter(), worked(session.process.pid)
            session.send(key)
            before = session.mark()
            while session.mark() == before:
                session.process.expect(ANY)
                keys.append((time.perf_counter() - began) * 1e6)
                session.output += session.process.after
            session.settle(0.01)
            work.append(worked(session.process.pid) - worked_before)
        each = (session.mark() - written) / len(keys)
    return sorted(keys), sorted(work), each


if __name__ == "__main__":
    for program in sys.argv[1:] or [BINARY]:
        print(measure(shlex.split(program)), flush=True)
