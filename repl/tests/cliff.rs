//! Tests that performance has no cliffs: compiled programs of many tiny operations are not slower
//! than on the direct interpreter, programs with little work are not compiled, deep recursion and
//! other large computations either succeed or fail with a clear error, and memory is released.
//!
//! The bounds apply to counters and to the memory of the process. Times are compared only where the
//! expected difference is at least an order of magnitude.

use nesl_engine::{Event, Session, Settings};
use nesl_runtime::kir::Module;
use nesl_runtime::runtime::{Buffer, Caps, Counters, Failure, Launch, Loaded, Options, Runtime};
use nesl_runtime_cpu::Cpu;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Serialises the tests, because they measure times and the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

/// A CPU runtime whose counters can be read while a session uses it.
#[derive(Clone)]
struct Shared(Rc<Cpu>);

impl Runtime for Shared {
    fn caps(&self) -> &Caps {
        self.0.caps()
    }
    fn alloc(&self, ty: nesl_runtime::kir::Ty, length: usize) -> Result<Buffer, Failure> {
        self.0.alloc(ty, length)
    }
    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.0.write(buffer, at, bytes)
    }
    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        self.0.load(module)
    }
    fn prefetch(&self, module: &Module) {
        self.0.prefetch(module);
    }
    fn cancel_prefetch(&self) {
        self.0.cancel_prefetch();
    }
    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        self.0.launch(launch)
    }
    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.0.read(buffer, at, out)
    }
    fn sync(&self) -> Result<(), Failure> {
        self.0.sync()
    }
    fn counters(&self) -> Counters {
        self.0.counters()
    }
}

/// A session that uses the CPU runtime.
struct Fixture {
    session: Session,
    cpu: Shared,
}

impl Fixture {
    fn new(interpret_first: bool) -> Fixture {
        Fixture::with(interpret_first, 4 << 30)
    }

    fn with(interpret_first: bool, memory: u64) -> Fixture {
        let mut session = Session::new(Settings {
            interpret_first,
            print_length: Some(5),
            ..Settings::default()
        });
        let interrupt = session.interrupt_handle();
        let options = Options { interrupt, memory, threads: 2, ..Options::default() };
        let cpu = Shared(Rc::new(Cpu::new(options).expect("code can be made for this machine")));
        session.set_runtime(Some(Box::new(cpu.clone())));
        Fixture { session, cpu }
    }

    /// Runs a text and returns its values, and its messages with their positions.
    fn run(&mut self, text: &str) -> Vec<String> {
        run(&mut self.session, text)
    }

    fn counters(&self) -> Counters {
        self.cpu.counters()
    }
}

fn run(session: &mut Session, text: &str) -> Vec<String> {
    enter(session, "test", text)
}

fn enter(session: &mut Session, name: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    session.enter(name, text, &mut |event| match event {
        Event::Bound(binding) => out.push(binding.value),
        Event::Text(text) => out.push(text),
        Event::Diagnostic(diagnostic) => {
            let at = diagnostic.primary.at.range;
            out.push(format!("{} [{}]", diagnostic.message, &text[at]));
        }
    });
    out
}

/// Runs a text on the direct interpreter; returns its results and the time it took.
fn reference(text: &str) -> (Vec<String>, Duration) {
    let mut session = Session::new(Settings { print_length: Some(5), ..Settings::default() });
    let start = Instant::now();
    (run(&mut session, text), start.elapsed())
}

/// Returns the resident memory of a process in bytes, or 0 where the system does not report it.
fn resident(status: &str) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// Returns the number of bytes by which some work increases the memory of the process.
fn growth(work: impl FnOnce()) -> u64 {
    let own = "/proc/self/statm";
    let before = resident(own);
    work();
    resident(own).saturating_sub(before)
}

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

