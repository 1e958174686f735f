"""Compares reading a table by read_csv with pandas: seconds, and memory beside what was there before.

The runs are interleaved, and of each the minimum of the repetitions is printed. The time of NESL is that of
the form, without the start of the process; that of pandas is that of the call.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

PANDAS = """
import pandas, sys, time, resource
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
table = pandas.read_csv(sys.argv[1])
seconds = time.perf_counter() - start
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(seconds, (after - before) * 1024, len(table))
"""

# What the same program takes with a table of one row.
EMPTY = "0,0,0.5,0.5,a\n"


def write(path, megabytes):
    """Writes a table of ints, floats and texts, always the same."""
    draw = random.Random(1)
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "a longer text", "zeta"]
    with open(path, "w") as file:
        file.write("id,small,x,price,name\n")
        written = 0
        while written < megabytes * 1_000_000:
            rows = []
            for _ in range(50_000):
                price = round(draw.random() * 1e4, 2)
                row = (draw.randrange(10**8), draw.randrange(-1000, 1000), draw.random() * 1000, price)
                rows.append(f"{row[0]},{row[1]},{row[2]!r},{price!r},{draw.choice(words)}\n")
            text = "".join(rows)
            written += file.write(text)


def nesl(program, path, folder, threads):
    """Runs read_csv; returns its seconds, the most memory of the process, and the rows and bytes."""
    source = os.path.join(folder, "read.nesl")
    with open(source, "w") as file:
        file.write(f'rows = read_csv((0, 0, 0.0, 0.0, ""), "{path}");\n#rows;\n')
    command = [program, "run", "--json", "--quiet", source]
    if threads:
        command += ["--threads", str(threads)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    forms = [json.loads(line) for line in output.splitlines()]
    if status != 0:
        sys.exit(f"{forms}")
    first, count = forms[0], forms[-1]
    return first["run_seconds"], usage.ru_maxrss * 1024, int(count["value"]), first["bytes"]


def pandas(path):
    """Runs pandas; returns its seconds, its memory and its rows."""
    output = subprocess.run([sys.executable, "-c", PANDAS, path], capture_output=True, check=True).stdout
    seconds, memory, rows = output.split()
    return float(seconds), int(memory), int(rows)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nesl", default="target/release/nesl")
    options.add_argument("--megabytes", type=int, default=160)
    options.add_argument("--reps", type=int, default=5)
    options.add_argument("--threads", type=int)
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, empty = os.path.join(folder, "table.csv"), os.path.join(folder, "empty.csv")
        write(path, options.megabytes)
        with open(empty, "w") as file:
            file.write(EMPTY)
        own, other = [], []
        for _ in range(options.reps):
            own.append(nesl(options.nesl, path, folder, options.threads))
            other.append(pandas(path))
        before = min(nesl(options.nesl, empty, folder, options.threads)[1] for _ in range(3))
    seconds, memory, rows, table = (min(column) for column in zip(*own))
    their_seconds, their_memory, their_rows = (min(column) for column in zip(*other))
    if rows != their_rows:
        sys.exit(f"{rows} rows, and {their_rows} by pandas")
    print(f"{rows:,} rows; the table has {table / 1e6:.0f} MB")
    print(f"nesl    {seconds:.3f} s  {(memory - before) / 1e6:.0f} MB, {(memory - before) / table:.2f} times the table")
    print(f"pandas  {their_seconds:.3f} s  {their_memory / 1e6:.0f} MB")
    print(f"ratio   {seconds / their_seconds:.2f}")


if __name__ == "__main__":
    main()
