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
    lengths(cases);
    texts(cases);
    equal_stores(cases);
}

/// Many work items store the same value to one element.
fn equal_stores(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [u8], v2: i64) over flat v0 at v3 {
  v4: i64 = rem v3, v2
  v5: u8 = const 7
  store v1[v4] = v5
}";
    cases.push(Case::new("stores of one value", text).i64(3000).out(vec![7u8; 3]).i64(3));
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
    // The same with arrays of lengths that depend on the work item, and much garbage: of the kept
    // ones one is as old as the mark, one lies within another, and one is a parameter.
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: i64, v3: [i64]) over flat v0 at v4 {
  v5: i64 = const 3
  v6: i64 = add v4, v5
  v7: [i64] = alloc v6
  for v8 < v6 {
    store v7[v8] = v8
  }
  v9: mark = mark
  v10: [u8] = alloc v2
  v11: i64 = mul v6, v5
  v12: [i64] = alloc v11
  for v13 < v11 {
    v14: i64 = mul v13, v6
    store v12[v13] = v14
  }
  v15: [u8] = alloc v2
  v16: i64 = const 2
  v17: [i64] = slice v12[v16..]
  v18: i64 = const 1
  v19: bool = gt v4, v18
  v20: [i64] = select v19, v3, v17
  v21: [i64], v22: [i64], v23: [i64], v24: [i64] = compact v9 keep v17[..v6], v7[..v6], v12[..v5], v20[..v5]
  v25: [i64] = alloc v11
  for v26 < v11 {
    v27: i64 = const -1
    store v25[v26] = v27
  }
  v28: i64 = sub v6, v18
  v29: i64 = load v21[v28]
  v30: i64 = load v22[v28]
  v31: i64 = load v23[v16]
  v32: i64 = load v24[v16]
  v33: i64 = add v29, v30
  v34: i64 = add v31, v32
  v35: i64 = add v33, v34
  store v1[v4] = v35
}";
    let expected: Vec<i64> = (0..300)
        .map(|i: i64| {
            let n = i + 3;
            n * (n + 1) + (n - 1) + 2 * n + if i > 1 { 1000 } else { 4 * n }
        })
        .collect();
    for garbage in [0, 3000, 70_000] {
        let case = Case::new(format!("compact frees {garbage} = alloc"), text).i64(300);
        cases.push(case.out(expected.clone()).i64(garbage).array([10i64, 100, 1000]));
    }
}

/// Arrays of lengths that differ from work item to work item, in loops and branches.
fn lengths(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = load v1[v3]
  v5: i64 = const 0
  v6: i64 = for v7 < v4 reduce add {
    v8: [i64] = alloc v7
    for v9 < v7 {
      store v8[v9] = v9
    }
    v10: i64 = for v11 < v7 reduce max {
      v12: i64 = load v8[v11]
      yield v12
    }
    v13: i64 = max v10, v5
    yield v13
  }
  v14: bool = gt v4, v5
  v15: i64 = if v14 {
    v16: [i64] = alloc v4
    v17: i64 = const 1
    v18: i64 = sub v4, v17
    store v16[v18] = v6
    v19: i64 = load v16[v18]
    yield v19
  } else {
    yield v5
  }
  v20: i64 = scan add v15
} then {
  v21: [i64] = alloc v20
  for v22 < v20 {
    v23: i64 = rem v22, v0
    store v21[v22] = v23
  }
  v24: i64 = for v25 < v20 reduce xor {
    v26: i64 = load v21[v25]
    yield v26
  }
  store v2[v3] = v24
}";
    let count = 1100;
    let own: Vec<i64> = (0..count).map(|k: i64| if k % 50 == 0 { k % 7 } else { 0 }).collect();
    let mut before = 0;
    let mut expected = Vec::new();
    for length in &own {
        expected.push((0..before).fold(0, |sum, k| sum ^ (k % count)));
        before += (0..*length).map(|n| (n - 1).max(0)).sum::<i64>();
    }
    let case = Case::new("lengths by work item = alloc", text).i64(count);
    cases.push(case.array(own).out(expected));
}
