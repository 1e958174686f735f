//! The advice of a message about a fault of a program that ran.

use nesl_core::db::Database;
use nesl_core::ir::Site;
use nesl_core::syntax::Kind;
use nesl_core::syntax::ast::Expr;
use nesl_runtime::fault::{Fault, FaultCode};

/// The operator whose right side failed, though the left side says when that can be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Guard {
    And,
    Or,
}

impl Guard {
    /// Finds the operator around an operation that failed. The operation uses a name that the left side uses, too.
    pub(super) fn of(db: &Database, site: Site) -> Option<Guard> {
        let (parsed, text) = (db.parsed(site.item), db.item_text(site.item));
        let names = |start: u32, end: u32| {
            let tokens = parsed.tokens.get(start as usize..end as usize);
            let names = tokens.into_iter().flatten().filter(|token| token.kind == Kind::Name);
            names.map(|token| &text[token.range]).collect::<Vec<&str>>()
        };
        let used = names(site.span.start, site.span.end);
        let guards = parsed.ast.exprs.iter().filter_map(|(_, expr)| {
            let Expr::Binary { op, left, right, .. } = expr else { return None };
            let guard = match op.name() {
                "and" => Guard::And,
                "or" => Guard::Or,
                _ => return None,
            };
            let [left, right] = [left, right].map(|side| parsed.ast.expr_spans[*side]);
            let holds = right.start <= site.span.start && site.span.end <= right.end;
            let shares = names(left.start, left.end).iter().any(|name| used.contains(name));
            (holds && shares).then_some((right.end - right.start, guard))
        });
        guards.min_by_key(|(tokens, _)| *tokens).map(|(_, guard)| guard)
    }
}

/// Returns advice on a fault, if there is more to say than what happened. The operation that failed may stand on the right
/// of a `guard`.
pub(super) fn way_out(fault: &Fault, guard: Option<Guard>) -> Option<String> {
    let is_guarded = matches!(
        fault.code,
        FaultCode::Index
            | FaultCode::DivideByZero
            | FaultCode::RemByZero
            | FaultCode::ModByZero
            | FaultCode::SqrtNegative
            | FaultCode::LnNegative
    );
    match guard.filter(|_| is_guarded) {
        Some(Guard::And) => {
            return Some(
                "`a and b` computes both sides; `if a then b else f` computes `b` only where `a` holds"
                    .to_owned(),
            );
        }
        Some(Guard::Or) => {
            return Some(
                "`a or b` computes both sides; `if a then t else b` computes `b` only where `a` does not hold"
                    .to_owned(),
            );
        }
        None => {}
    }
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
