//! Tests the number of kernel launches and the bytes of arrays that programs need on the CPU, as
//! reported by the exact counters of the runtime. Intermediate values within one kernel are not
//! stored, and arrays are read once.

use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Binding, Event, Session, Settings, ShownValues, Usage};
use nesl_runtime::runtime::Options;
use nesl_runtime_cpu::Cpu;
use std::path::Path;

/// Defines sequences of floats and ints for the programs below.
const DATA: &str = "
    a = {float(i) * 0.5 : i in [0:n]};
    b = {float(i) * 0.25 : i in [0:n]};
    c = {float(i) + 1.0 : i in [0:n]};
    k = {rem(i * 7919, n) : i in [0:n]};
    few = partition(a, dist(n / 4, 4));
    many = partition(a, dist(10, n / 10));
    weights = [0.5, 1.0, 1.5, 2.0];
";

/// Makes a session with these definitions.
fn session(n: usize, definitions: &str, strategy: Strategy) -> Session {
    session_of(Options::default().threads, n, definitions, strategy)
}

/// Makes a session with these definitions that uses so many threads.
fn session_of(threads: usize, n: usize, definitions: &str, strategy: Strategy) -> Session {
    let settings = Settings {
        shown: ShownValues::Scalars,
        lazy: false,
        interpret_first: false,
        strategy,
        ..Settings::default()
    };
    let mut session = Session::new(settings);
    session.set_output(Box::new(std::io::sink()));
    let interrupt = session.interrupt_handle();
    let options = Options { interrupt, threads, ..Options::default() };
    let cpu = Cpu::new(options).expect("code can be made for this machine");
    session.set_runtime(Some(Box::new(cpu)));
    last(&mut session, &format!("n = {n}; {DATA} {definitions}"));
    session
}

/// Enters a text and returns its last binding.
fn last(session: &mut Session, text: &str) -> Binding {
    let mut bound = None;
    session.enter("program.nesl", text, &mut |event| match event {
        Event::Bound(binding) => bound = Some(binding),
        Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => panic!("{text}: {}", diagnostic.message),
    });
    bound.unwrap_or_else(|| panic!("{text} binds nothing"))
}

/// Returns the usage of a form, and the number of bytes of arrays before it.
fn usage(session: &mut Session, text: &str) -> (Usage, u64) {
    let before = session.stats().counters.bytes;
    let usage = last(session, text).usage;
    assert!(usage.on_runtime, "{text}");
    assert_eq!(session.stats().unsupported, [], "{text}");
    (usage, before)
}

/// Checks the number of launches of a form under a strategy.
fn launches(expected: u64, strategy: Strategy, definitions: &str, text: &str) {
    let mut session = session(100_000, definitions, strategy);
    let (usage, _) = usage(&mut session, text);
    assert_eq!(usage.launches, expected, "{text}");
}

const FLAT: Strategy = Strategy::Always(Version::Flattened);

#[test]
fn maps_of_several_sequences_are_one_launch() {
    launches(1, Strategy::Auto, "", "r = {x * y + z : x in a; y in b; z in c};");
    launches(1, Strategy::Auto, "", "r = {a[i] : i in k};");
    launches(1, Strategy::Auto, "", "r = {if x > 10.0 then sqrt(x) else x * x : x in a};");
}

#[test]
fn reductions_are_one_launch_with_what_they_reduce() {
    launches(1, Strategy::Auto, "", "r = sum({x * y : x in a; y in b});");
    launches(1, Strategy::Auto, "", "r = sqrt(sum({x * x : x in a}));");
    launches(1, Strategy::Auto, "", "r = (sum(a), max_val(a), sum({x * x : x in a}));");
    launches(1, Strategy::Auto, "", "r = plus_scan({2 * i : i in k});");
    launches(1, Strategy::Auto, "", "r = sum({x in a | x > 100.0});");
    launches(1, Strategy::Auto, "", "r = #{x in a | x > 100.0};");
    launches(1, Strategy::Auto, "", "r = {x in a | x > 100.0};");
    launches(1, Strategy::Auto, "", "r = sum({x * y : x in a; y in b | x > y});");
    launches(2, Strategy::Auto, "", "r = let m = sum(a) / float(#a) in {x - m : x in a};");
    launches(1, Strategy::Auto, "", "r = sum({float(i) * 0.5 : i in [0:n]});");
}

