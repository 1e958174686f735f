//! Tests of plots.

use super::*;
use crate::display::tests::shown;
use expect_test::{Expect, expect};

fn plotted(kind: Kind, text: &str) -> Bundle {
    plot(kind, &shown(&format!("{text};"))).unwrap_or_else(|message| panic!("{message}"))
}

fn check_text(kind: Kind, text: &str, expect: Expect) {
    expect.assert_eq(&format!("{}\n", plotted(kind, text).plain));
}

#[test]
fn plots_as_text() {
    check_text(
        Kind::Line,
        "{sin(float(i) / 10.0) : i in [0:100]}",
        expect![[r#"
         0.9996 │⠀⠀⠀⠀⠀⠀⢀⠔⠊⠉⠑⠢⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠔⠉⠉⠑⠤⡀
                │⠀⠀⠀⠀⠀⢠⠊⠀⠀⠀⠀⠀⠈⢆⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡠⠃⠀⠀⠀⠀⠀⠈⢆
                │⠀⠀⠀⠀⡔⠁⠀⠀⠀⠀⠀⠀⠀⠀⠱⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡜⠀⠀⠀⠀⠀⠀⠀⠀⠈⠢⡀
                │⠀⠀⠀⡸⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢱⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡜⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢣
                │⠀⠀⢰⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢣⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡰⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢇
                │⠀⢠⠃⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢱⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡜⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⢆
                │⢠⠃⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢇⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢰⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⡆
                │⠊⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠘⡄⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠇⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠸⡀
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠘⡄⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠎⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢣
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠸⡀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡎⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠣⡀
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢣⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡸⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢣
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢣⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡰⠁
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠱⡀⠀⠀⠀⠀⠀⠀⠀⠀⡜
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠱⡀⠀⠀⠀⠀⠀⠀⡜
        -0.9999 │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠈⠢⢄⣀⡠⠔⠉
                └────────────────────────────────────────────────────────────
                 0                                                         99
    "#]],
    );
    check_text(
        Kind::Scatter,
        "[(1, 1.5), (2, 3.0), (4, -2.0)]",
        expect![[r#"
         3 │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠁
           │
           │
           │
           │⠄
           │
           │
           │
           │
           │
           │
           │
           │
           │
        -2 │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀
           └────────────────────────────────────────────────────────────
            1                                                          4
    "#]],
    );
    check_text(
        Kind::Line,
        "[5]",
        expect![[r#"
        5.5 │
            │
            │
            │
            │
            │
            │
            │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠄
            │
            │
            │
            │
            │
            │
        4.5 │
            └────────────────────────────────────────────────────────────
             -0.5                                                     0.5
    "#]],
    );
    check_text(
        Kind::Histogram,
        "{rem(i * i, 17) : i in [0:1000]}",
        expect![[r#"
            235 │                           ███████
                │                           ███████
                │                           ███████
                │▂▂▂▂▂▂▂                    ███████
                │███████                    ███████
                │███████                    ███████
                │███████                    ███████
                │███████▅▅▅▅▅▅▅▄▄▄▄▄▄       ███████      ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
                │████████████████████       ███████      ████████████████████
                │████████████████████       ███████      ████████████████████
                │████████████████████       ███████      ████████████████████
                │████████████████████       ███████      ████████████████████
                │████████████████████       ███████      ████████████████████
                │████████████████████       ███████      ████████████████████
              0 │████████████████████       ███████      ████████████████████
                └────────────────────────────────────────────────────────────
                 0                                                         17
        "#]],
    );
    check_text(
        Kind::HeatMap,
        "{{abs(i - j) : j in [0:20]} : i in [0:10]}",
        expect![[r#"
        │   ░░░░░▒▒▒▒▓▓▓▓▓███│
        │    ░░░░░▒▒▒▒▓▓▓▓▓██│
        │     ░░░░░▒▒▒▒▓▓▓▓▓█│
        │░     ░░░░░▒▒▒▒▓▓▓▓▓│
        │░░     ░░░░░▒▒▒▒▓▓▓▓│
        │░░░     ░░░░░▒▒▒▒▓▓▓│
        │░░░░     ░░░░░▒▒▒▒▓▓│
        │░░░░░     ░░░░░▒▒▒▒▓│
        │▒░░░░░     ░░░░░▒▒▒▒│
        │▒▒░░░░░     ░░░░░▒▒▒│
        (10 × 20, 0 to 19)
    "#]],
    );
}

#[test]
fn plots_as_specifications() {
    let spec = |kind, text| plotted(kind, text).plot.expect("a specification").to_string();
    expect![[r##"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","height":320,"layer":[{"data":{"values":[{"x":0.0,"y":1.5},{"x":2.0,"y":2.5}]},"encoding":{"color":{"value":"#0072b2"},"x":{"field":"x","scale":{"nice":true,"zero":false},"title":"index","type":"quantitative"},"y":{"field":"y","scale":{"nice":true,"zero":false},"title":null,"type":"quantitative"}},"mark":{"tooltip":true,"type":"line"}}],"title":{"anchor":"end","subtitle":"without 1 that is not finite","text":""},"width":560}"##]].assert_eq(&spec(Kind::Line, "[1.5, 0.0 / 0.0, 2.5]"));
    expect![[r##"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","height":320,"layer":[{"data":{"values":[{"order":0,"x":1.0,"y":2.0},{"order":1,"x":0.0,"y":3.0}]},"encoding":{"color":{"datum":"0","scale":{"domain":["0","1"],"range":["#0072b2","#d55e00"]},"title":null,"type":"nominal"},"order":{"field":"order","type":"quantitative"},"x":{"field":"x","scale":{"nice":true,"zero":false},"title":null,"type":"quantitative"},"y":{"field":"y","scale":{"nice":true,"zero":false},"title":null,"type":"quantitative"}},"mark":{"tooltip":true,"type":"line"}},{"data":{"values":[{"x":4.0,"y":5.0}]},"encoding":{"color":{"datum":"1","scale":{"domain":["0","1"],"range":["#0072b2","#d55e00"]},"title":null,"type":"nominal"},"x":{"field":"x","scale":{"nice":true,"zero":false},"title":null,"type":"quantitative"},"y":{"field":"y","scale":{"nice":true,"zero":false},"title":null,"type":"quantitative"}},"mark":{"tooltip":true,"type":"line"}}],"width":560}"##]].assert_eq(&spec(Kind::Line, "[[(1, 2), (0, 3)], [(4, 5)]]"));
    expect![[r##"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","data":{"values":[{"count":1,"from":0.5,"to":1.5},{"count":2,"from":1.5,"to":2.5}]},"encoding":{"x":{"bin":"binned","field":"from","scale":{"zero":false},"title":null,"type":"quantitative"},"x2":{"field":"to"},"y":{"field":"count","title":"count","type":"quantitative"}},"height":320,"mark":{"color":"#0072b2","tooltip":true,"type":"bar"},"width":560}"##]].assert_eq(&spec(Kind::Histogram, "[1, 2, 2]"));
    expect![[r#"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","config":{"scale":{"bandPaddingInner":0},"view":{"stroke":null}},"data":{"values":[{"column":0,"row":0,"value":1.0},{"column":1,"row":0,"value":2.0},{"column":0,"row":1,"value":3.0},{"column":1,"row":1,"value":4.0}]},"encoding":{"color":{"field":"value","scale":{"scheme":"viridis"},"title":null,"type":"quantitative"},"x":{"axis":{"labelOverlap":true,"ticks":false},"field":"column","title":null,"type":"ordinal"},"y":{"axis":{"labelOverlap":true,"ticks":false},"field":"row","title":null,"type":"ordinal"}},"height":320,"mark":{"tooltip":true,"type":"rect"},"width":560}"#]].assert_eq(&spec(Kind::HeatMap, "[[1.0, 2.0], [3.0, 4.0]]"));
}

#[test]
fn large_values_are_thinned() {
    let bundle = plotted(Kind::Line, "{sin(float(i) / 1000.0) : i in [0:100000]}");
    assert!(bundle.plain.ends_with("of 100,000 points)"), "{}", bundle.plain);
    let spec = bundle.plot.expect("a specification");
    let values = spec["layer"][0]["data"]["values"].as_array().expect("values");
    assert!((2_000..=5_000).contains(&values.len()), "{}", values.len());
    assert!(bundle.svg.expect("a picture").len() < 100_000);
    let series = plotted(Kind::Scatter, "{{(i, j) : j in [0:2000]} : i in [0:30]}");
    assert!(series.plain.ends_with("(the first 12 of 30 series; 4,800 of 24,000 points)"));
}

#[test]
fn records_of_two_numbers_are_points() {
    let text = "datatype point(float, float); [point(1.0, 2.0), point(3.0, 4.0)]";
    assert!(plotted(Kind::Scatter, text).svg.expect("a picture").matches("<circle").count() == 2);
}

#[test]
fn other_values_are_refused() {
    let refused = |kind, text: &str| plot(kind, &shown(&format!("{text};"))).expect_err("no plot");
    expect!["a plot shows numbers [float], points [(float, float)], or a sequence of either, one for each series; this is a value of type [char]"].assert_eq(&refused(Kind::Line, "\"text\""));
    expect!["a scatter plot shows numbers [float], points [(float, float)], or a sequence of either, one for each series; this is a value of type int"].assert_eq(&refused(Kind::Scatter, "3"));
    expect!["a histogram shows a sequence of numbers; this is a value of type [(int, int)]"]
        .assert_eq(&refused(Kind::Histogram, "[(1, 2)]"));
    expect!["a heat map shows rows of equal length; those of this value differ, or are empty"]
        .assert_eq(&refused(Kind::HeatMap, "[[1], [2, 3]]"));
    assert_eq!(refused(Kind::HeatMap, "drop([[1]], 1)"), "there is no row to show");
    assert_eq!(refused(Kind::HeatMap, "[[0.0 / 0.0]]"), "there is no finite number to show");
    assert_eq!(refused(Kind::Line, "drop([1], 1)"), "there is no point to plot");
    assert_eq!(refused(Kind::Line, "[1.0 / 0.0]"), "there is no point to plot");
    assert_eq!(refused(Kind::Histogram, "[0.0 / 0.0]"), "there is no number to count");
}

#[test]
fn growth_is_drawn_on_logarithmic_axes() {
    let points: Vec<(f64, f64)> = (0..8).map(|k| 4f64.powi(k)).map(|n| (n, n * n)).collect();
    let fit = Fit { name: "n²", cost: &|n| n * n };
    let bundle = growth(&[Curve { name: "work", points: &points, fit: Some(fit) }]);
    expect![[r#"
        work over n
        2.684e8 │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠠⠐⠈
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⡀⠄⠊
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⠄⠂⠁
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠠⠐⠁
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠠⠐⠈
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⠄⠔⠈
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⠄⠂⠁
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠠⠂⠁
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠠⠐⠈
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⠔⠐⠈
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⠄⠂⠁
                │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠄⠂⠁
                │⠀⠀⠀⠀⠀⠀⠀⠀⢀⠠⠐⠈
                │⠀⠀⠀⠀⡠⠐⠈⠈
              1 │⡀⠄⠂⠁
                └────────────────────────────────────────────────────────────
                 1                                                      16384
        (work ≈ n²)
    "#]]
    .assert_eq(&format!("{}\n", bundle.plain));
    let spec = bundle.plot.expect("a specification");
    assert_eq!(spec["layer"][0]["encoding"]["x"]["scale"]["type"], "log");
    assert_eq!(spec["layer"][1]["encoding"]["color"]["datum"], "work ≈ n²");
    // What has no logarithm is left out.
    let none = growth(&[Curve { name: "depth", points: &[(0.0, 1.0), (1.0, 0.0)], fit: None }]);
    assert!(none.svg.is_some_and(|svg| !svg.contains("NaN") && !svg.contains("inf")));
}
