//! Tests of plots.

use super::*;
use crate::display::tests::shown;
use expect_test::{Expect, expect};

fn plotted(kind: Kind, text: &str) -> Bundle {
    tried(kind, text).unwrap_or_else(|message| panic!("{message}"))
}

fn tried(kind: Kind, text: &str) -> Result<Bundle, String> {
    plot(kind, &shown(&format!("{text};")), None, &AtomicBool::new(false))
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
             3 │⠀⠀⠀⠀⠀⠀⠀⠁
               │
               │
               │
               │⠀⠄
               │
               │
               │
               │
               │
               │
               │
               │
               │
            -2 │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀
               └────────────────────
                0.8333         4.167
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
    expect![[r##"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","background":"white","config":{"axis":{"domainColor":"#777777","gridColor":"#e4e4e4","labelColor":"#333333","tickColor":"#777777","titleColor":"#333333","titleFontWeight":"normal"},"legend":{"labelColor":"#333333"},"title":{"subtitleColor":"#333333"},"view":{"stroke":"#e4e4e4"}},"description":"Plot of 2 points on lines; index from 0 to 2, y from 1.5 to 2.5.","height":318.0,"layer":[{"data":{"values":[{"x":0.0,"y":1.5},{"x":2.0,"y":2.5}]},"encoding":{"color":{"value":"#0072b2"},"x":{"field":"x","scale":{"domain":[-0.08,2.08],"nice":false,"zero":false},"title":"index","type":"quantitative"},"y":{"field":"y","scale":{"domain":[1.46,2.54],"nice":false,"zero":false},"title":null,"type":"quantitative"}},"mark":{"clip":true,"tooltip":true,"type":"line"}}],"padding":10,"title":{"anchor":"end","subtitle":"without 1 that is not finite","text":""},"width":556.0}"##]].assert_eq(&spec(Kind::Line, "[1.5, 0.0 / 0.0, 2.5]"));
    expect![[r##"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","background":"white","config":{"axis":{"domainColor":"#777777","gridColor":"#e4e4e4","labelColor":"#333333","tickColor":"#777777","titleColor":"#333333","titleFontWeight":"normal"},"legend":{"labelColor":"#333333"},"title":{"subtitleColor":"#333333"},"view":{"stroke":"#e4e4e4"}},"description":"Plot of 3 points on lines in 2 series (series 0, series 1); x from 0 to 4, y from 2 to 5.","height":400.0,"layer":[{"data":{"values":[{"order":0,"x":1.0,"y":2.0},{"order":1,"x":0.0,"y":3.0}]},"encoding":{"color":{"datum":"series 0","legend":{"columns":6,"labelLimit":0,"orient":"top"},"scale":{"domain":["series 0","series 1"],"range":["#0072b2","#d55e00"]},"title":null,"type":"nominal"},"order":{"field":"order","type":"quantitative"},"x":{"field":"x","scale":{"domain":[-0.16000000000000045,4.16],"nice":false,"zero":false},"title":null,"type":"quantitative"},"y":{"field":"y","scale":{"domain":[1.8799999999999997,5.12],"nice":false,"zero":false},"title":null,"type":"quantitative"}},"mark":{"clip":true,"tooltip":true,"type":"line"}},{"data":{"values":[{"x":4.0,"y":5.0}]},"encoding":{"color":{"datum":"series 1","legend":{"columns":6,"labelLimit":0,"orient":"top"},"scale":{"domain":["series 0","series 1"],"range":["#0072b2","#d55e00"]},"title":null,"type":"nominal"},"x":{"field":"x","scale":{"domain":[-0.16000000000000045,4.16],"nice":false,"zero":false},"title":null,"type":"quantitative"},"y":{"field":"y","scale":{"domain":[1.8799999999999997,5.12],"nice":false,"zero":false},"title":null,"type":"quantitative"}},"mark":{"clip":true,"tooltip":true,"type":"line"}}],"padding":10,"width":533.0}"##]].assert_eq(&spec(Kind::Line, "[[(1, 2), (0, 3)], [(4, 5)]]"));
    expect![[r##"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","background":"white","config":{"axis":{"domainColor":"#777777","gridColor":"#e4e4e4","labelColor":"#333333","tickColor":"#777777","titleColor":"#333333","titleFontWeight":"normal"},"legend":{"labelColor":"#333333"},"title":{"subtitleColor":"#333333"},"view":{"stroke":"#e4e4e4"}},"data":{"values":[{"count":1,"from":0.5,"to":1.5},{"count":2,"from":1.5,"to":2.5}]},"description":"Histogram of 3 numbers from 1 to 2 in 2 bars, of which the tallest counts 2.","encoding":{"x":{"bin":"binned","field":"from","scale":{"zero":false},"title":null,"type":"quantitative"},"x2":{"field":"to"},"y":{"field":"count","title":"count","type":"quantitative"}},"height":318.0,"mark":{"color":"#0072b2","tooltip":true,"type":"bar"},"padding":10,"width":556.0}"##]].assert_eq(&spec(Kind::Histogram, "[1, 2, 2]"));
    expect![[r##"{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","background":"white","config":{"axis":{"domainColor":"#777777","gridColor":"#e4e4e4","labelColor":"#333333","tickColor":"#777777","titleColor":"#333333","titleFontWeight":"normal"},"legend":{"labelColor":"#333333"},"title":{"subtitleColor":"#333333"},"view":{"stroke":null}},"data":{"values":[{"column":0,"row":0,"value":1.0},{"column":1,"row":0,"value":2.0},{"column":0,"row":1,"value":3.0},{"column":1,"row":1,"value":4.0}]},"description":"Heat map: 2 × 2, 1 to 4.","encoding":{"color":{"field":"value","legend":{"gradientLength":318.0},"scale":{"scheme":"viridis"},"title":null,"type":"quantitative"},"x":{"axis":{"domain":false,"labelAngle":0,"ticks":false,"values":[0,1]},"field":"column","scale":{"padding":0},"title":null,"type":"ordinal"},"y":{"axis":{"domain":false,"labelAngle":0,"ticks":false,"values":[0,1]},"field":"row","scale":{"padding":0},"title":null,"type":"ordinal"}},"height":{"step":159.0},"mark":{"tooltip":true,"type":"rect"},"padding":10,"width":{"step":159.0}}"##]].assert_eq(&spec(Kind::HeatMap, "[[1.0, 2.0], [3.0, 4.0]]"));
}

#[test]
fn geometry_has_equal_scales() {
    let size = |kind, text| {
        let spec = plotted(kind, text).plot.expect("a specification");
        [&spec["width"], &spec["height"]].map(|side| side.as_f64().expect("a number"))
    };
    // A square, as dots and as a closed line.
    const CORNERS: &str = "[(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)]";
    assert_eq!(size(Kind::Scatter, CORNERS), [400.0, 400.0]);
    assert_eq!(size(Kind::Line, CORNERS), [400.0, 400.0]);
    // The graph of a function, and dots that are far more apart in one direction, fill the picture.
    let usual = [svg::AREA_WIDTH_PIXELS, svg::AREA_HEIGHT_PIXELS];
    assert_eq!(size(Kind::Line, "[(0, 0), (2, 1), (4, 4)]"), usual);
    assert_eq!(size(Kind::Scatter, "{(n, n * n) : n in [0:50]}"), usual);
}

#[test]
fn the_legend_stands_above_the_points() {
    let svg = plotted(Kind::Line, "[[5, 5], [0, 1], [2, 3]]").svg.expect("a picture");
    let name = svg.find("y=\"20.0\" text-anchor=\"start\">series 2<");
    assert!(name.is_some(), "{svg}");
    // The highest number lies below the names.
    assert!(svg.contains("M86.6 45.8L"), "{svg}");
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
    let refused = |kind, text: &str| tried(kind, text).expect_err("no plot");
    expect!["a plot shows numbers [float], points [(float, float)], or a sequence of either, one for each series; this is a value of type [char]"].assert_eq(&refused(Kind::Line, "\"text\""));
    expect!["a scatter plot shows numbers [float], points [(float, float)], or a sequence of either, one for each series; this is a value of type int"].assert_eq(&refused(Kind::Scatter, "3"));
    expect!["a histogram shows a sequence of numbers; this is a value of type [(int, int)]"]
        .assert_eq(&refused(Kind::Histogram, "[(1, 2)]"));
    expect!["a heat map shows rows of equal length; those of this value differ, or are empty"]
        .assert_eq(&refused(Kind::HeatMap, "[[1], [2, 3]]"));
    assert_eq!(refused(Kind::HeatMap, "drop([[1]], 1)"), "there is no row to show");
    assert_eq!(refused(Kind::HeatMap, "[[0.0 / 0.0]]"), "there is no finite number to show");
    assert_eq!(refused(Kind::Line, "drop([1], 1)"), "there is no point to plot");
    for beyond in ["[1.0 / 0.0]", "[1e308, -1e308]"] {
        let why = "there is no point to plot: no number is finite and at most 1e300 in size";
        assert_eq!(refused(Kind::Line, beyond), why);
    }
    assert_eq!(refused(Kind::Histogram, "[0.0 / 0.0]"), "there is no number to count");
}

#[test]
fn growth_is_drawn_on_logarithmic_axes() {
    let points: Vec<(f64, f64)> = (0..8).map(|k| 4f64.powi(k)).map(|n| (n, n * n)).collect();
    let fit = Fit { name: "n²", is_exact: false, cost: &|n| n * n };
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

#[test]
fn text_fits_into_the_screen() {
    for (kind, text) in [
        (Kind::Line, "{sin(float(i) / 10.0) * 12345.0 : i in [0:63]}"),
        (Kind::Line, "{(float(i), float(i)) : i in [0:63]}"),
        (Kind::Scatter, "[(1, 1), (1000, 1000)]"),
        (Kind::Histogram, "{i * i : i in [0:1000]}"),
        (Kind::HeatMap, "{{i * j : j in [0:80]} : i in [0:10]}"),
    ] {
        for screen in [30, 40, 57, 80, 200] {
            let value = shown(&format!("{text};"));
            let bundle = plot(kind, &value, Some(screen), &AtomicBool::new(false)).expect("a plot");
            // Notes are sentences.
            let rows = bundle.plain.lines().filter(|line| !line.starts_with('('));
            let widest = rows.map(|row| row.chars().count()).max().unwrap_or(0);
            assert!(widest <= screen && widest > 24, "{text} {screen}\n{}", bundle.plain);
        }
    }
}
