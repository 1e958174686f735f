"""Runs one program with one Python library, as often as it is asked to.

    worker.py PEER PROGRAM '{"n": 1000}'

Prints `ready` when the inputs are generated. Then answers every line on standard input by one run, as a
JSON object with the fields `seconds` and `check`.
"""

import importlib
import json
import sys
import time


def main():
    peer, program, parameters = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    from peers import data

    inputs = data.INPUTS[program](parameters)
    run = importlib.import_module(f"peers.{peer}_peers").PEERS[program](**inputs)
    print("ready", flush=True)
    for _ in sys.stdin:
        started = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - started
        print(json.dumps({"seconds": seconds, "check": data.check(program, result)}), flush=True)


main()
