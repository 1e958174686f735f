//! Arrays: of every type, slices, copies, compaction.

use super::{Case, Data, Input};
use crate::kir::Ty;

pub(super) fn cases(cases: &mut Vec<Case>) {
    for ty in Ty::ALL {
        cases.push(through(*ty));
    }
    slices(cases);
    copies(cases);
    compaction(cases);
    texts(cases);
}

/// Constant arrays, at points by themselves and many at a time, through calls and compaction.
fn texts(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [u8]) over flat v0 at v2 {
  v3: [u8] = text \"a\\\"\\n\\x00\\xffz%\"
  v4: i64 = const 7
  v5: i64 = rem v2, v4
  v6: u8 = load v3[v5]
  store v1[v2] = v6
}";
    let chars: Vec<u8> = b"a\"\n\0\xffz%".iter().copied().cycle().take(1000).collect();
    cases.push(Case::new("the chars of a text", text).i64(1000).out(chars));
    let text = "function \"pick\"(v0: [u8], v1: bool) -> [u8] {
  v2: [u8] = text \"other\"
  v3: [u8] = select v1, v0, v2
  yield v3
}
kernel \"k\"(v0: i64, v1: [u8]) over flat v0 at v2 {
  v3: mark = mark
  v4: i64 = const 2
  v5: i64 = rem v2, v4
  v6: i64 = const 1
  v7: bool = eq v5, v6
  v8: [u8] = text \"text\"
  v9: [u8] = text \"\"
  v10: [u8] = call \"pick\"(v8, v7)
  v11: i64 = const 4
  v12: [u8], v13: [u8] = compact v3 keep v10[..v11], v9[..v4]
  v14: u8 = load v12[v4]
  store v1[v2] = v14
}";
    let text =
        text.replace("v9[..v4]", "v9[..v15]").replace("  v11:", "  v15: i64 = const 0\n  v11:");
    cases.push(Case::new("texts chosen and kept", text).i64(5).out(*b"hxhxh"));
}

/// Elements go through an array of the thread and come back in reverse.
fn through(ty: Ty) -> Case {
    let text = format!(
        "kernel \"k\"(v0: i64, v1: [{ty}], v2: [{ty}], v3: i64) over flat v0 at v4 {{
  v5: [{ty}] = alloc v3
  for v6 < v3 {{
    v7: {ty} = load v1[v6]
    store v5[v6] = v7
  }}
  v8: i64 = sub v3, v4
  v9: i64 = const 1
  v10: i64 = sub v8, v9
  v11: {ty} = load v5[v10]
  store v2[v4] = v11
}}"
    );
    let (there, back): (Data, Data) = match ty {
        Ty::I32 => ([1, -2, i32::MIN].into(), [i32::MIN, -2, 1].into()),
        Ty::I64 => ([1, -2, i64::MIN].into(), [i64::MIN, -2, 1].into()),
        Ty::F32 => ([1f32, -0.0, f32::NAN].into(), [f32::NAN, -0.0, 1.0].into()),
        Ty::F64 => ([1.0, -0.0, f64::NAN].into(), [f64::NAN, -0.0, 1.0].into()),
        Ty::Bool => ([true, true, false].into(), [false, true, true].into()),
        Ty::U8 => ([1u8, 128, 255].into(), [255u8, 128, 1].into()),
    };
    Case::new(format!("arrays of {ty}"), text).i64(3).array(there).out(back).i64(3)
}

fn slices(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [i32], v2: [i32]) over flat v0 at v3 {
  v4: [i32] = slice v1[v3..]
  v5: i64 = const 1
  v6: [i32] = slice v4[v5..]
  v7: i64 = const 0
  v8: i32 = load v6[v7]
  v9: [i32] = slice v2[v3..]
  store v9[v7] = v8
}";
    let case = |name: &str| Case::new(name, text).i64(3);
    cases.push(case("slices of slices").array([1, 2, 3, 4]).out([2, 3, 4]));
    let part = Input::Part(Data::from([9, 9, 1, 2, 3, 4]), 2);
    cases.push(case("an argument that is a part").arg(part).out([2, 3, 4]));
    let part = Input::Part(Data::from([7; 5]), 2);
    let case = case("a part is written").array([1, 2, 3, 4]).arg(part);
    cases.push(case.becomes(2, [7, 7, 2, 3, 4]));
    // A slice may begin behind the last element, and an array be empty.
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: [i64] = slice v1[v0..]
  v5: i64 = const 0
  copy v4 -> v2 count v5
  v6: i64 = const -5
  v7: [i64] = alloc v6
  copy v7 -> v4 count v5
  store v2[v3] = v0
}";
    cases.push(Case::new("nothing of = alloc", text).i64(2).array([1i64, 2]).out([2i64, 2]));
}

