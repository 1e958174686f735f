//! Every arithmetic instruction on edge values, against Rust.

mod common;

use common::{Device, kernel_for};
use nesl_sim::options::Options;

/// The edge values of integers, cut to a width.
const INTEGERS: [u64; 16] = [
    0,
    1,
    2,
    3,
    31,
    32,
    63,
    64,
    0x7fff,
    0x8000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

const DOUBLES: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    -2.5,
    1e-320,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    2_147_483_647.5,
    -2_147_483_649.0,
    9.3e18,
    1.9e19,
    65_535.9,
    std::f64::consts::PI,
    0.1,
];

/// Registers by width in bytes: `h`, `r` or `rd`.
fn registers(bytes: usize) -> &'static str {
    match bytes {
        2 => "%h",
        4 => "%r",
        _ => "%rd",
    }
}

/// Executes `body` in a thread for each row; it finds the sources in registers 10, 11, 12 of the
/// given widths, and leaves its result in register 20 of the width `out`.
fn run(body: &str, widths: &[usize], out: usize, rows: &[Vec<u64>]) -> Vec<u64> {
    let mut device = Device::new(&Options { check: true, ..Options::default() });
    let mut text = String::from(
        "ld.param.u64 %rd1, [p_out];\n ld.param.u64 %rd2, [p_in];\n mov.u32 %r1, %tid.x;\n\
         mov.u32 %r2, %ctaid.x;\n mad.lo.u32 %r1, %r2, 32, %r1;\n ld.param.u32 %r3, [p_rows];\n\
         setp.ge.u32 %p1, %r1, %r3;\n @%p1 bra END;\n mul.wide.u32 %rd3, %r1, 24;\n\
         add.u64 %rd2, %rd2, %rd3;\n mul.wide.u32 %rd3, %r1, 8;\n add.u64 %rd1, %rd1, %rd3;\n",
    );
    for (k, &width) in widths.iter().enumerate() {
        let bits = 8 * width;
        let register = registers(width);
        text += &format!("ld.global.b{bits} {register}1{k}, [%rd2+{}];\n", 8 * k);
    }
    text += body;
    let bits = 8 * out;
    text += &format!("\nst.global.b{bits} [%rd1], {}20;\nEND:", registers(out));
    let text = text.replace("%h2", "%g2");
    let text = kernel_for(80, "", ".param .u64 p_out, .param .u64 p_in, .param .u32 p_rows", &text)
        .replace(".reg .b16 %h<16>;", ".reg .b16 %h<16>;\n.reg .b16 %g<24>;");
    let input: Vec<u64> =
        rows.iter().flat_map(|row| (0..3).map(|k| row.get(k).copied().unwrap_or(0))).collect();
    let input = device.upload_u64(&input);
    let output = device.upload_u64(&vec![0; rows.len()]);
    let blocks = rows.len().div_ceil(32) as u32;
    device
        .launch(&text, blocks, 32, &[output, input, rows.len() as u64])
        .unwrap_or_else(|fault| panic!("{fault}"));
    device.read_u64(output, rows.len())
}

