"""Measures prompts: `measure.py [PROGRAM …]`, each a command line, `nesl` if there is none.

Times are in milliseconds, the least and the median of several starts; keys in microseconds, the median and the
99th percentile of the best of several rounds, as they pass on the clock and as the processor works for them, which
other programs disturb less; memory in megabytes, of the process at its first prompt.
"""

import os
import re
import shlex
import statistics
import sys
import time

from terminal import BINARY, Terminal

STARTS = 5
ROUNDS = 5
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
    rounds = [typing(command, prompt) for _ in range(ROUNDS)]
    # The round that other programs have disturbed least.
    keys = min((keys for keys, _, _ in rounds), key=percentile)
    _, work, each = min(rounds, key=lambda one: percentile(one[1]))
    return (
        f"{name:8} prompt {min(starts):6.0f} {statistics.median(starts):6.0f} ms   "
        f"result {min(results):6.0f} {statistics.median(results):6.0f} ms   "
        f"memory {statistics.median(memories):5.0f} MB   "
        f"key {statistics.median(keys):6.0f} {percentile(keys):6.0f} µs, "
        f"of work {statistics.median(work):6.0f} {percentile(work):6.0f} µs, {each:5.0f} bytes"
    )


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


def typing(command, prompt):
    """Types a line; returns the times of the keys in microseconds, sorted, those that the processor worked for them,
    and the mean of the bytes of each."""
    keys, work = [], []
    with Terminal(program=command, columns=200, environment=QUIET) as session:
        until(session, prompt)
        session.settle()
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