const TINY_OPERATIONS: &str = "
function steps(n, a) = if n == 0 then a else steps(n - 1, a + n * n);
steps(100000, 0);
function fibonacci(n) = if n < 2 then n else fibonacci(n - 1) + fibonacci(n - 2);
fibonacci(18);
function back(s) = if #s < 2 then s else back(drop(s, 1)) ++ take(s, 1);
{back(\"a short string\") : i in [0:200]};
function grown(n, a) = if n == 0 then a else grown(n - 1, a ++ [n]);
sum(grown(2000, [0]));
";

#[test]
fn many_tiny_operations_are_not_slower_than_on_the_interpreter() {
    let _alone = alone();
    let (expected, interpreted) = reference(TINY_OPERATIONS);
    for interpret_first in [true, false] {
        let mut fixture = Fixture::new(interpret_first);
        let start = Instant::now();
        assert_eq!(fixture.run(TINY_OPERATIONS), expected);
        let taken = start.elapsed();
        assert!(
            taken < 2 * interpreted + Duration::from_secs(2),
            "{taken:?} (interpret_first: {interpret_first}), but {interpreted:?} on the direct interpreter"
        );
    }
}

#[test]
fn what_does_little_is_not_compiled() {
    let _alone = alone();
    let mut fixture = Fixture::new(true);
    fixture.run("function squares(n) = {x * x : x in [0:n]}; words = [\"one\", \"two\"];");
    for i in 0..200 {
        fixture.run(&format!("sum(squares({i})) + {i}; {{#w + {i} : w in words}};"));
    }
    assert_eq!(fixture.counters().modules, 0);
    // A program with much work is compiled, and that is remembered.
    for _ in 0..10 {
        assert_eq!(fixture.run("sum(squares(1000000));"), ["333332833333500000"]);
    }
    let counters = fixture.counters();
    assert_eq!((counters.modules, counters.launches), (1, 10));
}

#[test]
fn faults_are_the_same_whoever_finds_them() {
    let _alone = alone();
    let text = "
        function f1(n) = if n == 0 then 1 / n else f1(n - 1);
        f1(3);
        f1(300000);
        {10 / x : x in [3, 2, 1, 0]};
        sum({10 / (x - 199999) : x in [0:200000]});
        [1, 2, 3][7];
        function up(n) = up(n + 1) + 1;
    ";
    let (expected, _) = reference(text);
    for interpret_first in [true, false] {
        assert_eq!(Fixture::new(interpret_first).run(text), expected);
    }
}

#[test]
fn recursion_may_be_a_million_levels_deep() {
    let _alone = alone();
    let mut fixture = Fixture::new(true);
    let given = fixture.run(
        "function down(n) = if n == 0 then 0 else down(n - 1) + 1;
         down(1000000);
         function listed(n) = if n == 0 then [0] else let rest = listed(n - 1) in rest ++ [n];
         #listed(2000);
         function forever(n) = forever(n + 1) + 1;
         forever(0);
         down(10);",
    );
    assert_eq!(given[1], "1000000");
    assert_eq!(given[3], "2001");
    assert!(given[5].contains("ecursion"), "{given:#?}");
    assert_eq!(given[6], "10");
}

#[test]
fn what_is_too_large_is_said_to_be() {
    let _alone = alone();
    let mut fixture = Fixture::with(true, 256 << 20);
    let large = [
        "dist(0, 1000000000000);",
        "#dist(dist(1, 1000000), 1000000000000);",
        "{x : x in [0:300000000]};",
        "{#flatten(dist(dist(x, 1000), 1000000)) : x in [0:3]};",
        "function twice(n, a) = if n == 0 then a else twice(n - 1, a ++ a); twice(50, [1, 2]);",
    ];
    for text in large {
        let given = fixture.run(text);
        let last = given.last().expect("something is said");
        assert!(last.contains("emory") || last.contains("1000000000000"), "{text}: {given:#?}");
        assert_eq!(fixture.run("sum([0:1000])"), ["499500"], "after {text}");
    }
    assert!(fixture.counters().bytes < 300 << 20);
    // The message says how much memory was wanted, and a smaller request succeeds.
    let mut size = |text: &str| fixture.run(text).concat();
    assert!(size("dist(0, 1000000000000);").contains("8.0 TB wanted"));
    assert!(size("{dist(x, 10000000000) : x in [0:3]};").contains("0.0 GB wanted"));
    assert!(size("dist(0, 1000000000000);").contains("the limit is 268.4 MB"));
    let few = size("[min_int:max_int:4611686018427387904];");
    assert!(few.starts_with("[-9223372036854775808, -4611686018427387904, 0, "), "{few}");
}

#[test]
fn a_cell_run_ten_thousand_times_does_not_fill_the_memory() {
    let _alone = alone();
    for interpret_first in [true, false] {
        let mut fixture = Fixture::new(interpret_first);
        fixture.run("function squares(n) = {x * x : x in [0:n]};");
        // The definition uses its own previous value, so the cell must be executed again each time.
        fixture.run("turns = 0;");
        for i in 1..20 {
            assert_eq!(fixture.run("turns = turns + 1;"), [i.to_string()]);
        }
        let cell = "a = squares(20); sum({x + 1 : x in a});";
        fixture.run(cell);
        let grown = growth(|| (0..9_999).for_each(|_| assert_eq!(fixture.run(cell)[1], "2490")));
        assert!(grown < 1 << 20, "{grown} bytes more (interpret_first: {interpret_first})");
        // Another cell is entered in between, so only the results are kept.
        let mut once = |times: usize| {
            for _ in 0..times {
                assert_eq!(fixture.run(cell)[1], "2490");
                fixture.run("7;");
            }
        };
        once(500);
        let start = Instant::now();
        once(500);
        let early = start.elapsed();
        let grown = growth(|| once(2000));
        let start = Instant::now();
        once(500);
        let late = start.elapsed();
        println!(
            "interpret_first {interpret_first}: {grown} bytes more; {early:?} early, {late:?} late"
        );
        assert!(grown < 2000 * 50_000, "{} bytes each time", grown / 2000);
        assert!(late < 4 * early + Duration::from_secs(1), "{early:?} early, {late:?} late");
        assert!(fixture.counters().modules <= 3);
    }
}

#[test]
fn values_that_nobody_can_ask_for_are_let_go_of() {
    let _alone = alone();
    // The real program is run, because its memory allocator is part of the test.
    let mut child = Command::new(env!("CARGO_BIN_EXE_nesl"))
        .args(["--print-length", "3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let status = format!("/proc/{}/statm", child.id());
    let mut forms = child.stdin.take().expect("it is piped");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    forms.write_all(b"function large(n) = {x + n : x in [0:1000000]};\n").expect("it reads");
    let mut memory = Vec::new();
    for turn in 0..60 {
        let text = format!("a = large({turn});\nlarge({turn});\nsum(a);\n\"turn {turn}\";\n");
        forms.write_all(text.as_bytes()).expect("it reads");
        let end = format!("turn {turn}");
        lines.by_ref().map(|line| line.expect("text")).find(|line| line.contains(&end));
        memory.push(resident(&status));
    }
    drop(forms);
    assert!(child.wait().expect("it ends").success());
    // Each value has 8 MB, on the host and on the CPU runtime.
    assert!(memory[59] < memory[9] + (100 << 20), "{memory:?}");
}

#[test]
fn old_values_stay_for_those_who_use_them() {
    let _alone = alone();
    let mut fixture = Fixture::new(true);
    let given = fixture.run(
        "x = 5;
         function plus(y) = x + y;
         plus(1);
         x = 7;
         plus(1);
         x = [1, 2];
         plus(1);
         3;
         function old(y) = it + y;
         old(1);
         [4.5];
         old(1);
         x;",
    );
    assert_eq!(given[2], "6");
    assert_eq!(given[4], "8");
    assert!(given.contains(&"8".to_owned()));
    // The value of `it` after `old(1)` is an int again and replaces the first one.
    assert_eq!((&*given[10], &*given[12]), ("4", "5"), "{given:#?}");
    assert_eq!(given.last().map(String::as_str), Some("[1, 2]"));
}

#[test]
fn large_programs_are_run() {
    let _alone = alone();
    let mut wide = String::from("function wide(x) = let a0 = x;");
    for i in 1..5000 {
        wide += &format!(" a{i} = a{} + {i};", i - 1);
    }
    wide += " in a4999; wide(3);";
    let numbers: Vec<String> = (0..20_000).map(|i| (i * 7 % 1000).to_string()).collect();
    let list = format!("sum({{x * x : x in [{}]}});", numbers.join(", "));
    let text = format!("count({{c == `a : c in \"{}\"}});", "abcdefghij".repeat(20_000));
    let mut many = String::from("function g0(x) = x;");
    for i in 1..300 {
        many += &format!(" function g{i}(x) = if x > 1000000 then x else g{}(x + 1) + 1;", i - 1);
    }
    many += " {g299(x) : x in [0:3]};";
    let nested = format!("function n(x) = {}x{};", "[".repeat(2000), "]".repeat(2000));
    let mut cases = String::from("function kind(x) = ");
    let mut steps = String::from("function steps(x) = let a0 = x;");
    for i in 1..800 {
        cases += &format!("if x == {} then {} else ", i * 3, i * 7);
        steps += &format!(" a{i} = a{} + {i} * x;", i - 1);
    }
    cases += "-1; sum({kind(x) : x in [0:3000]});";
    steps += " in a799; sum({steps(x) : x in [0:3000]});";
    for program in [wide, list, text, many, nested, cases, steps] {
        let (expected, interpreted) = reference(&program);
        for interpret_first in [true, false] {
            let mut fixture = Fixture::new(interpret_first);
            let start = Instant::now();
            assert_eq!(fixture.run(&program), expected);
            println!("{:.20}…: {:?}, {interpreted:?}", program, start.elapsed());
            // Without interruption the program would take minutes.
            assert!(start.elapsed() < Duration::from_secs(40), "{program:.20}…");
        }
    }
}

#[test]
fn an_interrupt_ends_it_at_any_moment() {
    let _alone = alone();
    for delay in [0, 1, 3, 10, 30, 100, 300] {
        let mut fixture = Fixture::new(true);
        let flag = fixture.session.interrupt_handle();
        let ended = AtomicBool::new(false);
        let (given, taken) = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(delay));
                // Entering a text clears the flag, so the first attempts may come too early.
                while !ended.load(Ordering::Relaxed) {
                    flag.store(true, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let start = Instant::now();
            let text = "function spin(n) = if n < 0 then n else spin(n + 1); spin(0);";
            let given = fixture.run(text);
            ended.store(true, Ordering::Relaxed);
            (given, start.elapsed())
        });
        assert!(given.last().is_some_and(|m| m.contains("nterrupted")), "{given:#?}");
        assert!(taken < Duration::from_secs(20), "{taken:?}");
        assert_eq!(fixture.run("1 + 1"), ["2"]);
    }
}

#[test]
fn values_outlive_their_runtime() {
    let _alone = alone();
    let mut fixture = Fixture::new(false);
    fixture.run(
        "x = {i * i : i in [0:200000]}; pairs = {(i, [i, i]) : i in [0:300]}; (a, b) = (x, 7);",
    );
    let ask = "sum(x) + b; sum({i + sum(s) : (i, s) in pairs}); sum(a);";
    let expected = fixture.run(ask);
    assert_eq!(expected.len(), 3);
    fixture.session.set_runtime(None);
    assert_eq!(fixture.run(ask), expected);
    let again = Fixture::new(false).cpu;
    fixture.session.set_runtime(Some(Box::new(again.clone())));
    assert_eq!(fixture.run(ask), expected);
    assert!(again.counters().launches > 0);
    assert_eq!(fixture.counters().bytes, 0, "the first one has nothing left");
}

/// A cell that is entered again under the same name may reuse the same entry; under another name it
/// is a new one.
#[test]
fn a_cell_entered_again_means_what_a_new_one_means() {
    let _alone = alone();
    let cells = [
        "1; 2;",
        "1; [2]; 3;",
        "x = 5; x = 6; x;",
        "x = 5;",
        "x = [7];",
        "x = x;",
        "y = 1; y + 1;",
        "(x, y) = (1, 2); x + y;",
        "function plus(n) = x + n;",
        "plus(1);",
        "plus(1); plus(2);",
        "x = plus(0);",
        "function last(n) = it;",
        "last(0);",
        "it;",
        "rand(1000);",
        "z = 10 / (3 - rand(6));",
        "z;",
        "q = [4, 5][rand(4)]; q;",
        "w = 1 / 0; w;",
        "h = plus; h(3);",
        "nothing + 1;",
    ];
    for seed in 0..30_u64 {
        let settings = Settings { seed, ..Settings::default() };
        let (mut same, mut new) = (Session::new(settings.clone()), Session::new(settings));
        let mut state = seed;
        for turn in 0..40 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let cell = cells[(state >> 33) as usize % cells.len()];
            for again in 0..1 + (state >> 60) % 4 {
                let given = enter(&mut same, "cell", cell);
                let expected = enter(&mut new, &format!("cell {turn} {again}"), cell);
                assert_eq!(given, expected, "seed {seed}, turn {turn}, again {again}: {cell}");
                // No value was released too early.
                let lost = expected.iter().find(|line| line.contains("has no value"));
                assert_eq!(lost, None, "seed {seed}, turn {turn}: {cell}");
            }
        }
    }
}

#[test]
fn a_cell_interrupted_the_second_time_keeps_its_value() {
    let _alone = alone();
    let mut fixture = Fixture::new(true);
    fixture.run("function spin(n) = if n == 0 then 5 else spin(n - 1); turns = 3;");
    let cell = "a = spin(400000000);";
    let stop = |fixture: &mut Fixture| {
        let flag = fixture.session.interrupt_handle();
        let timer = std::thread::spawn(move || {
            for _ in 0..40 {
                std::thread::sleep(Duration::from_millis(5));
                flag.store(true, Ordering::Relaxed);
            }
        });
        let given = fixture.run(cell);
        timer.join().expect("it ends");
        given
    };
    assert_eq!(fixture.run(cell), ["5"]);
    let given = stop(&mut fixture);
    // On a fast machine the program may have finished.
    assert!(given == ["5"] || given[0].contains("nterrupted"), "{given:?}");
    assert_eq!(fixture.run("a;"), ["5"]);
}
