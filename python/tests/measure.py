#!/usr/bin/env python3
"""Measures how long arrays take to a session and back, beside NumPy.

    NESL_BINARY=… PYTHONPATH=python python3 python/tests/measure.py

Of several runs the fastest and the median are printed, in milliseconds: machines have other things to do.
"""

import time

import numpy as np
from nesl import Ragged, Session

ELEMENTS = 10_000_000


def measure(name, function, runs=15):
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        result = function()
        times.append((time.perf_counter() - began) * 1000)
        del result
    times.sort()
    print(f"{name:52} {times[0]:8.2f} {times[len(times) // 2]:8.2f}", flush=True)


def main():
    floats = np.random.default_rng(1).random(ELEMENTS)
    ints = np.arange(ELEMENTS)
    rows = Ragged(np.arange(0, ELEMENTS + 1, 10), floats)
    print(f"{'milliseconds, for 10 million elements (80 MB)':52} {'fastest':>8} {'median':>8}")
    measure("NumPy: sum", floats.sum)
    measure("NumPy: copy", floats.copy)
    with Session() as session:
        measure("NESL: a round trip, 1 + 1", lambda: session.eval("1 + 1"), 100)
        measure("NESL: give floats", lambda: session.__setitem__("floats", floats))
        measure("NESL: sum of what is there", lambda: session.eval("sum(floats)"), 50)

        def give_and_sum():
            session["floats"] = floats
            return session.eval("sum(floats)")

        measure("NESL: give floats, and their sum", give_and_sum)
        measure("NESL: take floats", lambda: session["floats"])
        measure("NESL: {x + 1.0 : x in floats}, and take it",
                lambda: session.eval("{x + 1.0 : x in floats}"))
        measure("NESL: give ints", lambda: session.__setitem__("ints", ints))
        measure("NESL: give ints of 32 bits",
                lambda: session.__setitem__("ints", ints.astype(np.int32)))
        measure("NESL: give every second float",
                lambda: session.__setitem__("floats", np.repeat(floats, 2)[::2]), 5)
        measure("NESL: give rows of 10 floats", lambda: session.__setitem__("rows", rows))
        measure("NESL: take rows of 10 floats", lambda: session["rows"])
        measure("NESL: give 100,000 pairs as a list",
                lambda: session.__setitem__("pairs", [(i, 0.5) for i in range(100_000)]), 5)
        measure("NESL: take 100,000 pairs as a list", lambda: session["pairs"], 5)


if __name__ == "__main__":
    main()
