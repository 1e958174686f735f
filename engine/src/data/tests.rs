//! Tests of values as data, read whole and in part.

use super::{DataLimits, Elements, Node};
use crate::{Event, Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;

/// Returns a node as text: of what was not read, dots.
fn text(node: &Node<'_>) -> String {
    let all = |parts: &[Node<'_>]| parts.iter().map(text).collect::<Vec<_>>().join(" ");
    match node {
        Node::Int(n) => n.to_string(),
        Node::Float(x) => format!("{x:?}"),
        Node::Bool(b) => b.to_string(),
        Node::Char(c) => format!("`{}", char::from(*c)),
        Node::Function => "fn".to_owned(),
        Node::Tuple(parts) => format!("({})", all(parts)),
        Node::Record(name, parts) => format!("{name}({})", all(parts)),
        Node::Text(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        Node::Sequence(elements) => format!("[{}]", element_texts(elements)),
    }
}

fn element_texts(elements: &Elements<'_>) -> String {
    let texts = (0..elements.len()).map(|at| elements.get(at).map_or(".".to_owned(), |e| text(&e)));
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns the data of the last form of a text.
fn data(input: &str, limits: DataLimits, on_runtime: bool) -> String {
    let mut session = Session::new(Settings {
        data: Some(limits),
        print_length: Some(1),
        interpret_first: false,
        ..Settings::default()
    });
    if on_runtime {
        let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
        session.set_runtime(Some(Box::new(Reference::new(options))));
    }
    let mut last = None;
    session.enter("<entry>", input, &mut |event| match event {
        Event::Bound(binding) => last = binding.data,
        Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => panic!("{}", diagnostic.message),
    });
    text(&last.expect("the form has a value").root())
}

const WHOLE: DataLimits = DataLimits { whole_bytes: 1 << 20, head_elements: 1, tail_elements: 1 };

#[test]
fn values_have_their_types() {
    for on_runtime in [false, true] {
        let data = |text: &str| data(text, WHOLE, on_runtime);
        assert_eq!(data("(1, 2.5, t, `a);"), "(1 2.5 true `a)");
        assert_eq!(data("((1, 2), 3);"), "((1 2) 3)");
        assert_eq!(data("(\"abc\", [\"de\", \"\"]);"), "(\"abc\" [\"de\" \"\"])");
        assert_eq!(data("datatype point(int, float); point(1, 2.0);"), "point(1 2.0)");
        let nested = "datatype point(int, float); {(i, [point(i, 1.0)]) : i in [0:2]};";
        assert_eq!(data(nested), "[(0 [point(0 1.0)]) (1 [point(1 1.0)])]");
        assert_eq!(data("{[0:i] : i in [0:4]};"), "[[] [0] [0 1] [0 1 2]]");
        assert_eq!(data("drop(\"a\", 1);"), "\"\"");
    }
}

#[test]
fn of_long_sequences_the_ends_are_read() {
    let ends = DataLimits { whole_bytes: 0, head_elements: 2, tail_elements: 1 };
    // The session reads small values whole, whatever is asked for.
    let read = |text: &str| data(text, ends, true);
    let long = read("{i * 2 : i in [0:100000]};");
    assert!(long.starts_with("[0 2 . . ") && long.ends_with(" . 199998]"), "{}", &long[..40]);
    let nested = read("{[i:i + 4] : i in [0:100000]};");
    assert!(nested.starts_with("[[0 1 . 3] [1 2 . 4] . "), "{}", &nested[..40]);
    assert!(nested.ends_with(" . [99999 100000 . 100002]]"));
}
