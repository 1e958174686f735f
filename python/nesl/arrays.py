"""Python values and NESL's columns.

The columns of a type, for any number of values of it: a scalar has one column with an element for each
value; a tuple those of its components; a sequence the lengths, and then the columns of its elements,
one value after the other. So `[[float]]` is the number of rows, the length of each, and all numbers.
"""

from __future__ import annotations

import numpy as np

KINDS = {"int": np.int64, "float": np.float64, "bool": np.bool_, "char": np.uint8}
COLUMNS = {
    "lengths": np.int64,
    "ints": np.int64,
    "floats": np.float64,
    "bools": np.bool_,
    "chars": np.uint8,
}
# Arrays that must be converted are so in pieces of this many elements, which stay in the cache.
_PIECE_ELEMENTS = 1 << 15
_SCALARS = (bool, int, float, np.generic)


class Ragged:
    """A sequence of sequences of numbers: `offsets` (one more than there are rows) and flat `data`.

    `r[i]` is a row, `len(r)` their number, `r.tolist()` all of them as lists. `Ragged.from_rows` takes
    any rows. Rows are views of the data: nothing is copied.
    """

    def __init__(self, offsets, data):
        offsets = np.asarray(offsets)
        if offsets.size and offsets.dtype.kind not in "iu":
            raise TypeError("offsets are ints")
        self.offsets = offsets.astype(np.int64, copy=False)
        self.data = np.asarray(data)
        if self.data.ndim != 1:
            raise ValueError("the data are a flat array")
        if self.offsets.ndim != 1 or len(self.offsets) == 0 or self.offsets[0] != 0:
            raise ValueError("offsets are a flat array that begins with 0")
        if (np.diff(self.offsets) < 0).any() or self.offsets[-1] != len(self.data):
            raise ValueError("offsets grow up to the length of the data")

    @classmethod
    def from_rows(cls, rows):
        """Takes rows: sequences, arrays, or an array of two dimensions."""
        if isinstance(rows, Ragged):
            return rows
        if isinstance(rows, np.ndarray) and rows.ndim == 2:
            return cls(np.arange(len(rows) + 1) * rows.shape[1], rows.reshape(-1))
        rows = [np.asarray(row) for row in rows]
        offsets = _offsets(np.array([len(row) for row in rows], dtype=np.int64))
        filled = [row for row in rows if len(row)]
        return cls(offsets, np.concatenate(filled) if filled else np.empty(0))

    @property
    def lengths(self):
        return np.diff(self.offsets)

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        index %= len(self)
        return self.data[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __eq__(self, other):
        return (
            isinstance(other, Ragged)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.data, other.data)
        )

    def tolist(self):
        return [row.tolist() for row in self]

    def __repr__(self):
        if len(self.data) + len(self) <= 100:
            return f"Ragged({self.tolist()})"
        return f"<Ragged: {len(self)} rows, {len(self.data)} elements of {self.data.dtype}>"


class Column:
    """A column to be given: an array of any strides and byte order, and the type it is to have."""

    def __init__(self, array, dtype):
        self._array = array
        self._dtype = np.dtype(dtype)
        self.bytes = array.size * self._dtype.itemsize

    def __len__(self):
        return self._array.size

    def pieces(self):
        """The elements as bytes; those of an array that is as it must be are not copied."""
        array = self._array
        if array.dtype == self._dtype and array.flags.c_contiguous:
            if array.size:
                yield memoryview(array.reshape(-1).view(np.uint8))
            return
        converted = np.nditer(
            array,
            flags=["external_loop", "buffered", "zerosize_ok"],
            op_dtypes=[self._dtype],
            casting="unsafe",
            order="C",
            buffersize=_PIECE_ELEMENTS,
        )
        for piece in converted if array.size else ():
            yield memoryview(np.ascontiguousarray(piece).view(np.uint8))


def encode(value):
    """The type of a value, as NESL writes it, and its columns."""
    columns = []
    ty = _encode_all([_known(value)], columns)
    return ty, columns