fn mask(bytes: usize) -> u64 {
    if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// All pairs of integers of a width.
fn pairs(bytes: usize) -> Vec<Vec<u64>> {
    let values = INTEGERS.map(|value| value & mask(bytes));
    values.iter().flat_map(|&a| values.iter().map(move |&b| vec![a, b])).collect()
}

/// Compares an instruction of two integers with a function.
#[track_caller]
fn two(instruction: &str, bytes: usize, out: usize, f: impl Fn(u64, u64) -> u64) {
    let (source, target) = (registers(bytes), registers(out));
    let body = format!("{instruction} {target}20, {source}10, {source}11;");
    let rows = pairs(bytes);
    for (row, found) in rows.iter().zip(run(&body, &[bytes, bytes], out, &rows)) {
        let expected = f(row[0], row[1]) & mask(out);
        assert_eq!(found, expected, "{instruction} {:#x} {:#x}", row[0], row[1]);
    }
}

/// Compares an instruction of one value with a function.
#[track_caller]
fn one(instruction: &str, bytes: usize, out: usize, values: &[u64], f: impl Fn(u64) -> u64) {
    let body = format!("{instruction} {}20, {}10;", registers(out), registers(bytes));
    let rows: Vec<Vec<u64>> = values.iter().map(|value| vec![value & mask(bytes)]).collect();
    for (row, found) in rows.iter().zip(run(&body, &[bytes], out, &rows)) {
        assert_eq!(found, f(row[0]) & mask(out), "{instruction} {:#x}", row[0]);
    }
}

macro_rules! integer_tests {
    ($($ty:ident $name:literal $bytes:literal;)*) => {$({
        let name = $name;
        two(&format!("add.{name}"), $bytes, $bytes, |a, b| (a as $ty).wrapping_add(b as $ty) as u64);
        two(&format!("sub.{name}"), $bytes, $bytes, |a, b| (a as $ty).wrapping_sub(b as $ty) as u64);
        two(&format!("mul.lo.{name}"), $bytes, $bytes, |a, b| {
            (a as $ty).wrapping_mul(b as $ty) as u64
        });
        two(&format!("mul.hi.{name}"), $bytes, $bytes, |a, b| {
            ((a as $ty as i128).wrapping_mul(b as $ty as i128) >> (8 * $bytes)) as u64
        });
        two(&format!("min.{name}"), $bytes, $bytes, |a, b| (a as $ty).min(b as $ty) as u64);
        two(&format!("max.{name}"), $bytes, $bytes, |a, b| (a as $ty).max(b as $ty) as u64);
        two(&format!("div.{name}"), $bytes, $bytes, |a, b| match b as $ty {
            0 => u64::MAX,
            b => (a as $ty).wrapping_div(b) as u64,
        });
        two(&format!("rem.{name}"), $bytes, $bytes, |a, b| match b as $ty {
            0 => a,
            b => (a as $ty).wrapping_rem(b) as u64,
        });
    })*};
}

#[test]
fn integer_arithmetic() {
    integer_tests! {
        u16 "u16" 2; i16 "s16" 2; u32 "u32" 4; i32 "s32" 4; u64 "u64" 8; i64 "s64" 8;
    }
    two("mul.wide.u16", 2, 4, |a, b| a * b);
    two("mul.wide.s16", 2, 4, |a, b| (i64::from(a as i16) * i64::from(b as i16)) as u64);
    two("mul.wide.u32", 4, 8, |a, b| a * b);
    two("mul.wide.s32", 4, 8, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64);
}

#[test]
fn bit_wise_logic_and_shifts() {
    for bytes in [2, 4, 8] {
        let bits = 8 * bytes;
        two(&format!("and.b{bits}"), bytes, bytes, |a, b| a & b);
        two(&format!("or.b{bits}"), bytes, bytes, |a, b| a | b);
        two(&format!("xor.b{bits}"), bytes, bytes, |a, b| a ^ b);
        one(&format!("not.b{bits}"), bytes, bytes, &INTEGERS, |a| !a);
    }
    let counts = [0, 1, 31, 32, 33, 63, 64, 65, 0xffff_ffff];
    for (name, bytes) in [("u16", 2), ("s16", 2), ("u32", 4), ("s32", 4), ("u64", 8), ("s64", 8)] {
        let source = registers(bytes);
        let rows: Vec<Vec<u64>> = INTEGERS
            .iter()
            .flat_map(|a| counts.iter().map(move |n| vec![a & mask(bytes), *n]))
            .collect();
        let bits = 8 * bytes as u64;
        let right =
            run(&format!("shr.{name} {source}20, {source}10, %r11;"), &[bytes, 4], bytes, &rows);
        let left =
            run(&format!("shl.b{bits} {source}20, {source}10, %r11;"), &[bytes, 4], bytes, &rows);
        for (k, row) in rows.iter().enumerate() {
            let (a, n) = (row[0], row[1]);
            let signed = (a << (64 - bits)) as i64 >> (64 - bits);
            let shifted = if name.starts_with('s') {
                (signed >> n.min(bits - 1)) as u64
            } else if n >= bits {
                0
            } else {
                a >> n
            };
            assert_eq!(right[k], shifted & mask(bytes), "shr.{name} {a:#x} {n}");
            let shifted = if n >= bits { 0 } else { a << n };
            assert_eq!(left[k], shifted & mask(bytes), "shl.b{bits} {a:#x} {n}");
        }
    }
}

#[test]
fn counts_of_bits() {
    one("popc.b32", 4, 4, &INTEGERS, |a| u64::from(a.count_ones()));
    one("popc.b64", 8, 4, &INTEGERS, |a| u64::from(a.count_ones()));
    one("clz.b32", 4, 4, &INTEGERS, |a| u64::from((a as u32).leading_zeros()));
    one("clz.b64", 8, 4, &INTEGERS, |a| u64::from(a.leading_zeros()));
    one("brev.b32", 4, 4, &INTEGERS, |a| u64::from((a as u32).reverse_bits()));
    one("brev.b64", 8, 8, &INTEGERS, u64::reverse_bits);
    one("bfind.u32", 4, 4, &INTEGERS, |a| u64::from(a.checked_ilog2().unwrap_or(u32::MAX)));
    one("bfind.u64", 8, 4, &INTEGERS, |a| u64::from(a.checked_ilog2().unwrap_or(u32::MAX)));
    one("bfind.s32", 4, 4, &INTEGERS, |a| {
        let a = a as u32 as i32;
        u64::from((if a < 0 { !a } else { a }).checked_ilog2().unwrap_or(u32::MAX))
    });
    one("bfind.shiftamt.u32", 4, 4, &INTEGERS, |a| {
        u64::from(a.checked_ilog2().map_or(u32::MAX, |at| 31 - at))
    });
    one("abs.s32", 4, 4, &INTEGERS, |a| u64::from((a as i32).wrapping_abs() as u32));
    one("abs.s64", 8, 8, &INTEGERS, |a| (a as i64).wrapping_abs() as u64);
    one("neg.s32", 4, 4, &INTEGERS, |a| u64::from((a as i32).wrapping_neg() as u32));
    one("neg.s16", 2, 2, &INTEGERS, |a| (a as i16).wrapping_neg() as u64);
}

#[test]
fn bit_fields() {
    let rows: Vec<Vec<u64>> = [0xdead_beef, 0x8000_0001u64]
        .iter()
        .flat_map(|&a| {
            [(0, 0), (0, 32), (4, 8), (28, 8), (31, 1), (40, 3), (0, 255)]
                .map(|(position, length)| vec![a, position, length])
        })
        .collect();
    let field = |a: u64, position: u64, length: u64, signed: bool| -> u64 {
        let sign = (position + length).saturating_sub(1).min(31);
        let fill = signed && length > 0 && a >> sign & 1 == 1;
        (0..32)
            .map(|k| {
                let inside = k < length && position + k < 32;
                u64::from(if inside { a >> (position + k) & 1 == 1 } else { fill }) << k
            })
            .sum()
    };
    for (name, signed) in [("u32", false), ("s32", true)] {
        let found = run(&format!("bfe.{name} %r20, %r10, %r11, %r12;"), &[4, 4, 4], 4, &rows);
        for (row, found) in rows.iter().zip(found) {
            assert_eq!(found, field(row[0], row[1], row[2], signed), "bfe.{name} {row:x?}");
        }
    }
    let found = run("bfi.b32 %r20, %r10, 0x12345678, %r11, %r12;", &[4, 4, 4], 4, &rows);
    for (row, found) in rows.iter().zip(found) {
        let expected: u64 = (0..32)
            .map(|k| {
                let inside = k >= row[1] && k < row[1] + row[2];
                (if inside { row[0] >> (k - row[1]) } else { 0x1234_5678 >> k } & 1) << k
            })
            .sum();
        assert_eq!(found, expected, "bfi {row:x?}");
    }
    let row = [vec![0x8081_8283, 0x1011_1213, 7]];
    let value = |body: &str| run(body, &[4, 4, 4], 4, &row)[0];
    assert_eq!(value("prmt.b32 %r20, %r10, %r11, 0x5410;"), 0x1213_8283);
    assert_eq!(value("prmt.b32 %r20, %r10, %r11, 0xb7c0;"), 0xff10_0083);
    assert_eq!(value("lop3.b32 %r20, %r10, %r11, %r12, 0x96;"), 0x8081_8283 ^ 0x1011_1213 ^ 7);
    assert_eq!(value("lop3.b32 %r20, %r10, %r11, %r12, 0xc0;"), 0x8081_8283 & 0x1011_1213);
    assert_eq!(value("shf.l.wrap.b32 %r20, %r10, %r11, 36;"), 0x0111_2138);
    assert_eq!(value("shf.l.clamp.b32 %r20, %r10, %r11, 36;"), 0x8081_8283);
    assert_eq!(value("shf.r.wrap.b32 %r20, %r10, %r11, 8;"), 0x1380_8182);
    assert_eq!(value("shf.r.clamp.b32 %r20, %r10, %r11, 32;"), 0x1011_1213);
    assert_eq!(
        value("mad.lo.s32 %r20, %r10, %r11, %r12;"),
        u64::from(0x8081_8283u32.wrapping_mul(0x1011_1213).wrapping_add(7))
    );
    assert_eq!(
        value("mad.hi.u32 %r20, %r10, %r11, %r12;"),
        ((0x8081_8283u64 * 0x1011_1213) >> 32) + 7
    );
    assert_eq!(value("slct.b32.s32 %r20, %r10, %r11, %r12;"), 0x8081_8283);
    assert_eq!(value("slct.b32.s32 %r20, %r12, %r11, %r10;"), 0x1011_1213);
    assert_eq!(value("setp.lt.s32 %p2, %r10, %r11;\n selp.b32 %r20, 1, 2, %p2;"), 1);
    assert_eq!(value("mov.b64 %rd20, {%r10, %r11};\n mov.b64 {%r21, %r20}, %rd20;"), 0x1011_1213);
    assert_eq!(value("mov.b32 {%h1, %h3}, %r10;\n mov.b32 %r20, {%h3, %h1};"), 0x8283_8081);
}

/// The bits of an `f32` result: PTX has one NaN.
fn single(value: f32) -> u64 {
    u64::from(if value.is_nan() { 0x7fff_ffff } else { value.to_bits() })
}

/// Returns true if two doubles have the same bits, or are NaN both.
fn same(a: u64, b: f64) -> bool {
    a == b.to_bits() || f64::from_bits(a).is_nan() && b.is_nan()
}

fn smaller<T: PartialOrd + Copy>(a: T, b: T, a_nan: bool, b_nan: bool, a_negative: bool) -> T {
    if b_nan || !a_nan && (a < b || a == b && a_negative) { a } else { b }
}

#[test]
fn float_arithmetic() {
    let rows: Vec<Vec<u64>> =
        DOUBLES.iter().flat_map(|a| DOUBLES.map(|b| vec![a.to_bits(), b.to_bits()])).collect();
    let check = |name: &str, f: &dyn Fn(f64, f64) -> f64| {
        let body = format!("{name}.f64 %rd20, %rd10, %rd11;");
        for (row, found) in rows.iter().zip(run(&body, &[8, 8], 8, &rows)) {
            let (a, b) = (f64::from_bits(row[0]), f64::from_bits(row[1]));
            assert!(same(found, f(a, b)), "{name}.f64 {a} {b}: {}", f64::from_bits(found));
        }
    };
    check("add.rn", &|a, b| a + b);
    check("sub.rn", &|a, b| a - b);
    check("mul.rn", &|a, b| a * b);
    check("div.rn", &|a, b| a / b);
    check("copysign", &|a, b| b.copysign(a));
    check("min", &|a, b| smaller(a, b, a.is_nan(), b.is_nan(), a.is_sign_negative()));
    check("max", &|a, b| -smaller(-a, -b, a.is_nan(), b.is_nan(), a.is_sign_positive()));
    let rows: Vec<Vec<u64>> = DOUBLES
        .iter()
        .flat_map(|a| DOUBLES.map(|b| vec![single(*a as f32), single(b as f32)]))
        .collect();
    let check = |name: &str, f: &dyn Fn(f32, f32) -> f32| {
        let body = format!("{name}.f32 %r20, %r10, %r11;");
        for (row, found) in rows.iter().zip(run(&body, &[4, 4], 4, &rows)) {
            let (a, b) = (f32::from_bits(row[0] as u32), f32::from_bits(row[1] as u32));
            assert_eq!(found, single(f(a, b)), "{name}.f32 {a} {b}");
        }
    };
    check("add.rn", &|a, b| a + b);
    check("sub.rn", &|a, b| a - b);
    check("mul.rn", &|a, b| a * b);
    check("div.rn", &|a, b| a / b);
    check("min", &|a, b| smaller(a, b, a.is_nan(), b.is_nan(), a.is_sign_negative()));
}

#[test]
fn fused_multiply_add_and_roots() {
    let third = 1.0 / 3.0f64;
    let rows = [vec![third.to_bits(), third.to_bits(), (-third * third).to_bits()]];
    let found = run("fma.rn.f64 %rd20, %rd10, %rd11, %rd12;", &[8, 8, 8], 8, &rows);
    let expected = third.mul_add(third, -third * third);
    assert_eq!(found[0], expected.to_bits());
    assert_ne!(expected, 0.0);
    let bits: Vec<u64> = DOUBLES.iter().map(|value| value.to_bits()).collect();
    for (name, f) in [
        ("sqrt.rn.f64", f64::sqrt as fn(f64) -> f64),
        ("rcp.rn.f64", |a| 1.0 / a),
        ("neg.f64", |a| -a),
        ("abs.f64", f64::abs),
        ("cvt.rni.f64.f64", f64::round_ties_even),
        ("cvt.rzi.f64.f64", f64::trunc),
        ("cvt.rmi.f64.f64", f64::floor),
        ("cvt.rpi.f64.f64", f64::ceil),
    ] {
        let rows: Vec<Vec<u64>> = bits.iter().map(|value| vec![*value]).collect();
        let found = run(&format!("{name} %rd20, %rd10;"), &[8], 8, &rows);
        for (value, found) in DOUBLES.iter().zip(found) {
            assert!(same(found, f(*value)), "{name} {value}");
        }
    }
}

#[test]
#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn comparisons() {
    let rows: Vec<Vec<u64>> =
        DOUBLES.iter().flat_map(|a| DOUBLES.map(|b| vec![a.to_bits(), b.to_bits()])).collect();
    type Test = (&'static str, fn(f64, f64) -> bool);
    let table: [Test; 14] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b && !a.is_nan() && !b.is_nan()),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("equ", |a, b| a == b || a.is_nan() || b.is_nan()),
        ("neu", |a, b| a != b),
        ("ltu", |a, b| !(a >= b)),
        ("leu", |a, b| !(a > b)),
        ("gtu", |a, b| !(a <= b)),
        ("geu", |a, b| !(a < b)),
        ("num", |a, b| !a.is_nan() && !b.is_nan()),
        ("nan", |a, b| a.is_nan() || b.is_nan()),
    ];
    for (name, f) in table {
        let body = format!("setp.{name}.f64 %p2, %rd10, %rd11;\n selp.b32 %r20, 1, 0, %p2;");
        for (row, found) in rows.iter().zip(run(&body, &[8, 8], 4, &rows)) {
            let (a, b) = (f64::from_bits(row[0]), f64::from_bits(row[1]));
            assert_eq!(found == 1, f(a, b), "setp.{name}.f64 {a} {b}");
        }
    }
    let rows = pairs(4);
    for (name, f) in [
        ("lt.s32", (|a, b| (a as i32) < b as i32) as fn(u64, u64) -> bool),
        ("lt.u32", |a, b| a < b),
        ("ge.s32", |a, b| a as i32 >= b as i32),
        ("hi.u32", |a, b| a > b),
        ("eq.b32", |a, b| a == b),
    ] {
        let body = format!(
            "setp.{name} %p2|%p3, %r10, %r11;\n selp.b32 %r20, 1, 0, %p2;\n @%p3 add.u32 %r20, %r20, 2;"
        );
        for (row, found) in rows.iter().zip(run(&body, &[4, 4], 4, &rows)) {
            let expected = if f(row[0], row[1]) { 1 } else { 2 };
            assert_eq!(found, expected, "setp.{name} {row:x?}");
        }
    }
    for (name, f) in [
        ("finite", f64::is_finite as fn(f64) -> bool),
        ("infinite", f64::is_infinite),
        ("notanumber", f64::is_nan),
        ("normal", f64::is_normal),
        ("subnormal", f64::is_subnormal),
    ] {
        let body = format!("testp.{name}.f64 %p2, %rd10;\n selp.b32 %r20, 1, 0, %p2;");
        let rows: Vec<Vec<u64>> = DOUBLES.iter().map(|value| vec![value.to_bits()]).collect();
        for (value, found) in DOUBLES.iter().zip(run(&body, &[8], 4, &rows)) {
            assert_eq!(found == 1, f(*value), "testp.{name} {value}");
        }
    }
}

