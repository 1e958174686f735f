"""Loops in loops that update arrays and tables, loops with several ways out, and rows that replace others."""

import numpy as np

from .suite import letters, loop, program, random


@loop
def _edmonds_karp(capacity):
    n = len(capacity)
    c = capacity.copy()
    flow = 0
    while True:
        parent = np.full(n, -1)
        parent[0] = 0
        queue = np.empty(n, np.int64)
        queue[0] = 0
        head, end = 0, 1
        while head < end and parent[n - 1] < 0:
            u = queue[head]
            head += 1
            for v in range(n):
                if parent[v] < 0 and c[u, v] > 0:
                    parent[v] = u
                    queue[end] = v
                    end += 1
        if parent[n - 1] < 0:
            return flow
        least, v = 1 << 60, n - 1
        while v != 0:
            least = min(least, c[parent[v], v])
            v = parent[v]
        v = n - 1
        while v != 0:
            c[parent[v], v] -= least
            c[v, parent[v]] += least
            v = parent[v]
        flow += least


def _capacities(n):
    side, rng = max(int((n / 50) ** 0.5), 8), random(3)
    capacity = rng.integers(1, 100, (side, side)) * (rng.random((side, side)) < 0.3)
    np.fill_diagonal(capacity, 0)
    return {"capacity": capacity}


program("max-flow", n=8_000_000, inputs=_capacities, check="number", nesl="""
% Edmonds and Karp on a matrix of capacities, from vertex 0 to the last. %
function search(c, parent, queue, head) : ([[int]], [int], [int], int) -> [int] =
  if head == #queue or parent[#parent - 1] >= 0 then parent
  else let u = queue[head];
           found = {v in [0:#parent]; p in parent; x in c[u] | p < 0 and x > 0}
       in search(c, parent <- {(v, u) : v in found}, queue ++ found, head + 1);
function path(parent, v, edges) : ([int], int, [(int, int)]) -> [(int, int)] =
  if v == 0 then edges else path(parent, parent[v], snoc(edges, (parent[v], v)));
function push(c, edges, b, i) : ([[int]], [(int, int)], int, int) -> [[int]] =
  if i == #edges then c
  else let (u, v) = edges[i];
           c = rep(c, rep(c[u], c[u][v] - b, v), u)
       in push(rep(c, rep(c[v], c[v][u] + b, u), v), edges, b, i + 1);
function flow(c, total) : ([[int]], int) -> int =
  let parent = search(c, rep(dist(-1, #c), 0, 0), [0], 0)
  in if parent[#c - 1] < 0 then total
     else let edges = path(parent, #c - 1, [] (int, int));
              b = min_val({c[u][v] : (u, v) in edges})
          in flow(push(c, edges, b, 0), total + b);
""", form="flow(capacity, 0)", numba=_edmonds_karp)


@loop
def _moebius(n):
    mu = np.zeros(n + 1, np.int64)
    mu[1] = 1
    least = np.zeros(n + 1, np.int64)
    primes = np.empty(n, np.int64)
    count = 0
    for i in range(2, n + 1):
        if least[i] == 0:
            least[i], mu[i] = i, -1
            primes[count] = i
            count += 1
        j = 0
        while j < count and primes[j] <= least[i] and primes[j] * i <= n:
            least[primes[j] * i] = primes[j]
            mu[primes[j] * i] = 0 if primes[j] == least[i] else -mu[i]
            j += 1
    return mu


program("linear-sieve", n=1_000_000, inputs=lambda n: {"n": n}, check="ints", nesl="""
% Euler's linear sieve, for the function of Moebius. %
function strike(least, mu, primes, i, j) : ([int], [int], [int], int, int) -> ([int], [int]) =
  if j == #primes then (least, mu)
  else let p = primes[j]
       in if p > least[i] or p * i >= #least then (least, mu)
          else strike(rep(least, p, p * i), rep(mu, (if p == least[i] then 0 else -mu[i]), p * i), primes, i, j + 1);
function sieve(least, mu, primes, i) : ([int], [int], [int], int) -> [int] =
  if i == #least then mu
  else if least[i] == 0 then
    let primes = snoc(primes, i);
        (least, mu) = strike(rep(least, i, i), rep(mu, -1, i), primes, i, 0)
    in sieve(least, mu, primes, i + 1)
  else let (least, mu) = strike(least, mu, primes, i, 0) in sieve(least, mu, primes, i + 1);
""", form="sieve(dist(0, n + 1), rep(dist(0, n + 1), 1, 1), [] int, 2)", numba=_moebius)


