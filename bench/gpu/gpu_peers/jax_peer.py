"""The programs in JAX, compiled by XLA for the GPU: those of `bench/peers/jax_peers.py` and a few more.

JAX has no events of the device, so its times are those of the host's clock only.
"""

import os

os.environ.setdefault("NESL_BENCH_JAX_PLATFORM", "cuda")
# Several libraries share the memory of the device.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

from peers import jax_peers  # noqa: E402  (must follow the environment)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

if not jax.devices():
    raise RuntimeError("JAX sees no GPU")


def versions():
    device = jax.devices()[0]
    return {"jax": jax.__version__, "cuda": getattr(device.client, "platform_version", "").replace("\n", " ")}


def iota(n):
    return jnp.arange(n, dtype=jnp.int64)


def real(x, bits):
    return x.astype(jnp.float32 if bits == 32 else jnp.float64)


def starts(lengths):
    return jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum(lengths)])


def repeat(x, times):
    return jnp.repeat(x, times, total_repeat_length=int(times.sum()))


place = jnp.asarray


def host(result):
    if isinstance(result, tuple):
        return tuple(np.asarray(part) for part in result)
    return np.asarray(result)


def wait():
    pass


def free():
    pass


def timed(run):
    return jax.block_until_ready(run()), None


def segments(starts, entries):
    n = len(starts) - 1
    rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=len(entries))
    sums = jax.jit(lambda entries, rows: jax.ops.segment_sum(entries, rows, n, indices_are_sorted=True))
    return lambda: sums(entries, rows)


def _jit(function):
    compiled = jax.jit(function)
    return lambda **inputs: lambda: compiled(**inputs)


OWN = {
    "triad": _jit(lambda a, b: a + 3.0 * b),
    "reduce": _jit(lambda a: a.sum()),
    "scan_ints": _jit(lambda a: jnp.cumsum(a)),
    "scan_floats": _jit(lambda a: jnp.cumsum(a)),
    "segments": segments,
}

TASKS = jax_peers.PEERS | OWN
