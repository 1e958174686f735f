//! Short expressions as text, for advice that repeats what the program says.

use super::MemberTypes;
use crate::base::with_stack;
use crate::syntax::ast::{Expr, ExprId, UnaryOp};

/// The number of bytes of the longest expression that advice repeats.
const LONGEST_BYTES: usize = 24;

/// Returns an expression as it is written, if it is short and binds tighter than every operator.
pub(super) fn operand(body: &MemberTypes<'_>, id: ExprId) -> Option<String> {
    with_stack(|| operand_inner(body, id))
}

fn operand_inner(body: &MemberTypes<'_>, id: ExprId) -> Option<String> {
    let text = match &body.member.item.exprs[id] {
        Expr::Name(name) => name.to_string(),
        Expr::Int(value) if *value >= 0 => value.to_string(),
        Expr::Float(bits) => format!("{:?}", f64::from_bits(bits.0)),
        Expr::Index { sequence, index } => {
            format!("{}[{}]", operand(body, *sequence)?, operand(body, *index)?)
        }
        Expr::Call { fun, arg, optional } if optional.is_empty() => {
            let Expr::Name(fun) = &body.member.item.exprs[*fun] else { return None };
            format!("{fun}({})", list(body, arguments(body, *arg))?)
        }
        Expr::Unary { op: UnaryOp::Length, arg, .. } => format!("#{}", operand(body, *arg)?),
        Expr::Sequence(elements) => format!("[{}]", list(body, elements.clone())?),
        _ => return None,
    };
    (text.len() <= LONGEST_BYTES).then_some(text)
}

/// Returns expressions as they are written, with commas between them.
fn list(body: &MemberTypes<'_>, ids: Vec<ExprId>) -> Option<String> {
    // Each of them takes some bytes: what is too long in the end is not built.
    if ids.len() > LONGEST_BYTES {
        return None;
    }
    let all: Option<Vec<String>> = ids.into_iter().map(|id| operand(body, id)).collect();
    Some(all?.join(", "))
}

/// Returns the components of an argument; no more than advice can repeat, and one.
fn arguments(body: &MemberTypes<'_>, arg: ExprId) -> Vec<ExprId> {
    let (mut all, mut rest) = (Vec::new(), arg);
    while let (Expr::Pair(first, second), true) =
        (&body.member.item.exprs[rest], all.len() < LONGEST_BYTES)
    {
        all.push(*first);
        rest = *second;
    }
    all.push(rest);
    all
}

/// Returns true if a text has a word: a name that advice binds must not be one of them.
pub(super) fn mentions(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .any(|part| part.eq_ignore_ascii_case(word))
}
