//! Tests the file formats: a written value reads back unchanged, and malformed files are handled
//! safely.

use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_engine::host::{csv, list, matrix_market, npy, object};
use nesl_runtime::scalar::Precision;
use npyz::WriterBuilder;
use proptest::prelude::*;

const WIDE: Precision = Precision::Bits64;

fn pair(a: Ty, b: Ty) -> Ty {
    Ty::Pair(Box::new(a), Box::new(b))
}

fn seq(element: Ty) -> Ty {
    Ty::Sequence(Box::new(element))
}

fn text() -> Ty {
    seq(Ty::Char)
}

fn ints(values: &[i64]) -> Value {
    Value::sequence(&Ty::Int, values.iter().map(|n| Value::Int(*n)))
}

/// Compares values such that NaN equals NaN and 0.0 differs from -0.0.
fn same(a: &Value, b: &Value) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

fn scalar_types() -> impl Strategy<Value = Ty> {
    prop_oneof![Just(Ty::Int), Just(Ty::Float), Just(Ty::Bool), Just(Ty::Char)]
}

fn types() -> impl Strategy<Value = Ty> {
    let leaf = prop_oneof![4 => scalar_types(), 1 => Just(Ty::Unit)];
    leaf.prop_recursive(4, 12, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(seq),
            (inner.clone(), inner).prop_map(|(a, b)| pair(a, b)),
        ]
    })
}

fn rows() -> impl Strategy<Value = Ty> {
    let column = prop_oneof![4 => scalar_types(), 2 => Just(text())];
    column.prop_recursive(3, 6, 2, |inner| (inner.clone(), inner).prop_map(|(a, b)| pair(a, b)))
}

fn values(ty: &Ty, precision: Precision) -> BoxedStrategy<Value> {
    match ty {
        Ty::Unit => Just(Value::Unit).boxed(),
        Ty::Int if precision == Precision::Bits32 => {
            any::<i32>().prop_map(|n| Value::Int(n.into())).boxed()
        }
        Ty::Int => prop_oneof![any::<i64>(), -9..9i64].prop_map(Value::Int).boxed(),
        Ty::Float if precision == Precision::Bits32 => {
            any::<f32>().prop_map(|x| Value::Float(x.into())).boxed()
        }
        Ty::Float => prop_oneof![
            8 => any::<f64>(),
            1 => Just(f64::NAN),
            1 => Just(f64::INFINITY),
            1 => Just(f64::NEG_INFINITY),
            1 => Just(-0.0),
        ]
        .prop_map(Value::Float)
        .boxed(),
        Ty::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Ty::Char => prop_oneof![any::<u8>(), Just(b'"'), Just(b'\n'), Just(b','), Just(0xEF)]
            .prop_map(Value::Char)
            .boxed(),
        Ty::Pair(a, b) => (values(a, precision), values(b, precision))
            .prop_map(|(a, b)| Value::pair(a, b))
            .boxed(),
        Ty::Sequence(element) => {
            let element = (**element).clone();
            prop::collection::vec(values(&element, precision), 0..5)
                .prop_map(move |v| Value::sequence(&element, v))
                .boxed()
        }
    }
}

fn precisions() -> impl Strategy<Value = Precision> {
    prop_oneof![Just(Precision::Bits32), Just(Precision::Bits64)]
}

fn typed(types: impl Strategy<Value = Ty>) -> impl Strategy<Value = (Ty, Value, Precision)> {
    (types, precisions()).prop_flat_map(|(ty, precision)| {
        values(&ty, precision).prop_map(move |value| (ty.clone(), value, precision))
    })
}

/// Generates arrays of up to three dimensions.
fn arrays() -> impl Strategy<Value = (Ty, Value)> {
    (scalar_types(), prop::collection::vec(0..4usize, 0..4)).prop_flat_map(|(element, shape)| {
        fn array(element: &Ty, shape: &[usize]) -> (Ty, BoxedStrategy<Value>) {
            match shape.split_first() {
                None => (element.clone(), values(element, WIDE)),
                Some((length, rest)) => {
                    let (inner, strategy) = array(element, rest);
                    let of = inner.clone();
                    let rows = prop::collection::vec(strategy, *length)
                        .prop_map(move |v| Value::sequence(&of, v));
                    (seq(inner), rows.boxed())
                }
            }
        }
        let (ty, strategy) = array(&element, &shape);
        strategy.prop_map(move |value| (ty.clone(), value))
    })
}

