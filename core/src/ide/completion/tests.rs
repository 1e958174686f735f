//! The completions at each kind of place.

use super::super::fixture::Fixture;
use super::*;

/// All that is offered at `$0`.
fn at(text: &str) -> Vec<Completion> {
    let f = Fixture::new(text);
    completions(&f.db, f.file, f.cursor())
}

fn labels(text: &str) -> Vec<String> {
    at(text).into_iter().map(|c| c.label).collect()
}

/// The labels of what fits, in order.
fn fitting(text: &str) -> Vec<String> {
    at(text).into_iter().filter(|c| c.fits).map(|c| c.label).collect()
}

fn has(text: &str, label: &str) -> Completion {
    let all = at(text);
    let found = all.iter().find(|c| c.label == label);
    found.unwrap_or_else(|| panic!("{label} at {text}: {:?}", labels(text))).clone()
}

fn lacks(text: &str, label: &str) {
    assert!(!labels(text).contains(&label.to_owned()), "{label} at {text}");
}

#[test]
fn variables_in_scope_whatever_is_missing() {
    for text in [
        "function g(alpha) = $0",
        "function g(alpha) = al$0",
        "function g(alpha) = al$0;\n\nfunction g(x) = x;",
        "function g(alpha) = let b = $0\n\nfunction g(x) = x;",
        "function g(x) = let alpha = x + 1; b = al$0",
        "function g(x) = let alpha = x + 1 in (alpha * $0",
        "{al$0 : alpha in [1, 2]};",
        "{1 + al$0 : alpha in [1, 2]",
        "{x : alpha in [1, 2]; x in [3] | $0};",
        "x = let alpha = 2; b = (alpha * sum({a : a in [$0]})) in 3;",
        "g = (alpha => 1 + $0);",
        "function g(x, alpha := 5) = if x > $0",
        "let (alpha, b) = (1, 2) in [alpha, b, $0",
    ] {
        has(text, "alpha");
    }
    // Sequences do not see the elements, values do not see their own variable.
    lacks("{1 : alpha in [1, 2]; y in $0};", "alpha");
    lacks("let alpha = $0 in 3;", "alpha");
    lacks("let alpha = sqrt($0) in 3;", "alpha");
    // One that is shadowed is there once.
    assert_eq!(labels("let a_1 = 1; a_1 = 2.0 in a_$0;"), ["a_1"]);
}

#[test]
fn nothing_where_nothing_can_stand() {
    for text in [
        "% su$0 %",
        "x = \"su$0\";",
        "x = 1$0",
        "x = 1.5$0;",
        "x = 12e$0;",
        "x = `s$0",
        "% open su$0",
        "function su$0",
        "datatype su$0",
    ] {
        assert!(labels(text).is_empty(), "{text}");
    }
}

#[test]
fn what_fits_comes_first() {
    let text = "function g(n, xs) : (int, [float]) -> [float] = take(xs, $0);";
    let fits = fitting(text);
    assert_eq!(fits[0], "n", "{:?}", at(text));
    assert!(fits.contains(&"rem".to_owned()) && !fits.contains(&"xs".to_owned()));
    // The first of two arguments, the second not yet there.
    let fits = fitting("function g(n, xs) : (int, [float]) -> float = take($0");
    assert_eq!(fits[0], "xs");
    let fits = fitting("function g(n, xs) : (int, [float]) -> [float] = {x * $0 : x in xs};");
    assert!(fits.starts_with(&["x".to_owned()]), "{fits:?}");
    assert!(!fits.contains(&"n".to_owned()) && fits.contains(&"sqrt".to_owned()));
    let fits = fitting("function g(b, c) : (bool, char) -> int = if $0 then 1 else 2;");
    assert_eq!(fits[0], "b");
    assert!(fits.contains(&"t".to_owned()) && fits.contains(&"evenp".to_owned()));
    // A declared variable is no number.
    let fits = fitting("function g(a, b) : (x, int) -> x :: (x in any) = $0;");
    assert_eq!(fits[0], "a");
    assert!(!fits.contains(&"b".to_owned()));
}

#[test]
fn nothing_fits_where_anything_does() {
    assert!(fitting("x = $0").is_empty());
    assert!(fitting("let a = $0 in 3;").is_empty());
}

#[test]
fn functions_are_called_and_values_are_not() {
    let take = has("x = ta$0;", "take");
    assert_eq!((&*take.insert, take.snippet), ("take(${1:v}, ${2:n})", true));
    assert_eq!(take.ty.as_deref(), Some("([a], int) -> [a] :: (a in any)"));
    assert_eq!(take.range, TextRange::new(TextSize::new(4), TextSize::new(6)));
    assert_eq!(has("x = re$0;", "rem").insert, "rem(${1:int}, ${2:int})");
    // What is there already is not written twice.
    assert_eq!(has("x = ta$0([1], 2);", "take").insert, "take");
    assert_eq!(has("x = ta$0ke([1], 2);", "take").insert, "take");
    assert_eq!(has("x = p$0;", "pi").insert, "pi");
    // Where a function is wanted it is a value.
    let fits = has("x = map(sq$0, [1.0, 2.0]);", "sqrt");
    assert!(fits.fits && !fits.snippet);
    assert_eq!(has("x = scan('ma$0, 0, [1]);", "max").insert, "max");
    assert_eq!(
        has("datatype pt (float, float);\nx = p$0;", "pt").kind,
        CompletionKind::Constructor
    );
}

