//! The question of a measurement of costs: an expression, and bindings that prepare its inputs and are left out.

use nesl_core::base::Diagnostic;
use nesl_core::syntax::RawKind;
use nesl_engine::{Cost, FileRange, Piece, Session};
use std::ops::Range;

/// An expression to measure, at a size or without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The text that the question was typed in.
    typed: String,
    /// The bindings of the inputs, in order, as texts such as `xs = [0:n]`.
    inputs: Vec<Piece>,
    /// The expression, or the name of a function.
    expr: Piece,
    /// The arguments of the function that `expr` names, if it names one; with none, it is called with
    /// the size.
    call: Option<Vec<String>>,
}

impl Asked {
    /// Reads what is asked for by texts of their own, as [`Asked::typed`] does.
    pub fn new(session: &mut Session, expr: &str, given: &[String]) -> Result<Asked, String> {
        let mut typed = expr.to_owned();
        let mut places = Vec::new();
        for text in given {
            typed.push('\n');
            places.push(typed.len()..typed.len() + text.len());
            typed += text;
        }
        Asked::typed(session, &typed, 0..expr.len(), &places)
    }

    /// Reads what is asked for at some places of what was typed: an expression in which `n` is the size, or the
    /// name of a function, which is called with the inputs or, if none are given, with the size. Each text of inputs
    /// is one binding or several, with `;` between them. Fails with a message.
    pub fn typed(
        session: &mut Session,
        typed: &str,
        expr: Range<usize>,
        given: &[Range<usize>],
    ) -> Result<Asked, String> {
        let expr = piece(typed, expr);
        if expr.text.is_empty() {
            return Err("there is no expression to measure".to_owned());
        }
        let (mut inputs, mut arguments) = (Vec::new(), Vec::new());
        for place in given {
            for (input, pattern) in bindings(session, typed, place.clone())? {
                inputs.push(input);
                arguments.push(pattern);
            }
        }
        let name = &*expr.text;
        let is_input = arguments.iter().any(|input| input.eq_ignore_ascii_case(name));
        let call = is_name(name) && !is_input && !name.eq_ignore_ascii_case("n");
        let is_value =
            session.definition(name).is_some_and(|definition| !definition.ty.contains("->"));
        // Nothing but a function can be called with inputs; of a name that is unknown the error tells.
        let call = (call && !is_value).then_some(arguments);
        Ok(Asked { typed: typed.to_owned(), inputs, expr, call })
    }

    /// Returns true if inputs are left out of the cost.
    pub fn has_inputs(&self) -> bool {
        !self.inputs.is_empty()
    }

    /// Returns the cost of the expression for a size, or without one.
    pub fn cost(
        &self,
        session: &mut Session,
        name: &str,
        n: Option<u64>,
        seed: u64,
    ) -> Result<Cost, Vec<Diagnostic<FileRange>>> {
        let (inputs, expr) = self.at(n);
        let _account = session.progress().rounds();
        session.cost_given(name, &self.typed, &inputs, &expr, seed)
    }

    /// Returns the bindings before the expression, and the expression, for a size.
    fn at(&self, n: Option<u64>) -> (Vec<Piece>, Piece) {
        let Piece { text, at } = &self.expr;
        let size = n.map(|n| Piece { text: format!("n = {n}"), at: at.clone() });
        let text = match (&self.call, n) {
            (Some(arguments), Some(n)) if arguments.is_empty() => format!("{text}({n})"),
            (Some(arguments), _) if !arguments.is_empty() => {
                format!("{text}({})", arguments.join(", "))
            }
            _ => text.clone(),
        };
        let expr = Piece { text, at: at.clone() };
        (size.into_iter().chain(self.inputs.iter().cloned()).collect(), expr)
    }
}

