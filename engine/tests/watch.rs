//! Tests the output of `set trace` and `set profile`.

use nesl_engine::{Event, Session, Settings};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Collects the output of a session.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a text; returns its output and its error messages.
fn run(text: &str) -> (String, Vec<String>) {
    let printed = Printed::default();
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(printed.clone()));
    let mut errors = Vec::new();
    session.enter("text", text, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            errors.push(diagnostic.message);
        }
    });
    let text = String::from_utf8(printed.0.lock().unwrap().clone()).unwrap();
    (text, errors)
}

fn prints(text: &str) -> String {
    let (printed, errors) = run(text);
    assert_eq!(errors, Vec::<String>::new());
    printed
}

const HALVES: &str = "
    function halves(v) =
      if #v < 2 then 1
      else let m = #v / 2;
               (a, b) = (take(v, m), drop(v, m));
               counts = {let c = halves(w) in c + 0 : w in [a, b]}
           in sum(counts);
";

#[test]
fn calls() {
    let text = format!("{HALVES} set trace halves 1; halves([1, 2]);");
    assert_eq!(
        prints(&text),
        "enter halves\n  enter halves\n  leave halves\n  enter halves\n  leave halves\nleave halves\n"
    );
}

#[test]
fn arguments_and_results() {
    let text = format!("{HALVES} set print_length 1; set trace halves 2; halves([7, 8]);");
    let printed = prints(&text);
    assert!(printed.starts_with("enter halves(v = [7,"), "{printed}");
    assert!(printed.contains("\n  enter halves(v = [7])\n  leave halves = 1\n"), "{printed}");
    assert!(printed.ends_with("\nleave halves = 2\n"), "{printed}");
}

#[test]
fn bindings() {
    let text = format!("{HALVES} set trace halves 3; halves([7, 8]);");
    assert_eq!(
        prints(&text),
        "\
enter halves(v = [7, 8])
  m = 1
  (a, b) = ([7], [8])
  enter halves(v = [7])
  leave halves = 1
  enter halves(v = [8])
  leave halves = 1
  counts = [1, 1]
leave halves = 2
"
    );
}

#[test]
fn bindings_inside_apply_to_each() {
    let text = format!("{HALVES} set trace halves 4; halves([7, 8]);");
    assert!(prints(&text).contains("  leave halves = 1\n  c = 1\n  enter"));
}

#[test]
fn records_random_numbers_and_optional_parameters() {
    let text = "
        datatype point(int, int);
        function g(point(x, y), n := 3) = let p = point(y, x); r = rand(1) in (p, r, n);
        set trace g 3;
        g(point(1, 2));
    ";
    assert_eq!(
        prints(text),
        "enter g(x = 1, y = 2, n = 3)\n  p = point(2, 1)\n  r = 0\nleave g = (point(2, 1), 0, 3)\n"
    );
}

#[test]
fn a_later_definition_is_watched_too_until_it_is_turned_off() {
    let text = "
        function g(x) = x + 1;
        set trace g 2;
        function g(x) = x + 2;
        g(1);
        set trace g 0;
        g(1);
    ";
    assert_eq!(prints(text), "enter g(x = 1)\nleave g = 3\n");
}

#[test]
fn results_are_the_same() {
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(std::io::sink()));
    let mut values = Vec::new();
    let text = format!(
        "{HALVES} halves([0:9]); set trace halves 4; set profile halves on; halves([0:9]);"
    );
    session.enter("text", &text, &mut |event| {
        if let Event::Bound(binding) = event
            && binding.expression
        {
            values.push((binding.value, binding.cost));
        }
    });
    assert_eq!(values.len(), 2);
    assert_eq!(values[0], values[1]);
}

#[test]
fn a_failure_ends_the_trace() {
    let (printed, errors) = run("function g(x) = let y = 1 / x in y; set trace g 3; g(0); g(1);");
    assert_eq!(errors.len(), 1);
    assert_eq!(printed, "enter g(x = 0)\nenter g(x = 1)\n  y = 1\nleave g = 1\n");
}

#[test]
fn a_profile_has_a_line_for_each_binding() {
    let text = format!("{HALVES} set profile halves on; halves([0:8]);");
    let printed = prints(&text);
    let lines: Vec<Vec<&str>> =
        printed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["profile", "of", "halves:"]);
    let named: Vec<(&str, &str)> =
        lines[1..].iter().map(|words| (words[0], words[words.len() - 2])).collect();
    assert_eq!(named, [("m", "7"), ("(a,", "7"), ("counts", "7"), ("c", "14")]);
    assert_eq!(
        prints(&format!("{HALVES} set profile halves on; set profile halves off; halves([0]);")),
        ""
    );
}

#[test]
fn what_cannot_be_watched() {
    for (text, why) in [
        ("set trace nothing 1;", "`nothing` is not defined"),
        ("x = 1; set trace x 1;", "`x` is not a function"),
        ("set trace max 1;", "`max` is a primitive: there is nothing inside to see"),
        ("function g(x) = x; set trace g -1;", "-1 is not a level of tracing: they are 0 to 4"),
        ("function g(x) = x; set trace g 5;", "5 is not a level of tracing: they are 0 to 4"),
        (
            "function g(x) = x; set trace g 99999999999999999999;",
            "this number is too large for a command",
        ),
        ("set print_length -3;", "`print_length` wants a number, or `all`"),
    ] {
        let (_, errors) = run(text);
        assert_eq!(errors, [why], "{text}");
    }
    let (_, errors) = run("function g(x) = x; set trace g; set profile g 3;");
    assert_eq!(errors.len(), 2);
}

#[test]
fn a_function_of_the_library() {
    let printed = prints("set trace linify 2; linify(\"ab\");");
    assert!(printed.starts_with("enter linify("), "{printed}");
}

#[test]
fn the_status_says_what_is_watched() {
    let mut session = Session::new(Settings::default());
    let mut said = String::new();
    let text = "function g(x) = x; set trace g 2; set profile g on; show status;";
    session.enter("text", text, &mut |event| {
        if let Event::Text(text) = event {
            said = text;
        }
    });
    assert!(said.ends_with("arg_check on\nprofile g on\ntrace g 2"), "{said}");
}

#[test]
fn all_of_a_sequence_is_shown() {
    let mut session = Session::new(Settings::default());
    let mut said = String::new();
    session.enter("text", "set print_length all; show status;", &mut |event| {
        if let Event::Text(text) = event {
            said = text;
        }
    });
    assert!(said.contains("print_length all"), "{said}");
}