def _known(value):
    """A value of another library that gives arrays, as an array."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError("a masked array has elements without values")
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        value = np.asarray(value)
        if value.ndim == 0:
            return value[()]
        if value.dtype.kind in "OUS":
            return value.tolist()
    return value


def _encode_all(values, columns):
    """Encodes values of one type."""
    # Lists may be long: what can be asked of their types is not asked of each element.
    types = set(map(type, values))
    if any(hasattr(each, "__array__") for each in types):
        values = [_known(value) for value in values]
        types = set(map(type, values))
    first = values[0] if values else 0.0
    if all(issubclass(each, _SCALARS) and not issubclass(each, (str, bytes)) for each in types):
        # NumPy would make floats of ints that no type of its own holds, and of an empty list.
        if values and all(issubclass(each, (bool, int, np.integer, np.bool_)) for each in types):
            return _encode_scalars(_ints(values), columns)
        return _encode_scalars(np.array(values), columns)
    if isinstance(first, tuple):
        if types != {tuple} or len(set(map(len, values))) > 1:
            _same(values, lambda each: isinstance(each, tuple) and len(each) == len(first), first)
        if len(first) < 2:
            raise TypeError("a tuple has at least two components")
        parts = [_encode_all(list(part), columns) for part in zip(*values)]
        return f"({', '.join(parts)})"
    if isinstance(first, (str, bytes, bytearray)):
        _same(values, lambda value: isinstance(value, (str, bytes, bytearray)), first)
        texts = [value.encode() if isinstance(value, str) else bytes(value) for value in values]
        columns.append(_lengths(texts))
        columns.append(Column(np.frombuffer(b"".join(texts), dtype=np.uint8), np.uint8))
        return "[char]"
    if isinstance(first, Ragged):
        _same(values, lambda value: isinstance(value, Ragged), first)
        columns.append(_lengths(values))
        columns.append(Column(_joined([value.lengths for value in values]), np.int64))
        return f"[[{_encode_scalars(_joined([value.data for value in values]), columns)}]]"
    if isinstance(first, np.ndarray) and all(
        isinstance(value, np.ndarray) and value.ndim == first.ndim for value in values
    ):
        return _encode_arrays(values, columns)
    if isinstance(first, (list, range, np.ndarray)):
        _same(values, lambda value: isinstance(value, (list, range, np.ndarray)), first)
        columns.append(_lengths(values))
        return f"[{_encode_all([element for value in values for element in value], columns)}]"
    odd = next(value for value in values if not isinstance(value, _SCALARS))
    if odd is first:
        raise TypeError(f"{_a(odd)} has no type in NESL")
    return _same(values, lambda value: isinstance(value, _SCALARS), first)


def _ints(values):
    """An array of ints and bools, which are a type of their own only where there are no others."""
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return np.array(values, dtype=np.bool_)
    try:
        # Of scalars of its own NumPy takes the lowest bits.
        return np.array(list(map(int, values)), dtype=np.int64)
    except OverflowError:
        raise OverflowError("an int of NESL has 64 bits and a sign") from None


def _encode_arrays(all, columns):
    """Encodes arrays of the same number of dimensions."""
    dimensions = all[0].ndim
    for level in range(dimensions):
        counts = [int(np.prod(array.shape[:level])) for array in all]
        lengths = [array.shape[level] for array in all]
        columns.append(Column(np.repeat(lengths, counts), np.int64))
    if len(all) > 1:
        data = np.concatenate([array.reshape(-1) for array in all])
    else:
        data = all[0]
    return "[" * dimensions + _encode_scalars(data, columns) + "]" * dimensions


def _encode_scalars(array, columns):
    """Encodes the elements of an array, whatever its dimensions."""
    if array.dtype.names:
        if len(array.dtype.names) < 2:
            raise TypeError("a tuple has at least two components")
        for name in array.dtype.names:
            if array[name].ndim != array.ndim:
                raise TypeError(f"the field {name} is an array, which has no type in NESL")
        parts = [_encode_scalars(array[name], columns) for name in array.dtype.names]
        return f"({', '.join(parts)})"
    kind = array.dtype.kind
    if array.dtype.subdtype is not None or kind not in "biuf":
        if kind == "O" and all(isinstance(x, (bool, int, np.integer)) for x in array.flat):
            raise OverflowError("an int of NESL has 64 bits and a sign")
        raise TypeError(f"elements of type {array.dtype} have no type in NESL")
    ty = {"b": "bool", "i": "int", "u": "int", "f": "float"}[kind]
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise OverflowError("an int of NESL has 64 bits and a sign")
    columns.append(Column(array, KINDS[ty]))
    return ty


def _lengths(values):
    return Column(np.array([len(value) for value in values], dtype=np.int64), np.int64)


def _joined(all):
    return all[0] if len(all) == 1 else np.concatenate(all)


def _same(values, is_same, first):
    for value in values:
        if not is_same(value):
            raise TypeError(
                f"the elements of a sequence have one type; here are {_a(first)} and {_a(value)}"
            )


def _a(value):
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def parse(text):
    """A type as a tree: a name, `("seq", type)`, `("tuple", types)` or `("record", name, types)`."""
    tree, rest = _parse(text.strip())
    if rest.strip():
        raise ValueError(f"{rest!r} follows the type in {text!r}")
    return tree


def _parse(text):
    text = text.lstrip()
    if text.startswith("["):
        element, rest = _parse(text[1:])
        return ("seq", element), _skip(rest, "]")
    name = ""
    while text and (text[0].isalnum() or text[0] == "_"):
        name, text = name + text[0], text[1:]
    if not text.lstrip().startswith("(") or (name in KINDS or name == "any"):
        if not name:
            raise ValueError(f"a type begins with {text!r}")
        return name, text
    parts, rest = [], text.lstrip()
    while not parts or rest.lstrip().startswith(","):
        part, rest = _parse(rest.lstrip()[1:])
        parts.append(part)
    rest = _skip(rest, ")")
    return (("record", name, parts) if name else ("tuple", parts)), rest


def _skip(text, wanted):
    text = text.lstrip()
    if not text.startswith(wanted):
        raise ValueError(f"{wanted!r} is missing in a type before {text!r}")
    return text[1:]


def decode(text, columns):
    """The Python value of a type and its columns.

    Numbers become Python's, sequences of them arrays, of several dimensions if all rows are equally
    long, and `Ragged` if rows are not; texts become strings, tuples and datatypes tuples, and
    everything else lists.
    """
    values = _decode(parse(text), iter(columns), 1)
    return values[0] if not isinstance(values, np.ndarray) else values[0].item()


def _decode(tree, columns, count):
    """`count` values of a type: an array for scalars, a list for all else."""
    if isinstance(tree, str):
        if tree == "any":
            return []
        column = next(columns)
        return [chr(byte) for byte in column] if tree == "char" else column
    if tree[0] in ("tuple", "record"):
        parts = [_decode(part, columns, count) for part in tree[-1]]
        plain = [part.tolist() if isinstance(part, np.ndarray) else part for part in parts]
        return list(zip(*plain))
    depth, scalar = 0, tree
    while scalar[0] == "seq":
        depth, scalar = depth + 1, scalar[1]
    if scalar in ("int", "float", "bool"):
        levels = [next(columns) for _ in range(depth)]
        return _decode_numbers(levels, next(columns), count)
    lengths = next(columns)
    offsets = _offsets(lengths).tolist()
    element = tree[1]
    if element == "char":
        data = next(columns).tobytes()
        return [_text(data[offsets[at] : offsets[at + 1]]) for at in range(count)]
    values = _decode(element, columns, offsets[-1])
    return [values[offsets[at] : offsets[at + 1]] for at in range(count)]


def _decode_numbers(levels, data, count):
    """Nested sequences of numbers: the lengths at each level, and the numbers."""
    if count == 1:
        return [_decode_nest(levels, data)]
    ends = [np.arange(count + 1)]
    for lengths in levels:
        ends.append(_offsets(lengths)[ends[-1]])
    ends = [end.tolist() for end in ends]
    every = []
    for at in range(count):
        own = [lengths[end[at] : end[at + 1]] for lengths, end in zip(levels, ends)]
        every.append(_decode_nest(own, data[ends[-1][at] : ends[-1][at + 1]]))
    return every


def _decode_nest(levels, data):
    """One nested sequence of numbers: an array if its rows are equally long at every level."""
    if len(levels) == 1:
        return data
    if all(len(lengths) == 0 or (lengths == lengths[0]).all() for lengths in levels):
        return data.reshape([int(lengths[0]) if len(lengths) else 0 for lengths in levels])
    if len(levels) == 2:
        return Ragged(_offsets(levels[1]), data)
    return _decode_numbers(levels[1:], data, int(levels[0][0]))


def _offsets(lengths):
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
