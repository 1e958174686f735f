//! Running a program on every runtime, and comparing what comes of it.

use super::tree::{Entry, Program};
use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Event, Precision, Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_cpu::Cpu;

/// Work that is too much for a test.
const MUCH: u64 = 1_000_000;

/// What a comparison gives.
pub enum Verdict {
    Agree,
    TooLarge,
    Differ(String),
}

type Make = fn(Options) -> Box<dyn Runtime>;

/// A way of running a program. Small programs have little to flatten, unless they must.
type Way = (&'static str, Make, Strategy);

const FLAT: Strategy = Strategy::Always(Version::Flattened);

const WAYS: [Way; 4] = [
    ("kir", |options| Box::new(Reference::new(options)), Strategy::Auto),
    ("kir, flat", |options| Box::new(Reference::new(options)), FLAT),
    ("cpu with one thread", |options| cpu(Options { threads: 1, ..options }), Strategy::Auto),
    ("cpu with two threads, flat", |options| cpu(Options { threads: 2, ..options }), FLAT),
];

fn cpu(options: Options) -> Box<dyn Runtime> {
    Box::new(Cpu::new(options).expect("code can be made for this machine"))
}

/// What came of an entry.
#[derive(Debug, PartialEq)]
enum Outcome {
    Value { value: String, ty: String },
    Failure { message: String, at: String },
}

/// The outcomes of the entries, and the work of all; none for the direct interpreter.
fn run(text: &str, precision: Precision, way: Option<Way>) -> (Vec<Outcome>, u64) {
    let (make, strategy) = way.map(|(_, make, strategy)| (make, strategy)).unzip();
    let settings = Settings {
        precision,
        strategy: strategy.unwrap_or_default(),
        print_length: None,
        max_depth: 10_000,
        max_length: 1 << 20,
        // Nothing is left to the direct interpreter that can be compiled.
        interpret_first: false,
        ..Settings::default()
    };
    let mut session = Session::new(settings);
    let options =
        Options { interrupt: session.interrupt_handle(), max_depth: 10_000, ..Options::default() };
    session.set_runtime(make.map(|make| make(options)));
    let (mut outcomes, mut work) = (Vec::new(), 0);
    session.enter("program.nesl", text, &mut |event| match event {
        Event::Bound(binding) => {
            work += binding.cost.map_or(0, |(work, _)| work);
            outcomes.push(Outcome::Value { value: binding.value, ty: binding.ty });
        }
        Event::Diagnostic(diagnostic) => {
            let at = &diagnostic.primary.at;
            let place = text.get(at.range.clone()).unwrap_or("?");
            let at = format!("{:?} `{place}`", at.range);
            outcomes.push(Outcome::Failure { message: diagnostic.message, at });
        }
        Event::Text(text) => unreachable!("no command was given: {text}"),
    });
    (outcomes, work)
}

/// Whether all runtimes give what the direct interpreter gives.
pub fn verdict(program: &Program, precision: Precision) -> Verdict {
    let entries = program.entries();
    let text = program.text();
    let (expected, work) = run(&text, precision, None);
    if work > MUCH {
        return Verdict::TooLarge;
    }
    if let Err(how) = promised(&entries, &expected) {
        return Verdict::Differ(how);
    }
    for way in WAYS {
        let name = way.0;
        let (given, _) = run(&text, precision, Some(way));
        let same = given.len() == expected.len();
        let pairs = entries.iter().zip(expected.iter().zip(&given));
        let wrong = pairs.into_iter().find(|(entry, (a, b))| !agree(entry, a, b, precision));
        if let Some((entry, (expected, given))) = wrong {
            let text = &entry.text;
            return Verdict::Differ(format!(
                "{name} of {text}\n--- is\n{given:#?}\n--- not\n{expected:#?}"
            ));
        }
        if !same {
            return Verdict::Differ(format!("{name}: {given:#?}\nnot\n{expected:#?}"));
        }
    }
    Verdict::Agree
}

/// Whether what was made is what was meant: well typed, failing only where it may.
fn promised(entries: &[Entry], outcomes: &[Outcome]) -> Result<(), String> {
    if entries.len() != outcomes.len() {
        return Err(format!("{} entries gave {outcomes:#?}", entries.len()));
    }
    for (entry, outcome) in entries.iter().zip(outcomes) {
        if matches!(outcome, Outcome::Failure { .. }) && !entry.risky {
            return Err(format!("it was not to fail: {}\n{outcome:#?}", entry.text));
        }
    }
    Ok(())
}

/// Whether two outcomes of an entry are the same, as far as they must be.
fn agree(entry: &Entry, expected: &Outcome, given: &Outcome, precision: Precision) -> bool {
    match (expected, given) {
        (Outcome::Value { value: a, ty: b }, Outcome::Value { value: c, ty: d }) => {
            b == d && (a == c || entry.near && near(a, c, precision))
        }
        (Outcome::Failure { message: a, at: b }, Outcome::Failure { message: c, at: d }) => {
            // Of several instances that fail, any may be the first.
            let reason = |message: &'_ str| message.split(" (").next().map(str::to_owned);
            b == d && (a == c || entry.loose && reason(a) == reason(c))
        }
        _ => false,
    }
}

/// Whether two texts of a value are the same but for the last digits of floats: sums of numbers
/// that are not negative, in any order.
fn near(a: &str, b: &str, precision: Precision) -> bool {
    let tolerance = match precision {
        Precision::Bits64 => 1e-12,
        Precision::Bits32 => 1e-4,
    };
    let words = |text: &str| -> Vec<String> {
        text.split(['[', ']', '(', ')', ',', ' ']).map(str::to_owned).collect()
    };
    let (a, b) = (words(a), words(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            a == b
                || match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(x), Ok(y)) => (x - y).abs() <= tolerance * x.abs().max(y.abs()),
                    _ => false,
                }
        })
}

/// A program with what the direct interpreter makes of it.
pub fn transcript(program: &Program, precision: Precision) -> String {
    let entries = program.entries();
    let (outcomes, work) = run(&program.text(), precision, None);
    let mut out = String::new();
    for (entry, outcome) in entries.iter().zip(&outcomes) {
        out += &entry.text;
        out += "\n";
        match outcome {
            Outcome::Value { value, ty } => out += &format!("    {value} : {ty}\n"),
            Outcome::Failure { message, at } => out += &format!("    {message} at {at}\n"),
        }
    }
    out + &format!("    work {work}\n")
}
