//! Writes a page with values of every kind as notebooks show them, to be looked at in a browser:
//! `cargo run -p nesl-interactive --example gallery page.html`.

use nesl_engine::{Settings, ShownValues, Stages};
use nesl_interactive::bundle::{Bundle, escaped};
use nesl_interactive::display::plot::{Curve, Fit, growth};
use nesl_interactive::display::{self, Style};
use nesl_interactive::output::Output;
use nesl_interactive::runtimes::RuntimeRow;
use nesl_interactive::state::{Setup, State};
use nesl_runtime::runtime::Options;
use std::sync::mpsc::channel;

/// The entries, each with the value that is shown.
const ENTRIES: &[&str] = &[
    "3",
    "2.0 / 3.0",
    "(1, 2.5, t, `a, \"text\")",
    "[3, 1, 4, 1, 5]",
    "drop([1], 1)",
    "[0:1000]",
    "{sqrt(float(i)) : i in [0:300]}",
    "{rem(i, 3) == 0 : i in [0:300]}",
    "[(1, 2.5), (2, 3.5), (3, 1.0 / 0.0)]",
    "{(i, (float(i), rem(i, 2) == 0), \"row \" ++ @i) : i in [0:1000000]}",
    "datatype point(float, float); {point(float(i), 1.0 / float(i)) : i in [0:40]}",
    "{(i, point(1.0, 2.0), [0:i]) : i in [0:5]}",
    "{(i,i,i,i,i,i,i,i,i,i,i,i,i,i,i) : i in [0:5]}",
    "{[0:i] : i in [0:60]}",
    "{[0:rem(i * 7, 5)] : i in [0:6]}",
    "{{[0:j] : j in [0:i]} : i in [0:6]}",
    "{{{[0:k] : k in [0:j]} : j in [0:i]} : i in [0:9]}",
    "{{(i, j) : j in [0:i]} : i in [0:5]}",
    "{{float(i) / float(j + 1) : j in [0:6]} : i in [0:4]}",
    "{{float(i) / float(j + 1) : j in [0:100]} : i in [0:10]}",
    "{{sin(float(i * j) / 200.0) : j in [0:64]} : i in [0:64]}",
    "{{(rem(i * 4, 256), rem(j * 4, 256), 128) : j in [0:64]} : i in [0:48]}",
    "[\"one\", \"two words\", \"\", \"<script>alert('no')</script>\"]",
    "{{@(i * j) : j in [0:4]} : i in [0:4]}",
    "\"Größe: <b>30 €</b>\"",
    "flatten({\"line \" ++ @i ++ [code_char(10)] : i in [0:50]})",
    "([0:1000], \"a text that goes on and on\", {[0:i] : i in [0:60]}, (1, 2))",
    ":plot {sin(float(i) / 10.0) : i in [0:200]}",
    ":plot {(cos(float(i) / 20.0) * float(i), sin(float(i) / 20.0) * float(i)) : i in [0:400]}",
    ":plot {{(float(x), sin(float(x * k) / 20.0)) : x in [0:100]} : k in [1:4]}",
    ":scatter {(rand(1.0), rand(1.0)) : i in [0:300]}",
    ":histogram {rand(1.0) + rand(1.0) + rand(1.0) : i in [0:5000]}",
    ":histogram {rand(6) + rand(6) + 2 : i in [0:1000]}",
    ":heatmap {{sin(float(i * j) / 100.0) : j in [0:60]} : i in [0:30]}",
    ":plot \"text\"",
];

static RUNTIMES: [RuntimeRow; 1] = [RuntimeRow {
    name: "reference",
    about: "The direct interpreter",
    device: |_| "direct interpreter".to_owned(),
    interpret_first: false,
    stages: Stages::with_backend(&[]),
    make: |_| Ok(None),
}];

fn main() {
    let mut state = State::new(Setup {
        settings: Settings {
            shown: ShownValues::Expressions,
            data: Some(display::limits()),
            ..Settings::default()
        },
        runtimes: &RUNTIMES,
        runtime: &RUNTIMES[0],
        options: Options::default(),
        idle: None,
        display: Style { html: true, ..Style::default() },
        extra: &[],
    })
    .expect("the direct interpreter is everywhere");
    let mut page = "<!doctype html><meta charset=\"utf-8\"><title>Values</title>".to_owned();
    if std::env::args().nth(2).as_deref() == Some("dark") {
        page += "<style>body{background:#111;color:#ddd}</style>";
    }
    for entry in ENTRIES {
        page += &format!("<h4><code>{}</code></h4>", escaped(entry));
        for bundle in shown(&mut state, entry) {
            page += &drawn(&bundle);
        }
    }
    let points: Vec<(f64, f64)> =
        (4..16).map(|k| f64::from(1 << k)).map(|n| (n, 5.0 * n * n.log2())).collect();
    let fit = Fit { name: "5 n log n", is_exact: false, cost: &|n| 5.0 * n * n.log2() };
    page += &drawn(&growth(&[Curve { name: "work", points: &points, fit: Some(fit) }]));
    match std::env::args().nth(1) {
        Some(path) => std::fs::write(path, page).expect("the file can be written"),
        None => println!("{page}"),
    }
}

/// Returns what an entry shows.
fn shown(state: &mut State, entry: &str) -> Vec<Bundle> {
    let (sink, outputs) = channel();
    state.enter("entry", entry, Box::new(move |output| drop(sink.send(output))));
    let bundles = outputs.try_iter().filter_map(|output| match output {
        Output::Value(bundle) | Output::Answer(bundle) | Output::Warning(bundle) => Some(bundle),
        Output::Picture(_, bundle) => Some(bundle),
        Output::Error(problem) => Some(problem.shown),
        Output::Defined(_) | Output::Printed(..) => None,
    });
    bundles.collect()
}

/// Returns a bundle as HTML: in the form that says most, and plots as text, too.
fn drawn(bundle: &Bundle) -> String {
    let plain = format!("<pre style=\"line-height:1\">{}</pre>", escaped(&bundle.plain));
    match (&bundle.svg, &bundle.html) {
        (Some(svg), _) => {
            let spec = bundle.plot.as_ref().map(|spec| spec.to_string().replace("</", "<\\/"));
            let spec = spec.unwrap_or_default();
            let kind = "application/vnd.vegalite.v5+json";
            format!("{svg}{plain}<script type=\"{kind}\">{spec}</script>")
        }
        (None, Some(html)) => html.clone(),
        (None, None) => plain,
    }
}
