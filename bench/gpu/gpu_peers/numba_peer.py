"""Kernels in Numba-CUDA: elementwise programs, a reduction, and the Mandelbrot set."""

import math

import numba
import numpy as np
from numba import cuda

if not cuda.is_available():
    raise RuntimeError("Numba sees no GPU")

THREADS = 256


def versions():
    try:
        runtime = ".".join(str(part) for part in cuda.runtime.get_version())
    except Exception:  # depends on the package that provides numba.cuda
        runtime = ""
    return {"numba": numba.__version__, "cuda": runtime}


# Numba has no library of array operations, so inputs are made by NumPy and copied when a task is prepared.


def iota(n):
    return np.arange(n, dtype=np.int64)


def real(x, bits):
    return x.astype(np.float32 if bits == 32 else np.float64)


def starts(lengths):
    return np.concatenate([[0], np.cumsum(lengths)])


repeat = np.repeat


def place(array):
    return array


def host(result):
    if isinstance(result, tuple):
        return tuple(host(part) for part in result)
    return result.copy_to_host() if hasattr(result, "copy_to_host") else result


def wait():
    cuda.synchronize()


def free():
    pass


def timed(run):
    begin, end = cuda.event(), cuda.event()
    begin.record()
    result = run()
    end.record()
    end.synchronize()
    return result, 1e-3 * begin.elapsed_time(end)


def _blocks(n):
    return (n + THREADS - 1) // THREADS


@cuda.jit
def _triad(a, b, out):
    at = cuda.grid(1)
    if at < out.size:
        out[at] = a[at] + 3.0 * b[at]


@cuda.jit(device=True)
def _cdf(d):
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    polynomial = k * (0.319381530 + k * (-0.356563782 + k * (
        1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = polynomial * math.exp(-0.5 * d * d) / math.sqrt(2.0 * math.pi)
    return 1.0 - tail if d > 0.0 else tail


@cuda.jit
def _prices(spots, strikes, years, calls, puts):
    at = cuda.grid(1)
    if at < calls.size:
        spot, strike, time = spots[at], strikes[at], years[at]
        spread = 0.3 * math.sqrt(time)
        d1 = (math.log(spot / strike) + (0.02 + 0.5 * 0.3 * 0.3) * time) / spread
        discounted = strike * math.exp(-0.02 * time)
        call = spot * _cdf(d1) - discounted * _cdf(d1 - spread)
        calls[at] = call
        puts[at] = call - spot + discounted


@cuda.jit
def _escape(cx, cy, limit, steps):
    i, j = cuda.grid(2)
    if j < steps.shape[0] and i < steps.shape[1]:
        x, y, count = 0.0, 0.0, 0
        while count < limit and x * x + y * y <= 4.0:
            x, y = x * x - y * y + cx[i], 2.0 * x * y + cy[j]
            count += 1
        steps[j, i] = count


def triad(a, b):
    a, b, out = cuda.to_device(a), cuda.to_device(b), cuda.device_array_like(a)

    def run():
        _triad[_blocks(a.size), THREADS](a, b, out)
        return out

    return run


def black_scholes(spot, strike, years):
    # The constants of the kernel are 64-bit floats, which would make the 32-bit program another one.
    if spot.dtype == np.float32:
        raise NotImplementedError("the kernel computes in 64 bits")
    spot, strike, years = (cuda.to_device(x) for x in (spot, strike, years))
    calls, puts = cuda.device_array_like(spot), cuda.device_array_like(spot)

    def run():
        _prices[_blocks(spot.size), THREADS](spot, strike, years, calls, puts)
        return calls, puts

    return run


def reduce(a):
    total = cuda.reduce(lambda x, y: x + y)
    a, result = cuda.to_device(a), cuda.device_array(1, np.int64)

    def run():
        total(a, res=result, init=0)
        return result

    return run


def mandelbrot(cx, cy, limit):
    cx, cy = cuda.to_device(cx), cuda.to_device(cy)
    steps = cuda.device_array((cy.size, cx.size), np.int64)

    def run():
        _escape[(_tiles(cx.size), _tiles(cy.size)), (16, 16)](cx, cy, limit, steps)
        return steps

    return run


def _tiles(n):
    return (n + 15) // 16


TASKS = {"triad": triad, "black_scholes": black_scholes, "reduce": reduce, "mandelbrot": mandelbrot}
