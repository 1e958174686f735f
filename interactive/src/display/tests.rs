//! Tests of what is shown.

use super::*;
use expect_test::{Expect, expect};
use nesl_engine::{Event, Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;
use std::time::{Duration, Instant};

/// Returns the last value of a text, read with these limits, on the direct interpreter or on a runtime.
fn evaluated(text: &str, limits: DataLimits, on_runtime: bool) -> Binding {
    let mut session = Session::new(Settings {
        data: Some(limits),
        print_length: Some(10),
        interpret_first: false,
        ..Settings::default()
    });
    if on_runtime {
        let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
        session.set_runtime(Some(Box::new(Reference::new(options))));
    }
    let mut last = None;
    session.enter("<entry>", text, &mut |event| match event {
        Event::Bound(binding) => last = Some(binding),
        Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => panic!("{}", diagnostic.message),
    });
    last.expect("a form has a value")
}

pub(super) fn shown(text: &str) -> Shown {
    evaluated(text, limits(), false).data.expect("the settings ask for data")
}

/// Returns the HTML of a value without the rules of style.
fn html(text: &str) -> String {
    let Output::Value(bundle) =
        binding(&evaluated(text, limits(), false), Style { html: true, ..Style::default() })
    else {
        panic!("`{text}` is no expression")
    };
    without_style(&bundle.html.expect("HTML is asked for"))
}

fn without_style(html: &str) -> String {
    match html.split_once("</style>") {
        Some((style, rest)) if style.starts_with("<style>") => rest.to_owned(),
        _ => html.to_owned(),
    }
}

fn check_rows(text: &str, expect: Expect) {
    expect.assert_eq(&format!("{}\n", rows(&shown(text), 10, 80, 5, Some(CELL_DIGITS))));
}

#[test]
fn the_digits_of_floats_in_cells_are_a_setting() {
    let evaluated = evaluated("[(1, 1.0 / 3.0)];", limits(), false);
    let shown = |digits| match binding(&evaluated, Style { html: true, digits, ..Style::default() })
    {
        Output::Value(bundle) => without_style(&bundle.html.unwrap_or_default()),
        other => panic!("{other:?}"),
    };
    assert!(shown(Some(3)).contains(">0.333</td>"));
    assert!(shown(Some(3)).contains("title=\"0.3333333333333333\""));
    assert!(shown(None).contains(">0.3333333333333333</td>"));
}

fn check_html(text: &str, expect: Expect) {
    expect.assert_eq(&format!("{}\n", html(text).replace("<t", "\n<t").replace("<d", "\n<d")));
}

/// Returns HTML without its tags.
fn without_tags(html: &str) -> String {
    let parts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect()
}

#[test]
fn small_values_are_lines() {
    for (text, line) in [
        ("3", "3 : int"),
        ("(1, 2.5, t, `a)", "(1, 2.5, T, `a) : (int, float, bool, char)"),
        ("[3, 1, 4]", "[3, 1, 4] : [int]"),
        ("drop([1], 1)", "[] : [int]"),
        ("drop([[1]], 1)", "[] : [[int]]"),
        ("\"\"", "\"\" : [char]"),
        ("[0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0]", "[nan, inf, -inf] : [float]"),
        ("x => x + 1", "fn : function"),
    ] {
        assert_eq!(rows(&shown(&format!("{text};")), 10, 80, 5, Some(CELL_DIGITS)), line);
    }
}

#[test]
fn long_sequences_stand_under_their_indices() {
    check_rows(
        "{i * i : i in [0:1000]};",
        expect![[r#"
            1,000 elements : [int]
                     +0      +1      +2      +3      +4
              0       0       1       4       9      16
              5      25      36      49      64      81
             10     100     121     144     169     196
             15     225     256     289     324     361
             20     400     441     484     529     576
              …       …       …       …       …       …
            990  980100  982081  984064  986049  988036
            995  990025  992016  994009  996004  998001
        "#]],
    );
    check_rows(
        "{sqrt(float(i)) : i in [0:100]};",
        expect![[r#"
            100 elements : [float]
                     +0       +1       +2       +3       +4
             0  0.0      1.0      1.41421  1.73205  2.0
             5  2.23607  2.44949  2.64575  2.82843  3.0
            10  3.16228  3.31662  3.4641   3.60555  3.74166
            15  3.87298  4.0      4.12311  4.24264  4.3589
            20  4.47214  4.58258  4.69042  4.79583  4.89898
             …        …        …        …        …        …
            90  9.48683  9.53939  9.59166  9.64365  9.69536
            95  9.74679  9.79796  9.84886  9.89949  9.94987
        "#]],
    );
    check_rows(
        "{rem(i, 3) == 0 : i in [0:30]};",
        expect![[r#"
        30 elements : [bool]
            +0  +1  +2  +3  +4  +5  +6  +7  +8  +9  +10  +11  +12  +13  +14  +15  +16  +17  +18  +19
         0  T   F   F   T   F   F   T   F   F   T   F    F    T    F    F    T    F    F    T    F
        20  F   T   F   F   T   F   F   T   F   F
    "#]],
    );
}

#[test]
fn tuples_are_rows_of_tables() {
    check_rows(
        "[(1, 2.5), (2, 0.0 / 0.0)];",
        expect![[r#"
        2 rows : [(int, float)]
             1      2
           int  float
        0    1    2.5
        1    2    nan
    "#]],
    );
    check_rows(
        "datatype point(float, float);
         {(i, (point(float(i), 1.0), i > 3), \"row \" ++ @i, [0:i]) : i in [0:1000]};",
        expect![[r#"
            1,000 rows : [(int, (point, bool), [char], [int])]
                   1  2.1 point.1  2.1 point.2  2.2   3          4
                 int        float        float  bool  [char]     [int]
              0    0          0.0          1.0  F     "row 0"    []
              1    1          1.0          1.0  F     "row 1"    [0]
              2    2          2.0          1.0  F     "row 2"    [0, 1]
              3    3          3.0          1.0  F     "row 3"    [0, 1, 2]
              …    …            …            …  …     …          …
            998  998        998.0          1.0  T     "row 998"  [0, 1, … #998]
            999  999        999.0          1.0  T     "row 999"  [0, 1, … #999]
        "#]],
    );
    check_rows(
        "{(i,i,i,i,i,i,i,i,i,i,i,i,i,i,i) : i in [0:2]};",
        expect![[r#"
        2 rows : [(int, int, int, int, int, int, int, int, int, int, int, int, int, int, int)]
             1    2    3    4    5    6    7  …   12   13   14   15
           int  int  int  int  int  int  int     int  int  int  int
        0    0    0    0    0    0    0    0  …    0    0    0    0
        1    1    1    1    1    1    1    1  …    1    1    1    1
    "#]],
    );
    check_rows(
        "([0:1000], (2.5, \"text\"), {[0:i] : i in [0:60]});",
        expect![[r#"
            3 components : ([int], (float, [char]), [[int]])
               type             value
            1  [int]            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … #1000]
            2  (float, [char])  (2.5, "text")
            3  [[int]]          [[], [0], [0, 1], [0, 1, 2], [0, 1, … #4], … #60]
        "#]],
    );
}

#[test]
fn nested_sequences_are_rows_with_their_lengths() {
    check_rows(
        "{[0:i] : i in [0:60]};",
        expect![[r#"
            60 rows, 0–59 long : [[int]]
            0    #0
            1    #1  0
            2    #2  0 1
            3    #3  0 1 2
            4    #4  0 1 2 3
            …
            57  #57  0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 … 56
            58  #58  0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 … 57
            59  #59  0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 … 58
        "#]],
    );
    check_rows(
        "[[1, 2], drop([1], 1), [3]];",
        expect![[r#"
        3 rows, 0–2 long : [[int]]
        0  #2  1 2
        1  #0
        2  #1  3
    "#]],
    );
    check_rows(
        "{{[0:j] : j in [0:i]} : i in [0:30]};",
        expect![[r#"
            30 rows, 0–29 long : [[[int]]]
            0    #0
            1    #1  []
            2    #2  [] [0]
            3    #3  [] [0] [0, 1]
            4    #4  [] [0] [0, 1] [0, 1, 2]
            …
            27  #27  [] [0] [0, 1] [0, 1, 2] … [0, 1, 2, 3, 4, 5, 6, … #26]
            28  #28  [] [0] [0, 1] [0, 1, 2] … [0, 1, 2, 3, 4, 5, 6, … #27]
            29  #29  [] [0] [0, 1] [0, 1, 2] … [0, 1, 2, 3, 4, 5, 6, … #28]
        "#]],
    );
    check_rows(
        "{{{[0:k] : k in [0:j]} : j in [0:i]} : i in [0:30]};",
        expect![[r#"
            30 rows, 0–29 long : [[[[int]]]]
            0    #0
            1    #1  []
            2    #2  [] [[]]
            3    #3  [] [[]] [[], [0]]
            4    #4  [] [[]] [[], [0]] [[], [0], [0, 1]]
            …
            27  #27  [] [[]] [[], [0]] … [[], [0], [0, 1], [0, … #3], … #26]
            28  #28  [] [[]] [[], [0]] … [[], [0], [0, 1], [0, … #3], … #27]
            29  #29  [] [[]] [[], [0]] … [[], [0], [0, 1], [0, … #3], … #28]
        "#]],
    );
    check_rows(
        "{{(j, \"text\") : j in [0:i]} : i in [0:4]};",
        expect![[r#"
        4 rows, 0–3 long : [[(int, [char])]]
        0  #0
        1  #1  (0, "text")
        2  #2  (0, "text") (1, "text")
        3  #3  (0, "text") (1, "text") (2, "text")
    "#]],
    );
    check_rows(
        "[[[[[[[[[1, 2], [3]]]]]]]]];",
        expect![[r#"
        1 row, 1 long : [[[[[[[[[int]]]]]]]]]
        0        #1
          0      #1
            0    #1
              0  #1  [[[[1, 2], [3]]]]
    "#]],
    );
}

#[test]
fn equally_long_rows_are_a_matrix() {
    check_rows(
        "{{float(i * j) / 2.0 : j in [0:5]} : i in [0:3]};",
        expect![[r#"
        3 × 5 : [[float]]
             0    1    2    3    4
        0  0.0  0.0  0.0  0.0  0.0
        1  0.0  0.5  1.0  1.5  2.0
        2  0.0  1.0  2.0  3.0  4.0
    "#]],
    );
    check_rows(
        "{{i * j : j in [0:1000]} : i in [0:1000]};",
        expect![[r#"
            1,000 × 1,000 : [[int]]
                 0    1     2     3     4     5     6  …     996     997     998     999
              0  0    0     0     0     0     0     0  …       0       0       0       0
              1  0    1     2     3     4     5     6  …     996     997     998     999
              2  0    2     4     6     8    10    12  …    1992    1994    1996    1998
              3  0    3     6     9    12    15    18  …    2988    2991    2994    2997
              4  0    4     8    12    16    20    24  …    3984    3988    3992    3996
              …  …    …     …     …     …     …     …  …       …       …       …       …
            998  0  998  1996  2994  3992  4990  5988  …  994008  995006  996004  997002
            999  0  999  1998  2997  3996  4995  5994  …  995004  996003  997002  998001
        "#]],
    );
}

#[test]
fn strings_are_texts() {
    check_rows(
        "[\"one\", \"two words\", \"\", \"größer\"];",
        expect![[r#"
        4 strings : [[char]]
           length
        0       3  "one"
        1       9  "two words"
        2       0  ""
        3       8  "größer"
    "#]],
    );
    check_rows(
        "flatten({\"line \" ++ @i ++ [code_char(10)] : i in [0:100]});",
        expect![[r#"
            the first 63 of 790 characters : [char]
            line 0
            line 1
            line 2
            line 3
            line 4
            line 5
            line 6
            line 7
            line 8
        "#]],
    );
    check_rows(
        "{code_char(i) : i in [0:256]};",
        expect![[r##"
            256 characters : [char]
            ␀␁␂␃␄␅␆␇␈	
            ␋␌
            ␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟ !"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~␡�������������������������������� ¡¢£¤¥¦§¨©ª«¬�®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ
        "##]],
    );
}

#[test]
fn tables_in_html() {
    check_html(
        "[(1, \"<script>\"), (2, \"a & b\")];",
        expect![[r#"

            <div class="nesl-out">
            <table>
            <thead>
            <tr>
            <th></th>
            <th class="nesl-n">1<br><span style="opacity:.75;font-weight:normal">int</span></th>
            <th>2<br><span style="opacity:.75;font-weight:normal">[char]</span></th></tr></thead>
            <tbody>
            <tr>
            <th>0</th>
            <td class="nesl-n">1</td>
            <td>&quot;&lt;script&gt;&quot;</td></tr>
            <tr>
            <th>1</th>
            <td class="nesl-n">2</td>
            <td>&quot;a &amp; b&quot;</td></tr></tbody></table>
            <div style="font:var(--jp-code-font-size,13px)/1.45 var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);opacity:.75">2 rows : [(int, [char])]</div></div>
        "#]],
    );
    check_html(
        "[[1, 2], [3]];",
        expect![[r#"

            <div class="nesl-out">
            <table class="nesl-seg">
            <tbody>
            <tr>
            <th>0</th>
            <td style="opacity:.75;text-align:right">#2</td>
            <td><span class="nesl-bar" style="width:4.00em"></span></td>
            <td><span class="nesl-c">1</span><span class="nesl-c">2</span></td></tr>
            <tr>
            <th>1</th>
            <td style="opacity:.75;text-align:right">#1</td>
            <td><span class="nesl-bar" style="width:2.00em"></span></td>
            <td><span class="nesl-c">3</span></td></tr></tbody></table>
            <div style="font:var(--jp-code-font-size,13px)/1.45 var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);opacity:.75">2 rows, 1–2 long : [[int]]</div></div>
        "#]],
    );
    check_html(
        "\"Größe\";",
        expect![[r#"

            <div style="font:var(--jp-code-font-size,13px)/1.45 var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);padding-top:3px;white-space:pre-wrap">&quot;Größe&quot; <span style="opacity:.75">: [char]</span></div>
        "#]],
    );
    check_html(
        "drop([(1, 2)], 1);",
        expect![[r#"

            <div style="font:var(--jp-code-font-size,13px)/1.45 var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);padding-top:3px;white-space:pre-wrap">[] <span style="opacity:.75">: [(int, int)]</span></div>
        "#]],
    );
}

/// Whatever a value contains, no tag comes of it.
#[test]
fn hostile_values_are_escaped() {
    let hostile = "\"<script>alert('no')</script><img src=x onerror=no>\"";
    for text in [
        hostile.to_owned(),
        format!("flatten({{{hostile} : i in [0:1000]}})"),
        format!("[{hostile}]"),
        format!("[(1, {hostile})]"),
        format!("[[{hostile}], [{hostile}, {hostile}]]"),
        format!("({hostile}, [0:1000])"),
        "[[`<, `>], [`&]]".to_owned(),
        "{code_char(i) : i in [0:256]}".to_owned(),
    ] {
        let html = html(&format!("{text};"));
        assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
    }
}

/// However large and deep values are, what is shown is a screen, and is there at once.
#[test]
fn never_more_than_a_screen() {
    // Without optimization all is slower by far.
    const MAX_TIME: Duration =
        Duration::from_millis(if cfg!(debug_assertions) { 20_000 } else { 2_000 });
    for text in [
        "{(i, (float(i), \"a text of some length that goes on and on and on \" ++ @i))
          : i in [0:1000000]};",
        "[0:1000000];",
        "{[0:rem(i, 3)] : i in [0:1000000]};",
        "{[i, i + 1] : i in [0:1000000]};",
        "[[0:1000000], [0:1000000]];",
        "{1.0 / float(i + 3) : i in [0:100000]};",
        "{{{{[0:9] : l in [0:9]} : k in [0:9]} : j in [0:9]} : i in [0:9]};",
        "{{1.0 / float(i + j + 3) : j in [0:500]} : i in [0:500]};",
        "flatten({\"line \" ++ @i ++ [code_char(10)] : i in [0:100000]});",
        "{`x : i in [0:1000000]};",
        "{(1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0,
           1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, i) : i in [0:1000]};",
        "{({j : j in [0:1000]}, {@j : j in [0:100]}) : i in [0:1000]};",
    ] {
        let binding = evaluated(text, limits(), false);
        let shown = binding.data.as_ref().expect("data");
        let began = Instant::now();
        let html = without_style(&html::value(shown, &binding.ty, Style::default().digits));
        let rows = rows(shown, 10, 80, 5, Some(CELL_DIGITS));
        let took = began.elapsed();
        println!("{took:?} {text}");
        assert!(took < MAX_TIME, "{text} took {took:?}");
        let count = without_tags(&html).replace("&quot;", "'").chars().count();
        assert!(count <= 4_000, "{text}: {count} characters");
        assert!(rows.lines().count() <= 10, "{rows}");
        assert!(rows.chars().count() <= 1_500, "{rows}");
    }
}

#[test]
fn of_values_on_a_device_the_ends_are_shown() {
    let ends = DataLimits { whole_bytes: 0, head_elements: 10, tail_elements: 10 };
    let check = |text: &str, expect: Expect| {
        let shown = evaluated(text, ends, true).data.expect("data");
        expect.assert_eq(&format!("{}\n", rows(&shown, 8, 60, 5, Some(CELL_DIGITS))));
    };
    check(
        "{i * 2 : i in [0:100000]};",
        expect![[r#"
            100,000 elements : [int]
                        +0      +1      +2      +3      +4
                 0       0       2       4       6       8
                 5      10      12      14      16      18
                 …       …       …       …       …       …
            99,990  199980  199982  199984  199986  199988
            99,995  199990  199992  199994  199996  199998
        "#]],
    );
    check(
        "{(i, float(i)) : i in [0:100000]};",
        expect![[r#"
            100,000 rows : [(int, float)]
                        1        2
                      int    float
                 0      0      0.0
                 1      1      1.0
                 2      2      2.0
                 …      …        …
            99,999  99999  99999.0
        "#]],
    );
    check(
        "{[i:i + rem(i, 50)] : i in [0:100000]};",
        expect![[r#"
            100,000 rows, 0–49 long in the 20 that were read : [[int]]
            0        #0
            1        #1  1
            2        #2  2 3
            …
            99,998  #48  99998 99999 100000 100001 100002 … 100045
            99,999  #49  99999 100000 100001 100002 100003 … 100047
        "#]],
    );
    check(
        "{{i * j : j in [0:100]} : i in [0:1000]};",
        expect![[r#"
            1,000 rows, 100 long in the 20 that were read : [[int]]
                 0    1     2     3     4  …     97     98     99
              0  0    0     0     0     0  …      0      0      0
              1  0    1     2     3     4  …     97     98     99
              2  0    2     4     6     8  …    194    196    198
              …  …    …     …     …     …  …      …      …      …
            998  0  998  1996  2994  3992  …  96806  97804  98802
            999  0  999  1998  2997  3996  …  96903  97902  98901
        "#]],
    );
}

#[test]
fn large_matrices_are_images_too() {
    let image = |text: &str| {
        let html = html(text);
        let data = html.split("src=\"data:image/png;base64,").nth(1)?;
        let caption = html.split("margin-bottom:.4em\">").nth(1)?.split('<').next()?.to_owned();
        assert!(data.len() > 100);
        Some(caption)
    };
    let numbers = "{{float(i * j) : j in [0:20]} : i in [0:16]};";
    assert_eq!(image(numbers).as_deref(), Some("0 (dark) to 285 (bright)"));
    let large = "{{i - j : j in [0:600]} : i in [0:700]};";
    let caption = "-599 (dark) to 699 (bright); one of 2 rows and columns is shown";
    assert_eq!(image(large).as_deref(), Some(caption));
    let colours = "{{(i, j, 0) : j in [0:20]} : i in [0:16]};";
    assert_eq!(image(colours).as_deref(), Some("red, green, blue"));
    for text in [
        "{{i : j in [0:15]} : i in [0:16]};",
        "{{(i, j, 256) : j in [0:20]} : i in [0:16]};",
        "{{0.0 / 0.0 : j in [0:20]} : i in [0:16]};",
        "{[0:i] : i in [0:16]};",
    ] {
        assert_eq!(image(text), None, "{text}");
    }
}

#[test]
fn a_picture_has_a_line_for_those_who_cannot_see_it() {
    let mut session = Session::new(Settings::default());
    let text = "w = w_make_window(((0, 0), (48, 24)), \"A <b> window\", w_white, display);";
    session.enter("<entry>", text, &mut |_| {});
    let bundle = picture(&session.pictures()[0]);
    assert_eq!(bundle.plain, "the picture \"A <b> window\", 48 × 24 pixels");
    // Notebooks would show HTML instead of the picture.
    assert_eq!(bundle.html, None);
    assert!(bundle.svg.is_some_and(|svg| svg.starts_with("<svg")));
}
