"""Loops that end in several ways, state machines, and elements read from half of their index."""

import numpy as np

from .suite import loop, program, random


def _fields(n):
    text = random(2).choice(np.frombuffer(b"abcdefgh,,|", np.uint8), n)
    return {"s": text.astype(np.int64)}


@loop
def _field_lengths(s):
    out = np.empty(len(s) + 1, np.int64)
    count = length = 0
    quoted = False
    for c in s:
        if c == 124:
            quoted = not quoted
        elif c == 44 and not quoted:
            out[count] = length
            count += 1
            length = 0
        else:
            length += 1
    out[count] = length
    return out[:count + 1]


program("quoted-fields", n=500_000, inputs=_fields, check="ints", nesl="""
% The lengths of fields between commas, some in quotes: a function for each state. %
function outside(s, i, n, out) : ([int], int, int, [int]) -> [int] =
  if i == #s then snoc(out, n)
  else if s[i] == 124 then inside(s, i + 1, n, out)
  else if s[i] == 44 then outside(s, i + 1, 0, snoc(out, n))
  else outside(s, i + 1, n + 1, out); function inside(s, i, n, out) : ([int], int, int, [int]) -> [int] =
  if i == #s then snoc(out, n)
  else if s[i] == 124 then outside(s, i + 1, n, out)
  else inside(s, i + 1, n + 1, out);
""", form="outside(s, 0, 0, [] int)", numba=_field_lengths)


def _seats(n):
    return {"wishes": random(3).integers(0, 5000, n)}


@loop
def _seated(wishes):
    seats, out = np.full(5000, 100, np.int64), np.empty(len(wishes), np.int64)
    for k in range(len(wishes)):
        i = wishes[k]
        while i < 5000 and seats[i] == 0:
            i += 1
        out[k] = i
        if i < 5000:
            seats[i] -= 1
    return out


program("next-free", n=450_000, inputs=_seats, check="ints", nesl="""
% Each takes the first place that is free, from the one that it wishes on. %
function take_place(seats, i) : ([int], int) -> ([int], int) =
  if i == #seats then (seats, i)
  else if seats[i] > 0 then (rep(seats, seats[i] - 1, i), i)
  else take_place(seats, i + 1);
function seated(seats, wishes, k, out) : ([int], [int], int, [int]) -> [int] =
  if k == #wishes then out
  else let (s, i) = take_place(seats, wishes[k]) in seated(s, wishes, k + 1, snoc(out, i));
""", form="seated(dist(100, 5000), wishes, 0, [] int)", numba=_seated)


def _grid(n):
    return {"e": random(4).random(n // 2 + 1)}


@loop
def _refined(e):
    out = np.empty(2 * len(e) - 1)
    for i in range(len(out)):
        out[i] = e[i // 2] if i % 2 == 0 else 0.5 * (e[i // 2] + e[i // 2 + 1])
    return out


program("refine", n=1_000_000, inputs=_grid, check="floats", nesl="""
% A grid between whose points others are put. %
function refined(e) : [float] -> [float] =
  {if evenp(i) then e[i / 2] else 0.5 * (e[i / 2] + e[i / 2 + 1]) : i in [0:2 * #e - 1]};
""", form="refined(e)", numba=_refined)


def _pairs(n):
    rng = random(5)
    return {"a": rng.random(n // 2), "b": rng.random(n // 2)}


@loop
def _turns(a, b):
    out = np.empty(2 * len(a))
    for i in range(len(a)):
        out[2 * i], out[2 * i + 1] = a[i] + b[i], a[i] - b[i]
    return out


program("sums-and-differences", n=1_000_000, inputs=_pairs, check="floats", nesl="""
% Sums and differences in turn. %
function turns(a, b) : ([float], [float]) -> [float] = flatten({[x + y, x - y] : x in a; y in b});
""", form="turns(a, b)", numba=_turns)


@loop
def _named_twice(hs, vs):
    m = np.zeros((64, 32))
    for k in range(len(hs)):
        for j in range(32):
            m[hs[k], j] = 0.5 * m[hs[k], j] + vs[k]
    return m


def _named(n):
    rng = random(6)
    return {"hs": rng.integers(0, 64, n), "vs": rng.random(n)}


program("row-named-twice", n=100_000, inputs=_named, check="float rows", nesl="""
% Rows of a table that are replaced, with the index written out both times. %
function age(m, hs, vs, k) : ([[float]], [int], [float], int) -> [[float]] =
  if k == #hs then m
  else age(rep(m, {0.5 * x + vs[k] : x in m[hs[k]]}, hs[k]), hs, vs, k + 1);
""", form="age(dist(dist(0.0, 32), 64), hs, vs, 0)", numba=_named_twice)
