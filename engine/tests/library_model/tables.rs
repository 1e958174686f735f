//! Models of the functions in `tables.nesl`: a table is a list of entries with distinct keys.

use crate::choices::Choices;
use crate::law::{Laws, Outcome, for_any};
use crate::sets::lasts;
use crate::value::{Char, Nesl, Text};

pub fn laws(laws: &mut Laws) {
    for_any!(laws; create, create_fast, insert, make);
    values_of_other_types(laws);
}

/// Returns the last entry for each key.
fn table<K: Nesl, V: Nesl>(kv: &[(K, V)]) -> Vec<(K, V)> {
    let keys: Vec<K> = kv.iter().map(|(key, _)| key.clone()).collect();
    lasts(&keys).into_iter().map(|i| kv[i].clone()).collect()
}

/// The entries of a table, and the results of lookups in it.
type Look<K, V> = (Vec<(K, V)>, Vec<(V, bool)>);

fn look<K: Nesl, V: Nesl>(table: Vec<(K, V)>, wanted: Vec<K>) -> Look<K, V> {
    let find = |key: &K| match table.iter().find(|(k, _)| k == key) {
        Some((_, value)) => (value.clone(), true),
        None => (V::zero(), false),
    };
    let found = wanted.iter().map(find).collect();
    (table, found)
}

const LOOK: &str = "in (table_entries(table), search_table(wanted, table))";

/// Chooses entries, and keys of which some occur in the entries.
fn entries<K: Nesl, V: Nesl>(c: &mut Choices) -> (Vec<(K, V)>, Vec<K>) {
    let kv: Vec<(K, V)> = c.seq();
    let mut wanted: Vec<K> = c.seq();
    for key in &mut wanted {
        if !kv.is_empty() && c.once_in(2) {
            *key = c.pick(&kv).0;
        }
    }
    (kv, wanted)
}

fn create<K: Nesl>(laws: &mut Laws) {
    laws.expression(
        &["create_table", "table_entries", "search_table"],
        "(kv, wanted)",
        &format!("let table = create_table(kv) {LOOK}"),
        entries::<K, i64>,
        |(kv, wanted)| Ok(look(table(&kv), wanted)),
    );
}

fn create_fast<K: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (kv, wanted) = entries::<K, bool>(c);
        (table(&kv), wanted)
    };
    laws.expression(
        &["fast_create_table"],
        "(kv, wanted)",
        &format!("let table = fast_create_table(kv) {LOOK}"),
        choose,
        |(kv, wanted)| Ok(look(kv, wanted)),
    );
}

fn insert<K: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (kv, wanted) = entries::<K, i64>(c);
        let (mut more, _) = entries::<K, i64>(c);
        for (key, _) in &mut more {
            if !kv.is_empty() && c.once_in(3) {
                *key = c.pick(&kv).0;
            }
        }
        (kv, more, wanted)
    };
    laws.expression(
        &["insert_table"],
        "(kv, more, wanted)",
        &format!("let table = insert_table(more, create_table(kv)) {LOOK}"),
        choose,
        |(kv, more, wanted)| Ok(look(table(&[kv, more].concat()), wanted)),
    );
}

fn make<K: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (kv, wanted) = entries::<K, f64>(c);
        let room = c.below(9) as i64 - 1;
        ((K::random(c), c.float()), room, kv, wanted)
    };
    laws.expression(
        &["make_table"],
        "(example, room, kv, wanted)",
        "let empty = make_table(example, room); table = insert_table(kv, empty)
         in (table_entries(empty), table_entries(table),
             search_table(wanted, table), search_table(wanted, empty))",
        choose,
        |((_, _), room, kv, wanted)| -> Outcome<_> {
            if room < 0 {
                return Err("A length must not be negative.");
            }
            let (no_entries, none) = look::<K, f64>(Vec::new(), wanted.clone());
            let (entries, found) = look(table(&kv), wanted);
            Ok((no_entries, entries, found, none))
        },
    );
}

fn values_of_other_types(laws: &mut Laws) {
    fn of<V: Nesl>(laws: &mut Laws) {
        laws.expression(
            &["search_table"],
            "(kv, wanted)",
            "search_table(wanted, create_table(kv))",
            entries::<i64, V>,
            |(kv, wanted)| Ok(look(table(&kv), wanted).1),
        );
    }
    of::<Text>(laws);
    of::<(Char, f64)>(laws);
    of::<Vec<Vec<i64>>>(laws);
}
