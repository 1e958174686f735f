//! Tests of sessions on threads of their own.

use super::*;
use crate::display::Style;
use crate::output::Output;
use crate::runtimes::RuntimeRow;
use nesl_engine::{Settings, ShownValues, Stages};
use nesl_runtime::runtime::Options;
use std::time::Duration;

static RUNTIMES: [RuntimeRow; 1] = [RuntimeRow {
    name: "reference",
    about: "The direct interpreter",
    device: |_| "direct interpreter".to_owned(),
    interpret_first: false,
    stages: Stages::with_backend(&[]),
    make: |_| Ok(None),
}];

/// The time after which a test has failed.
const MAX_WAIT: Duration = Duration::from_secs(30);

fn worker() -> Worker {
    Worker::start(Setup {
        settings: Settings { shown: ShownValues::Expressions, ..Settings::default() },
        runtimes: &RUNTIMES,
        runtime: &RUNTIMES[0],
        options: Options::default(),
        idle: None,
        display: Style::default(),
        extra: &[],
    })
    .expect("the direct interpreter is everywhere")
}

/// Enters a text; returns where its outputs and its outcome arrive.
fn enter(worker: &Worker, text: &str) -> (Receiver<Output>, Receiver<Outcome>) {
    let (sink, outputs) = channel();
    let (done, outcome) = channel();
    worker.enter(Request {
        begin: Box::new(|| Some("In [1]".to_owned())),
        text: text.to_owned(),
        defines_it: true,
        stop_on_error: true,
        input: None,
        sink: Box::new(move |output| drop(sink.send(output))),
        done: Box::new(move |outcome| drop(done.send(outcome))),
    });
    (outputs, outcome)
}