#[test]
fn black_scholes_is_one_launch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/black_scholes.nesl");
    let text = std::fs::read_to_string(path).expect("it is there");
    let calls = "r = {let (call, put) = option_prices(spot, strike, 1.0, 0.05, 0.2) in call
                  : spot in a; strike in c};";
    launches(1, Strategy::Auto, &text, calls);
}

#[test]
fn nested_reductions() {
    let scaled = "r = {sum({x * y : x in row}) : row in few; y in weights};";
    launches(1, FLAT, "", scaled);
    launches(1, Strategy::Auto, "", scaled);
    // There are many rows, so each work item sums its row.
    launches(1, Strategy::Auto, "", "r = {sum(row) : row in many};");
    let free = "r = {sum({x * y : x in a}) : y in weights};";
    launches(1, FLAT, "", free);
}

#[test]
fn rows_are_normalised_in_three_launches() {
    let bounds =
        "r = {let low = min_val(row); high = max_val(row) in {(x - low) / (high - low) : x in row}
                  : row in few};";
    launches(2, FLAT, "", bounds);
    let mean = "r = {let mean = sum(row) / float(#row);
                         spread = sum({(x - mean) * (x - mean) : x in row}) / float(#row)
                     in {(x - mean) / spread : x in row}
                 : row in few};";
    launches(3, FLAT, "", mean);
    // There are many rows, so each work item computes its mean; a second launch computes where the
    // rows start.
    launches(2, Strategy::Auto, "", &mean.replace("few", "many"));
}

#[test]
fn neighbours_and_positions_are_read_where_they_are() {
    launches(1, Strategy::Auto, "", "r = {x * float(i) : x in a; i in [0:#a]};");
    launches(1, FLAT, "", "r = {sum({x * float(i) : x in row; i in [0:#row]}) : row in few};");
    let between = "r = {(x + y) / 2.0 : x in a; y in previous(a, 0.0)};";
    launches(1, Strategy::Auto, "", between);
    // The launches compute the indices of the rows and the elements; where the rows begin is known.
    let north =
        "r = {{x - y : x in row; y in north} : row in many; north in previous(many, many[0])};";
    for strategy in [FLAT, Strategy::Auto] {
        launches(2, strategy, "", north);
    }
}

#[test]
fn words_are_found_grouped_and_counted_without_detours() {
    let text = "text = flatten(dist(\"to be or  not to be \", n / 10));";
    // The launches compute starts and ends, words, groups, and the last member of each group with its
    // number.
    launches(4, Strategy::Auto, text, "r = histogram(wordify(text));");
    let pairs = "pairs = {(rem(i, 100), i > 5) : i in k};";
    // The launches compute hashes, groups, groups among elements that only share a hash, and the
    // last of each.
    launches(4, Strategy::Auto, pairs, "r = remove_duplicates(pairs);");
}

/// Returns the number of bytes that a form allocates at most, in addition to what was allocated
/// before.
fn allocates(n: usize, text: &str) -> u64 {
    let mut session = session(n, "", Strategy::Auto);
    let counters = session.stats().counters;
    // An additional allocation shows in the peak only after the bytes in use have reached the
    // previous peak.
    let room = (counters.peak_bytes - counters.bytes) / 8 + 1;
    last(&mut session, &format!("ballast = {{i : i in [0:{room}]}};"));
    let (usage, before) = usage(&mut session, text);
    assert_eq!(usage.launches, 1, "{text}");
    usage.peak_bytes - before
}

#[test]
fn what_is_used_up_at_once_is_not_stored() {
    for (text, bytes) in [
        ("r = sum({x * y : x in a; y in b});", 8),
        ("r = sum({x in a | x > 100.0});", 8),
        ("r = #{x in a | x > 100.0};", 8),
        ("r = sum({x * x : x in {y in a | y > 3.0} | x < 50.0});", 8),
        ("r = (sum(a), max_val(a), sum({x * x : x in a}));", 24),
        ("r = sum({float(i) * 0.5 : i in [0:n]});", 8),
    ] {
        for n in [10_000, 80_000] {
            assert_eq!(allocates(n, text), bytes, "{text} of {n}");
        }
    }
    assert_eq!(allocates(10_000, "r = {x * y + z : x in a; y in b; z in c};"), 80_000);
}