fn matrices() -> impl Strategy<Value = Value> {
    let entry = pair(Ty::Int, pair(Ty::Int, Ty::Float));
    (1..9i64, 1..9i64).prop_flat_map(move |(rows, columns)| {
        let entry = entry.clone();
        prop::collection::vec((0..rows, 0..columns, any::<f64>()), 0..9).prop_map(move |all| {
            let entries = all.into_iter().map(|(i, j, x)| {
                Value::pair(Value::Int(i), Value::pair(Value::Int(j), Value::Float(x)))
            });
            Value::pair(
                Value::pair(Value::Int(rows), Value::Int(columns)),
                Value::sequence(&entry, entries),
            )
        })
    })
}

proptest! {
    #[test]
    fn objects_read_back((ty, value, precision) in typed(types())) {
        let written = object::write(&value, &ty, precision, &|| false);
        prop_assert!(written.is_ascii());
        let read = object::read(&written, "f", &ty, precision).unwrap();
        prop_assert!(same(&read, &value), "{read:?} is not {value:?}");
    }

    #[test]
    fn tables_read_back((ty, value, precision) in typed(rows().prop_map(seq))) {
        let Ty::Sequence(row) = &ty else { unreachable!() };
        let written = csv::write(&value, &ty, b"", precision, &|| false).unwrap();
        let read = csv::read(&written, "f", row, precision).unwrap();
        prop_assert!(same(&read, &value), "{read:?} is not {value:?}");
    }

    #[test]
    fn arrays_read_back((ty, value) in arrays()) {
        let written = npy::write(&value, &ty, WIDE, &|| false).unwrap();
        let read = npy::read(&written, "f", &ty, WIDE).unwrap();
        // The lengths of levels below an empty level are not part of the value.
        prop_assert!(same(&read, &value), "{read:?} is not {value:?}");
        npyz::NpyFile::new(&written[..]).unwrap();
    }

    #[test]
    fn matrices_read_back(value in matrices()) {
        let written = matrix_market::write(&value, WIDE, &|| false).unwrap();
        let read = matrix_market::read(&written, "f", WIDE).unwrap().into_value();
        prop_assert!(same(&read, &value), "{read:?} is not {value:?}");
    }

    /// Reading a malformed file neither panics nor allocates more memory than its size justifies.
    #[test]
    fn broken_files_do_no_harm(
        (ty, value, precision) in typed(types()),
        (array_ty, array) in arrays(),
        matrix in matrices(),
        edits in prop::collection::vec(edits(), 1..6),
    ) {
        let object = object::write(&value, &ty, precision, &|| false);
        let mut files = vec![
            object,
            npy::write(&array, &array_ty, WIDE, &|| false).unwrap(),
            matrix_market::write(&matrix, WIDE, &|| false).unwrap(),
            b"( 1 2 3 -4.5 1e10 )".to_vec(),
            b"id,name,ok\n1,\"a \"\"b\"\"\",T\n2,,f\n".to_vec(),
        ];
        for file in &mut files {
            for edit in &edits {
                edit.apply(file);
            }
            read_by_all(file, &ty, precision);
            read_by_all(file, &array_ty, precision);
        }
    }

    #[test]
    fn noise_does_no_harm(
        noise in prop::collection::vec(any::<u8>(), 0..200),
        ty in types(),
        magic in 0..4usize,
    ) {
        let mut file = [&b""[..], b"\x93NUMPY\x01\x00\x20\x00{'descr': '<f8', ", b"%%MatrixMarket matrix ", b"[ "]
            [magic].to_vec();
        file.extend(noise);
        read_by_all(&file, &ty, WIDE);
    }
}

fn read_by_all(file: &[u8], ty: &Ty, precision: Precision) {
    let _ = object::read(file, "f", ty, precision);
    let _ = csv::read(file, "f", ty, precision);
    let _ = csv::read(file, "f", &pair(Ty::Int, pair(text(), Ty::Bool)), precision);
    let _ = npy::read(file, "f", ty, precision);
    let _ = matrix_market::read(file, "f", precision);
    let _ = list::read_ints(file, "f", precision);
    let _ = list::read_floats(file, "f", precision);
}

/// A random modification of a file.
#[derive(Clone, Debug)]
enum Edit {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, usize),
}

fn edits() -> impl Strategy<Value = Edit> {
    let at = any::<prop::sample::Index>;
    let number = prop_oneof![
        Just(b"9999999999".to_vec()),
        Just(b"-1".to_vec()),
        Just(b"99999999999999999999999".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"0".to_vec()),
        prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(i, b)| Edit::Set(i, b)),
        (at(), number).prop_map(|(i, n)| Edit::Insert(i, n)),
        (at(), 1..9usize).prop_map(|(i, n)| Edit::Remove(i, n)),
        at().prop_map(Edit::Cut),
        (at(), 1..20usize).prop_map(|(i, n)| Edit::Repeat(i, n)),
    ]
}

