//! The question of a measurement of costs: an expression, and bindings that prepare its inputs and are left out.

use nesl_core::syntax::RawKind;
use nesl_engine::Session;

/// An expression to measure, at a size or without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The bindings of the inputs, in order, as texts such as `xs = [0:n]`.
    inputs: Vec<String>,
    /// The expression, or the name of a function.
    expr: String,
    /// The arguments of the function that `expr` names, if it names one; with none, it is called with
    /// the size.
    call: Option<Vec<String>>,
}

impl Asked {
    /// Reads what is asked for: an expression in which `n` is the size, or the name of a function, which is
    /// called with the inputs or, if none are given, with the size. Each text of inputs is one binding
    /// or several, with `;` between them. Fails with a message.
    pub fn new(session: &mut Session, expr: &str, given: &[String]) -> Result<Asked, String> {
        let expr = expr.trim().trim_end_matches([';', '$']).trim_end().to_owned();
        if expr.is_empty() {
            return Err("there is no expression to measure".to_owned());
        }
        let (mut inputs, mut arguments) = (Vec::new(), Vec::new());
        for text in given {
            for (input, pattern) in bindings(session, text)? {
                inputs.push(input);
                arguments.push(pattern);
            }
        }
        let is_input = arguments.iter().any(|input| input.eq_ignore_ascii_case(&expr));
        let call = is_name(&expr) && !is_input && !expr.eq_ignore_ascii_case("n");
        let is_value =
            session.definition(&expr).is_some_and(|definition| !definition.ty.contains("->"));
        // Nothing but a function can be called with inputs; of a name that is unknown the error tells.
        let call = (call && !is_value).then_some(arguments);
        Ok(Asked { inputs, expr, call })
    }

    /// Returns true if inputs are left out of the cost.
    pub fn has_inputs(&self) -> bool {
        !self.inputs.is_empty()
    }

    /// Returns the bindings before the expression, and the expression, for a size.
    pub fn at(&self, n: Option<u64>) -> (Vec<String>, String) {
        let size = n.map(|n| format!("n = {n}"));
        let expr = match (&self.call, n) {
            (Some(arguments), Some(n)) if arguments.is_empty() => format!("{}({n})", self.expr),
            (Some(arguments), _) if !arguments.is_empty() => {
                format!("{}({})", self.expr, arguments.join(", "))
            }
            _ => self.expr.clone(),
        };
        (size.into_iter().chain(self.inputs.iter().cloned()).collect(), expr)
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Takes bindings apart: the text of each, and what it binds as an argument.
fn bindings(session: &mut Session, text: &str) -> Result<Vec<(String, String)>, String> {
    let wrong = |text: &str| {
        Err(format!(
            "`{}` gives no input: write NAME = EXPR, as in `xs = {{rand(n) : i in [0:n]}}`",
            text.trim()
        ))
    };
    let whole = format!("{}\n;", text.trim().trim_end_matches([';', '$']));
    let (db, file) = session.look("<given>", &whole);
    let forms = db.outline(file).forms.clone();
    let starts: Vec<usize> = db.starts(file).iter().map(|start| usize::from(*start)).collect();
    let mut found = Vec::new();
    for (at, form) in forms.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(whole.len());
        let binding = whole[starts[at]..end].trim().trim_end_matches([';', '$']).trim();
        if form.kind == RawKind::Blank || binding.is_empty() {
            continue;
        }
        let Some((pattern, _)) = binding.split_once('=').filter(|_| form.kind == RawKind::Binding)
        else {
            return wrong(binding);
        };
        let argument = match &form.names[..] {
            [name] => name.to_string(),
            _ => pattern.trim().to_owned(),
        };
        found.push((binding.to_owned(), argument));
    }
    if found.is_empty() { wrong(text) } else { Ok(found) }
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
        format!("{} | {expr}", inputs.join("; "))
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
