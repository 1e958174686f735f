//! A law is an expression together with a model that computes its expected value.

use crate::choices::{Choices, Shape};
use crate::value::Nesl;
use nesl_engine::{Event, Precision, Session, Settings};

/// The number of inputs in a batch.
const BATCH: usize = 16;
/// The maximum number of inputs of a batch that must fail; each of them runs as a form of its own.
const FAILURES: usize = 2;
/// The maximum length of a sequence in the test sessions.
pub const MAX_LENGTH: i64 = 10_000;

/// An expected result, or the beginning of the expected error message.
pub type Outcome<R> = Result<R, &'static str>;

/// A law about functions of the library.
pub struct Law {
    /// The names of the functions.
    pub names: Vec<&'static str>,
    /// The type of the input, which distinguishes the laws of a polymorphic function.
    ty: String,
    /// The pattern to which the input is bound.
    pattern: &'static str,
    body: String,
    batch: Box<dyn Fn(&mut Choices) -> Batch>,
}

/// A batch of inputs, as expressions, and their expected outcomes.
struct Batch {
    inputs: Vec<String>,
    shown: Vec<String>,
    /// The expected results of the whole batch, printed as one sequence.
    together: String,
    failures: Vec<(String, &'static str)>,
}

/// A collection of laws.
pub struct Laws {
    /// The precision of the session, on which some models depend.
    pub precision: Precision,
    pub all: Vec<Law>,
}

impl Laws {
    pub fn new(precision: Precision) -> Laws {
        Laws { precision, all: Vec::new() }
    }

    /// Adds a law about a call of a function.
    pub fn function<A: Nesl, R: Nesl>(
        &mut self,
        name: &'static str,
        choose: impl Fn(&mut Choices) -> A + 'static,
        model: impl Fn(A) -> Outcome<R> + 'static,
    ) {
        self.expression(&[name], "x", &format!("{name}(x)"), choose, model);
    }

    /// Adds a law about an expression in which a pattern is bound to the input.
    pub fn expression<A: Nesl, R: Nesl>(
        &mut self,
        names: &[&'static str],
        pattern: &'static str,
        body: &str,
        choose: impl Fn(&mut Choices) -> A + 'static,
        model: impl Fn(A) -> Outcome<R> + 'static,
    ) {
        let precision = self.precision;
        let batch = move |choices: &mut Choices| {
            let mut inputs = Vec::new();
            let mut results = Vec::new();
            let mut failures = Vec::new();
            for i in 0..BATCH {
                choices.shape = match i {
                    0 => Shape::Empty,
                    1 => Shape::Single,
                    2 => Shape::Equal,
                    _ => Shape::Any,
                };
                let input = choose(choices);
                let literal = input.literal();
                match model(input) {
                    Ok(result) => {
                        inputs.push(literal);
                        results.push(result);
                    }
                    Err(reason) => failures.push((literal, reason)),
                }
            }
            Batch {
                inputs,
                shown: results.iter().map(|result| result.shown(precision)).collect(),
                together: R::shown_all(&results, precision),
                failures,
            }
        };
        let body = body.to_owned();
        self.all.push(Law {
            names: names.to_vec(),
            ty: A::ty(),
            pattern,
            body,
            batch: Box::new(batch),
        });
    }
}

impl Law {
    /// Tests the law with a batch of inputs; an error describes what is wrong.
    pub fn check(&self, session: &mut Session, choices: &mut Choices) -> Result<(), String> {
        let batch = (self.batch)(choices);
        let single = |input: &str| format!("let {} = {input} in {}", self.pattern, self.body);
        if !batch.inputs.is_empty() {
            let inputs = batch.inputs.join(", ");
            let all = format!("{{{} : {} in [{inputs}]}}", self.body, self.pattern);
            let found = value(session, &all);
            let agrees = found == batch.together;
            let alone = if agrees { 1 } else { batch.inputs.len() };
            for (input, expected) in batch.inputs.iter().zip(&batch.shown).take(alone) {
                let source = single(input);
                let found = value(session, &source);
                if found != *expected {
                    return Err(self.complaint(&source, expected, &found));
                }
            }
            if !agrees {
                return Err(self.complaint(&all, &batch.together, &found));
            }
        }
        for (input, reason) in batch.failures.iter().take(FAILURES) {
            let source = single(input);
            let found = value(session, &source);
            // Details may follow the expected message in place of its full stop.
            if !found.starts_with(&format!("error: {}", reason.trim_end_matches('.'))) {
                return Err(self.complaint(&source, reason, &found));
            }
        }
        Ok(())
    }

    fn complaint(&self, source: &str, expected: &str, found: &str) -> String {
        let names = self.names.join(", ");
        format!("{names} on {}\n{source}\n  expected {expected}\n  found    {found}", self.ty)
    }
}

/// Makes a session that prints values in full.
pub fn new_session(precision: Precision) -> Session {
    let mut session = Session::new(Settings {
        precision,
        print_length: None,
        max_length: MAX_LENGTH as usize,
        max_depth: 10_000,
        ..Settings::default()
    });
    session.set_output(Box::new(std::io::sink()));
    session
}

/// Returns the printed value of an expression, or the first line of its error message.
pub fn value(session: &mut Session, source: &str) -> String {
    let mut shown = String::new();
    session.enter("law", &format!("{source};"), &mut |event| match event {
        Event::Bound(binding) => shown = binding.value,
        Event::Diagnostic(diagnostic) => shown = format!("error: {}", diagnostic.message),
        Event::Text(_) => {}
    });
    shown
}

/// Adds the laws of a function of any type, for a selection of types.
macro_rules! for_any {
    ($laws:expr; $($law:ident),+) => {
        $(
            $law::<i64>($laws);
            $law::<f64>($laws);
            $law::<(bool, $crate::value::Char)>($laws);
            $law::<$crate::value::Text>($laws);
            $law::<Vec<Vec<i64>>>($laws);
        )+
    };
}

/// Adds the laws of a function of ordinal types, for each of these types.
macro_rules! for_ordinals {
    ($laws:expr; $($law:ident),+) => {
        $(
            $law::<i64>($laws);
            $law::<f64>($laws);
            $law::<$crate::value::Char>($laws);
        )+
    };
}

pub(crate) use for_any;
pub(crate) use for_ordinals;
