#!/usr/bin/env python3
"""Holds this grammar to the parser that decides what NESL is.

    NESL_BINARY=nesl check.py [FILE…]

What the real parser accepts must have no error here, the same top-level forms, and the same
expressions: the tree is printed as `nesl ir --stage ast` prints its own, as NESL with all its
parentheses, and the two texts are compared. Without files it does so for the examples, the
library, the test programs, the conformance cases and the corpus of this grammar. Of texts that the real parser refuses it
only counts how many this one refuses as well.

Needs `pip install tree-sitter` and a C compiler.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import tree_sitter

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def load_language(folder):
    """The grammar, compiled from the generated parser."""
    library = pathlib.Path(folder) / "nesl.so"
    sources = [HERE / "src/parser.c", HERE / "src/scanner.c"]
    command = [os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-I", HERE / "src"]
    subprocess.run([*command, *sources, "-o", library], check=True)
    function = ctypes.CDLL(str(library)).tree_sitter_nesl
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return tree_sitter.Language(capsule(function(), b"tree_sitter.Language", None))


class Printer:
    """Prints a tree as the real parser prints its own (`core/src/syntax/dump.rs`)."""

    KINDS = {
        "function_definition": "function",
        "datatype_definition": "datatype",
        "binding": "binding",
        "top_level_expression": "expression",
        "command": "command",
    }

    def text(self, node):
        return node.text.decode("utf-8", "replace")

    def parts(self, node):
        return [kid for kid in node.named_children if kid.type != "comment"]

    def forms(self, root):
        """A kind and the printed text of every top-level form, in order."""
        out = []
        for node in self.parts(root):
            if node.type in self.KINDS:
                out.append((self.KINDS[node.type], self.form(node)))
        return out

    def form(self, node):
        field = node.child_by_field_name
        if node.type == "function_definition":
            return self.function(node)
        if node.type == "datatype_definition":
            ty = self.types(field("type"))
            ty = ty if ty.startswith("(") and self.is_pair(field("type")) else f"({ty})"
            return f"datatype {self.text(field('name'))}{ty}{self.context(node)};"
        if node.type == "binding":
            operator = self.text(field("operator"))
            return f"{self.pattern(field('pattern'))} {operator} {self.expr(field('value'))};"
        if node.type == "command":
            return f"% command {self.text(field('name'))} %"
        return self.expr(self.parts(node)[0]) + ";"

    def function(self, node):
        field = node.child_by_field_name
        parameters = field("parameters")
        optional = ""
        if parameters.type == "parameters":
            kids = self.parts(parameters)
            pattern = self.pair([self.pattern(k) for k in kids if k.type != "optional_parameter"])
            for kid in kids:
                if kid.type == "optional_parameter":
                    optional += ", " + self.option(kid)
        else:
            pattern = self.text(parameters)
        out = f"function {self.text(field('name'))}({pattern}{optional})"
        if field("type"):
            out += f" : {self.annotation(field('type'))}{self.context(node)}"
        if field("documentation"):
            out += " " + self.string(field("documentation"))
        if field("body"):
            out += f" = {self.expr(field('body'))}"
        return out + ";"

    def pair(self, parts):
        """`(a, (b, c))` for three."""
        out = parts[-1]
        for part in reversed(parts[:-1]):
            out = f"({part}, {out})"
        return out

    def option(self, node):
        name, value = map(node.child_by_field_name, ("name", "value"))
        return f"{self.text(name)} := {self.expr(value)}"

    # Types.

    def context(self, node):
        contexts = [kid for kid in self.parts(node) if kid.type == "context"]
        if not contexts:
            return ""
        entries = [
            f"{self.text(e.child_by_field_name('variable'))} in "
            f"{self.text(e.child_by_field_name('class'))}"
            for e in self.parts(contexts[0])
        ]
        return f" :: ({'; '.join(entries)})"

    def is_pair(self, node):
        while node.type == "parenthesized_type":
            node = self.parts(node)[0]
        return node.type == "tuple_type"

    def annotation(self, node):
        """`int, int -> int` without parentheses means `(int, int) -> int`."""
        bare = node.type == "tuple_type" and not node.text.startswith(b"(")
        if node.type == "tuple_type" and not bare:
            bare = node.children[0].is_named
        kids = self.parts(node)
        if bare and kids[-1].type == "function_type":
            if all(kid.type != "function_type" for kid in kids[:-1]):
                field = kids[-1].child_by_field_name
                parameter = self.pair([*map(self.types, kids[:-1]), self.types(field("parameter"))])
                return f"{parameter} -> {self.types(field('result'))}"
        return self.types(node)

    def types(self, node):
        kids = self.parts(node)
        if node.type == "type_identifier":
            return self.text(node)
        if node.type == "type_application":
            return f"{self.text(kids[0])}({', '.join(map(self.types, kids[1:]))})"
        if node.type == "sequence_type":
            return f"[{self.types(kids[0])}]"
        if node.type == "tuple_type":
            return self.pair([self.types(kid) for kid in kids])
        if node.type == "function_type":
            parameter, result = kids
            inside = parameter
            while inside.type == "parenthesized_type":
                inside = self.parts(inside)[0]
            left = self.types(parameter)
            left = f"({left})" if inside.type == "function_type" else left
            return f"{left} -> {self.types(result)}"
        if node.type == "parenthesized_type":
            return self.types(kids[0])
        return f"<{node.type}>"

    # Patterns. An apply-to-each without a body reads one as an expression.

    def pattern(self, node):
        kids = self.parts(node)
        if node.type == "identifier":
            return self.text(node)
        if node.type == "tuple_pattern":
            return self.pair([self.pattern(kid) for kid in kids])
        if node.type == "parenthesized_pattern":
            return self.pattern(kids[0])
        if node.type == "record_pattern":
            return f"{self.text(kids[0])}({self.pair([self.pattern(k) for k in kids[1:]])})"
        return f"<{node.type}>"

    def pattern_as_expr(self, node):
        """The same, but a call of one pair has its own parentheses only."""
        kids = self.parts(node)
        if node.type == "record_pattern":
            content = self.pair([self.pattern_as_expr(kid) for kid in kids[1:]])
            content = content if content.startswith("(") else f"({content})"
            return f"{self.text(kids[0])}{content}"
        if node.type == "tuple_pattern":
            return self.pair([self.pattern_as_expr(kid) for kid in kids])
        if node.type == "parenthesized_pattern":
            return self.pattern_as_expr(kids[0])
        return self.pattern(node)

    # Expressions.

    def string(self, node):
        inside = re.sub(r"\\(.)", r"\1", self.text(node)[1:-1], flags=re.S)
        return '"' + inside.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def float(self, text):
        """A number as Rust prints it."""
        value = float(text)
        if value != 0 and not 1e-4 <= value < 1e16:
            mantissa, _, power = repr(value).partition("e")
            if not power:
                digits, _, fraction = f"{value!r}".partition(".")
                power, mantissa = len(digits) - 1, f"{digits[0]}.{digits[1:]}{fraction}"
                mantissa = mantissa.rstrip("0").rstrip(".")
            return f"{mantissa}e{int(power)}"
        out = repr(value)
        return f"{value:.20f}".rstrip("0") if "e" in out else out

    def expr(self, node):
        method = getattr(self, "expr_" + node.type, None)
        return method(node) if method else f"<{node.type}>"

    def expr_identifier(self, node):
        return self.text(node)

    def expr_integer(self, node):
        return str(int(self.text(node)))

    def expr_float(self, node):
        return self.float(self.text(node))

    def expr_boolean(self, node):
        return self.text(node).lower()

    def expr_character(self, node):
        return self.text(node)

    def expr_string(self, node):
        return self.string(node)

    def expr_quoted_function(self, node):
        return "'" + self.text(node.children[-1])

    def expr_parenthesized_expression(self, node):
        return self.expr(self.parts(node)[0])

    def expr_tuple(self, node):
        return self.pair([self.expr(kid) for kid in self.parts(node)])

    def expr_list(self, node):
        return f"[{', '.join(map(self.expr, self.parts(node)))}]"

    def expr_empty_list(self, node):
        return f"[] {self.types(node.child_by_field_name('type'))}"

    def expr_range(self, node):
        return f"[{':'.join(map(self.expr, self.parts(node)))}]"

    def expr_index_expression(self, node):
        sequence, index = self.parts(node)
        return f"{self.expr(sequence)}[{self.expr(index)}]"

    def expr_call(self, node):
        function, argument = map(node.child_by_field_name, ("function", "argument"))
        fun = self.expr(function)
        if argument.type not in ("arguments", "tuple"):
            arg = self.expr(argument)
            return f"{fun}{arg}" if arg.startswith("(") else f"{fun}({arg})"
        kids = self.parts(argument)
        options = [self.option(kid) for kid in kids if kid.type == "optional_argument"]
        arg = self.pair([self.expr(kid) for kid in kids if kid.type != "optional_argument"])
        if options:
            return f"{fun}({', '.join([arg, *options])})"
        return f"{fun}{arg}" if arg.startswith("(") else f"{fun}({arg})"

    def expr_unary_expression(self, node):
        text, kids = self.text(node), self.parts(node)
        if kids[0].type == "integer" and text[0] == "-" and int(self.text(kids[0])) == 1 << 63:
            return str(-(1 << 63))
        return f"({text[0]}{self.expr(kids[0])})"

    def expr_binary_expression(self, node):
        left, operator, right = map(node.child_by_field_name, ("left", "operator", "right"))
        return f"({self.expr(left)} {self.text(operator).lower()} {self.expr(right)})"

    def expr_if_expression(self, node):
        condition, yes, no = map(self.expr, self.parts(node))
        return f"(if {condition} then {yes} else {no})"

    def expr_let_expression(self, node):
        *bindings, body = self.parts(node)
        parts = []
        for binding in bindings:
            pattern, value = map(binding.child_by_field_name, ("pattern", "value"))
            parts.append(f"{self.pattern(pattern)} = {self.expr(value)}")
        return f"(let {'; '.join(parts)} in {self.expr(body)})"

    def expr_apply_to_each(self, node):
        kids = self.parts(node)
        serial = "* " if any(kid.type == "*" for kid in node.children) else ""
        bindings, sieve = [], ""
        for kid in kids:
            if kid.type == "each_binding":
                pattern, sequence = map(kid.child_by_field_name, ("pattern", "sequence"))
                value = self.expr(sequence) if sequence else self.text(pattern)
                bindings.append(f"{self.pattern(pattern)} in {value}")
            elif kid.type == "sieve":
                sieve = f" | {self.expr(kid.child_by_field_name('condition'))}"
        body = node.child_by_field_name("body")
        first = next(kid for kid in kids if kid.type == "each_binding")
        pattern = first.child_by_field_name("pattern")
        body = self.expr(body) if body else self.pattern_as_expr(pattern)
        return f"{{{serial}{body} : {'; '.join(bindings)}{sieve}}}"

    def expr_lambda(self, node):
        parameter, body = map(node.child_by_field_name, ("parameter", "body"))
        return f"({self.pattern(parameter)} => {self.expr(body)})"

    def expr_time_expression(self, node):
        return f"time({self.expr(self.parts(node)[0])})"


class Real:
    """The real parser, asked about one file."""

    def __init__(self, path):
        self.binary = os.environ.get("NESL_BINARY", "nesl")
        self.path = path

    def run(self, *args):
        command = [self.binary, *args, self.path]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8").stdout

    def accepts(self):
        """Whether it parses; that `f` is no name is found by the parser, too."""
        for problem in map(json.loads, self.run("check", "--json").splitlines()):
            syntax = problem["kind"] == "syntax" or "cannot be a name" in problem["message"]
            if syntax and problem["severity"] == "error":
                return False
        return True

    def ast(self):
        return self.run("ir", "--stage", "ast")


def errors(node):
    """The first place where this grammar found an error."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type in ("ERROR", "unclosed") or node.is_missing:
            return node
        stack.extend(reversed(node.children))
    return None


