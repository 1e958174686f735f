//! Models of the functions in `sequences.nesl` that build sequences and take them apart.

use crate::choices::Choices;
use crate::law::{Laws, MAX_LENGTH, Outcome, for_any, for_ordinals};
use crate::value::Nesl;

pub fn laws(laws: &mut Laws) {
    index(laws);
    flags(laws);
    for_any!(laws; zip, unzip, vpair, vsep, pack, reverse, rotate, ends, take, drop, parity, interleave, shifts);
    for_ordinals!(laws; extremes);
    extremes_with_nan(laws);
}

fn index(laws: &mut Laws) {
    laws.function(
        "index",
        |c| c.int_from(-2, 8),
        |n: i64| match n {
            ..0 => Err("A length must not be negative."),
            0..=MAX_LENGTH => Ok((0..n).collect::<Vec<i64>>()),
            _ => Err("Out of memory"),
        },
    );
}

fn flags(laws: &mut Laws) {
    laws.function("count", Choices::seq::<bool>, |flags: Vec<bool>| {
        Ok(flags.into_iter().filter(|flag| *flag).count() as i64)
    });
    laws.function("enumerate", Choices::seq::<bool>, |flags: Vec<bool>| {
        let before = |i: usize| flags[..i].iter().filter(|flag| **flag).count() as i64;
        Ok((0..flags.len()).map(before).collect::<Vec<i64>>())
    });
    laws.function("pack_index", Choices::seq::<bool>, |flags: Vec<bool>| {
        Ok((0..flags.len() as i64).filter(|i| flags[*i as usize]).collect::<Vec<i64>>())
    });
    laws.function("length_from_flags", Choices::seq::<bool>, |flags: Vec<bool>| {
        let mut lengths: Vec<i64> = Vec::new();
        for flag in flags {
            match lengths.last_mut() {
                Some(length) if !flag => *length += 1,
                _ => lengths.push(1),
            }
        }
        Ok(lengths)
    });
}

fn zip<T: Nesl>(laws: &mut Laws) {
    fn model<A, B>(a: Vec<A>, b: Vec<B>) -> Outcome<Vec<(A, B)>> {
        let agree = a.len() == b.len();
        let pairs = a.into_iter().zip(b).collect();
        if agree { Ok(pairs) } else { Err("Length mismatch in function ZIP.") }
    }
    let choose = |c: &mut Choices| {
        let a: Vec<T> = c.seq();
        let b = c.near(a.len());
        (a, c.seq_of::<f64>(b))
    };
    laws.function("zip", choose, |(a, b)| model(a, b));
    let choose = move |c: &mut Choices| {
        let (a, b) = choose(c);
        let third = c.near(a.len());
        (a, b, c.seq_of::<T>(third))
    };
    laws.function("zip3", choose, |(a, b, c)| {
        let triples = model(a, model(b, c)?)?;
        Ok(triples.into_iter().map(|(a, (b, c))| (a, b, c)).collect::<Vec<_>>())
    });
}

fn unzip<T: Nesl>(laws: &mut Laws) {
    laws.function("unzip", Choices::seq::<(T, bool)>, |v| {
        Ok(v.into_iter().unzip::<T, bool, Vec<T>, Vec<bool>>())
    });
}

fn vpair<T: Nesl>(laws: &mut Laws) {
    laws.function("vpair", <(T, T)>::random, |(x, y)| Ok(vec![x, y]));
}

fn vsep<T: Nesl>(laws: &mut Laws) {
    laws.function("vsep", Choices::seq::<T>, |v| match &v[..] {
        [x, y, ..] => Ok((x.clone(), y.clone())),
        _ => Err("Sequence reference (a[i]) out of bounds."),
    });
}

fn pack<T: Nesl>(laws: &mut Laws) {
    laws.function("pack", Choices::seq::<(T, bool)>, |v| {
        Ok(v.into_iter().filter(|(_, keep)| *keep).map(|(x, _)| x).collect::<Vec<T>>())
    });
}

fn reverse<T: Nesl>(laws: &mut Laws) {
    laws.function("reverse", Choices::seq::<T>, |v| Ok(v.into_iter().rev().collect::<Vec<T>>()));
}

fn rotate<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| (c.seq::<T>(), c.int_from(-8, 8));
    laws.function("rotate", choose, |(mut v, n)| {
        let length = v.len().max(1) as i64;
        v.rotate_right(n.rem_euclid(length) as usize);
        Ok(v)
    });
}

