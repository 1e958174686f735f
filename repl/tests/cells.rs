//! Tests of what the cells of a notebook cost on a simulated GPU, and of what they leave behind.

mod simulator;

use nesl_engine::{Settings, ShownValues, Stages};
use nesl_interactive::display::{Style, limits};
use nesl_interactive::output::{Outcome, Output};
use nesl_interactive::runtimes::RuntimeRow;
use nesl_interactive::state::{Setup, State};
use nesl_interactive::worker::{Request, Worker};
use nesl_runtime::runtime::{Counters, Options};
use nesl_sim::client::Client;
use simulator::gpu;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

static RUNTIMES: [RuntimeRow; 1] = [RuntimeRow {
    name: "simulated",
    about: "A simulated GPU",
    device: |_| "a simulated GPU".to_owned(),
    interpret_first: false,
    stages: Stages::with_backend(&[]),
    make: |options| Ok(Some(gpu(options))),
}];

/// A session as notebooks have it.
fn setup() -> Setup {
    Setup {
        settings: Settings {
            shown: ShownValues::Expressions,
            data: Some(limits()),
            interpret_first: false,
            ..Settings::default()
        },
        runtimes: &RUNTIMES,
        runtime: &RUNTIMES[0],
        options: Options { threads: 1, ..Options::default() },
        idle: None,
        display: Style { html: true, ..Style::default() },
        extra: &[],
    }
}

/// Begins a session as notebooks have it.
fn notebook() -> State {
    State::new(setup()).expect("the simulator is a device")
}

/// Runs a cell; returns the runtime's counters afterwards.
fn run(state: &mut State, text: &str) -> Counters {
    let outcome = state.enter("In [1]", text, Box::new(|_| {}));
    assert_eq!(outcome, Outcome::Done, "{text}");
    state.session.stats().counters
}

#[test]
fn arrays_stay_on_the_device_between_cells() {
    let _simulator = Client::load().expect("the simulator was built").exclusive();
    let mut state = notebook();
    let start = run(&mut state, "n = 20000;");
    // A cell that defines does nothing.
    let defined = run(&mut state, "x = {float(i) : i in [0:n]}; y = {a * a : a in x};");
    assert_eq!((defined.launches, defined.transferred), (start.launches, start.transferred));
    // One that observes computes what it needs, and only its result comes back.
    let observed = run(&mut state, "sum(y)");
    assert!(observed.launches > defined.launches);
    let all = 20_000 * 8;
    assert!(observed.transferred - defined.transferred < all / 100, "{observed:?}");
    // What several cells use is kept on the device.
    run(&mut state, "kept = reverse(y); kept[0]");
    let kept = run(&mut state, "max_val(kept)");
    let again = run(&mut state, ":vars\nz = {b + 1.0 : b in kept};\nsum(z) + kept[10]");
    assert!(again.transferred - kept.transferred < all / 100, "{kept:?} {again:?}");
    // Of a value that is shown, the beginning and the end are read.
    let shown = run(&mut state, "{(a, b) : a in [0:2000000]; b in [0:2000000]}");
    assert!(shown.transferred - again.transferred < 1 << 16, "{again:?} {shown:?}");
}

#[test]
fn cells_that_run_again_free_what_they_replace() {
    let _simulator = Client::load().expect("the simulator was built").exclusive();
    let mut state = notebook();
    let cells = [
        "xs = {i * 3 : i in [0:2000]};",
        "function total(k) = sum(xs) + k;",
        "total(1); #xs",
        "rows = {[0:i] : i in [0:60]}; {sum(row) : row in rows}",
        "xs = {float(i) : i in [0:2000]};",
        "function total(k) = sum(xs) + float(k);",
        "total(2); xs[7]",
    ];
    let mut first = None;
    for round in 0..20 {
        let mut bytes = 0;
        for cell in cells {
            bytes = run(&mut state, cell).bytes;
        }
        // The first rounds compile, and fill what is kept for good.
        if round == 2 {
            first = Some(bytes);
        }
    }
    let last = state.session.stats().counters.bytes;
    let first = first.expect("there were more rounds");
    assert!(last <= first + 1024, "{first} bytes after three rounds, {last} after twenty");
}

/// Runs a cell on a session's thread; returns the values and answers that it shows.
fn cell(worker: &Worker, text: &str) -> Vec<String> {
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
    assert_eq!(outcome.recv_timeout(MAX_WAIT), Ok(Outcome::Done), "{text}");
    let shown = outputs.try_iter().filter_map(|output| match output {
        Output::Value(bundle) | Output::Answer(bundle) => Some(bundle.plain),
        _ => None,
    });
    shown.collect()
}

/// The time after which a test has failed.
const MAX_WAIT: Duration = Duration::from_secs(60);

#[test]
fn an_idle_session_gives_its_device_back() {
    let simulator = Client::load().expect("the simulator was built").exclusive();
    let idle = Some(Duration::from_millis(200));
    let worker = Worker::start(Setup { idle, ..setup() }).expect("the simulator is a device");
    // An array, another one that shares it, nested ones, and a definition that is not yet computed.
    cell(
        &worker,
        "xs = {i * i : i in [0:5000]}; back = reverse(xs); none = {x : x in xs | x < 0}; #none;\n\
         rows = {[0:i] : i in [0:50]}; sum(flatten(rows)) + sum(back);\n\
         late = {float(x) + 0.5 : x in xs};\n\
         function above(limit) = {x in xs | x > limit};",
    );
    let asked = "back[0]; {sum(row) : row in rows}; #above(1000000); #none; xs";
    let before = cell(&worker, asked);
    assert_eq!(before.len(), 5);
    let places = |vars: &str, place: &str| {
        let of = |name: &str| vars.lines().find(|line| line.starts_with(name)).map(str::to_owned);
        ["back ", "rows "].map(of).iter().flatten().all(|line| line.trim_end().ends_with(place))
    };
    let vars = cell(&worker, ":vars").concat();
    assert!(places(&vars, "device"), "{vars}");
    for round in 0..3 {
        assert!(simulator.host_counters().live_bytes > 0, "round {round}");
        let begin = Instant::now();
        while simulator.host_counters().live_bytes > 0 {
            assert!(begin.elapsed() < MAX_WAIT, "{:?}", simulator.host_counters());
            std::thread::sleep(Duration::from_millis(10));
        }
        // What needs no device does not take it again.
        let vars = cell(&worker, ":vars").concat();
        assert!(places(&vars, "host"), "{vars}");
        assert!(round > 0 || vars.contains("not yet computed"), "{vars}");
        assert_eq!(cell(&worker, "17"), ["17 : int"]);
        assert_eq!(simulator.host_counters().live_bytes, 0);
        assert_eq!(cell(&worker, asked), before, "round {round}");
        // The sum of the squares below 5000, and a half for each.
        assert_eq!(cell(&worker, "sum(late)"), ["4.165417E10 : float"]);
        assert_eq!(
            cell(&worker, &format!("xs = {{x + {round} - {round} : x in xs}}; max_val(xs)")),
            ["24990001 : int"]
        );
    }
    assert!(simulator.findings().is_empty(), "{:?}", simulator.findings());
}
