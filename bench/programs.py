"""The list of benchmark programs, with their origin, problem sizes and memory traffic.

A program consists of a file `nesl/NAME.nesl`, which defines functions and generates inputs from the
parameters, and of one form that is timed. The function `check(r)` in the file computes the checksums by
which results are compared.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

NESL = Path(__file__).resolve().parent / "nesl"


@dataclass
class Program:
    """A benchmark."""

    name: str
    """The name in the table and for `--only`."""
    nesl: str
    """The name of the NESL file without its extension."""
    form: str
    """The expression that is timed."""
    parameters: dict
    """The parameters at full size."""
    grows: tuple
    """The parameters that `--scale` multiplies. If there are two, each is multiplied by the square root;
    the side of a square is therefore listed twice."""
    traffic: Callable
    """The minimum memory traffic in bytes: reading each input and writing each result once."""
    memory: Callable
    """The approximate size of the inputs in one process, in bytes."""
    papers: tuple = ()
    """The papers that use the program, as numbered in `README.md`."""
    peer: str = ""
    """The name of the program in the peers, if it differs from the file name."""
    tolerance: float = 1e-6
    precision: int = 64
    least: dict = field(default_factory=dict)
    """Lower bounds of parameters under `--scale`."""
    power_of_two: bool = False

    check_form = "check(r)"

    def texts(self, parameters):
        """Returns the texts in NESL that define the program and make its inputs."""
        # NESL gets the precision on its command line, and the size of a text from its file.
        sizes = "".join(f"{name} = {_literal(value)};\n" for name, value in parameters.items()
                        if name not in ("precision", "bytes"))
        return [sizes + (NESL / "data.nesl").read_text(), (NESL / f"{self.nesl}.nesl").read_text()]

    def at(self, scale):
        """Returns the parameters for a scale."""
        part = scale ** (1 / len(self.grows))
        scaled = dict(self.parameters)
        for name in set(self.grows):
            n = max(int(scaled[name] * part), self.least.get(name, 64))
            scaled[name] = 1 << (n.bit_length() - 1) if self.power_of_two else n
        return scaled


def _literal(value):
    return json.dumps(value) if isinstance(value, str) else str(value)


def _dot(millions):
    return Program(
        f"dot-{millions}m", "dot", "dot_product(a, b)", {"n": millions * 1_000_000}, ("n",),
        lambda p: 16 * p["n"], lambda p: 16 * p["n"], ("000", "002"))


def _sorting(name, form, papers, **more):
    return Program(
        name, name, form, {"n": 1_000_000}, ("n",), lambda p: 16 * p["n"], lambda p: 8 * p["n"],
        papers, **more)


def _options(bits):
    return Program(
        f"black-scholes-f{bits}", "black_scholes",
        "{option_prices(s, k, y) : s in spots; k in strikes; y in years}", {"n": 10_000_000}, ("n",),
        lambda p: 5 * bits // 8 * p["n"], lambda p: 5 * bits // 8 * p["n"], ("000", "002", "004"),
        tolerance=1e-4 if bits == 32 else 1e-6, precision=bits)


def _product(name, rows, width, longest):
    def entries(p):
        return p["rows"] * (p["width"] + 14 * p["longest"] / p["rows"])

    # Scaling both parameters keeps the share of the longest row constant.
    return Program(
        f"spmv-{name}", "spmv", "multiply(matrix, v)",
        {"rows": rows, "width": width, "longest": longest},
        ("rows",) if longest == 0 else ("rows", "longest"),
        lambda p: 16 * entries(p) + 16 * p["rows"], lambda p: 16 * entries(p) + 32 * p["rows"],
        ("002",), least={"longest": 0})


def _clusters(k):
    return Program(
        f"kmeans-{k}", "kmeans", "move(points, centres)", {"n": 1_000_000, "k": k}, ("n",),
        lambda p: 240 * p["n"], lambda p: 240 * p["n"], ("004",), tolerance=1e-4, least={"n": 64})


def _sums(which, name, rows, columns):
    return Program(
        f"sum-{which}-{name}", "sums", f"sum_{which}(matrix)", {"rows": rows, "columns": columns},
        ("rows", "columns"), lambda p: 8 * p["rows"] * p["columns"],
        lambda p: 8 * p["rows"] * p["columns"], ("003",), peer=f"sum_{which}", least={"rows": 8, "columns": 8})


def _multiply(name, form, rows, depth, columns, peer="multiply", **more):
    """A product of matrices; all sizes grow together."""
    return Program(
        f"product-{name}", "product", form, {"rows": rows, "depth": depth, "columns": columns, "times": 100},
        ("rows", "depth", "columns"),
        lambda p: 8 * (p["rows"] * p["depth"] + p["depth"] * p["columns"] + p["rows"] * p["columns"]),
        lambda p: 16 * (p["rows"] * p["depth"] + p["depth"] * p["columns"] + p["rows"] * p["columns"]),
        peer=peer, least={"rows": 8, "depth": 8, "columns": 8}, **more)


SHAPES = [("64k-1k", 65536, 1024), ("8k-8k", 8192, 8192), ("1k-64k", 1024, 65536)]

PROGRAMS = [
    _dot(10),
    _dot(18),
    _sorting("quicksort", "quicksort(a)", ("000", "001")),
    _sorting("sort", "sort(a)", ()),
    Program(
        "batcher", "batcher", "bitonic_sort(a)", {"n": 1 << 20}, ("n",),
        lambda p: 16 * p["n"], lambda p: 8 * p["n"], ("001",), power_of_two=True),
    _options(32),
    _options(64),
    Program(
        "quickhull", "quickhull", "convex_hull(points)", {"n": 5_000_000}, ("n",),
        lambda p: 16 * p["n"], lambda p: 16 * p["n"], ("000",)),
    Program(
        "barnes-hut", "barnes_hut", "accelerations(bodies)", {"n": 75_000}, ("n",),
        lambda p: 40 * p["n"], lambda p: 1000 * p["n"], ("000",)),
    Program(
        "barnes-hut-squares", "barnes_hut", "accelerations_by_squares(bodies)", {"n": 75_000}, ("n",),
        lambda p: 40 * p["n"], lambda p: 1000 * p["n"], ("000",)),
    _product("100k-50", 100_000, 50, 0),
    _product("1m-10", 1_000_000, 10, 0),
    _product("power-law", 1_000_000, 2, 400_000),
    _clusters(3),
    _clusters(30),
    *[_sums(which, *shape) for which in ("rows", "columns") for shape in SHAPES],
    _multiply("512", "multiply(a, b)", 512, 512, 512),
    _multiply("1024", "multiply(a, b)", 1024, 1024, 1024),
    _multiply("2048", "multiply(a, b)", 2048, 2048, 2048),
    _multiply("2048-f32", "multiply(a, b)", 2048, 2048, 2048, tolerance=1e-3, precision=32),
    _multiply("index-512", "multiply_by_index(a, b)", 512, 512, 512),
    _multiply("gram-512", "gram(a)", 512, 512, 8, "gram"),
    _multiply("gram-tall", "gram(a)", 100_000, 32, 8, "gram"),
    _multiply("powers-64", "powers(a, times)", 64, 64, 64, "powers"),
    Program(
        "primes", "primes", "primes(n)", {"n": 10_000_000}, ("n",),
        lambda p: 2 * p["n"], lambda p: 10 * p["n"]),
    Program(
        "mandelbrot", "mandelbrot", "picture(size)", {"size": 1024, "limit": 200}, ("size", "size"),
        lambda p: 8 * p["size"] ** 2, lambda p: 8 * p["size"] ** 2, ("003",)),
    Program(
        "bfs", "bfs", "distances(graph, 0)", {"n": 1_000_000, "degree": 8}, ("n",),
        lambda p: (8 * p["degree"] + 8) * p["n"], lambda p: 80 * p["n"], ("003",)),
    Program(
        "pagerank", "pagerank", "page_rank(graph, outs, start, steps)",
        {"n": 500_000, "degree": 8, "steps": 20}, ("n",),
        lambda p: (8 * p["degree"] + 24) * p["n"] * p["steps"], lambda p: 100 * p["n"], ("003",)),
    Program(
        "hotspot", "hotspot", "simulate(chip, power, steps)", {"size": 1024, "steps": 20}, ("size", "size"),
        lambda p: 24 * p["size"] ** 2 * p["steps"], lambda p: 16 * p["size"] ** 2, ("003",)),
    Program(
        "word-count", "word_count", "histogram(wordify(text))", {"bytes": 100_000_000}, ("bytes",),
        lambda p: p["bytes"], lambda p: 4 * p["bytes"], (), least={"bytes": 1000}),
]
