"""The programs in CuPy: its own functions, an elementwise kernel where one fuses a whole program, and for the
rest the NumPy programs of `bench/peers/numpy_peers.py` on CuPy's arrays."""

import cupy
import cupyx.scipy.sparse

from peers import numpy_peers

numpy_peers.np = cupy


def versions():
    return {"cupy": cupy.__version__, "cuda": _version(cupy.cuda.runtime.runtimeGetVersion())}


def _version(number):
    return f"{number // 1000}.{number % 1000 // 10}"


def iota(n):
    return cupy.arange(n, dtype=cupy.int64)


def real(x, bits):
    return x.astype(cupy.float32 if bits == 32 else cupy.float64)


def starts(lengths):
    out = cupy.zeros(len(lengths) + 1, cupy.int64)
    cupy.cumsum(lengths, out=out[1:])
    return out


def repeat(x, times):
    # cupy.repeat wants counts on the host; this is the inverse of a scan.
    ends = cupy.cumsum(times)
    return x[cupy.searchsorted(ends, cupy.arange(int(ends[-1])), side="right")]


place = cupy.asarray


def host(result):
    if isinstance(result, tuple):
        return tuple(host(part) for part in result)
    return cupy.asnumpy(result) if isinstance(result, cupy.ndarray) else result


def wait():
    cupy.cuda.get_current_stream().synchronize()


def free():
    cupy.get_default_memory_pool().free_all_blocks()


def timed(run):
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    result = run()
    end.record()
    end.synchronize()
    return result, 1e-3 * cupy.cuda.get_elapsed_time(begin, end)


def triad(a, b):
    kernel = cupy.ElementwiseKernel("float64 x, float64 y", "float64 z", "z = x + 3.0 * y", "nesl_triad")
    return lambda: kernel(a, b)


BLACK_SCHOLES = """
T d1 = (log(spot / strike) + (T(0.02) + T(0.5) * T(0.3) * T(0.3)) * years) / (T(0.3) * sqrt(years));
T d2 = d1 - T(0.3) * sqrt(years);
T discounted = strike * exp(T(-0.02) * years);
call = spot * nesl_cdf<T>(d1) - discounted * nesl_cdf<T>(d2);
put = call - spot + discounted;
"""

NORMAL_CDF = """
template <class T> __device__ T nesl_cdf(T d) {
  T k = T(1) / (T(1) + T(0.2316419) * (d < T(0) ? -d : d));
  T p = k * (T(0.319381530) + k * (T(-0.356563782) + k * (T(1.781477937) + k * (T(-1.821255978)
        + k * T(1.330274429)))));
  T tail = p * exp(T(-0.5) * d * d) / sqrt(T(2) * T(3.14159265358979323846));
  return d > T(0) ? T(1) - tail : tail;
}
"""


def black_scholes(spot, strike, years):
    kernel = cupy.ElementwiseKernel("T spot, T strike, T years", "T call, T put", BLACK_SCHOLES,
                                    "nesl_black_scholes", preamble=NORMAL_CDF)
    return lambda: kernel(spot, strike, years)


def _csr(starts, columns, entries, n):
    return cupyx.scipy.sparse.csr_matrix(
        (entries, columns.astype(cupy.int32), starts.astype(cupy.int32)), shape=(n, n))


def spmv(starts, columns, entries, v):
    matrix = _csr(starts, columns, entries, len(v))
    return lambda: matrix @ v


def pagerank(starts, columns, outs, steps):
    n = len(outs)
    matrix = _csr(starts, columns, cupy.ones(len(columns)), n)

    def run():
        ranks = cupy.full(n, 1.0 / n)
        for _ in range(steps):
            ranks = 0.15 / n + 0.85 * (matrix @ (ranks / cupy.maximum(outs, 1)))
        return ranks

    return run


def segments(starts, entries):
    ones = cupy.ones(1)
    columns = cupy.zeros(len(entries), cupy.int32)
    matrix = cupyx.scipy.sparse.csr_matrix((entries, columns, starts.astype(cupy.int32)),
                                           shape=(len(starts) - 1, 1))
    return lambda: matrix @ ones


OWN = {
    "triad": triad,
    "reduce": lambda a: lambda: a.sum(),
    "scan_ints": lambda a: lambda: cupy.cumsum(a),
    "scan_floats": lambda a: lambda: cupy.cumsum(a),
    "segments": segments,
    "black_scholes": black_scholes,
    "spmv": spmv,
    "pagerank": pagerank,
}

TASKS = {name: task for name, task in numpy_peers.PEERS.items() if name != "word_count"} | OWN