def texts(files):
    """Groups of programs: name, where, text."""
    if files:
        return [("files", f, pathlib.Path(f).read_text("utf-8")) for f in files]
    out = []
    folders = {"examples": "examples", "library": "core/prelude", "test programs": "tests/run"}
    folders["benchmarks"] = "bench/nesl"
    for group, folder in folders.items():
        for path in sorted((ROOT / folder).glob("*.nesl")):
            out.append((group, str(path.relative_to(ROOT)), path.read_text("utf-8")))
    with open(ROOT / "tests/conformance/open.jsonl", encoding="utf-8") as cases:
        for line in cases:
            case = json.loads(line)
            out.append(("conformance", case["id"], case["source"]))
    section = re.compile(r"^={9,}\n([^\n]*)\n(?::error\n)?={9,}\n\n(.*?)\n\n-{9,}$", re.M | re.S)
    for path in sorted((HERE / "test/corpus").glob("*.txt")):
        found = section.findall(path.read_text("utf-8"))
        out += [("corpus", f"{path.name}: {title}", text) for title, text in found]
    return out


def check(parser, where, text, folder):
    """What is wrong with one text, and whether the real parser accepts it."""
    path = pathlib.Path(folder) / (re.sub(r"\W", "_", where) + ".nesl")
    path.write_text(text, "utf-8")
    real = Real(path)
    root = parser.parse(text.encode("utf-8")).root_node
    error = errors(root)
    if not real.accepts():
        return False, error, None
    if error:
        line, column = error.start_point
        what = "missing " + error.type if error.is_missing else "error"
        return True, error, f"{where}:{line + 1}:{column + 1}: {what}"
    forms = Printer().forms(root)
    ours = "\n".join(text for _, text in forms)
    # A terminator by itself is a form of nothing to the real parser.
    theirs = re.sub(r"(?m)^% missing %\n", "", real.ast()).strip("\n")
    if ours == theirs:
        return True, None, None
    pairs = zip(ours.splitlines() + ["nothing"], theirs.splitlines() + ["nothing"])
    mine, its = next(pair for pair in pairs if pair[0] != pair[1])
    return True, None, f"{where}: another tree\n  this: {mine}\n  real: {its}"


def main():
    if not shutil.which(os.environ.get("NESL_BINARY", "nesl")):
        sys.exit("there is no `nesl`; say where it is with NESL_BINARY")
    failures = 0
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        language = load_language(folder)

        def one(case):
            group, where, text = case
            parser = tree_sitter.Parser(language)
            return group, check(parser, where, text, folder)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for group, (accepted, error, problem) in pool.map(one, texts(sys.argv[1:])):
                row = counts.setdefault(group, [0, 0, 0, 0])
                row[0] += accepted
                row[1] += accepted and not problem
                row[2] += not accepted
                row[3] += not accepted and error is not None
                if problem:
                    failures += 1
                    print(problem)
    for group, (accepted, same, refused, both) in counts.items():
        line = f"{group}: {same} of {accepted} the same"
        print(line + (f"; of {refused} with syntax errors {both} refused here, too" if refused else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
