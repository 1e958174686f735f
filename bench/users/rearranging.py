"""Rearrangements: even and odd elements, rotations, interleaving, transposition, and what is built of them."""

import numpy as np

from .suite import loop, parallel, prange, program, random


def _signal(n):
    size = 1 << (n.bit_length() - 1)
    rng = random(1)
    return {"res": rng.random(size), "ims": rng.random(size)}


_COMPLEX = ("let a = {re * re : (re, im) in r}; b = {im * im : (re, im) in r} in "
            "(#r, sum(a), sum(b), sum({x * float(rem(i, 7)) : x in a; i in [0:#r]}))",
            lambda r: [len(r), (r.real ** 2).sum(), (r.imag ** 2).sum(), (r.real ** 2 * (np.arange(len(r)) % 7)).sum()])


def _fft_numpy(res, ims):
    return np.fft.fft(res + 1j * ims)


def _fft_scipy(res, ims):
    from scipy.fft import fft

    return fft(res + 1j * ims)


@loop
def _fft_numba(res, ims):
    n = len(res)
    a, b = res + 1j * ims, np.empty(n, np.complex128)
    half, stride = n // 2, 1
    while half > 0:
        for p in range(half):
            w = np.exp(-1j * np.pi * p / half)
            for q in range(stride):
                x, y = a[q + stride * p], a[q + stride * (p + half)]
                b[q + stride * 2 * p] = x + y
                b[q + stride * (2 * p + 1)] = (x - y) * w
        a, b = b, a
        half, stride = half // 2, stride * 2
    return a


program(
    "fft-recursive", n=1 << 17, inputs=_signal, check=_COMPLEX,
    nesl="""
function multiply((a, b), (c, d)) : ((float, float), (float, float)) -> (float, float) =
  (a * c - b * d, a * d + b * c);
function root(k, n) : (int, int) -> (float, float) =
  let angle = -2.0 * pi * float(k) / float(n) in (cos(angle), sin(angle));
function fft(v) : [(float, float)] -> [(float, float)] =
  if #v == 1 then v
  else let parts = {fft(part) : part in [even_elts(v), odd_elts(v)]};
           odd = {multiply(root(k, #v), x) : x in parts[1]; k in [0:#v / 2]}
       in {(a + c, b + d) : (a, b) in parts[0]; (c, d) in odd}
          ++ {(a - c, b - d) : (a, b) in parts[0]; (c, d) in odd};
""",
    form="fft(zip(res, ims))", numpy=_fft_numpy, scipy=_fft_scipy, numba=_fft_numba)

program(
    "fft-stages", n=1 << 17, inputs=_signal, check=_COMPLEX,
    nesl="""
% Stockham's transform: every stage combines the two halves, with indices computed by hand. %
function stage(v, roots, half, stride) : ([(float, float)], [(float, float)], int, int) -> [(float, float)] =
  {let q = rem(k, stride); p = k / stride / 2;
       (a, b) = v[q + stride * p]; (c, d) = v[q + stride * (p + half)]
   in if evenp(k / stride) then (a + c, b + d)
      else let (wr, wi) = roots[p * stride]
           in ((a - c) * wr - (b - d) * wi, (a - c) * wi + (b - d) * wr)
   : k in [0:#v]};
function fft(v, roots, half, stride) : ([(float, float)], [(float, float)], int, int) -> [(float, float)] =
  if half == 0 then v else fft(stage(v, roots, half, stride), roots, half / 2, stride * 2);
function roots_of(n) : int -> [(float, float)] =
  {let angle = -2.0 * pi * float(k) / float(n) in (cos(angle), sin(angle)) : k in [0:n / 2]};
""",
    form="fft(zip(res, ims), roots_of(#res), #res / 2, 1)", numpy=_fft_numpy, scipy=_fft_scipy, numba=_fft_numba)


def _power_of_two(n, seed=2):
    return {"a": random(seed).integers(0, 100, 1 << (n.bit_length() - 1))}


@loop
def _exclusive_scan(a):
    out, total = np.empty_like(a), 0
    for i in range(len(a)):
        out[i] = total
        total += a[i]
    return out


def _exclusive_scan_numpy(a):
    return np.cumsum(a) - a


program(
    "scan-by-hand", n=2_000_000, inputs=_power_of_two, check="ints",
    nesl="""
% The tree scan: sums of pairs are scanned, and the result is spread out again. %
function scan_op(a) : [int] -> [int] =
  if #a == 1 then [0]
  else let evens = even_elts(a); odds = odd_elts(a);
           sums = scan_op({x + y : x in evens; y in odds})
       in interleave(sums, {s + x : s in sums; x in evens});
""",
    form="scan_op(a)", numba=_exclusive_scan, numpy=_exclusive_scan_numpy)


def _haar_numpy(a):
    a, parts = a.astype(float), []
    while len(a) > 1:
        parts.append((a[::2] - a[1::2]) / 2.0)
        a = (a[::2] + a[1::2]) / 2.0
    return np.concatenate([a] + parts[::-1])