fn copies(cases: &mut Vec<Case>) {
    for ty in Ty::ALL {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [{ty}], v2: [{ty}], v3: i64) over flat v0 at v4 {{
  v5: [{ty}] = alloc v3
  copy v1 -> v5 count v3
  v6: i64 = mul v4, v3
  v7: [{ty}] = slice v2[v6..]
  copy v5 -> v7 count v3
}}"
        );
        let bytes: Vec<u8> = (0..100 * ty.size() as u32).map(|i| (i * 37 % 199) as u8).collect();
        let one = match ty {
            Ty::Bool => Data::from(bytes.iter().map(|byte| byte % 3 == 0).collect::<Vec<bool>>()),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => Data::from_bytes(*ty, &bytes),
        };
        let three = Data::from_bytes(*ty, &one.bytes().repeat(3));
        let case = Case::new(format!("copies of {ty}"), text).i64(3).array(one).out(three);
        cases.push(case.i64(100));
    }
    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: i64 = const 2
  v4: [i64] = slice v1[v3..]
  copy v1 -> v4 count v3
}";
    let case = Case::new("copies within an array", text).i64(1).array([1i64, 2, 3, 4]);
    cases.push(case.becomes(1, [1i64, 2, 1, 2]));
}

fn compaction(cases: &mut Vec<Case>) {
    // A million rounds that each allocate 80 bytes and keep as much.
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: i64) over flat v0 at v3 {
  v4: i64 = const 10
  v5: [i64] = alloc v4
  for v6 < v4 {
    store v5[v6] = v3
  }
  v7: mark = mark
  v8: [i64] = for v9 < v2 carry v10: [i64] = v5 {
    v11: [i64] = alloc v4
    for v12 < v4 {
      v13: i64 = load v10[v12]
      v14: i64 = add v13, v12
      store v11[v12] = v14
    }
    v15: [i64] = compact v7 keep v11[..v4]
    yield v15
  }
  v16: i64 = for v17 < v4 reduce add {
    v18: i64 = load v8[v17]
    yield v18
  }
  store v1[v3] = v16
}";
    let rounds = 3000;
    let expected: Vec<i64> = (0..3).map(|i| 10 * i + 45 * rounds).collect();
    cases.push(Case::new("compact in a loop", text).i64(3).out(expected).i64(rounds));
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [f64]) over flat v0 at v3 {
  v4: i64 = const 3
  v5: [i64] = alloc v4
  for v6 < v4 {
    store v5[v6] = v6
  }
  v7: mark = mark
  v8: [f64] = alloc v4
  v9: [i64] = alloc v4
  v10: [f64] = alloc v4
  for v11 < v4 {
    v12: f64 = convert v11
    store v10[v11] = v12
    v13: i64 = add v11, v3
    store v9[v11] = v13
    store v8[v11] = v12
  }
  v14: i64 = const 1
  v15: [f64] = slice v10[v14..]
  v16: i64 = const 2
  v17: [f64], v18: [i64], v19: [i64] = compact v7 keep v15[..v16], v5[..v4], v9[..v14]
  v20: [i64] = alloc v4
  for v21 < v4 {
    v22: i64 = const -1
    store v20[v21] = v22
  }
  v23: f64 = load v17[v14]
  store v2[v3] = v23
  v24: i64 = load v18[v16]
  v25: i64 = const 0
  v26: i64 = load v19[v25]
  v27: i64 = add v24, v26
  v28: i64 = load v5[v14]
  v29: i64 = add v27, v28
  store v1[v3] = v29
}";
    let case = Case::new("compact keeps several", text).i64(3).out([3i64, 4, 5]);
    cases.push(case.out([2.0, 2.0, 2.0]));
}