fn said(outputs: &Receiver<Output>) -> String {
    let texts = outputs.try_iter().map(|output| match output {
        Output::Printed(_, bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Output::Value(b) | Output::Defined(b) | Output::Answer(b) | Output::Warning(b) => {
            b.plain + "\n"
        }
        Output::Picture(at, _) => format!("picture {at}\n"),
        Output::Error(problem) => format!("{}: {}\n", problem.kind, problem.message),
    });
    texts.collect()
}

fn run(worker: &Worker, text: &str) -> (String, Outcome) {
    let (outputs, outcome) = enter(worker, text);
    let outcome = outcome.recv_timeout(MAX_WAIT).expect("it ends");
    (said(&outputs), outcome)
}

/// A loop that goes on for ever.
const ENDLESS: &str = "function turn(n) = turn(n + 1); turn(0);";

#[test]
fn entries_have_outputs_and_outcomes() {
    let worker = worker();
    assert_eq!(run(&worker, "1 + 2"), ("3 : int\n".to_owned(), Outcome::Done));
    let (said, _) = run(&worker, "x = [1, 2]; print_string(\"hello\"); sum(x);");
    assert_eq!(said, "x : [int]\nhelloT : bool\n3 : int\n");
    let (said, outcome) = run(&worker, "1 / 0; 4;");
    assert!(said.starts_with("Runtime error: ") && said.ends_with("4 : int\n"), "{said}");
    assert!(matches!(outcome, Outcome::Failed(_)));
    assert_eq!(run(&worker, ":type x").0, "x : [int]\n");
    assert!(run(&worker, ":time\nsum(x);\n").0.contains("launches"));
    assert_eq!(run(&worker, "exit;").1, Outcome::Exit);
    assert!(run(&worker, "%matplotlib inline").0.starts_with("Command error: `%matplotlib`"));
    assert_eq!(run(&worker, ":reset").1, Outcome::Done);
    assert!(run(&worker, "x;").0.starts_with("Name error"));
    assert_eq!(run(&worker, "it = 3; it").0, "it : int\n3 : int\n");
}

#[test]
fn lines_count_from_the_beginning_of_the_entry() {
    let worker = worker();
    let (outputs, outcome) = enter(&worker, ":type 1\n\n:time\n1 / 0;");
    outcome.recv_timeout(MAX_WAIT).expect("it ends");
    let shown = outputs.iter().find_map(|output| match output {
        Output::Error(problem) => Some(problem.shown.plain),
        _ => None,
    });
    let shown = shown.expect("a division by zero");
    assert!(shown.contains("In [1]:4:"), "{shown}");
}

#[test]
fn an_interrupt_ends_what_runs_and_refuses_what_waits() {
    let worker = worker();
    run(&worker, "kept = 17;");
    let progress = worker.progress();
    for _ in 0..20 {
        let (_outputs, running) = enter(&worker, ENDLESS);
        let (_, waiting) = enter(&worker, "lost = 1;");
        while progress.report().is_none() {
            std::thread::yield_now();
        }
        worker.interrupt();
        assert_eq!(running.recv_timeout(MAX_WAIT), Ok(Outcome::Interrupted));
        assert_eq!(waiting.recv_timeout(MAX_WAIT), Ok(Outcome::Aborted));
        assert_eq!(run(&worker, "kept;").0, "17 : int\n");
    }
}

#[test]
fn no_interrupt_is_lost_and_none_comes_late() {
    let worker = worker();
    for delay in 0..100 {
        let (_outputs, running) = enter(&worker, ENDLESS);
        // From before it begins to well into it.
        std::thread::sleep(Duration::from_micros(delay * 20));
        worker.interrupt();
        let outcome = running.recv_timeout(MAX_WAIT).expect("it was interrupted");
        assert!(matches!(outcome, Outcome::Interrupted | Outcome::Aborted), "{outcome:?}");
        worker.interrupt();
        assert_eq!(run(&worker, "1 + 1").1, Outcome::Done);
    }
}

#[test]
fn a_failure_refuses_what_waits() {
    let worker = worker();
    let (_outputs, slow) = enter(&worker, "sum({sum([0:i]) : i in [0:2000]}); 1 / 0;");
    let (_, waiting) = enter(&worker, "2;");
    assert!(matches!(slow.recv_timeout(MAX_WAIT), Ok(Outcome::Failed(_))));
    assert_eq!(waiting.recv_timeout(MAX_WAIT), Ok(Outcome::Aborted));
    assert_eq!(run(&worker, "2").1, Outcome::Done);
}

#[test]
fn a_request_may_be_given_up_when_it_begins() {
    let worker = worker();
    let (done, outcome) = channel();
    worker.enter(Request {
        begin: Box::new(|| None),
        text: "unwanted = 1;".to_owned(),
        defines_it: true,
        stop_on_error: true,
        input: None,
        sink: Box::new(|_| {}),
        done: Box::new(move |outcome| drop(done.send(outcome))),
    });
    assert_eq!(outcome.recv_timeout(MAX_WAIT), Ok(Outcome::Aborted));
    assert!(run(&worker, "unwanted").0.starts_with("Name error"));
}

#[test]
fn programs_ask_for_input() {
    struct Answers(Vec<String>);
    impl LineInput for Answers {
        fn line(&mut self, question: &str) -> std::io::Result<Option<String>> {
            self.0.push(question.to_owned());
            Ok(Some(format!("answer {} to {question}", self.0.len())))
        }
    }
    let worker = worker();
    let (sink, outputs) = channel();
    let (done, outcome) = channel();
    worker.enter(Request {
        begin: Box::new(|| Some("In [1]".to_owned())),
        text: "prompt(\"name? \");".to_owned(),
        defines_it: true,
        stop_on_error: true,
        input: Some(Box::new(Answers(Vec::new()))),
        sink: Box::new(move |output| drop(sink.send(output))),
        done: Box::new(move |outcome| drop(done.send(outcome))),
    });
    assert_eq!(outcome.recv_timeout(MAX_WAIT), Ok(Outcome::Done));
    assert_eq!(said(&outputs), "\"answer 1 to name? \" : [char]\n");
}