#[test]
fn names_are_shown_as_written_and_found_in_any_case() {
    let found = has("function Total(Xs) = sum(Xs);\ny = tOt$0;", "Total");
    assert_eq!(found.insert, "Total(${1:Xs})");
    assert_eq!(found.ty.as_deref(), Some("[a] -> a :: (a in number)"));
    lacks("y = _$0;", "_power");
    // Functions further down are known, variables are not.
    has("y = lat$0;\nfunction later(x) = x;", "later");
    lacks("y = lat$0;\nlater = 3;", "later");
    // One that does not check yet is known by its name.
    has("function broken(x) = x + ;\ny = bro$0;", "broken");
}

#[test]
fn types_where_types_stand() {
    for text in [
        "function g(x) : $0",
        "function g(x) : ([in$0",
        "function g(x) : int -> $0 = x;",
        "x = [] $0",
        "x = [] (float, $0",
        "datatype p (float, $0",
    ] {
        assert_eq!(has(text, "int").kind, CompletionKind::Type, "{text}");
        lacks(text, "sum");
    }
    let found = has("datatype bag([a]) :: (a in any);\nfunction g(x) : $0 = x;", "bag");
    assert_eq!(found.insert, "bag(${1:a})");
    let found = has("function g(x) : [$0] -> b :: (b in any) = x[0];", "b");
    assert_eq!(found.kind, CompletionKind::TypeVariable);
    assert_eq!(has("function g(x) : a -> a :: (a in $0", "number").kind, CompletionKind::Class);
    lacks("function g(x) : a -> a :: ($0", "int");
}

#[test]
fn the_beginning_of_a_form() {
    for text in ["$0", "fu$0", "x = 3;\n$0", "x = 3; $0\ny = 4;", "\n$0\nfunction g(x) = x;"] {
        has(text, "function");
        has(text, "function …");
    }
    has("x = 3;\nx$0", "x");
    assert_eq!(has("lo$0", "load").kind, CompletionKind::Command);
    has("set $0", "print_length");
    has("set precision $0;", "64");
    has("show $0", "status");
    assert_eq!(has("describe ta$0", "take").insert, "take");
    has("load \"a\", $0", "print := t");
    // A variable may be called so.
    lacks("set = 3;\nset + $0;", "print_length");
}

#[test]
fn words_that_go_on() {
    assert_eq!(labels("x = if 1 > 2 $0")[0], "then");
    assert_eq!(labels("x = if 1 > 2 then 3 e$0"), ["else"]);
    assert_eq!(labels("x = let a = 3 i$0"), ["in"]);
    assert_eq!(labels("x = {a + 1 : a $0")[0], "in");
    assert_eq!(labels("x = (3 > 4) an$0"), ["and"]);
    has("x = sqrt s$0", "sin");
    lacks("x = 3 s$0", "sin");
}

#[test]
fn operators_as_values() {
    let found = has("x = scan('$0, 0, [1]);", "+");
    assert_eq!((found.kind, &*found.insert), (CompletionKind::Operator, "+"));
    assert!(found.fits);
    has("x = scan('$0, 0, [1]);", "^");
    lacks("x = $0;", "+");
}

#[test]
fn optional_parameters_of_a_call() {
    let text = "function g(x, n := 5, m := 2) = x + n + m;\ny = g(1, $0);";
    let found = has(text, "n :=");
    assert_eq!((&*found.insert, found.rank), ("n := ${1:5}", 0));
    let text = "function g(x, n := 5, m := 2) = x + n + m;\ny = g(1, n := 3, $0";
    has(text, "m :=");
    lacks(text, "n :=");
}

#[test]
fn documentation_on_demand() {
    let f = Fixture::new("function g(x) \"Gives it.\" = x;\ny = ta$0;");
    let doc = |label| completion_doc(&f.db, f.file, f.cursor(), label).map(|doc| doc.text);
    assert!(doc("take").is_some_and(|text| text.contains("first")));
    assert_eq!(doc("g").as_deref(), Some("Gives it."));
    assert!(doc("rem").is_some() && doc("+").is_some() && doc("function").is_none());
}

