"""Tail recursion that counts: tables that are filled cell by cell, and sequences that grow by an element each time."""

import numpy as np

from .suite import loop, program, random


def _words(n):
    rng, length = random(4), max(int(n ** 0.5), 4)
    letters = np.frombuffer(b"acgt", np.uint8)
    return {name: rng.choice(letters, length).astype(np.int64) for name in "ab"}


@loop
def _common(a, b):
    prev = np.zeros(len(b) + 1, np.int64)
    for i in range(len(a)):
        row = np.zeros(len(b) + 1, np.int64)
        for j in range(len(b)):
            row[j + 1] = prev[j] + 1 if a[i] == b[j] else max(row[j], prev[j + 1])
        prev = row
    return prev


program("lcs-filled-rows", n=4_000_000, inputs=_words, check="ints", nesl="""
% The longest common subsequence, row by row, each filled from left to right. %
function fill(row, prev, bs, c, j, left) : ([int], [int], [int], int, int, int) -> [int] =
  if j == #bs then row
  else let v = (if c == bs[j] then prev[j] + 1 else max(left, prev[j + 1]))
       in fill(rep(row, v, j + 1), prev, bs, c, j + 1, v);
function common(prev, as, bs, i) : ([int], [int], [int], int) -> [int] =
  if i == #as then prev else common(fill(dist(0, #bs + 1), prev, bs, as[i], 0, 0), as, bs, i + 1);
""", form="common(dist(0, #b + 1), a, b, 0)", numba=_common)


@loop
def _joined(xs):
    total, low = np.empty(len(xs), np.int64), np.empty(len(xs), np.int64)
    s, m = 0, xs[0]
    for i in range(len(xs)):
        s += xs[i]
        m = min(m, xs[i])
        total[i] = s
        low[i] = m
    return np.concatenate((total, low))


program("running-totals", n=1_000_000, inputs=lambda n: {"xs": random(5).integers(-1000, 1000, n)}, check="ints", nesl="""
% The sums and the minima of all beginnings, each appended to a sequence. %
function running(xs, totals, lows, s, m, i) : ([int], [int], [int], int, int, int) -> [int] =
  if i == #xs then totals ++ lows
  else let s = s + xs[i]; m = min(m, xs[i]) in running(xs, snoc(totals, s), snoc(lows, m), s, m, i + 1);
""", form="running(xs, [] int, [] int, 0, xs[0], 0)", numba=_joined)


@loop
def _change(coins, n):
    ways = np.zeros(n + 1, np.int64)
    ways[0] = 1
    for c in coins:
        for i in range(n + 1 - c):
            ways[i + c] = (ways[i + c] + ways[i]) % 1000007
    return ways


program("ways-to-change", n=2_000_000, inputs=lambda n: {"coins": np.array([1, 2, 5, 10, 20, 50, 100, 200]), "amount": max(n // 8, 300)},
        check="ints", nesl="""
% In how many ways coins make each amount. %
function with_coin(ways, c, i) : ([int], int, int) -> [int] =
  if i + c >= #ways then ways else with_coin(rep(ways, rem(ways[i + c] + ways[i], 1000007), i + c), c, i + 1);
function change(ways, coins, k) : ([int], [int], int) -> [int] =
  if k == #coins then ways else change(with_coin(ways, coins[k], 0), coins, k + 1);
""", form="change(rep(dist(0, amount + 1), 1, 0), coins, 0)", numba=lambda coins, amount: _change(coins, amount))
