//! Runs a program on every runtime and compares the results.

use super::device::Device;
use super::tree::{Entry, Program};
use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Event, Precision, Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_cpu::Cpu;
use std::rc::Rc;

/// Programs with more work than this are skipped.
const MAX_WORK: u64 = 1_000_000;

/// The result of a comparison.
pub enum Verdict {
    Agree,
    TooLarge,
    Differ(String),
}

/// Makes the runtime of a configuration.
type Make = fn(Options) -> Box<dyn Runtime>;

/// A configuration: name, constructor of the runtime, and strategy. Random programs are small, so
/// flattened code is exercised only if the strategy forces it.
pub type Way = (&'static str, Make, Strategy);

/// The strategy that flattens everything.
pub const FLAT: Strategy = Strategy::Always(Version::Flattened);

const WAYS: [Way; 5] = [
    ("kir", |options| Box::new(Reference::new(options)), Strategy::Auto),
    ("kir, flat", |options| Box::new(Reference::new(options)), FLAT),
    ("cpu with one thread", |options| cpu(Options { threads: 1, ..options }), Strategy::Auto),
    ("cpu with two threads, flat", |options| cpu(Options { threads: 2, ..options }), FLAT),
    ("device, flat", device, FLAT),
];

fn device(options: Options) -> Box<dyn Runtime> {
    let cpu = Cpu::new(options).expect("code can be made for this machine");
    Box::new(Device::new(cpu, Rc::default()))
}

fn cpu(options: Options) -> Box<dyn Runtime> {
    Box::new(Cpu::new(options).expect("code can be made for this machine"))
}

/// The outcome of an entry.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    Value { value: String, ty: String },
    Failure { message: String, at: String },
}

/// Runs a program and returns the outcomes of its entries and their total work. Without a
/// configuration, the direct interpreter runs it.
fn run(text: &str, precision: Precision, way: Option<Way>) -> (Vec<Outcome>, u64) {
    let (make, strategy) = way.map(|(_, make, strategy)| (make, strategy)).unzip();
    let settings = Settings {
        precision,
        strategy: strategy.unwrap_or_default(),
        print_length: None,
        max_depth: 10_000,
        max_length: 1 << 20,
        // Interpret-first is off, so everything that can be compiled is compiled.
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

/// Checks that all runtimes compute the same results as the direct interpreter.
pub fn verdict(program: &Program, precision: Precision) -> Verdict {
    verdict_on(program, precision, &WAYS, |text, way| Ok(outcomes(text, precision, way)))
}

/// Runs a program on a configuration and returns the outcomes of its entries.
pub fn outcomes(text: &str, precision: Precision, way: Way) -> Vec<Outcome> {
    run(text, precision, Some(way)).0
}

/// Checks that some configurations compute the same results as the direct interpreter. Each is
/// executed by `execute`, which returns an error for what is wrong besides the results.
pub fn verdict_on(
    program: &Program,
    precision: Precision,
    ways: &[Way],
    execute: impl Fn(&str, Way) -> Result<Vec<Outcome>, String>,
) -> Verdict {
    let entries = program.entries();
    let text = program.text();
    let (expected, work) = run(&text, precision, None);
    if work > MAX_WORK {
        return Verdict::TooLarge;
    }
    if let Err(how) = promised(&entries, &expected) {
        return Verdict::Differ(how);
    }
    for way in ways {
        let name = way.0;
        let given = match execute(&text, *way) {
            Ok(given) => given,
            Err(how) => return Verdict::Differ(format!("{name}: {how}")),
        };
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

/// Checks the generator: the program must be well typed and fail only where it may.
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

/// Returns true if two outcomes of an entry agree as far as they must.
fn agree(entry: &Entry, expected: &Outcome, given: &Outcome, precision: Precision) -> bool {
    match (expected, given) {
        (Outcome::Value { value: a, ty: b }, Outcome::Value { value: c, ty: d }) => {
            b == d && (a == c || entry.near && near(a, c, precision))
        }
        (Outcome::Failure { message: a, at: b }, Outcome::Failure { message: c, at: d }) => {
            // If several iterations fail, any of these failures may be reported.
            let reason = |message: &'_ str| message.split(" (").next().map(str::to_owned);
            b == d && (a == c || entry.loose && reason(a) == reason(c))
        }
        _ => false,
    }
}

/// Returns true if two printed values are equal up to the last digits of floats. The floats are
/// sums of non-negative numbers in any order, so the relative error is small.
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

/// Returns a program together with the results of the direct interpreter.
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