/// Returns a piece of what was typed, without blanks around it and the signs that end it.
fn piece(typed: &str, at: Range<usize>) -> Piece {
    let own = &typed[at.clone()];
    let start = at.start + (own.len() - own.trim_start().len());
    let text = own.trim().trim_end_matches([';', '$']).trim_end();
    Piece { text: text.to_owned(), at: start..start + text.len() }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Takes bindings apart: each as it was typed, and what it binds as an argument.
fn bindings(
    session: &mut Session,
    typed: &str,
    at: Range<usize>,
) -> Result<Vec<(Piece, String)>, String> {
    let wrong = |text: &str| {
        Err(format!(
            "`{}` gives no input: write NAME = EXPR, as in `xs = {{rand(n) : i in [0:n]}}`",
            text.trim()
        ))
    };
    let Piece { text, at } = piece(typed, at);
    let whole = format!("{text}\n;");
    let (db, file) = session.look("<given>", &whole);
    let forms = db.outline(file).forms.clone();
    let starts: Vec<usize> = db.starts(file).iter().map(|start| usize::from(*start)).collect();
    let mut found = Vec::new();
    for (number, form) in forms.iter().enumerate() {
        let start = starts[number].min(text.len());
        let end = starts.get(number + 1).copied().unwrap_or(whole.len()).min(text.len());
        let binding = piece(typed, at.start + start..at.start + end);
        if form.kind == RawKind::Blank || binding.text.is_empty() {
            continue;
        }
        let pattern = binding.text.split_once('=').map(|(pattern, _)| pattern.trim().to_owned());
        let Some(pattern) = pattern.filter(|_| form.kind == RawKind::Binding) else {
            return wrong(&binding.text);
        };
        let argument = match &form.names[..] {
            [name] => name.to_string(),
            _ => pattern,
        };
        found.push((binding, argument));
    }
    if found.is_empty() { wrong(&typed[at]) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(expr: &str, given: &[&str]) -> Result<Asked, String> {
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        Asked::new(&mut Session::new(nesl_engine::Settings::default()), expr, &given)
    }

    #[track_caller]
    fn at(expr: &str, given: &[&str], n: Option<u64>) -> String {
        let (inputs, expr) = asked(expr, given).expect("it can be measured").at(n);
        let inputs: Vec<String> = inputs.into_iter().map(|input| input.text).collect();
        format!("{} | {}", inputs.join("; "), expr.text)
    }

    #[test]
    fn names_are_applied_and_expressions_see_n() {
        assert_eq!(at("primes", &[], Some(10)), "n = 10 | primes(10)");
        assert_eq!(at("sum([0:n]);", &[], Some(10)), "n = 10 | sum([0:n])");
        assert_eq!(at("1 + 2", &[], None), " | 1 + 2");
    }

    #[test]
    fn inputs_stand_before_what_is_measured() {
        let inputs = ["xs = [0:n]; k = #xs / 2;", "(a, b) = (k, \"=;\")"];
        let before = "n = 8; xs = [0:n]; k = #xs / 2; (a, b) = (k, \"=;\")";
        assert_eq!(at("take(xs, k)", &inputs, Some(8)), format!("{before} | take(xs, k)"));
        // A function is called with the inputs; an input is what it is.
        assert_eq!(at("sort", &["xs = [3, 1]"], None), "xs = [3, 1] | sort(xs)");
        assert_eq!(at("take", &["xs = [3, 1]", "k = 1"], None), "xs = [3, 1]; k = 1 | take(xs, k)");
        assert_eq!(at("xs", &["xs = [3, 1]"], None), "xs = [3, 1] | xs");
        assert_eq!(at("pi", &["xs = [3, 1]"], None), "xs = [3, 1] | pi");
    }

    #[test]
    fn what_is_no_input_is_refused() {
        let refused = |given: &str| asked("sort(xs)", &[given]).expect_err("it is no input");
        let told = "write NAME = EXPR, as in `xs = {rand(n) : i in [0:n]}`";
        for text in ["[1, 2]", "", "xs == [1]", "xs = [1]; 5", "function g(x) = x"] {
            assert!(refused(text).ends_with(told), "{text}: {}", refused(text));
        }
        assert!(refused("xs = [1]; 5").starts_with("`5` gives no input"));
    }
}
