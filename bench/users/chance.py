"""Random numbers. Systems draw different numbers, so results are compared by what must hold for all."""

import numpy as np

from .suite import parallel, prange, program, random


@parallel
def _pi_numba(n):
    inside = 0
    for _ in prange(n):
        x, y = np.random.random(), np.random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


def _pi_numpy(n):
    rng = np.random.default_rng()
    x, y = rng.random(n), rng.random(n)
    return 4.0 * np.count_nonzero(x * x + y * y < 1.0) / n


program(
    "monte-carlo-pi", n=1_000_000, inputs=lambda n: {"n": n}, check="number", tolerance=0.2,
    nesl="""
function inside(i) : int -> bool = let x = rand(1.0); y = rand(1.0) in x * x + y * y < 1.0;
""",
    form="4.0 * float(count({inside(i) : i in [0:n]})) / float(n)", numba=_pi_numba, numpy=_pi_numpy)


@parallel
def _uniform_numba(n):
    out = np.empty(n)
    for i in prange(n):
        out[i] = np.random.random()
    return out


program(
    "random-floats", n=2_000_000, inputs=lambda n: {"n": n}, tolerance=0.2,
    check=("(#r, sum(r) / float(#r), sum({x * x : x in r}) / float(#r))",
           lambda r: [len(r), r.mean(), (r * r).mean()]),
    nesl="", form="{rand(1.0) : i in [0:n]}", numba=_uniform_numba,
    numpy=lambda n: np.random.Generator(np.random.Philox()).random(n))


def _walk_numpy(n):
    return np.cumsum(2 * np.random.default_rng().integers(0, 2, n) - 1)


program(
    "random-walk", n=1_000_000, inputs=lambda n: {"n": n},
    check=("(#r, sum({abs(a - b) : a in drop(r, 1); b in drop(r, -1)}))",
           lambda r: [len(r), np.abs(np.diff(r)).sum()]),
    nesl="", form="plus_scan({2 * rand(2) - 1 : i in [0:n]})", numpy=_walk_numpy)


@parallel
def _walks(n):
    ends = np.empty(n // 1000)
    for i in prange(n // 1000):
        at = 0.0
        for _ in range(1000):
            at += np.random.random() - 0.5
        ends[i] = at
    return ends


program(
    "many-walks", n=1_000_000, inputs=lambda n: {"n": n},
    check=("#r", lambda r: [len(r)]),
    nesl="""
function walk(at, steps) : (float, int) -> float =
  if steps == 0 then at else walk(at + rand(1.0) - 0.5, steps - 1);
""",
    form="{walk(0.0, 1000) : i in [0:n / 1000]}", numba=_walks,
    numpy=lambda n: (np.random.default_rng().random((n // 1000, 1000)) - 0.5).sum(1))

program(
    "dice", n=1_000_000, inputs=lambda n: {"n": n},
    check=("(#r, sum({c : (k, c) in r}))", lambda r: [len(r), r.sum()]),
    nesl="", form="histogram({rand(6) + rand(6) + 2 : i in [0:n]})",
    numpy=lambda n: np.bincount(np.random.default_rng().integers(1, 7, (n, 2)).sum(1))[2:])

program(
    "random-order", n=300_000, inputs=lambda n: {"n": n}, check=("(#r, sum(r))", lambda r: [len(r), r.sum()]),
    nesl="", form="permute([0:n], rank({rand(1.0) : i in [0:n]}))",
    numpy=lambda n: np.random.default_rng().permutation(n))


def _bootstrap_numpy(a):
    rng = np.random.default_rng()
    return np.array([a[rng.integers(0, len(a), len(a))].mean() for _ in range(100)])


program(
    "bootstrap", n=1_000_000, inputs=lambda n: {"a": random(1).random(n // 100)}, tolerance=0.2,
    check=("(#r, sum(r))", lambda r: [len(r), r.sum()]),
    nesl="""
function mean(a) : [float] -> float = sum(a) / float(#a);
""",
    form="{mean(a -> {rand(#a) : i in [0:#a]}) : k in [0:100]}", numpy=_bootstrap_numpy)
