//! Models of the functions in `nesting.nesl`.

use crate::choices::Choices;
use crate::law::{Laws, for_any, for_ordinals};
use crate::value::Nesl;
use std::cmp::Ordering;

const INDEX: &str = "Sequence reference (a[i]) out of bounds.";

pub fn laws(laws: &mut Laws) {
    split_index(laws);
    for_any!(laws; split, halves, ends, transpose, group_by, find, search);
    for_ordinals!(laws; order);
    sort::<i64>(laws);
    sort::<f64>(laws);
}

fn split_index(laws: &mut Laws) {
    laws.function("split_index", Choices::seq::<bool>, |flags| {
        let falses = flags.iter().filter(|flag| !**flag).count() as i64;
        let (mut lows, mut highs) = (0.., falses..);
        let places = flags.iter().map(|flag| if *flag { &mut highs } else { &mut lows }.next());
        let places: Option<Vec<i64>> = places.collect();
        let sizes = vec![falses, flags.len() as i64 - falses];
        Ok((sizes, places.expect("there are enough ints")))
    });
}

fn split<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let v: Vec<T> = c.seq();
        let flags = c.near(v.len());
        (v, c.seq_of::<bool>(flags))
    };
    laws.function("split", choose, |(v, flags)| {
        if v.len() != flags.len() {
            return Err("Length mismatch in function SPLIT.");
        }
        let mut pieces = vec![Vec::new(), Vec::new()];
        for (x, flag) in v.into_iter().zip(flags) {
            pieces[usize::from(flag)].push(x);
        }
        Ok(pieces)
    });
}

fn halves<T: Nesl>(laws: &mut Laws) {
    laws.function("bottop", Choices::seq::<T>, |mut v| {
        let top = v.split_off(v.len().div_ceil(2));
        Ok(vec![v, top])
    });
}

fn ends<T: Nesl>(laws: &mut Laws) {
    laws.function("head_rest", Choices::seq::<T>, |v| {
        let (head, rest) = v.split_first().ok_or(INDEX)?;
        Ok((head.clone(), rest.to_vec()))
    });
    laws.function("rest_tail", Choices::seq::<T>, |v| {
        let (tail, rest) = v.split_last().ok_or(INDEX)?;
        Ok((rest.to_vec(), tail.clone()))
    });
}

fn transpose<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (rows, columns) = (c.length(), c.length().min(5));
        let ragged = c.once_in(8);
        let row = |c: &mut Choices| {
            let length = if ragged { c.near(columns) } else { columns };
            c.seq_of::<T>(length)
        };
        (0..rows).map(|_| row(c)).collect::<Vec<_>>()
    };
    laws.function("transpose", choose, |rows: Vec<Vec<T>>| {
        let columns = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != columns) {
            return Err("Lengths of subsequences are not equal in function TRANSPOSE.");
        }
        let column = |k: usize| rows.iter().map(|row| row[k].clone()).collect::<Vec<T>>();
        Ok((0..columns).map(column).collect::<Vec<_>>())
    });
}

fn group_by<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| (c.seq::<T>(), c.int_from(0, 6));
    laws.function("group_by", choose, |(v, n)| {
        let size = usize::try_from(n).ok().filter(|n| *n > 0);
        let size = size.ok_or("The size must be positive in function GROUP_BY.")?;
        Ok(v.chunks(size).map(<[T]>::to_vec).collect::<Vec<_>>())
    });
}

/// Compares in ascending order, with NaN last.
fn ascending<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

fn sort<T: Nesl + PartialOrd>(laws: &mut Laws) {
    laws.function("sort", Choices::seq::<T>, |mut v: Vec<T>| {
        v.sort_by(ascending);
        Ok(v)
    });
}

fn order<T: Nesl + PartialOrd>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let v: Vec<T> = c.seq();
        let n = v.len() as i64;
        (v, c.int_from(-1, n))
    };
    let model = |mut v: Vec<T>, k: i64| {
        v.sort_by(ascending);
        let last = (v.len() as i64 - 1).max(0);
        v.get(k.clamp(0, last) as usize).cloned().ok_or(INDEX)
    };
    laws.function("kth_smallest", choose, move |(v, k)| model(v, k));
    laws.function("median", Choices::seq::<T>, move |v: Vec<T>| {
        let k = v.len() as i64 / 2;
        model(v, k)
    });
}

fn find<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let v: Vec<T> = c.seq();
        let x = if v.is_empty() || c.once_in(3) { T::random(c) } else { c.pick(&v) };
        (x, v)
    };
    laws.function("find", choose, |(x, v)| {
        Ok(v.iter().position(|y| *y == x).map_or(-1, |place| place as i64))
    });
}

fn search<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        // The elements are drawn from two values, so that matches occur.
        let letters = [T::random(c), T::random(c)];
        let s = c.seq_from(&letters);
        let word = match c.below(4) {
            0 => c.seq_from(&letters),
            1 => Vec::new(),
            _ => (0..c.below(4)).map(|_| c.pick(&letters)).collect(),
        };
        (word, s)
    };
    laws.function("search_for_subseqs", choose, |(w, s): (Vec<T>, Vec<T>)| {
        let starts = 0..=s.len() as i64;
        Ok(starts.filter(|i| s[*i as usize..].starts_with(&w)).collect::<Vec<i64>>())
    });
}