#[test]
fn what_is_written_to_places_is_not_stored_before() {
    for strategy in [Strategy::Auto, Strategy::Always(Version::Flattened)] {
        // The launches compute the target array and the writes.
        launches(2, strategy, "", "r = dist(0.0, n) <- {(i, x * 2.0) : i in k; x in a};");
        launches(2, strategy, "", "r = dist(f, n) <- {(i, t) : i in k | i > 5};");
        // The launches compute the lengths of the rows, the target array, and the writes.
        let writes = "r = dist(t, n) <- {(m, f) : m in flatten({[p * p:n:p] : p in primes})};";
        launches(3, strategy, "primes = {2 * i + 3 : i in [0:150]};", writes);
        // In the first form the target array has no other user; in the second it has.
        let squares = "let s = {i * i : i in k} in";
        launches(2, strategy, "", &format!("r = {squares} s <- {{(i, 0) : i in k | i > 9}};"));
        launches(3, strategy, "", &format!("r = {squares} (s <- {{(i, 0) : i in k}}, s);"));
    }
    let mut session = session(80_000, "", Strategy::Auto);
    let peak = |session: &mut Session, text: &str| {
        let (usage, before) = usage(session, text);
        usage.peak_bytes - before
    };
    let ballast = "ballast = {i : i in [0:300000]};";
    peak(&mut session, ballast);
    // Threads record the last writer of each index in one byte.
    assert!(peak(&mut session, "r = dist(0, n) <- {(i, i + 1) : i in k | i > 3};") <= 720_000);
    let writes = "q = dist(f, n) <- {(m, t) : m in flatten({[0:n:i + 1] : i in [0:100]})};";
    assert!(peak(&mut session, writes) < 100_000);
}

#[test]
fn what_the_host_does_between_is_no_launch() {
    launches(
        1,
        Strategy::Auto,
        "",
        "r = let s = {x * 2.0 : x in a}; p = print_line(\"s\") in sum(s);",
    );
    launches(1, Strategy::Auto, "", "r = let (s, secs) = time(sum(a)) in s;");
    // A definition that may fail is not delayed, so there are two launches.
    launches(
        2,
        Strategy::Auto,
        "",
        "r = let s = {sqrt(x) : x in a}; p = print_line(\"s\") in sum(s);",
    );
}

/// Computations on scalars alone do not run on the runtime, nor do functions that consist of them.
#[test]
fn texts_are_made_by_the_host() {
    let report = "function report(s, x) : ([char], float) -> bool =
        print_line(s ++ \": \" ++ @x ++ (if x > 0.0 then \"\" else \" (none)\"));";
    let rounds = "function rounds(i, x) : (int, [float]) -> [float] =
        if i == 0 then x
        else let p = print_line(@i) in rounds(i - 1, {y * 0.5 : y in x});";
    let mut session = session(1_000_000, &format!("{report} {rounds}"), Strategy::Auto);
    session.settings_mut().interpret_first = true;
    for text in [
        "r = print_line(\"sum \" ++ @sum({x * x : x in a}));",
        "r = let s = sum({x * x : x in a}); p = report(\"sum\", s); q = report(\"root\", sqrt(s)) in q;",
    ] {
        let (usage, _) = usage(&mut session, text);
        assert_eq!(usage.launches, 1, "{text}");
    }
    let (usage, _) = usage(&mut session, "halved = rounds(4, a);");
    assert_eq!(usage.launches, 4);
}

/// Makes a session that evaluates definitions of sequences lazily.
fn lazy(text: &str) -> Session {
    let mut session = session(100_000, "", Strategy::Auto);
    session.settings_mut().lazy = true;
    session.enter("program.nesl", text, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            panic!("{text}: {}", diagnostic.message);
        }
    });
    session
}