@loop
def _givens(a):
    a = a.copy()
    n, m = a.shape
    for j in range(m):
        for i in range(n - 1, j, -1):
            x, y = a[i - 1, j], a[i, j]
            r = np.sqrt(x * x + y * y)
            if r > 1e-300:
                c, s = x / r, y / r
                for k in range(m):
                    p, q = a[i - 1, k], a[i, k]
                    a[i - 1, k] = c * p + s * q
                    a[i, k] = c * q - s * p
    return np.abs(a)


def _matrix(n):
    side = int(n ** (1 / 3))
    return {"a": random(1).random((side, side))}


program("givens", n=1_000_000, inputs=_matrix, check="float rows", nesl="""
% The triangular factor of a matrix, by rotations of neighbouring rows. %
function turn(a, i, j) : ([[float]], int, int) -> [[float]] =
  let x = a[i - 1][j]; y = a[i][j]; r = sqrt(x * x + y * y)
  in if r < 1e-300 then a
     else let c = x / r; s = y / r; top = a[i - 1]; low = a[i]
          in rep(rep(a, {c * p + s * q : p in top; q in low}, i - 1), {c * q - s * p : p in top; q in low}, i);
function column(a, i, j) : ([[float]], int, int) -> [[float]] =
  if i == j then a else column(turn(a, i, j), i - 1, j);
function triangle(a, j) : ([[float]], int) -> [[float]] =
  if j == #a[0] then a else triangle(column(a, #a - 1, j), j + 1);
""", form="{{abs(x) : x in row} : row in triangle(a, 0)}", numba=_givens)


@loop
def _warping(a, b):
    n, m = len(a), len(b)
    before = np.full(m + 1, np.inf)
    before[0] = 0.0
    for i in range(n):
        row = np.empty(m + 1)
        row[0] = np.inf
        for j in range(1, m + 1):
            row[j] = abs(a[i] - b[j - 1]) + min(before[j], min(row[j - 1], before[j - 1]))
        before = row
    return before[m]


def _walks(n):
    side = int(n ** 0.5)
    return {"a": np.cumsum(random(15).normal(0, 1, side)), "b": np.cumsum(random(16).normal(0, 1, side))}


program("time-warping", n=2_000_000, inputs=_walks, check="number", nesl="""
% Dynamic time warping; a row grows from left to right. %
function row(x, b, before, now) : (float, [float], [float], [float]) -> [float] =
  let j = #now
  in if j > #b then now
     else row(x, b, before, snoc(now, abs(x - b[j - 1]) + min(before[j], min(now[j - 1], before[j - 1]))));
function warping(a, b, i, before) : ([float], [float], int, [float]) -> float =
  if i == #a then before[#b] else warping(a, b, i + 1, row(a[i], b, before, [infinity]));
""", form="warping(a, b, 0, cons(0.0, dist(infinity, #b)))", numba=_warping)


@loop
def _tokens(s):
    n = len(s)
    out = np.empty((n, 3), np.int64)
    count, i = 0, 0
    while i < n:
        if s[i] == 32:
            i += 1
            continue
        kind, j = 3, i + 1
        if 48 <= s[i] <= 57:
            kind = 1
            while j < n and 48 <= s[j] <= 57:
                j += 1
        elif 97 <= s[i] <= 122:
            kind = 2
            while j < n and (97 <= s[j] <= 122 or 48 <= s[j] <= 57):
                j += 1
        out[count] = kind, i, j
        count += 1
        i = j
    return out[:count]


def _source(n):
    words = ["x", "foo", "bar1", "12", "3456", "+", "(", ")", "*", " ", " = ", "while", " ; "]
    return {"text": "".join(words[i] for i in random(9).integers(0, len(words), n // 3))}


program("tokens", n=500_000, inputs=_source, check="int rows", nesl="""
% The tokens of a text: numbers, names, and others, with their ends. %
function digit(c) : char -> bool = c >= `0 and c <= `9;
function letter(c) : char -> bool = c >= `a and c <= `z;
function end_number(s, j) : ([char], int) -> int =
  if j == #s then j else if digit(s[j]) then end_number(s, j + 1) else j;
function end_name(s, j) : ([char], int) -> int =
  if j == #s then j else if letter(s[j]) or digit(s[j]) then end_name(s, j + 1) else j;
function tokens(s, i, out) : ([char], int, [(int, int, int)]) -> [(int, int, int)] =
  if i == #s then out
  else if s[i] == space then tokens(s, i + 1, out)
  else if digit(s[i]) then let j = end_number(s, i) in tokens(s, j, snoc(out, (1, i, j)))
  else if letter(s[i]) then let j = end_name(s, i) in tokens(s, j, snoc(out, (2, i, j)))
  else tokens(s, i + 1, snoc(out, (3, i, i + 1)));
""", form="{[a, b, c] : (a, b, c) in tokens(text, 0, [] (int, int, int))}",
        numba=(lambda text: (letters(text),), _tokens))
