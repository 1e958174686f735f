//! Models of the functions in `higher_order.nesl`.

use crate::choices::Choices;
use crate::law::Laws;
use crate::value::{Nesl, Text};

pub fn laws(laws: &mut Laws) {
    map(laws);
    let precision = laws.precision;
    scan::<i64>(laws, "'+", "0", 0, move |a, b| precision.wrap(a.wrapping_add(b)));
    scan::<i64>(laws, "'max", "min_int", precision.min_int(), i64::max);
    // Neither of these operators is commutative.
    scan::<Text>(laws, "(a, b) => a ++ b", "\"\"", Vec::new(), |a, b| [a, b].concat());
    scan::<Vec<Vec<i64>>>(laws, "(a, b) => a ++ b", "[] [int]", Vec::new(), |a, b| [a, b].concat());
}

fn map(laws: &mut Laws) {
    let precision = laws.precision;
    laws.expression(&["map"], "v", "map(n => n + 1, v)", Choices::seq::<i64>, move |v| {
        Ok(v.into_iter().map(|n| precision.wrap(n.wrapping_add(1))).collect::<Vec<i64>>())
    });
    laws.expression(&["map"], "v", "map('not, v)", Choices::seq::<bool>, |v| {
        Ok(v.into_iter().map(|b| !b).collect::<Vec<bool>>())
    });
    laws.expression(&["map"], "v", "map(s => (#s, s), v)", Choices::seq::<Text>, |v| {
        Ok(v.into_iter().map(|s| (s.len() as i64, s)).collect::<Vec<_>>())
    });
    // The function argument captures a variable.
    let choose = |c: &mut Choices| (c.seq::<Vec<i64>>(), c.int());
    laws.expression(&["map"], "(v, x)", "map(s => s ++ [x], v)", choose, |(v, x)| {
        Ok(v.into_iter().map(|s| [s, vec![x]].concat()).collect::<Vec<_>>())
    });
}

fn scan<T: Nesl>(
    laws: &mut Laws,
    function: &str,
    zero: &str,
    start: T,
    combine: impl Fn(T, T) -> T + 'static,
) {
    let body = format!("scan({function}, {zero}, v)");
    laws.expression(&["scan"], "v", &body, Choices::seq::<T>, move |v| {
        let mut total = start.clone();
        let mut before = Vec::new();
        for x in v {
            before.push(total.clone());
            total = combine(total, x);
        }
        Ok((before, total))
    });
}
