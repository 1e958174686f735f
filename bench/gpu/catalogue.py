"""The programs that the lane measures, most important first, with the limits that are checked.

Those in `NEW` are single operations with CUDA C++ peers and limits; `bench/gpu/nesl` and `bench/nesl`
contain them. The others are the programs of `bench/programs.py` at the sizes there.
"""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent


def _bench_programs():
    spec = importlib.util.spec_from_file_location("bench_programs", BENCH / "programs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench = _bench_programs()


@dataclass
class Limit:
    """An upper bound of a ratio."""

    text: str
    """A description for the table."""
    most: float
    """The largest allowed ratio."""
    against: str = ""
    """The contestant whose device time is the denominator; empty for the time that `traffic` takes at the
    measured copy bandwidth."""


@dataclass
class Entry:
    """A program to be measured."""

    program: object
    """The program, as in `bench/programs.py`."""
    task: str
    """The name of the program in the Python peers."""
    cuda: dict = field(default_factory=dict)
    """CUDA C++ peers: name in the table -> (file without extension, further parameters)."""
    limits: tuple = ()
    smoke: dict = field(default_factory=dict)
    """Parameters for `--smoke`, where a scale would not do."""

    @property
    def name(self):
        return self.program.name

    def parameters(self, smoke=False):
        if not smoke:
            return dict(self.program.parameters) | {"precision": self.program.precision}
        return (self.program.at(SMOKE_SCALE) | self.smoke) | {"precision": self.program.precision}


# The scale of all sizes in a smoke test, where the simulator executes the kernels.
SMOKE_SCALE = 1e-5


def _single(name, nesl, form, n, traffic, **more):
    return bench.Program(name, nesl, form, {"n": n}, ("n",), traffic, traffic, **more)


def _million(millions):
    return millions * 1_000_000


NEW = [
    Entry(
        _single("dot", "dot", "dot_product(a, b)", _million(64), lambda p: 16 * p["n"]), "dot",
        cuda={"cublas": ("dot", {}), "thrust": ("transform_reduce", {})},
        limits=(Limit("dot / copy bandwidth", 1.05),)),
    Entry(
        _single("triad", "triad", "triad(a, b)", _million(64), lambda p: 24 * p["n"]), "triad",
        cuda={"cuda": ("triad", {})},
        limits=(Limit("elementwise / copy bandwidth", 1.05),)),
    Entry(
        _single("reduce-ints", "reduce", "sum(a)", _million(128), lambda p: 8 * p["n"]), "reduce",
        cuda={"cub": ("reduce", {})}, limits=(Limit("int reduce / CUB", 1.15, "cub"),)),
    Entry(
        _single("scan-ints", "scan_ints", "plus_scan(a)", _million(64), lambda p: 16 * p["n"]), "scan_ints",
        cuda={"cub": ("scan", {})}, limits=(Limit("int scan / CUB", 1.15, "cub"),)),
    Entry(
        _single("scan-floats", "scan_floats", "plus_scan(a)", _million(64), lambda p: 16 * p["n"]),
        "scan_floats",
        cuda={"cub": ("scan", {"floats": 1})}, limits=(Limit("float scan / CUB", 1.5, "cub"),)),
    Entry(
        _single("sort-ints", "sort", "sort(a)", _million(16), lambda p: 16 * p["n"]), "sort",
        cuda={"cub": ("sort", {})}, limits=(Limit("radix sort / CUB", 1.5, "cub"),)),
    Entry(
        _single("segmented-reduce", "segments", "{sum(s) : s in segments}", _million(1),
                lambda p: 8 * 64 * p["n"] + 16 * p["n"]),
        "segments",
        cuda={"cub": ("segmented_reduce", {})}, limits=(Limit("segmented reduce / CUB", 1.2, "cub"),)),
    Entry(
        bench._options(32), "black_scholes",
        cuda={"cuda": ("black_scholes", {"bits": 32}), "cuda-libm": ("black_scholes", {"bits": 32, "library": 1})},
        limits=(Limit("Black-Scholes f32 / CUDA with the same polynomials", 1.1, "cuda"),)),
    Entry(
        bench._options(64), "black_scholes",
        cuda={"cuda": ("black_scholes", {}), "cuda-libm": ("black_scholes", {"library": 1})},
        limits=(Limit("Black-Scholes f64 / CUDA with the same polynomials", 1.1, "cuda"),)),
    Entry(
        bench._product("1m-50", 1_000_000, 50, 0), "spmv",
        cuda={"cusparse": ("spmv", {"index": 64}), "cusparse-i32": ("spmv", {"index": 32})},
        limits=(Limit("SpMV / cuSPARSE with indices of the same width", 1.3, "cusparse"),)),
]

# Programs of `bench/programs.py` that the entries above replace.
REPLACED = ("dot-10m", "dot-18m", "sort", "black-scholes-f32", "black-scholes-f64")

# Parameters for a smoke test where the scale makes programs senseless or slow.
SMOKE = {
    "mandelbrot": {"size": 8, "limit": 20},
    "hotspot": {"size": 8, "steps": 2},
    "pagerank": {"n": 64, "steps": 2},
    "barnes-hut": {"n": 64},
    "barnes-hut-squares": {"n": 64},
    "primes": {"n": 1000},
}


def entries():
    """Returns all programs, most important first."""
    others = [Entry(program, program.peer or program.nesl, smoke=SMOKE.get(program.name, {}),
                    cuda=_sparse(program))
              for program in bench.PROGRAMS if program.name not in REPLACED]
    return NEW + others


def _sparse(program):
    return {"cusparse": ("spmv", {"index": 64})} if program.nesl == "spmv" else {}


def source(nesl):
    """Returns the path of a program in NESL."""
    own = BENCH / f"gpu/nesl/{nesl}.nesl"
    return own if own.exists() else BENCH / f"nesl/{nesl}.nesl"
