//! Tests of what the cells of a notebook cost on a simulated GPU, and of what they leave behind.

mod simulator;

use nesl_engine::{Settings, ShownValues, Stages};
use nesl_interactive::display::{Style, limits};
use nesl_interactive::output::Outcome;
use nesl_interactive::runtimes::RuntimeRow;
use nesl_interactive::state::{Setup, State};
use nesl_runtime::runtime::{Counters, Options};
use nesl_sim::client::Client;
use simulator::gpu;

static RUNTIMES: [RuntimeRow; 1] = [RuntimeRow {
    name: "simulated",
    about: "A simulated GPU",
    device: || "a simulated GPU".to_owned(),
    interpret_first: false,
    stages: Stages::with_backend(&[]),
    make: |options| Ok(Some(gpu(options))),
}];

/// Begins a session as notebooks have it.
fn notebook() -> State {
    State::new(Setup {
        settings: Settings {
            shown: ShownValues::Expressions,
            data: Some(limits()),
            interpret_first: false,
            ..Settings::default()
        },
        runtimes: &RUNTIMES,
        runtime: &RUNTIMES[0],
        options: Options { threads: 1, ..Options::default() },
        display: Style { html: true },
        extra: &[],
    })
    .expect("the simulator is a device")
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
