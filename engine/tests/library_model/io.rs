//! Models of the functions in `io.nesl` that need no files: their values and their output.

use crate::choices::Choices;
use crate::law::{Laws, for_any, new_session, value};
use crate::value::{Char, Nesl, Text, text};
use nesl_engine::Precision;
use std::io::Write;
use std::sync::{Arc, Mutex};

pub fn laws(laws: &mut Laws) {
    laws.function("print_char", Choices::char, |_: Char| Ok(true));
    laws.function("print_line", Choices::text, |_: Text| Ok(true));
    for name in ["write_check", "close_check"] {
        laws.function(name, |c| (c.once_in(2), c.text()), |(ok, _): (bool, Text)| Ok(ok));
    }
    let body = "eql(open_check(stdin, ok, message), stdin)";
    let choose = |c: &mut Choices| (c.once_in(2), c.text());
    laws.expression(&["open_check"], "(ok, message)", body, choose, |_: (bool, Text)| Ok(true));
    for_any!(laws; values);
}

/// The functions return the value, whatever they print.
fn values<T: Nesl>(laws: &mut Laws) {
    laws.function("print", T::random, |x: T| Ok(x));
    laws.function("printl", T::random, |x: T| Ok(x));
    laws.function("print_debug", |c| (c.text(), T::random(c)), |(_, x)| Ok(x));
    let choose = |c: &mut Choices| (T::random(c), c.once_in(2), c.text());
    laws.function("read_check", choose, |(x, _, _)| Ok(x));
}

/// Collects the output.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Prints values with every printing function and checks the output.
pub fn check_printed(choices: &mut Choices) {
    let (n, s, c) = (choices.int(), choices.text(), choices.char());
    let flag = choices.once_in(2);
    let (number, literal) = (n.literal(), s.literal());
    let said =
        |words: &str| if flag { Vec::new() } else { [text(words), s.clone(), end()].concat() };
    let shown = text(&n.to_string());
    let mut session = new_session(Precision::Bits64);
    let screen = Screen::default();
    session.set_output(Box::new(screen.clone()));
    let flagged = flag.literal();
    for (source, expected) in [
        (format!("print_char({})", c.literal()), vec![c]),
        (format!("print_line({literal})"), [s.clone(), end()].concat()),
        (format!("print({number})"), [shown.clone(), text(" ")].concat()),
        (format!("printl({number})"), [shown.clone(), end()].concat()),
        (format!("print_debug({literal}, {number})"), [s.clone(), shown, end()].concat()),
        (format!("read_check(0, {flagged}, {literal})"), said("Error while reading: ")),
        (format!("write_check({flagged}, {literal})"), said("Error while writing: ")),
        (format!("close_check({flagged}, {literal})"), said("Error while closing a file: ")),
        (
            format!("open_check(nullstr, {flagged}, {literal})"),
            said("Error while opening a file: "),
        ),
    ] {
        let shown = value(&mut session, &source);
        assert!(!shown.starts_with("error"), "{source}: {shown}");
        let printed = std::mem::take(&mut *screen.0.lock().expect("nobody panicked"));
        let expected: Vec<u8> = expected.into_iter().map(|c| c.0).collect();
        assert_eq!(printed, expected, "{source}");
    }
}

fn end() -> Text {
    text("\n")
}
