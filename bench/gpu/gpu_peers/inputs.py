"""Inputs and checksums of the Python peers.

The inputs of the large programs are computed on the device, by the operators that all array libraries share;
the others come from `bench/peers/data.py` and are copied. `arrays` is the module of a peer, which has

    iota(n)           the ints from 0 to n - 1
    real(x, bits)     ints as floats
    starts(lengths)   0 and the inclusive prefix sums
    repeat(x, times)  each element of x so many times
    place(array)      a NumPy array on the device
"""

P = 2147483647


def mix(i):
    """Computes the same function as `mix` in `bench/nesl/data.nesl`."""
    h = (i * 48271 + 11) % P
    return (h * h % P * h + 12345) % P


def unit(arrays, i):
    return arrays.real(mix(i), 64) / 2147483647.0


def _two_vectors(p, arrays):
    i = arrays.iota(p["n"])
    return {"a": unit(arrays, i), "b": unit(arrays, i + p["n"])}


def _ints(p, arrays):
    return {"a": mix(arrays.iota(p["n"]))}


def _floats(p, arrays):
    return {"a": unit(arrays, arrays.iota(p["n"]))}


def _options(p, arrays):
    i, bits = arrays.iota(p["n"]), p["precision"]
    return {
        "spot": 10 + arrays.real(i % 1000, bits) / 10,
        "strike": 10 + arrays.real(i % 911, bits) / 9,
        "years": 0.25 + arrays.real(i % 41, bits) / 4,
    }


def _segments(p, arrays):
    segments = arrays.iota(p["n"])
    lengths = 1 + mix(segments) % 127
    starts = arrays.starts(lengths)
    row = arrays.repeat(segments, lengths)
    j = arrays.iota(int(starts[-1])) - starts[row]
    return {"starts": starts, "entries": unit(arrays, row + j)}


def _matrix(p, arrays):
    rows = p["rows"]
    row = arrays.iota(rows)
    v = unit(arrays, row + 7)
    lengths = p["width"] + p["longest"] // (1 + mix(row) % rows)
    starts = arrays.starts(lengths)
    row = arrays.repeat(row, lengths)
    j = arrays.iota(int(starts[-1])) - starts[row]
    return {"starts": starts, "columns": mix(64 * row + j) % rows, "entries": unit(arrays, row + j), "v": v}


ON_DEVICE = {
    "dot": _two_vectors,
    "triad": _two_vectors,
    "reduce": _ints,
    "scan_ints": _ints,
    "scan_floats": _floats,
    "sort": _ints,
    "quicksort": _ints,
    "batcher": _ints,
    "segments": _segments,
    "black_scholes": _options,
    "spmv": _matrix,
}


def inputs(task, parameters, arrays):
    """Returns the inputs of a task by name, arrays on the device."""
    if task in ON_DEVICE:
        return ON_DEVICE[task](parameters, arrays)
    import numpy as np
    from peers import data

    made = data.INPUTS[task](parameters)
    return {name: arrays.place(x) if isinstance(x, np.ndarray) else x for name, x in made.items()}


def _samples_of_inclusive(r):
    # NESL's scans are exclusive, those of the libraries inclusive.
    return [r[0], r[len(r) // 2 - 1], r[len(r) - 2]]


def check(task, result):
    """Returns the checksums of a result in NumPy arrays or scalars."""
    from peers import data

    if task in ("scan_ints", "scan_floats"):
        numbers = _samples_of_inclusive(result)
    elif task in ("triad", "segments"):
        numbers = data.CHECKS["spmv"](result)
    elif task == "reduce":
        numbers = [result.sum()]  # a scalar, or an array of one element
    else:
        numbers = data.CHECKS[task](result)
    return [float(x) for x in numbers]