@loop
def _haar(a):
    out, v = np.empty(len(a)), a.astype(np.float64)
    n = len(a)
    while n > 1:
        for i in range(n // 2):
            x, y = v[2 * i], v[2 * i + 1]
            out[n // 2 + i] = (x - y) / 2.0
            v[i] = (x + y) / 2.0
        n //= 2
    out[0] = v[0]
    return out


program(
    "haar-wavelet", n=2_000_000, inputs=lambda n: {"a": _power_of_two(n)["a"] * 1.0}, check="floats",
    nesl="""
function haar(a) : [float] -> [float] =
  if #a == 1 then a
  else let evens = even_elts(a); odds = odd_elts(a)
       in haar({(x + y) / 2.0 : x in evens; y in odds}) ++ {(x - y) / 2.0 : x in evens; y in odds};
""",
    form="haar(a)", numba=_haar, numpy=_haar_numpy)


def _floats(n):
    return {"a": random(3).random(n)}


@parallel
def _ring(a):
    out, n = np.empty_like(a), len(a)
    for i in prange(n):
        out[i] = a[i - 1 if i > 0 else n - 1] + a[i] + a[i + 1 if i < n - 1 else 0]
    return out


program(
    "rotate-sum", n=2_000_000, inputs=_floats, check="floats",
    nesl="", form="{x + y + z : x in rotate(a, 1); y in a; z in rotate(a, -1)}",
    numba=_ring, numpy=lambda a: np.roll(a, 1) + a + np.roll(a, -1))


@parallel
def _differences(a):
    out = np.empty_like(a)
    for i in prange(len(a)):
        out[i] = a[i] - a[i - 1] if i > 0 else a[0]
    return out


program(
    "shift-append", n=2_000_000, inputs=_floats, check="floats",
    nesl="", form="{x - y : x in a; y in [0.0] ++ drop(a, -1)}",
    numba=_differences, numpy=lambda a: np.diff(a, prepend=0.0))

program(
    "cons-snoc", n=2_000_000, inputs=_floats, check="floats",
    nesl="", form="{(x + y) / 2.0 : x in cons(0.0, a); y in snoc(a, 0.0)}",
    numpy=lambda a: (np.append(0.0, a) + np.append(a, 0.0)) / 2.0)


@loop
def _riffle(a, times):
    for _ in range(times):
        out, half = np.empty_like(a), len(a) // 2
        for i in range(half):
            out[2 * i] = a[i]
            out[2 * i + 1] = a[half + i]
        a = out
    return a


def _riffle_numpy(a, times):
    for _ in range(times):
        a = a.reshape(2, -1).T.ravel()
    return a


program(
    "riffle", n=2_000_000, inputs=lambda n: {"a": random(4).integers(0, 1000, n // 8 & -4), "times": 8}, check="ints",
    nesl="""
function riffle(a, times) : ([int], int) -> [int] =
  if times == 0 then a
  else riffle(interleave(take(a, #a / 2), drop(a, #a / 2)), times - 1);
""",
    form="riffle(a, times)", numba=_riffle, numpy=_riffle_numpy)


def _square(n):
    side = max(int(n ** 0.5), 8)
    return {"m": random(5).random((side, side))}


@parallel
def _transposed(m):
    out = np.empty((m.shape[1], m.shape[0]))
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = m[j, i]
    return out


program(
    "transpose", n=1_000_000, inputs=_square, check="float rows",
    nesl="", form="transpose(m)", numba=_transposed, numpy=lambda m: m.T.copy())


@parallel
def _symmetric(m):
    out = np.empty_like(m)
    for i in prange(m.shape[0]):
        for j in range(m.shape[1]):
            out[i, j] = (m[i, j] + m[j, i]) / 2.0
    return out


program(
    "symmetric-part", n=1_000_000, inputs=_square, check="float rows",
    nesl="", form="{{(x + y) / 2.0 : x in row; y in column} : row in m; column in transpose(m)}",
    numba=_symmetric, numpy=lambda m: (m + m.T) / 2.0)


@parallel
def _chunk_sums(a):
    out = np.empty(len(a) // 100)
    for i in prange(len(out)):
        out[i] = a[100 * i:100 * i + 100].sum()
    return out


program(
    "chunk-sums", n=4_000_000, inputs=lambda n: {"a": random(6).random(n // 100 * 100)}, check="floats",
    nesl="", form="{sum(c) : c in group_by(a, 100)}", numba=_chunk_sums,
    numpy=lambda a: a.reshape(-1, 100).sum(1))

program(
    "every-third", n=4_000_000, inputs=_floats, check="floats",
    nesl="", form="{2.0 * x : x in a -> [0:#a:3]}", numpy=lambda a: 2.0 * a[::3])

program(
    "palindrome-sum", n=2_000_000, inputs=_floats, check="floats",
    nesl="", form="{x * y : x in a; y in reverse(a)}", numpy=lambda a: a * a[::-1])
