//! Freeing what nobody wants any more, while nobody waits.
//!
//! Millions of small things take a while to free. Another thread can do that; but the system's allocator lets
//! one thread at a time into its memory, and whoever wants some meanwhile would wait for nearly all of it. So
//! there are pauses.

use super::value::{Sequence, Value};
use std::sync::Arc;
use std::time::Duration;

/// The number of things that are freed between two pauses: some hundred microseconds.
const FREED_AT_ONCE: usize = 1 << 12;

/// The length of a pause.
const PAUSE: Duration = Duration::from_micros(500);

/// Frees the things that an iterator gives, on a thread of their own.
pub(crate) fn one_by_one<T>(things: impl Iterator<Item = T> + Send + 'static) {
    on_a_thread(move || {
        for (at, thing) in things.enumerate() {
            drop(thing);
            if at % FREED_AT_ONCE == FREED_AT_ONCE - 1 {
                std::thread::sleep(PAUSE);
            }
        }
    });
}

/// Frees a few large things, on a thread of their own.
pub(crate) fn at_once(things: impl Send + 'static) {
    on_a_thread(move || drop(things));
}

fn on_a_thread(work: impl FnOnce() + Send + 'static) {
    // If there is no thread, it is done here.
    drop(std::thread::Builder::new().name("free".to_owned()).spawn(work));
}

/// The parts of values that nothing else has: what is left of them when they are taken apart.
pub(crate) struct Parts(Vec<std::vec::IntoIter<Value>>);

impl Parts {
    /// The parts of some values.
    pub(crate) fn of(values: Vec<Value>) -> Parts {
        Parts(vec![values.into_iter()])
    }
}

impl Iterator for Parts {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        loop {
            let Some(value) = self.0.last_mut()?.next() else {
                self.0.pop();
                continue;
            };
            match value {
                Value::Pair(pair) => match Arc::try_unwrap(pair) {
                    Ok((first, second)) => self.0.push(vec![first, second].into_iter()),
                    Err(shared) => return Some(Value::Pair(shared)),
                },
                Value::Sequence(Sequence::Values(values)) => match Arc::try_unwrap(values) {
                    Ok(values) => self.0.push(values.into_iter()),
                    Err(shared) => return Some(Value::Sequence(Sequence::Values(shared))),
                },
                other => return Some(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Ty;

    #[test]
    fn values_are_taken_apart_unless_others_have_them() {
        let row = |n: i64| Value::sequence(&Ty::Int, [Value::Int(n)]);
        let ty = Ty::pair(Ty::Int, Ty::sequence(Ty::Int));
        let shared = Value::pair(Value::Int(7), row(8));
        let inner = Value::pair(Value::Int(1), row(2));
        let all = Value::sequence(&ty, [inner, shared.clone()]);
        let parts: Vec<Value> = Parts::of(vec![all, Value::Bool(true)]).collect();
        assert_eq!(parts, [Value::Int(1), row(2), shared, Value::Bool(true)]);
    }
}
