//! Models of the functions in `sets.nesl`.

use crate::choices::Choices;
use crate::law::{Laws, for_any};
use crate::value::{Nesl, Text};

pub fn laws(laws: &mut Laws) {
    for_any!(laws; names, binary, groups);
    many::<i64>(laws);
    many::<Text>(laws);
}

/// Returns the indices of the last occurrences. (A value that contains NaN is not equal to any
/// value, not even to itself.)
pub fn lasts<T: PartialEq>(a: &[T]) -> Vec<usize> {
    (0..a.len()).filter(|i| !a[i + 1..].contains(&a[*i])).collect()
}

fn name<T: PartialEq>(a: &[T]) -> Vec<i64> {
    let last = |i: usize| a.iter().rposition(|x| *x == a[i]).unwrap_or(i) as i64;
    (0..a.len()).map(last).collect()
}

fn remove_duplicates<T: Clone + PartialEq>(a: &[T]) -> Vec<T> {
    lasts(a).into_iter().map(|i| a[i].clone()).collect()
}

fn collect<K: Clone + PartialEq, V: Clone>(kv: &[(K, V)]) -> Vec<(K, Vec<V>)> {
    let keys: Vec<K> = kv.iter().map(|(key, _)| key.clone()).collect();
    let group = |last: usize| {
        let belongs = |i: &usize| *i == last || keys[*i] == keys[last];
        let values = (0..kv.len()).filter(belongs).map(|i| kv[i].1.clone());
        (keys[last].clone(), values.collect())
    };
    lasts(&keys).into_iter().map(group).collect()
}

fn names<T: Nesl>(laws: &mut Laws) {
    laws.function("name", Choices::seq::<T>, |a: Vec<T>| Ok(name(&a)));
    laws.function("mark_duplicates", Choices::seq::<T>, |a: Vec<T>| {
        let lasts = lasts(&a);
        Ok((0..a.len()).map(|i| lasts.contains(&i)).collect::<Vec<bool>>())
    });
    laws.function("remove_duplicates", Choices::seq::<T>, |a| Ok(remove_duplicates(&a)));
}

fn binary<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let mut all: Vec<T> = c.seq();
        let common = c.seq_from(if all.is_empty() { &[] } else { &all[..1] });
        let b = all.split_off(all.len() / 2);
        (all, [b, common].concat())
    };
    laws.function("union", choose, |(a, b)| Ok(remove_duplicates(&[a, b].concat())));
    laws.function("intersection", choose, |(a, b)| {
        Ok(a.into_iter().filter(|x| b.contains(x)).collect::<Vec<T>>())
    });
    laws.function("set_difference", choose, |(a, b)| {
        Ok(a.into_iter().filter(|x| !b.contains(x)).collect::<Vec<T>>())
    });
}

fn groups<T: Nesl>(laws: &mut Laws) {
    laws.function("collect", Choices::seq::<(T, i64)>, |kv| Ok(collect(&kv)));
    laws.function("collect", Choices::seq::<(bool, T)>, |kv| Ok(collect(&kv)));
    laws.function("int_collect", Choices::seq::<(i64, T)>, |kv| {
        let mut groups = collect(&kv);
        groups.sort_by_key(|(key, _)| *key);
        Ok(groups)
    });
    laws.function("histogram", Choices::seq::<T>, |a| {
        let kv: Vec<(T, ())> = a.into_iter().map(|x| (x, ())).collect();
        let count = |(x, all): (T, Vec<()>)| (x, all.len() as i64);
        Ok(collect(&kv).into_iter().map(count).collect::<Vec<_>>())
    });
}

/// The sequences have enough elements for hash collisions to occur repeatedly.
fn many<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (few, n) = (c.seq::<T>(), 20 + c.below(60));
        (0..if few.is_empty() { 0 } else { n }).map(|_| c.pick(&few)).collect::<Vec<T>>()
    };
    laws.function("name", choose, |a: Vec<T>| Ok(name(&a)));
}
