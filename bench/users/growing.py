"""Loops that begin with little and make more in each turn: trees level by level, and texts that are rewritten."""

import numpy as np

from .suite import check_ints, loop, program


def _steps(most):
    """Returns inputs with the number of steps after which a level has about `n` elements: it grows by `most`."""
    return lambda n: {"steps": max(int(np.log(max(n, 2)) / np.log(most)), 1)}


@loop
def _before(steps):
    level = np.array([1])
    for _ in range(steps):
        following = np.empty(2 * len(level), np.int64)
        k = 0
        for x in level:
            following[k] = 2 * x
            k += 1
            if x % 6 == 4 and x > 4:
                following[k] = (x - 1) // 3
                k += 1
        level = following[:k]
    return level


def _before_numpy(steps):
    level = np.array([1])
    for _ in range(steps):
        level = np.concatenate([2 * level, (level[(level % 6 == 4) & (level > 4)] - 1) // 3])
    return level


_IN_ORDER = ("check_ints(sort(r))", lambda r: check_ints(np.sort(r)))

program("collatz-tree", n=500_000, inputs=_steps(1.2537), check=_IN_ORDER, nesl="""
% The numbers that reach 1 in so many steps of Collatz's rule, level by level. %
function before(x) : int -> [int] = if rem(x, 6) == 4 and x > 4 then [2 * x, (x - 1) / 3] else [2 * x];
function grow(level, k) : ([int], int) -> [int] =
  if k == 0 then level else grow(flatten({before(x) : x in level}), k - 1);
""", form="grow([1], steps)", numba=_before, numpy=_before_numpy)


@loop
def _rewritten(steps):
    s = np.array([88], np.uint8)
    rule = np.array([70, 43, 88, 45, 70, 45, 88], np.uint8)
    for _ in range(steps):
        count = 0
        for c in s:
            count += 2 if c == 70 else 7 if c == 88 else 1
        following = np.empty(count, np.uint8)
        k = 0
        for c in s:
            if c == 70:
                following[k] = 70
                following[k + 1] = 70
                k += 2
            elif c == 88:
                for j in range(7):
                    following[k + j] = rule[j]
                k += 7
            else:
                following[k] = c
                k += 1
        s = following
    return s


program("plant", n=1_000_000, inputs=_steps(2.38), check="ints", nesl="""
% A plant of Lindenmayer: a string that is rewritten, as the codes of its chars. %
function rewritten(s, k) : ([char], int) -> [char] =
  if k == 0 then s
  else rewritten(flatten({if c == `F then "FF" else if c == `X then "F+X-F-X" else [c] : c in s}), k - 1);
""", form="{char_code(c) : c in rewritten(\"X\", steps)}", numba=lambda steps: _rewritten(steps).astype(np.int64))


@loop
def _doubled(steps):
    a = np.array([1])
    for _ in range(steps):
        b = np.empty(2 * len(a), np.int64)
        b[:len(a)] = a
        for i in range(len(a)):
            b[len(a) + i] = a[i] * 3 + 1
        a = b
    return a


def _doubled_numpy(steps):
    a = np.array([1])
    for _ in range(steps):
        a = np.concatenate([a, a * 3 + 1])
    return a


program("doublings", n=4_000_000, inputs=_steps(2.0), check="ints", nesl="""
% A list that is appended to itself, changed, again and again: the sums of all subsets are made so. %
function doubled(a, k) : ([int], int) -> [int] = if k == 0 then a else doubled(a ++ {x * 3 + 1 : x in a}, k - 1);
""", form="doubled([1], steps)", numba=_doubled, numpy=_doubled_numpy)
