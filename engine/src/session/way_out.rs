//! The advice of a message about a fault of a program that ran.

use nesl_runtime::fault::{Fault, FaultCode};

/// Returns advice on a fault, if there is more to say than what happened.
pub(super) fn way_out(fault: &Fault) -> Option<String> {
    match fault.code {
        FaultCode::Range => {
            Some("a range goes upward; `reverse([1:6])` goes down from 5 to 1".to_owned())
        }
        FaultCode::Index => {
            let (index, length) = index_and_length(fault.detail.as_deref()?)?;
            Some(match (index, length) {
                (_, 0) => "an empty sequence has no elements; `#a == 0` is true of it".to_owned(),
                (_, 1) => "the only index of a sequence of length 1 is 0".to_owned(),
                (..0, _) => format!(
                    "the indices are 0 to {}; the last element of `a` is `a[#a - 1]`",
                    length - 1
                ),
                _ => {
                    format!("the indices of a sequence of length {length} are 0 to {}", length - 1)
                }
            })
        }
        FaultCode::NestLength => Some(
            "sequences behind `;` are gone over together; all pairs are `{{… : y in ys} : x in xs}`"
                .to_owned(),
        ),
        FaultCode::Message => match fault.detail.as_deref()? {
            "Bounds error for function TAKE." => {
                Some("`take(a, min(n, #a))` takes no more than there are".to_owned())
            }
            "Bounds error for function DROP." => {
                Some("`drop(a, min(n, #a))` drops no more than there are".to_owned())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Takes the particulars `index 3, length 2` of a fault apart.
fn index_and_length(detail: &str) -> Option<(i64, i64)> {
    let (index, length) = detail.strip_prefix("index ")?.split_once(", length ")?;
    Some((index.parse().ok()?, length.parse().ok()?))
}
