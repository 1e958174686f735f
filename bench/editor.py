#!/usr/bin/env python3
"""Measures latencies of the language server, optionally compared with another one on files of equal size.

    python3 bench/editor.py --nesl target/release/nesl [--ty PATH] [--keys 200] [--out FILE]

A file of the given number of lines is made by repeating the examples. A line is typed into the middle of it,
one key at a time; each key is sent when the answer to the previous one has arrived. The measured values are
the time from a key to the diagnostics of the changed text, the time of a completion and of a repeated hover,
the time from the start of the process to the answer to `initialize`, and the memory at the end. Times are in
milliseconds.

    python3 bench/editor.py --after-key [--lines 20000] [--keys 40]

measures everything that VS Code asks after a key, in a file in which every name is another one: what each request
takes, what all of them take together, and the processor time that the server spends on a key. Other programs on
the machine disturb the times much and the processor time little; of both the smallest tells most.
"""

import argparse
import json
import pathlib
import random
import subprocess
import threading
import time

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "textDocument": {"hover": {"contentFormat": ["markdown"]},
                     "publishDiagnostics": {"versionSupport": True}},
}
ROOT = pathlib.Path(__file__).resolve().parent.parent


class Server:
    """A language server without a client library, so that times include no work of the client."""

    def __init__(self, command):
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.id, self.inbox, self.answers, self.news = 0, [], {}, threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        out = self.process.stdout
        while True:
            length = 0
            while (line := out.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                return
            body = out.read(length)
            now = time.perf_counter()
            message = json.loads(body)
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": [{}] if "configuration" in message["method"] else None})
                continue
            with self.news:
                if "id" in message:
                    self.answers[message["id"]] = (now, message)
                else:
                    self.inbox.append((now, message))
                self.news.notify_all()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def wait(self, wanted, patience=60):
        """Waits for a wanted notification; returns its time and the message, and drops earlier ones."""
        deadline = time.perf_counter() + patience
        with self.news:
            while True:
                for i, (when, message) in enumerate(self.inbox):
                    if wanted(message):
                        del self.inbox[:i + 1]
                        return when, message
                if not self.news.wait(deadline - time.perf_counter()):
                    raise TimeoutError

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def begin(self, method, **params):
        """Sends a request without waiting; returns the handle to pass to `end`."""
        self.id += 1
        start = time.perf_counter()
        self.send({"id": self.id, "method": method, "params": params})
        return self.id, start

    def end(self, asked, patience=60):
        """Waits for an answer; returns the seconds since the request, and the message."""
        own, start = asked
        deadline = time.perf_counter() + patience
        with self.news:
            while own not in self.answers:
                if not self.news.wait(deadline - time.perf_counter()):
                    raise TimeoutError
            when, message = self.answers.pop(own)
        return when - start, message

    def ask(self, method, **params):
        """Sends a request and waits; returns the seconds it took, and its result."""
        seconds, message = self.end(self.begin(method, **params))
        return seconds, message.get("result")

    def initialize(self, capabilities=CAPABILITIES, options={"preview": True}):
        self.ask("initialize", processId=None, rootUri=None, capabilities=capabilities,
                 initializationOptions=options)
        seconds = time.perf_counter() - self.started
        self.notify("initialized")
        return seconds

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def stop(self):
        self.process.kill()
        self.process.wait()


def nesl_text(lines):
    """Returns the given number of lines, by repeating the examples."""
    sources = sorted((ROOT / "examples").glob("*.nesl"))
    out, copy = [], 0
    while len(out) < lines:
        for path in sources:
            for line in path.read_text().split("\n"):
                out.append(line)
        copy += 1
    return "\n".join(out[:lines]) + "\n"


def python_text(lines):
    """Returns Python code with the given number of lines, made of short functions."""
    out = []
    while len(out) < lines:
        n = len(out)
        out += [f"def f{n}(xs: list[float], y: float) -> list[float]:",
                f'    """The {n}th function."""',
                "    total = sum(x * y for x in xs)",
                "    return [x / total for x in xs if x > y]", ""]
    return "\n".join(out[:lines]) + "\n"


def distinct_text(lines):
    """Returns the given number of lines in which no two definitions have the same name."""
    out, n = [], 0
    while len(out) < lines:
        n += 1
        out += [f"% Function {n}. %", f"function name{n}(a{n}, b{n}) =",
                f"  let c{n} = {{x + b{n} : x in a{n}}}", f"  in sum(c{n}) + #a{n};",
                f"value{n} = name{n}([1, 2, {n}], {n});"]
    return "\n".join(out[:lines]) + "\n"


def after_key(command, lines, keys):
    """Measures what VS Code asks after each key in the middle of a file with distinct names."""
    capabilities = json.loads(json.dumps(CAPABILITIES))
    capabilities["textDocument"]["codeLens"] = {"resolveSupport": {"properties": ["command"]}}
    server = Server(command)
    try:
        server.initialize(capabilities, {"preview": True, "askArguments": True, "values": "notification"})
        uri = "file:///tmp/measured.nesl"
        document = {"uri": uri}
        text = distinct_text(lines)
        server.notify("textDocument/didOpen", textDocument={
            "uri": uri, "languageId": "nesl", "version": 1, "text": text})
        # The clock of a process that is not one's own: `CPUCLOCK_SCHED` of clock_getcpuclockid(3).
        clock = (~server.process.pid << 3) | 2
        published = lambda version: lambda m: (m.get("method") == "textDocument/publishDiagnostics"
                                               and m["params"].get("version") == version)
        server.wait(published(1), 600)
        line = 5 * (lines // 10) + 3
        screen = {"start": {"line": line - 25, "character": 0}, "end": {"line": line + 25, "character": 0}}
        tokens = server.ask("textDocument/semanticTokens/full", textDocument=document)[1]["resultId"]
        for method in ["documentSymbol", "codeLens", "foldingRange"]:
            server.ask(f"textDocument/{method}", textDocument=document)
        times = {}
        for key in range(keys):
            # `1 + ` is written behind `in ` and deleted again, a character at a time.
            typed, column = "1 + ", 5
            at = key % (2 * len(typed))
            place = column + (at if at < len(typed) else 2 * len(typed) - 1 - at)
            behind = place if at < len(typed) else place + 1
            change = {"range": {"start": {"line": line, "character": place},
                                "end": {"line": line, "character": behind}},
                      "text": typed[at] if at < len(typed) else ""}
            cpu, start = time.clock_gettime(clock), time.perf_counter()
            server.notify("textDocument/didChange", contentChanges=[change],
                          textDocument={"uri": uri, "version": key + 2})
            position = {"line": line, "character": place}
            asked = {
                "semanticTokens/full/delta": {"previousResultId": tokens}, "documentSymbol": {}, "codeLens": {},
                "inlayHint": {"range": screen}, "foldingRange": {}, "documentLink": {},
                "documentHighlight": {"position": position},
                "codeAction": {"range": {"start": position, "end": position}, "context": {"diagnostics": []}},
            }
            # Each is asked when the one before is answered: so what it takes is its own.
            for method, params in asked.items():
                seconds, message = server.end(
                    server.begin(f"textDocument/{method}", textDocument=document, **params), 600)
                times.setdefault(method, []).append(seconds)
                result = message.get("result")
                if method == "semanticTokens/full/delta":
                    tokens = result["resultId"]
                if method == "codeLens":
                    near = [lens for lens in result if abs(lens["range"]["start"]["line"] - line) < 25]
                    begun = time.perf_counter()
                    for asked_lens in [server.begin("codeLens/resolve", **lens)
                                       for lens in near if "command" not in lens]:
                        server.end(asked_lens)
                    times.setdefault("codeLens/resolve (screen)", []).append(time.perf_counter() - begun)
            when, _ = server.wait(published(key + 2), 600)
            times.setdefault("diagnostics", []).append(when - start)
            # One after the other; what the client does with the answers is not in it.
            times.setdefault("all", []).append(sum(own[-1] for name, own in times.items() if name not in ("all", "processor")))
            times.setdefault("processor", []).append(time.clock_gettime(clock) - cpu)
        for name, values in times.items():
            print(f"{name:28} min {1e3 * min(values):7.2f}  p50 {percentile(values, 0.5):7.2f}  "
                  f"p95 {percentile(values, 0.95):7.2f}")
        print(f"{'memory':28} {server.memory():.0f} MB")
    finally:
        server.stop()


def percentile(values, p):
    values = sorted(values)
    return 1e3 * values[min(len(values) - 1, int(p * len(values)))]


def measure(command, text, language, typed, word, keys, pull=False):
    server = Server(command)
    try:
        startup = server.initialize()
        uri = f"file:///tmp/measured.{'nesl' if language == 'nesl' else 'py'}"
        document = {"uri": uri}
        server.notify("textDocument/didOpen", textDocument={
            "uri": uri, "languageId": language, "version": 1, "text": text})
        state = {"version": 1}

        def problems(start):
            if pull:
                seconds, _ = server.ask("textDocument/diagnostic", textDocument=document)
                return seconds
            version = state["version"]
            when, _ = server.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                                  and m["params"].get("version") == version)
            return when - start

        opened = problems(time.perf_counter())
        lines = text.split("\n")
        middle = next(i for i in range(len(lines) // 2, len(lines)) if not lines[i].strip()
                      and (i == 0 or not lines[i - 1].strip() or lines[i - 1].rstrip().endswith(";")
                           or language != "nesl"))
        times = {"diagnostics": [], "completion": [], "hover": []}
        column = 0
        for key in range(keys):
            letter = typed[column % len(typed)]
            place = {"line": middle, "character": column % len(typed)}
            if column and column % len(typed) == 0:
                change = {"range": {"start": {"line": middle, "character": 0},
                                    "end": {"line": middle, "character": len(typed)}}, "text": ""}
                state["version"] += 1
                server.notify("textDocument/didChange", contentChanges=[change],
                              textDocument={"uri": uri, "version": state["version"]})
                problems(time.perf_counter())
            state["version"] += 1
            start = time.perf_counter()
            server.notify("textDocument/didChange",
                          textDocument={"uri": uri, "version": state["version"]},
                          contentChanges=[{"range": {"start": place, "end": place}, "text": letter}])
            times["diagnostics"].append(problems(start))
            column += 1
            if key % 5 == 0:
                behind = {"line": middle, "character": place["character"] + 1}
                seconds, _ = server.ask("textDocument/completion", textDocument=document, position=behind)
                times["completion"].append(seconds)
        # Hover over functions all over the file, and measure the second, warm request.
        places = [(i, line.index(word)) for i, line in enumerate(lines) if line.startswith(word)]
        random.Random(1).shuffle(places)
        for line, character in places[:20]:
            place = {"line": line, "character": character + len(word)}
            place["line"] += 0
            for again in range(2):
                seconds, _ = server.ask("textDocument/hover", textDocument=document, position=place)
            times["hover"].append(seconds)
        report = {"startup": 1e3 * startup, "open": 1e3 * opened, "memory_mb": server.memory()}
        for what, values in times.items():
            if values:
                report[what] = {"p50": percentile(values, 0.5), "p95": percentile(values, 0.95)}
        return report
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nesl", default=str(ROOT / "target/release/nesl"))
    parser.add_argument("--ty", help="path of the Python type checker `ty`, to compare with")
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--lines", type=int, nargs="*", default=[2000, 20000])
    parser.add_argument("--after-key", action="store_true", help="measure all that is asked after a key")
    parser.add_argument("--out")
    asked = parser.parse_args()
    if asked.after_key:
        after_key([asked.nesl, "lsp"], asked.lines[-1], asked.keys)
        return
    results = {}
    for lines in asked.lines:
        runs = {"nesl": lambda: measure(
            [asked.nesl, "lsp"], nesl_text(lines), "nesl",
            "sums = {sum(row) : row in [[1, 2], [3]]};", "function ", asked.keys)}
        if asked.ty:
            runs["ty"] = lambda: measure(
                [asked.ty, "server"], python_text(lines), "python",
                "sums = [sum(row) for row in [[1, 2], [3]]]", "def ", asked.keys, pull=True)
        for name, run in runs.items():
            results[f"{name} {lines}"] = report = run()
            flat = {k: v for k, v in report.items() if not isinstance(v, dict)}
            print(f"{name:5} {lines:6} lines  " + "  ".join(
                [f"{what} p50 {v['p50']:.2f} p95 {v['p95']:.2f}" for what, v in report.items()
                 if isinstance(v, dict)] + [f"{k} {v:.1f}" for k, v in flat.items()]), flush=True)
    if asked.out:
        pathlib.Path(asked.out).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