/// Checks the number of launches of each entry in turn, and whether `x` has been computed
/// afterwards.
fn entries(definitions: &str, entries: &[(&str, u64, bool)]) {
    let mut session = lazy("");
    session.enter("program.nesl", definitions, &mut |_| {});
    for (text, expected, there) in entries {
        let before = session.stats().counters.launches;
        last(&mut session, text);
        let stats = session.stats();
        assert_eq!(stats.counters.launches - before, *expected, "{text}");
        let x = stats.variables.iter().find(|v| v.name == "x" && !v.shadowed);
        assert_eq!(x.is_some_and(|x| x.runtime_bytes.is_some()), *there, "{text}");
    }
}

#[test]
fn definitions_are_computed_with_what_asks() {
    entries(
        "",
        &[
            ("x = {e * 2.0 : e in a};", 0, false),
            ("s = sum(x);", 1, false),
            // The second form that uses `x` has it computed.
            ("s = max_val(x);", 2, true),
            ("s = min_val(x);", 1, true),
        ],
    );
    // A chain of definitions of sequences whose lengths are known to be equal is fused.
    let chain = "y = {p + q : p in a; q in b}; z = {p in y | p > 10.0};";
    entries(chain, &[("x = {e * 2.0 : e in z};", 0, false), ("s = sum(x);", 1, false)]);
    // Two definitions that use the same sequence are fused in one program.
    let both = "y = {p + 1.0 : p in a}; x = {p * 2.0 : p in y};";
    entries(both, &[("s = sum({p * q : p in x; q in y});", 1, false)]);
}

#[test]
fn what_is_asked_for_as_a_whole_is_kept() {
    let x = "x = {e * 2.0 : e in a};";
    entries(x, &[("s = x[7];", 1, true), ("s = x[8];", 0, true)]);
    entries(x, &[("y = {x[i] : i in k};", 2, true)]);
    entries(x, &[("y = x;", 1, true)]);
}

#[test]
fn a_definition_means_what_it_meant() {
    let mut session = lazy("x = {e * 2.0 : e in a}; y = {e + 1.0 : e in x}; x = {0.0 : e in a};");
    session.enter("program.nesl", "a = {1.0 : e in b};", &mut |_| {});
    assert_eq!(last(&mut session, "s = sum(y) == sum({float(i) + 1.0 : i in [0:n]});").value, "T");
    assert_eq!(last(&mut session, "u = sum(x);").value, "0.0");
}

/// A definition that may fail, draws random numbers or prints is evaluated where it stands.
#[test]
fn what_could_be_noticed_is_not_put_off() {
    for text in [
        "x = {10 / (i + 1) : i in k};",
        "x = {p + float(q) : p in a; q in [0:n - 1]};",
        "x = {rand(1.0) : i in k};",
        "x = let p = print_line(\"x\") in {e * 2.0 : e in a};",
    ] {
        let mut session = lazy("");
        session.enter("program.nesl", text, &mut |_| {});
        let variables = session.stats().variables;
        let x = variables.iter().find(|variable| variable.name == "x");
        assert!(x.is_none_or(|x| x.runtime_bytes.is_some()), "{text}");
    }
}

/// A loop that begins with one element is left to one thread, and goes on as launches when its turns make much.
#[test]
fn a_loop_that_has_grown_is_launched_again() {
    let double =
        "function double(a, n) = if n == 0 then a else double(a ++ {x * 3 + 1 : x in a}, n - 1);
         function fill(a, n) = if n == 0 then a else fill(rep(a, n, n), n - 1);";
    let count = |threads, turns: u32, text: &str| {
        let mut session = session_of(threads, 1000, double, Strategy::Auto);
        usage(&mut session, &text.replace("TURNS", &turns.to_string())).0.launches
    };
    let doubled = "r = sum(double([1], TURNS));";
    let small = count(2, 12, doubled);
    assert!(small <= 4, "{small} launches while there is little to do");
    assert_eq!(count(1, 20, doubled), small, "one thread alone goes on");
    let grown = count(2, 20, doubled);
    assert_eq!(
        grown - small,
        4 * 3,
        "an apply-to-each, and two parts of an append, in each of four turns"
    );
    assert!(count(2, 100_000, "r = sum(fill(dist(0, TURNS + 1), TURNS));") < 50, "nothing is made");
}
