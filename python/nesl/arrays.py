"""Python values and NESL's columns.

The columns of a type, for any number of values of it: a scalar has one column with an element for each
value; a tuple those of its components; a sequence the lengths, and then the columns of its elements,
one value after the other. So `[[float]]` is the number of rows, the length of each, and all numbers.
"""

from __future__ import annotations

import numpy as np

KINDS = {"int": np.int64, "float": np.float64, "bool": np.bool_, "char": np.uint8}


class Ragged:
    """A sequence of sequences of numbers: `offsets` (one more than there are rows) and flat `data`.

    `r[i]` is a row, `len(r)` their number, `r.tolist()` all of them as lists. `Ragged.from_rows` takes
    any rows. Rows are views of the data: nothing is copied.
    """

    def __init__(self, offsets, data):
        self.offsets = np.asarray(offsets, dtype=np.int64)
        self.data = np.asarray(data)
        if self.offsets.ndim != 1 or len(self.offsets) == 0 or self.offsets[0] != 0:
            raise ValueError("offsets are a flat array that begins with 0")
        if (np.diff(self.offsets) < 0).any() or self.offsets[-1] != len(self.data):
            raise ValueError("offsets grow up to the length of the data")

    @classmethod
    def from_rows(cls, rows):
        rows = [np.asarray(row) for row in rows]
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        filled = [row for row in rows if len(row)]
        data = np.concatenate(filled) if filled else np.empty(0, dtype=np.float64)
        return cls(offsets.astype(np.int64), data)

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


def encode(value):
    """The type of a value, as NESL writes it, and its columns."""
    columns = []
    ty = _encode_all([value], columns)
    return ty, columns


def _encode_all(values, columns):
    """Encodes values of one type, given as a list or as a flat array."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return _encode_array(values, columns)
    if not isinstance(values, np.ndarray) and all(_is_scalar(value) for value in values):
        # Characters are not guessed: a text is a sequence.
        return _encode_array(np.array(values), columns)
    first = values[0] if len(values) else 0.0
    if isinstance(first, tuple):
        if any(not isinstance(value, tuple) or len(value) != len(first) for value in values):
            raise TypeError("the tuples of a sequence must have the same number of components")
        if len(first) < 2:
            raise TypeError("a tuple has at least two components")
        parts = [_encode_all([value[at] for value in values], columns) for at in range(len(first))]
        return f"({', '.join(parts)})"
    if isinstance(first, (str, bytes)):
        texts = [value.encode() if isinstance(value, str) else value for value in values]
        columns.append(np.array([len(text) for text in texts], dtype=np.int64))
        columns.append(np.frombuffer(b"".join(texts), dtype=np.uint8))
        return "[char]"
    if isinstance(first, Ragged):
        columns.append(np.array([len(value) for value in values], dtype=np.int64))
        columns.append(np.concatenate([value.lengths for value in values]))
        return f"[[{_encode_array(np.concatenate([value.data for value in values]), columns)}]]"
    if isinstance(first, np.ndarray) and first.dtype != object and first.ndim == 1:
        columns.append(np.array([len(value) for value in values], dtype=np.int64))
        return f"[{_encode_array(np.concatenate(list(values)) if len(values) > 1 else first, columns)}]"
    if isinstance(first, np.ndarray) and first.dtype != object and first.ndim > 1:
        columns.append(np.array([len(value) for value in values], dtype=np.int64))
        return f"[{_encode_all([row for value in values for row in value], columns)}]" if len(
            values
        ) > 1 else f"[{_encode_matrix(first, columns)}]"
    if isinstance(first, (list, np.ndarray)):
        columns.append(np.array([len(value) for value in values], dtype=np.int64))
        return f"[{_encode_all([element for value in values for element in value], columns)}]"
    raise TypeError(f"a {type(first).__name__} has no type in NESL")


def _encode_matrix(array, columns):
    """Encodes the rows of an array of two or more dimensions."""
    columns.append(np.full(array.shape[0], array.shape[1], dtype=np.int64))
    flat = array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
    inner = _encode_array(flat, columns) if flat.ndim == 1 else _encode_matrix(flat, columns)
    return f"[{inner}]"


def _encode_array(array, columns):
    kind = array.dtype.kind
    if kind == "b":
        ty = "bool"
    elif kind == "i" or kind == "u":
        if array.dtype == np.uint64 and len(array) and array.max() > np.iinfo(np.int64).max:
            raise OverflowError("an int of NESL has 64 bits and a sign")
        ty = "int"
    elif kind == "f":
        ty = "float"
    else:
        raise TypeError(f"elements of type {array.dtype} have no type in NESL")
    columns.append(np.ascontiguousarray(array, dtype=KINDS[ty]))
    return ty


def _is_scalar(value):
    return isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (str, bytes))


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

    Numbers become Python's, flat sequences of them arrays, sequences of those arrays of two dimensions
    if all rows are equally long and `Ragged` if not; texts become strings, tuples and datatypes
    tuples, and everything else lists.
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
        return [tuple(_plain(part[at]) for part in parts) for at in range(count)]
    lengths = next(columns)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    total = int(offsets[-1])
    element = tree[1]
    if element == "char":
        data = next(columns).tobytes()
        return [_text(data[offsets[at] : offsets[at + 1]]) for at in range(count)]
    if element[0] == "seq" and element[1] in ("int", "float", "bool"):
        return _decode_rows(next(columns), next(columns), offsets, count)
    values = _decode(element, columns, total)
    return [values[offsets[at] : offsets[at + 1]] for at in range(count)]


def _decode_rows(lengths, data, offsets, count):
    """Sequences of sequences of numbers: arrays of two dimensions where that fits."""
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    out = []
    for at in range(count):
        first, last = offsets[at], offsets[at + 1]
        own, part = lengths[first:last], data[ends[first] : ends[last]]
        if len(own) and (own == own[0]).all() and own[0] > 0:
            out.append(part.reshape(len(own), int(own[0])))
        else:
            out.append(Ragged(ends[first : last + 1] - ends[first], part))
    return out


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