impl Edit {
    fn apply(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        match self {
            Edit::Set(at, byte) => {
                let at = at.index(file.len());
                file[at] = *byte;
            }
            Edit::Insert(at, bytes) => {
                let at = at.index(file.len());
                file.splice(at..at, bytes.iter().copied());
            }
            Edit::Remove(at, count) => {
                let at = at.index(file.len());
                let end = (at + count).min(file.len());
                file.drain(at..end);
            }
            Edit::Cut(at) => file.truncate(at.index(file.len())),
            Edit::Repeat(at, count) => {
                let at = at.index(file.len());
                let end = (at + count).min(file.len());
                let part = file[at..end].to_vec();
                file.splice(at..at, part);
            }
        }
    }
}

#[test]
fn objects_look_as_they_should() {
    let nested = Value::sequence(&seq(Ty::Int), [ints(&[1, 2]), ints(&[]), ints(&[3])]);
    let written = object::write(&nested, &seq(seq(Ty::Int)), WIDE, &|| false);
    assert_eq!(written, b"[ 3 ]\n[ 2 0 1 ]\n( 1 2 3 )\n");
    let mixed = Value::pair(Value::Int(7), Value::text("\"seven\"é\n"));
    let written = object::write(&mixed, &pair(Ty::Int, text()), WIDE, &|| false);
    let expected = "( 7 )\n[ 10 ]\n\"\\\"seven\\\"\\xC3\\xA9\\n\"\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);
    // White space is free in this format.
    let read = object::read(b"[3][2 0\n1](1 2 3)", "f", &seq(seq(Ty::Int)), WIDE);
    assert_eq!(read, Ok(nested));
}

#[test]
fn broken_objects_are_explained() {
    let ty = seq(seq(Ty::Int));
    for (file, message) in [
        (&b""[..], "f:1:1: expected `[`, found nothing"),
        (b"[ 1 ] [ 2 ] ( 1 )", "f:1:14: expected 2 of them here, found 1"),
        (b"[ 1 ] [ 2 ] ( 1 x )", "f:1:17: expected an int, found `x`"),
        (b"[ 2 ] [ 1 ] ( 1 )", "f:1:8: expected 2 of them here, found 1"),
        (b"[ 999999999 ] [ ]", "f:1:1: the lengths are larger than the file"),
        (b"[ -1 ] [ ]", "f:1:3: a length must not be negative"),
        (b"[ 1 ] [ 1 ] ( 1", "f:1:16: expected `)`, found nothing"),
        (b"[ 0 ] [ ] ( ) x", "f:1:15: expected the end of the file, found `x`"),
    ] {
        assert_eq!(object::read(file, "f", &ty, WIDE), Err(message.to_owned()));
    }
    let open = object::read(b"[ 3 ] \"abc", "f", &text(), WIDE);
    assert_eq!(open, Err("f:1:11: the text is not closed".to_owned()));
}

/// Builds a file in the format of NumPy.
fn npy_file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

#[test]
fn arrays_of_every_element_type() {
    let of = |descr: &str, data: &[u8], ty: Ty| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n");
        npy::read(&npy_file(&header, data), "f", &seq(ty), WIDE)
    };
    let ones = Ok(ints(&[1, -2]));
    assert_eq!(of("|i1", &[1, 0xFE], Ty::Int), ones);
    assert_eq!(of("<i2", &[1, 0, 0xFE, 0xFF], Ty::Int), ones);
    assert_eq!(of(">i2", &[0, 1, 0xFF, 0xFE], Ty::Int), ones);
    assert_eq!(of(">i4", &[0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE], Ty::Int), ones);
    let eight = [1i64.to_be_bytes(), (-2i64).to_be_bytes()].concat();
    assert_eq!(of(">i8", &eight, Ty::Int), ones);
    assert_eq!(of("|u1", &[1, 0xFE], Ty::Int), Ok(ints(&[1, 254])));
    assert_eq!(of(">u2", &[0, 1, 0xFF, 0xFE], Ty::Int), Ok(ints(&[1, 65534])));
    let eight = [1u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
    assert_eq!(
        of("<u8", &eight, Ty::Int),
        Err("f: 18446744073709551615 is too large for an int".to_owned())
    );
    let floats = Ok(Value::sequence(&Ty::Float, [Value::Float(1.5), Value::Float(-2.0)]));
    assert_eq!(of("<f2", &[0x00, 0x3E, 0x00, 0xC0], Ty::Float), floats);
    assert_eq!(
        of(">f4", &[1.5f32.to_be_bytes(), (-2f32).to_be_bytes()].concat(), Ty::Float),
        floats
    );
    assert_eq!(
        of("<f8", &[1.5f64.to_le_bytes(), (-2f64).to_le_bytes()].concat(), Ty::Float),
        floats
    );
    let bools = Ok(Value::sequence(&Ty::Bool, [Value::Bool(true), Value::Bool(false)]));
    assert_eq!(of("|b1", &[1, 0], Ty::Bool), bools);
    assert_eq!(of("|u1", b"ab", Ty::Char), Ok(Value::text("ab")));
    assert_eq!(
        of("<f4", &[0; 8], Ty::Int),
        Err("f: the file holds float32 of shape 2, which is not of type [int]".to_owned())
    );
    assert_eq!(
        of("<c16", &[0; 32], Ty::Float),
        Err("f: elements of type `<c16` cannot be read".to_owned())
    );
    assert_eq!(
        of("<f8", &[0; 15], Ty::Float),
        Err("f: the file should hold float64 of shape 2, but it ends before".to_owned())
    );
}