#[test]
fn every_place_of_a_program_can_be_asked() {
    let text = "datatype p (float, [a]) :: (a in any);\nfunction g(a, n := 5) : [int] -> int\n\"doc\" = \
                let (x, y) = (a[0], {b * 2 : b in a | b > 1}) in if x == 1 then sum(y) else f([] int);\n\
                set trace f 2;\n{scan('+, 0, `é) : x in \"é\"};\n[1:2:3] <- ";
    let mut db = Database::new();
    let file = db.add_file("test.nesl", text, None);
    for at in 0..=text.len() {
        for cut in [text.len(), at] {
            if text.is_char_boundary(at) {
                db.set_text(file, &text[..cut]);
                let all = completions(&db, file, TextSize::new(at as u32));
                let word = |c: &Completion| c.range.contains_inclusive(TextSize::new(at as u32));
                assert!(all.iter().all(word), "{at}");
            }
        }
    }
}

#[test]
fn a_form_with_another_mistake_still_says_what_is_expected() {
    let text = "function g(n, xs) : (int, [float]) -> float = take(xs, $0);";
    assert_eq!(fitting(text)[0], "n");
}

#[test]
fn records_to_take_apart() {
    for text in ["let p$0 = 3 in 4;", "function g(p$0", "function g(a, $0)", "{1 : p$0 in [2]};"] {
        let text = format!("datatype pt (float, [int]);\n{text}");
        let found = has(&text, "pt");
        assert_eq!(found.kind, CompletionKind::Constructor);
        assert_eq!(found.insert, "pt(${1:float}, ${2:[int]})");
        lacks(&text, "sum");
    }
}

/// The processor time of this thread: other work on the machine does not count.
fn busy() -> std::time::Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|first| first.parse().ok());
    std::time::Duration::from_nanos(nanos.unwrap_or_default())
}

/// `cargo test --release -p nesl-core --lib a_long_text -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn a_long_text() {
    let mut text = String::new();
    for i in 0..5_000 {
        // Chains of fifty.
        let before = if i % 50 > 0 { format!("part_{}(x, xs)", i - 1) } else { "x".to_owned() };
        text += &format!(
            "function part_{i}(x, xs) =\n  let total = sum({{y * {i} : y in xs}});\n  in if x > {i} then total\n     else {before};\n"
        );
    }
    let mut f = Fixture::new(&(text.clone() + "$0"));
    for form in &f.db.outline(f.file).forms {
        f.db.types(form.id());
    }
    let mut times = Vec::new();
    let mut begun = Vec::new();
    for i in 0..10 {
        // A form is begun in the middle; then it is typed on, and does not parse for long.
        let at = text.find(&format!("function part_{}(", 100 * i + 50)).expect("a form");
        let full = "function new(x, xs) = take(xs, part_77(x";
        for typed in "function new(x".len()..=full.len() {
            let new = &full[..typed];
            f.db.set_text(f.file, format!("{}{new}\n{}", &text[..at], &text[at..]));
            let offset = TextSize::new((at + new.len()) as u32);
            let start = busy();
            let all = completions(&f.db, f.file, offset);
            times.push(busy() - start);
            if new.ends_with("function new(x") {
                begun.push(times.pop().expect("it was just pushed"));
            }
            if new.ends_with("take(xs, ") {
                assert!(all.len() > 200 && all[0].fits);
            }
            for form in &f.db.outline(f.file).forms {
                f.db.types(form.id());
            }
        }
    }
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("p50 {:?} p95 {:?} p99 {:?} most {:?}", at(50), at(95), at(99), at(100));
    println!("a form begun: most {:?}", begun.iter().max());
}

#[test]
fn the_first_of_an_open_call_is_what_fits_best() {
    let first = |text: &str, n: usize| labels(text).into_iter().take(n).collect::<Vec<_>>();
    let norm = "function norm(v) = sqrt(sum({x * x : x in v}));\n";
    // Variables, the nearest first; then how a sequence is made; then the usual functions.
    let text = format!("{norm}n = 3;\nw = [1.0];\nnorm($0");
    assert_eq!(first(&text, 4), ["w", "[…]", "each …", "dist"], "{:?}", labels(&text));
    let text =
        format!("{norm}function g(k, us) : (int, [float]) -> float = let vs = us in norm($0);");
    assert_eq!(first(&text, 2), ["vs", "us"]);
    let text = format!("{norm}norm($0");
    assert_eq!(first(&text, 2), ["[…]", "each …"]);
    // What reads files is far down, though its type is exactly the expected one.
    let all = fitting(&text);
    let place = |name: &str| all.iter().position(|label| label == name);
    assert!(place("read_float_seq_from_file") > place("sort"), "{all:?}");
    assert!(fitting("print_line($0").starts_with(&["\"…\"".to_owned()]));
    // A function is seldom applied to its own result, and values come before functions.
    let text = "function g(a, b) = a + b + 1;\nc = 3;\ng($0";
    assert_eq!(first(text, 1), ["c"]);
    let all = labels(text);
    let place = |name: &str| all.iter().position(|label| label == name);
    assert!(place("g") > place("sum"), "{all:?}");
    assert!(first("xs = [3];\nsum($0", 1) == ["xs"]);
}