fn ends<T: Nesl>(laws: &mut Laws) {
    laws.function(
        "cons",
        |c| (T::random(c), c.seq()),
        |(x, mut v)| {
            v.insert(0, x);
            Ok(v)
        },
    );
    laws.function(
        "snoc",
        |c| (c.seq(), T::random(c)),
        |(mut v, x)| {
            v.push(x);
            Ok(v)
        },
    );
}

/// Chooses a sequence and a number that is often within its length.
fn with_part<T: Nesl>(c: &mut Choices) -> (Vec<T>, i64) {
    let v = c.seq();
    let n = v.len() as i64;
    (v, c.int_from(-n - 1, n + 1))
}

/// Returns the index at which a part of `n` elements ends or, for negative `n`, begins.
fn cut(length: usize, n: i64, reason: &'static str) -> Outcome<usize> {
    let n = i128::from(n);
    let cut = if n < 0 { length as i128 + n } else { n };
    usize::try_from(cut).ok().filter(|cut| *cut <= length).ok_or(reason)
}

fn take<T: Nesl>(laws: &mut Laws) {
    laws.function("take", with_part::<T>, |(v, n)| {
        let cut = cut(v.len(), n, "Bounds error for function TAKE.")?;
        Ok(if n < 0 { v[cut..].to_vec() } else { v[..cut].to_vec() })
    });
}

fn drop<T: Nesl>(laws: &mut Laws) {
    laws.function("drop", with_part::<T>, |(v, n)| {
        let cut = cut(v.len(), n, "Bounds error for function DROP.")?;
        Ok(if n < 0 { v[..cut].to_vec() } else { v[cut..].to_vec() })
    });
}

fn parity<T: Nesl>(laws: &mut Laws) {
    laws.function("even_elts", Choices::seq::<T>, |v| {
        Ok(v.into_iter().step_by(2).collect::<Vec<T>>())
    });
    laws.function("odd_elts", Choices::seq::<T>, |v| {
        Ok(v.into_iter().skip(1).step_by(2).collect::<Vec<T>>())
    });
}

fn interleave<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let b: Vec<T> = c.seq();
        let a = c.near(b.len());
        (c.seq_of(a), b)
    };
    laws.function("interleave", choose, |(a, b)| {
        if a.len() != b.len() && a.len() != b.len() + 1 {
            return Err("Length mismatch for function INTERLEAVE.");
        }
        let mut b = b.into_iter();
        let mut turns = Vec::new();
        for x in a {
            turns.push(x);
            turns.extend(b.next());
        }
        Ok(turns)
    });
}

fn shifts<T: Nesl>(laws: &mut Laws) {
    laws.function(
        "previous",
        |c| (c.seq(), T::random(c)),
        |(mut v, x)| {
            v.insert(0, x);
            v.pop();
            Ok(v)
        },
    );
    laws.function(
        "next",
        |c| (c.seq(), T::random(c)),
        |(mut v, x)| {
            v.push(x);
            v.remove(0);
            Ok(v)
        },
    );
}

/// Returns the leftmost index whose element no other element beats.
fn best<T>(v: &[T], beats: fn(&T, &T) -> bool, reason: &'static str) -> Outcome<i64> {
    let best = (0..v.len()).find(|i| v.iter().all(|other| !beats(other, &v[*i])));
    best.map(|i| i as i64).ok_or(reason)
}

fn extremes<T: Nesl + PartialOrd>(laws: &mut Laws) {
    fn numbers<T: Nesl>(c: &mut Choices) -> Vec<T> {
        let mut v: Vec<T> = c.seq();
        v.retain(|x| *x == x.clone());
        v
    }
    laws.function("max_index", numbers::<T>, |v| {
        best(&v, |x, y| x > y, "Empty sequence in function MAX_INDEX.")
    });
    laws.function("min_index", numbers::<T>, |v| {
        best(&v, |x, y| x < y, "Empty sequence in function MIN_INDEX.")
    });
}

/// A sequence that contains NaN has no greatest element, but the function still returns an index.
fn extremes_with_nan(laws: &mut Laws) {
    for (name, reason) in [
        ("max_index", "Empty sequence in function MAX_INDEX."),
        ("min_index", "Empty sequence in function MIN_INDEX."),
    ] {
        let body = format!("let i = {name}(v) in i >= 0 and i < #v");
        let choose = |c: &mut Choices| {
            let mut v: Vec<f64> = c.seq();
            for x in &mut v {
                if c.once_in(3) {
                    *x = f64::NAN;
                }
            }
            v
        };
        laws.expression(&[name], "v", &body, choose, move |v| {
            if v.is_empty() { Err(reason) } else { Ok(true) }
        });
    }
}