#[test]
fn conversions_from_floats_saturate() {
    macro_rules! check {
        ($($name:literal $ty:ident $bytes:literal;)*) => {$(
            for (rounding, f) in [
                ("rzi", f64::trunc as fn(f64) -> f64),
                ("rni", f64::round_ties_even),
                ("rmi", f64::floor),
                ("rpi", f64::ceil),
            ] {
                let bits: Vec<u64> = DOUBLES.iter().map(|value| value.to_bits()).collect();
                let name = format!("cvt.{rounding}.{}.f64", $name);
                one(&name, 8, $bytes, &bits, |a| f(f64::from_bits(a)) as $ty as u64);
                let bits: Vec<u64> = DOUBLES.iter().map(|value| single(*value as f32)).collect();
                let name = format!("cvt.{rounding}.{}.f32", $name);
                one(&name, 4, $bytes, &bits, |a| {
                    f(f64::from(f32::from_bits(a as u32))) as $ty as u64
                });
            }
        )*};
    }
    check! { "s32" i32 4; "u32" u32 4; "s64" i64 8; "u64" u64 8; "s16" i16 2; "u16" u16 2; }
}

#[test]
fn conversions_of_integers() {
    one("cvt.u64.u32", 4, 8, &INTEGERS, |a| a);
    one("cvt.s64.s32", 4, 8, &INTEGERS, |a| i64::from(a as i32) as u64);
    one("cvt.u32.u64", 8, 4, &INTEGERS, |a| a);
    one("cvt.u8.u32", 4, 4, &INTEGERS, |a| a & 0xff);
    one("cvt.s8.s32", 4, 4, &INTEGERS, |a| i64::from(a as i8) as u64);
    one("cvt.s32.s8", 4, 4, &INTEGERS, |a| i64::from(a as i8) as u64);
    one("cvt.sat.s16.s32", 4, 4, &INTEGERS, |a| (a as i32).clamp(-32_768, 32_767) as u64);
    one("cvt.sat.u8.s32", 4, 4, &INTEGERS, |a| (a as i32).clamp(0, 255) as u64);
    one("cvt.sat.u32.s64", 8, 4, &INTEGERS, |a| (a as i64).clamp(0, i64::from(u32::MAX)) as u64);
    one("cvt.sat.s32.u64", 8, 4, &INTEGERS, |a| a.min(i32::MAX as u64));
    one("cvt.rn.f64.s64", 8, 8, &INTEGERS, |a| (a as i64 as f64).to_bits());
    one("cvt.rn.f64.u64", 8, 8, &INTEGERS, |a| (a as f64).to_bits());
    one("cvt.rn.f32.u64", 8, 4, &INTEGERS, |a| single(a as f32));
    one("cvt.rn.f32.s32", 4, 4, &INTEGERS, |a| single(a as i32 as f32));
    one("cvt.rn.f32.u32", 4, 4, &INTEGERS, |a| single(a as u32 as f32));
    // 2^24 + 1 lies between two floats.
    let between = [0x100_0001u64, -0x100_0001i64 as u64];
    let expected = [
        [16_777_216f32, 16_777_218.0, 16_777_216.0],
        [-16_777_218f32, -16_777_216.0, -16_777_216.0],
    ];
    for (k, name) in ["rm", "rp", "rz"].iter().enumerate() {
        for (value, expected) in between.iter().zip(expected) {
            one(&format!("cvt.{name}.f32.s32"), 4, 4, &[*value], |_| single(expected[k]));
        }
    }
}

#[test]
fn conversions_between_floats() {
    let bits: Vec<u64> = DOUBLES.iter().map(|value| value.to_bits()).collect();
    one("cvt.rn.f32.f64", 8, 4, &bits, |a| single(f64::from_bits(a) as f32));
    let singles: Vec<u64> =
        DOUBLES.iter().filter(|v| !v.is_nan()).map(|value| single(*value as f32)).collect();
    one("cvt.f64.f32", 4, 8, &singles, |a| f64::from(f32::from_bits(a as u32)).to_bits());
    let tenth = [0.1f64.to_bits()];
    let near = 0.1f64 as f32;
    assert!(f64::from(near) > 0.1);
    one("cvt.rm.f32.f64", 8, 4, &tenth, |_| single(near.next_down()));
    one("cvt.rz.f32.f64", 8, 4, &tenth, |_| single(near.next_down()));
    one("cvt.rp.f32.f64", 8, 4, &tenth, |_| single(near));
}