#[test]
fn arrays_in_fortran_order() {
    let header = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}";
    let read = npy::read(&npy_file(header, &[1, 4, 2, 5, 3, 6]), "f", &seq(seq(Ty::Int)), WIDE);
    let rows = [ints(&[1, 2, 3]), ints(&[4, 5, 6])];
    assert_eq!(read, Ok(Value::sequence(&seq(Ty::Int), rows)));

    // The same array, written by an independent library.
    let mut file = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .order(npyz::Order::Fortran)
        .shape(&[2, 2, 2])
        .writer(&mut file)
        .begin_nd()
        .unwrap();
    writer.extend([0i32, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    writer.finish().unwrap();
    let read = npy::read(&file, "f", &seq(seq(seq(Ty::Int))), WIDE).unwrap();
    let pairs = seq(Ty::Int);
    let expected = Value::sequence(
        &seq(pairs.clone()),
        [
            Value::sequence(&pairs, [ints(&[0, 4]), ints(&[2, 6])]),
            Value::sequence(&pairs, [ints(&[1, 5]), ints(&[3, 7])]),
        ],
    );
    assert_eq!(read, expected);
}

#[test]
fn libraries_that_others_wrote_read_our_arrays() {
    let rows = Value::sequence(&seq(Ty::Int), [ints(&[1, -2, 3]), ints(&[4, 5, 6])]);
    let written = npy::write(&rows, &seq(seq(Ty::Int)), WIDE, &|| false).unwrap();
    let file = npyz::NpyFile::new(&written[..]).unwrap();
    assert_eq!(file.shape(), [2, 3]);
    assert_eq!(file.into_vec::<i64>().unwrap(), [1, -2, 3, 4, 5, 6]);
}

#[test]
fn arrays_that_cannot_be() {
    let ragged = Value::sequence(&seq(Ty::Int), [ints(&[1, 2]), ints(&[3])]);
    let message = npy::write(&ragged, &seq(seq(Ty::Int)), WIDE, &|| false).unwrap_err();
    assert_eq!(
        message,
        "the rows of an array have equal lengths, but one has 2 and another 1 elements"
    );
    let pairs = seq(pair(Ty::Int, Ty::Int));
    let message = npy::read(
        &npy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (0,)}", &[]),
        "f",
        &pairs,
        WIDE,
    );
    assert!(message.unwrap_err().contains("(int, int)"));

    for (header, of) in [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}", 2),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 0)}", 2),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}", 1),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", 1),
        ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", 1),
        ("{'descr': '<f8', 'fortran_order': False}", 1),
        ("((((((((((((((((", 1),
        ("", 1),
    ] {
        let ty = (0..of).fold(Ty::Float, |ty, _| seq(ty));
        assert!(npy::read(&npy_file(header, &[0; 8]), "f", &ty, WIDE).is_err(), "{header}");
    }
    // The header claims a length of four gigabytes.
    let mut file = b"\x93NUMPY\x02\x00".to_vec();
    file.extend([0xFF; 4]);
    assert_eq!(
        npy::read(&file, "f", &Ty::Float, WIDE),
        Err("f: the file ends in its header".to_owned())
    );
    assert_eq!(
        npy::read(b"PK", "f", &Ty::Float, WIDE),
        Err("f: this is not a .npy file".to_owned())
    );
}
