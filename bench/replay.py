#!/usr/bin/env python3
"""Simulates an hour of editing at full speed, to see whether the memory of the language server stays bounded.

    python3 bench/replay.py --nesl target/release/nesl [--keys 10000] [--lines 2000] [--seed 1]

A few files of the given number of lines are open in one server. Forms are typed into them key by key, with
typing errors that are corrected; old forms are cut, others are pasted, files are closed and others opened.
After each key the script waits for the diagnostics. At each pause it sends the requests that VS Code sends,
all at once: semantic tokens, outline, folding ranges, lenses, hints, highlights, code actions. From time to
time it hovers over a name, goes to a definition, shows a stage of the compiler, formats the file, renames
something, or runs a form.

It prints the memory every thousand keys, the times of each kind of request, and the number of requests that
failed. The error "content modified" is acceptable; an internal error is not and makes the exit code 1.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import sys
import time

from editor import ROOT, Server, percentile

# The capabilities of VS Code, as far as this server uses them.
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True}},
        "definition": {"linkSupport": True},
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {"versionSupport": True},
    },
    "workspace": {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}},
}
OPTIONS = {"preview": True, "values": "notification", "askArguments": True, "library": True}
# The number of lines visible in a window.
WINDOW = 50
# The LSP error codes for modified content and for a cancelled request.
MOVED, CANCELLED = -32801, -32800
# The LSP error code for a rejected request. Every other error code is a bug of the server.
REFUSED = -32803


class Stock:
    """The supply of text: the examples, repeated, with numbered names so that each copy is new."""

    DEFINES = re.compile(r"^(?:function|datatype)\s+(\w+)|^(\w+)\s*=", re.MULTILINE)

    def __init__(self):
        texts = [path.read_text().strip() for path in sorted((ROOT / "examples").glob("*.nesl"))]
        texts = [text for text in texts if text.isascii()]
        # For each example: its forms, and the names that it defines.
        self.examples = [(re.split(r"\n{2,}", text), self.defined(text)) for text in texts]
        self.written = 0

    def defined(self, text):
        return {one or other for one, other in self.DEFINES.findall(text)}

    def numbered(self, text, names, number):
        if not names:
            return text
        return re.sub(r"\b(%s)\b" % "|".join(names), rf"\1_{number}", text)

    def page(self):
        """Returns the lines of all examples, renamed with a new number, and that number."""
        self.written += 1
        texts = ["\n\n".join(forms) for forms, _ in self.examples]
        names = [names for _, names in self.examples]
        pages = [self.numbered(text, own, self.written) for text, own in zip(texts, names)]
        return "\n\n".join(pages).split("\n") + [""], self.written

    def form(self, choose, numbers):
        """Returns the lines of a form with a new name, which uses definitions of one of the pages."""
        texts, names = choose(self.examples)
        text = choose(texts)
        own = self.defined(text)
        self.written += 1
        text = self.numbered(text, own, self.written)
        return self.numbered(text, names - own, choose(numbers)).split("\n")


class Document:
    """An open file and its cursor position."""

    def __init__(self, session, number, lines):
        self.session, self.number, self.version = session, number, 1
        self.uri = f"untitled:replayed-{number}.nesl"
        self.lines, self.line, self.column, self.tokens = [], 0, 0, None
        self.pages = []
        while len(self.lines) < lines:
            page, number = session.stock.page()
            self.lines += page
            self.pages.append(number)
        del self.lines[lines:]
        self.me = {"uri": self.uri}
        session.server.notify("textDocument/didOpen", textDocument={
            **self.me, "languageId": "nesl", "version": 1, "text": "\n".join(self.lines)})
        self.problems("opened", time.perf_counter())
        self.look()

    def close(self):
        self.session.server.notify("textDocument/didClose", textDocument=self.me)

    def at(self):
        return {"textDocument": self.me,
                "position": {"line": self.line, "character": self.column}}

    def problems(self, kind, start):
        def wanted(message):
            params = message.get("params", {})
            return (message.get("method") == "textDocument/publishDiagnostics"
                    and params["uri"] == self.uri and params.get("version") == self.version)
        when, _ = self.session.server.wait(wanted)
        self.session.times[kind].append(when - start)

    def replace(self, start, end, text):
        """Replaces the text between two positions and moves the cursor to the end of the new text."""
        self.version += 1
        began = time.perf_counter()
        self.session.server.notify(
            "textDocument/didChange", textDocument={**self.me, "version": self.version},
            contentChanges=[{"range": {"start": dict(zip(("line", "character"), start)),
                                       "end": dict(zip(("line", "character"), end))},
                             "text": text}])
        head, tail = self.lines[start[0]][:start[1]], self.lines[end[0]][end[1]:]
        new = (head + text + tail).split("\n")
        self.lines[start[0]:end[0] + 1] = new
        self.line, self.column = start[0] + len(new) - 1, len(new[-1]) - len(tail)
        return began

    def apply(self, edits):
        def start(edit):
            return edit["range"]["start"]["line"], edit["range"]["start"]["character"]

        for edit in sorted(edits or [], key=start, reverse=True):
            end = edit["range"]["end"]["line"], edit["range"]["end"]["character"]
            self.replace(start(edit), end, edit["newText"])

    def key(self, letter):
        """Types a letter; `\\b` deletes the letter before the cursor."""
        here, session = (self.line, self.column), self.session
        if letter == "\b":
            if not self.column:
                return
            began = self.replace((self.line, self.column - 1), here, "")
        else:
            began = self.replace(here, here, letter)
        line = self.lines[self.line][:self.column]
        asked = []
        if letter.isalpha() and (not line[-2:-1].isalnum() or session.chance(0.2)) or letter in ":'(":
            asked.append(("completion", {**self.at(), "context": {"triggerKind": 1}}))
        if letter in "(,":
            asked.append(("signatureHelp", self.at()))
        if letter in ";\n":
            asked.append(("onTypeFormatting", {
                **self.at(), "ch": letter, "options": {"tabSize": 2, "insertSpaces": True}}))
        waiting = session.begin(asked)
        # A fast typist presses the next key before the completions arrive, so the request is cancelled.
        if waiting and session.chance(0.1):
            session.server.notify("$/cancelRequest", id=waiting[0][1][0])
        self.problems("key", began)
        for kind, result in session.end(waiting):
            if kind == "onTypeFormatting":
                self.apply(result)
            elif kind == "completion" and result and result["items"] and session.chance(0.3):
                session.ask("completionItem/resolve", result["items"][0])
        session.pressed(self)

    def type(self, lines):
        """Types lines, with typing errors that are corrected."""
        session = self.session
        for line in lines:
            for letter in line.lstrip() if session.chance(0.5) else line:
                if session.chance(0.04):
                    for slip in session.random.choice(["x", "(", "zz", '"', "%", "]", "1."]):
                        self.key(slip)
                        self.key("\b")
                self.key(letter)
                if session.chance(0.2):
                    self.look()
            self.key("\n")
            self.look()

    def look(self):
        """Sends the requests of a pause in typing."""
        me, session = {"textDocument": self.me}, self.session
        here = self.at()["position"]
        window = {"start": {"line": max(0, self.line - WINDOW // 2), "character": 0},
                  "end": {"line": self.line + WINDOW // 2, "character": 0}}
        colors = ("semanticTokens/full/delta", {**me, "previousResultId": self.tokens}) \
            if self.tokens else ("semanticTokens/full", me)
        asked = [
            colors, ("semanticTokens/range", {**me, "range": window}), ("documentSymbol", me),
            ("foldingRange", me), ("codeLens", me), ("inlayHint", {**me, "range": window}),
            ("documentHighlight", self.at()), ("documentLink", me),
            ("codeAction", {**me, "range": {"start": here, "end": here},
                            "context": {"diagnostics": [], "triggerKind": 2}})]
        for kind, result in session.end(session.begin(asked)):
            if kind.startswith("semanticTokens/full") and result:
                self.tokens = result["resultId"]
            elif kind == "codeLens" and result:
                seen = [lens for lens in result if "command" not in lens
                        and abs(lens["range"]["start"]["line"] - self.line) < WINDOW // 2]
                session.end(session.begin([("codeLens/resolve", lens) for lens in seen]))

    def wander(self):
        """Moves the cursor elsewhere and sends the requests of somebody who reads there."""
        session = self.session
        self.line = session.random.randrange(len(self.lines))
        words = list(re.finditer(r"[A-Za-z_]\w*", self.lines[self.line]))
        self.column = session.random.choice(words).start() if words else 0
        self.look()
        session.ask("hover", self.at())
        kinds = ["definition", "hover", "references", "selectionRange", "segments", "ir", "rename",
                 "prepareCallHierarchy", "symbol", "run", "stop", "formatting"]
        weights = [6, 6, 3, 1, 2, 6, 1, 1, 2, 1, 1, 0.5]
        kind = session.random.choices(kinds, weights)[0]
        if kind == "references":
            session.ask(kind, {**self.at(), "context": {"includeDeclaration": True}})
        elif kind == "selectionRange":
            session.ask(kind, {"textDocument": self.me, "positions": [self.at()["position"]]})
        elif kind == "segments":
            session.ask("nesl/segments", self.at())
        elif kind == "ir":
            stage = session.random.choice(["types", "ir", "simple", "flat", "fused", "kir"])
            session.ask("nesl/ir", {**self.at(), "stage": stage})
        elif kind == "rename":
            session.ask(kind, {**self.at(), "newName": "another"})
        elif kind == "symbol":
            session.ask("workspace/symbol", {"query": session.random.choice("abcmqs")})
        elif kind == "run":
            place = self.at()["position"]
            session.ask("nesl/run", {"textDocument": self.me, "range": {"start": place, "end": place}})
        elif kind == "stop":
            session.ask("nesl/stop", {"textDocument": self.me})
        elif kind == "formatting":
            began = time.perf_counter()
            self.apply(session.ask(kind, {
                "textDocument": self.me, "options": {"tabSize": 2, "insertSpaces": True}}))
            if self.version > 1:
                session.ask("documentSymbol", {"textDocument": self.me})
        else:
            session.ask(kind, self.at())

    def write(self):
        """Writes a form somewhere, and deletes lines elsewhere, so that the length of the file is stable."""
        session = self.session
        blank = [i for i, line in enumerate(self.lines) if not line.strip()] or [0]
        self.line, self.column = session.random.choice(blank), 0
        form = session.stock.form(session.random.choice, self.pages)
        if session.chance(0.2):
            began = self.replace((self.line, 0), (self.line, 0), "\n" + "\n".join(form) + "\n")
            self.problems("paste", began)
        else:
            self.type([line for line in form if line][:12])
        while len(self.lines) > session.lines + 20:
            start = session.random.randrange(len(self.lines) - 12)
            end = min(start + 11, len(self.lines) - 1)
            began = self.replace((start, 0), (end, 0), "")
            self.problems("cut", began)


class Session:
    """The open files and the measurements."""

    def __init__(self, server, asked):
        self.server, self.lines, self.keys = server, asked.lines, 0
        self.random = random.Random(asked.seed)
        self.stock = Stock()
        self.times, self.failed = collections.defaultdict(list), collections.Counter()
        self.memory, self.bugs = [], []
        self.every, self.total, self.files = asked.every, asked.keys, 0

    def chance(self, p):
        return self.random.random() < p

    def open(self):
        self.files += 1
        return Document(self, self.files, self.lines)

    def pressed(self, document):
        self.keys += 1
        if self.keys % self.every == 0:
            self.report_memory()
        if self.keys >= self.total:
            raise StopIteration

    def report_memory(self):
        self.memory.append((self.keys, self.server.memory()))
        print(f"{self.keys:6} keys  {self.memory[-1][1]:6.1f} MB", flush=True)

    def begin(self, asked):
        full = lambda kind: kind if "/" in kind and not kind.startswith("semanticTokens") \
            else f"textDocument/{kind}"
        own = {"codeLens/resolve": "codeLens/resolve"}
        return [(kind, self.server.begin(own.get(kind, full(kind)), **params)) for kind, params in asked]

    def end(self, waiting):
        """Waits for the answers; returns the kind and the result of each."""
        answers = []
        for kind, asked in waiting:
            seconds, message = self.server.end(asked)
            self.times[kind].append(seconds)
            if error := message.get("error"):
                self.failed[kind, error["code"]] += 1
                if error["code"] not in (MOVED, CANCELLED, REFUSED):
                    self.bugs.append(f"{kind}: {error['code']} {error['message']}")
            answers.append((kind, message.get("result")))
        for _, message in [m for m in self.server.inbox if m[1].get("method") == "window/logMessage"]:
            if "internal error" in message["params"]["message"]:
                self.bugs.append(message["params"]["message"])
        return answers

    def ask(self, kind, params):
        return self.end(self.begin([(kind, params)]))[0][1]

    def work(self):
        documents = [self.open() for _ in range(3)]
        try:
            while True:
                document = self.random.choice(documents)
                for _ in range(self.random.randrange(2, 9)):
                    document.wander()
                document.write()
                if self.chance(0.1):
                    i = self.random.randrange(len(documents))
                    documents[i].close()
                    documents[i] = self.open()
        except StopIteration:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nesl", default=str(ROOT / "target/release/nesl"))
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=2_000)
    parser.add_argument("--every", type=int, default=1_000, help="number of keys between two measurements of the memory")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, help="fail if more megabytes are used at the end")
    parser.add_argument("--out")
    asked = parser.parse_args()
    server = Server([asked.nesl, "lsp"])
    try:
        server.initialize(CAPABILITIES, OPTIONS)
        session = Session(server, asked)
        print(f"  before  {server.memory():6.1f} MB", flush=True)
        start = time.perf_counter()
        session.work()
        seconds = time.perf_counter() - start
        session.report_memory()
        alive = server.process.poll() is None
    finally:
        server.stop()
    print(f"{session.keys} keys, {session.files} files of about {asked.lines} lines, {seconds:.0f} s\n")
    print(f"{'':28} {'times':>7} {'p50':>8} {'p95':>8} {'p99':>8} {'most':>8}  ms")
    report = {"keys": session.keys, "memory": session.memory, "times": {}}
    for kind, values in sorted(session.times.items()):
        row = {f"p{p}": percentile(values, p / 100) for p in (50, 95, 99, 100)}
        report["times"][kind] = row
        print(f"{kind:28} {len(values):7} " + " ".join(f"{ms:8.2f}" for ms in row.values()))
    for (kind, code), count in sorted(session.failed.items()):
        print(f"{kind:28} {count:7} answered with {code}")
    for bug in sorted(set(session.bugs)):
        print(f"BUG {bug}")
    if asked.out:
        pathlib.Path(asked.out).write_text(json.dumps(report, indent=1) + "\n")
    memory = session.memory[-1][1]
    too_much = asked.limit is not None and memory > asked.limit
    if too_much:
        print(f"{memory:.1f} MB is more than {asked.limit}")
    sys.exit(1 if session.bugs or too_much or not alive else 0)


if __name__ == "__main__":
    main()
