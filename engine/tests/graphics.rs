//! Tests the drawing functions: what they draw, in which order, and which calls are rejected at
//! which position.

use nesl_engine::{Event, Picture, Precision, Session, Settings};

/// A session and its messages.
struct Run {
    session: Session,
    said: Vec<String>,
    /// The source texts at which the errors point.
    places: Vec<String>,
}

impl Run {
    fn new() -> Run {
        let mut session = Session::new(Settings::default());
        session.set_output(Box::new(std::io::sink()));
        Run { session, said: Vec::new(), places: Vec::new() }
    }

    fn enter(&mut self, text: &str) -> &mut Run {
        let (said, places) = (&mut self.said, &mut self.places);
        self.session.enter("program", text, &mut |event| match event {
            Event::Bound(binding) => said.push(binding.value),
            Event::Text(text) => said.push(text),
            Event::Diagnostic(diagnostic) => {
                said.push(diagnostic.message);
                let at = text.get(diagnostic.primary.at.range);
                places.push(at.unwrap_or("elsewhere").to_owned());
            }
        });
        self
    }

    fn last(&self) -> &str {
        self.said.last().expect("something was said")
    }

    fn svg(&self) -> String {
        self.session.pictures()[0].svg()
    }
}

/// Evaluates an expression with a window of 200 by 100 pixels and a box of 2.0 by 1.0 units that
/// covers it.
fn on_box(expression: &str) -> Run {
    let mut run = Run::new();
    run.enter(
        "(win, box) = w_make_window_box(((0, 0), (200, 100)), ((0.0, 0.0), (2.0, 1.0)), \
         \"test\", w_white, display);",
    );
    run.enter(&format!("{expression};"));
    run
}

/// Returns the elements of a picture after the background of the window and of the box.
fn marks(run: &Run) -> Vec<String> {
    let svg = run.svg();
    let lines = svg.lines().skip(4).filter(|line| !line.ends_with("svg>"));
    lines.filter(|line| !line.starts_with("<svg")).map(str::to_owned).collect()
}

#[test]
fn a_window_is_a_picture() {
    let mut run = Run::new();
    run.enter("w_make_window(((50, 50), (300, 200)), \"A <window> & more\", w_pink, display);");
    assert_eq!(run.last(), "w_window(0, [])");
    let picture = &run.session.pictures()[0];
    assert_eq!(picture.title(), "A <window> & more");
    assert_eq!(picture.file_name(), "A-window-more.svg");
    assert_eq!(picture.size(), (300, 200));
    assert_eq!(
        picture.svg(),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"300\" height=\"200\" \
         viewBox=\"0 0 300 200\" fill=\"none\" stroke-linecap=\"round\" \
         stroke-linejoin=\"round\" font-family=\"monospace\" font-size=\"12\">\n\
         <title>A &lt;window&gt; &amp; more</title>\n\
         <rect width=\"300\" height=\"200\" fill=\"#ffb3b3\"/>\n\
         </svg>\n"
    );
}

#[test]
fn what_an_entry_drew_has_changed() {
    let mut run = on_box("1 + 1");
    let changed =
        |run: &Run| -> Vec<bool> { run.session.pictures().iter().map(Picture::changed).collect() };
    assert_eq!(changed(&run), [false]);
    run.enter("w_make_window(((0, 0), (10, 10)), \"test\", w_black, display);");
    assert_eq!(changed(&run), [false, true]);
    assert_eq!(run.session.pictures()[1].file_name(), "test-2.svg");
    run.enter("w_draw_point((1.0, 0.5), w_red, box);");
    assert_eq!(changed(&run), [true, false]);
}

/// The lower left corner of the box is at (10, 20) of the window, whose lower left corner is at (0,
/// 100) of the picture.
#[test]
fn boxes_have_coordinates_of_their_own() {
    let mut run = Run::new();
    run.enter("win = w_make_window(((0, 0), (200, 100)), \"test\", w_white, display);");
    run.enter("(win, box) = w_add_box(((10, 20), (80, 50)), ((-1.0, -1.0), (2.0, 2.0)), \"b\", w_gray, win);");
    run.enter("w_draw_segments([((-1.0, -1.0), (1.0, 1.0))], 2, w_blue, box);");
    let svg = run.svg();
    let expected = "<svg x=\"10\" y=\"30\" width=\"80\" height=\"50\">\n\
                    <path d=\"M0 0h80v50h-80Z\" fill=\"#b3b3b3\"/>\n</svg>\n\
                    <svg x=\"9\" y=\"29\" width=\"82\" height=\"52\">\n\
                    <path d=\"M1 51L51 1\" stroke=\"#00f\" stroke-width=\"2\"/>\n</svg>\n</svg>\n";
    assert!(svg.ends_with(expected), "{svg}");
    // Both axes have the same scale, so the box shows a larger area than requested.
    run.enter("w_bounds_from_box(box);");
    assert_eq!(run.last(), "((-1.0, -1.0), 3.2, 2.0)");
    run.enter("(win, box) = w_reset_box_size(\"b\", ((0.0, 0.0), (5.0, 1.0)), win);");
    run.enter("w_bounds_from_box(box);");
    assert_eq!(run.last(), "((0.0, 0.0), 5.0, 3.125)");
    run.enter("w_get_named_box(\"c\", win);");
    assert_eq!(run.last(), "The window has no box of this name.");
}

#[test]
fn every_shape_is_drawn() {
    let drawn = |expression: &str| marks(&on_box(expression)).join("\n");
    assert_eq!(
        drawn("w_draw_points([(0.5, 0.25), (1.0, 1.0), (3.0, 0.0)], w_red, box)"),
        "<path d=\"M50 75h0M100 0h0\" stroke=\"#f00\" stroke-width=\"2\"/>"
    );
    assert_eq!(
        drawn("w_draw_big_point((0.333333, 0.5), 10, w_red, box)"),
        "<path d=\"M33.33 50h0\" stroke=\"#f00\" stroke-width=\"10\"/>"
    );
    assert_eq!(
        drawn("w_draw_lines([(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)], 1, w_black, box)"),
        "<path d=\"M0 100L100 0L200 100\" stroke=\"#000\"/>"
    );
    assert_eq!(
        drawn("w_draw_rectangle(((0.5, 0.5), (9.0, 0.25)), 4, w_green, box)"),
        "<path d=\"M50 25h150v25h-150Z\" stroke=\"#0f0\" stroke-width=\"4\"/>"
    );
    assert_eq!(
        drawn("w_shade_rectangle(((-1.0, -1.0), (1.5, 1.5)), w_cyan, box)"),
        "<path d=\"M0 50h50v50h-50Z\" fill=\"#0ff\"/>"
    );
    assert_eq!(
        drawn("w_shade_polygon([(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)], w_yellow, box)"),
        "<path d=\"M0 100L100 0L200 100Z\" fill-rule=\"evenodd\" fill=\"#ff0\"/>"
    );
    assert_eq!(
        drawn("w_draw_arrow(((0.0, 0.5), (1.0, 0.5)), 1, (10, 6), w_orange, box)"),
        "<path d=\"M0 50L100 50\" stroke=\"#ffb300\"/>\n\
         <path d=\"M110 50L100 47L100 53Z\" fill-rule=\"evenodd\" fill=\"#ffb300\"/>"
    );
    assert_eq!(
        drawn("w_draw_string((1.0, 0.5), \"a < b &  c\", w_black, box)"),
        "<text x=\"100\" y=\"50\" xml:space=\"preserve\" fill=\"#000\">a &lt; b &amp;  c</text>"
    );
    assert_eq!(
        drawn("w_draw_segments([((0.0, 0.0), (1.0, 1.0))], 3, w_xor, box)"),
        "<path d=\"M0 100L100 0\" stroke=\"#fff\" \
         style=\"mix-blend-mode:difference\" stroke-width=\"3\"/>"
    );
}

#[test]
fn texts_fill_their_boxes() {
    let mut run = Run::new();
    run.enter("win = w_make_window(((0, 0), (200, 100)), \"test\", w_white, display);");
    run.enter("(win, box) = w_add_text_box(((0, 0), (200, 100)), \"b\", w_white, win);");
    run.enter("w_write_text_left(\"gone\", w_black, box);");
    run.enter("w_write_text_centered(\"middle\", w_black, box);");
    assert!(!run.svg().contains("gone"), "each clears the box");
    assert!(run.svg().contains("<text x=\"100\" y=\"54\" text-anchor=\"middle\""));
    run.enter("w_write_paragraph(\"one two three four five six@\n@seven\", w_black, box);");
    let texts: Vec<String> = marks(&run);
    assert_eq!(
        texts,
        [
            "<text x=\"6\" y=\"17\" fill=\"#000\">one two three four five</text>",
            "<text x=\"6\" y=\"34\" fill=\"#000\">six</text>",
            "<text x=\"6\" y=\"51\" fill=\"#000\"></text>",
            "<text x=\"6\" y=\"68\" fill=\"#000\">seven</text>",
        ]
    );
}

/// As with printing, each operation is executed for all iterations in order before the next
/// operation.
#[test]
fn instances_draw_in_their_order() {
    let points = "{w_draw_point((float(i) / 4.0, 0.5), w_red, box) : i in [0:3]}";
    assert_eq!(
        marks(&on_box(points)),
        ["<path d=\"M0 50h0M25 50h0M50 50h0\" stroke=\"#f00\" stroke-width=\"2\"/>"]
    );
    let two = "{(w_draw_point((x, 0.5), w_red, box), w_draw_point((x, 0.25), w_blue, box)) \
               : x in [0.5, 1.0]}";
    assert_eq!(
        marks(&on_box(two)),
        [
            "<path d=\"M50 50h0M100 50h0\" stroke=\"#f00\" stroke-width=\"2\"/>",
            "<path d=\"M50 75h0M100 75h0\" stroke=\"#00f\" stroke-width=\"2\"/>",
        ]
    );
    let nested = "{{w_draw_point((x, y), w_red, box) : y in [0.25, 0.5]} : x in [0.5, 1.0]}";
    assert_eq!(
        marks(&on_box(nested)),
        ["<path d=\"M50 75h0M50 50h0M100 75h0M100 50h0\" stroke=\"#f00\" stroke-width=\"2\"/>"]
    );
}

#[test]
fn what_cannot_be_drawn_is_an_error_with_its_place() {
    let finite = "A place to draw at is not a finite number.";
    let color = "A colour is one of w_black, w_red and so on, or what w_get_color or w_rgb gives.";
    for (call, why) in [
        ("w_draw_point((nan, 0.5), w_red, box)", finite),
        ("w_draw_points([(0.5, 0.5), (infinity, 0.5)], w_red, box)", finite),
        ("w_draw_lines([(0.5, -infinity)], 1, w_red, box)", finite),
        ("w_draw_segments([((1e308, 0.0), (1.0, 1.0))], 1, w_red, box)", finite),
        ("w_shade_rectangle(((0.0, 0.0), (nan, 1.0)), w_red, box)", finite),
        ("w_draw_string((nan, 0.0), \"a\", w_red, box)", finite),
        ("w_draw_point((0.5, 0.5), 65, box)", color),
        ("w_draw_point((0.5, 0.5), -1, box)", color),
        ("w_draw_lines([(0.5, 0.5)], -1, w_red, box)", "A width is not negative."),
        ("w_rgb(0.0, 1.5, 0.0)", "A part of a colour is between 0 and 1."),
        ("w_bounding_box([] (int, int))", "Empty sequence in function W_BOUNDING_BOX."),
    ] {
        let run = on_box(call);
        assert_eq!(run.last(), why, "{call}");
        assert_eq!(run.places, [call]);
        assert!(marks(&run).is_empty(), "{call}");
        // The same holds inside an apply-to-each.
        let run = on_box(&format!("{{{call} : i in [0:2]}}"));
        assert_eq!((run.last(), run.places.as_slice()), (why, [call.to_owned()].as_slice()));
    }
}

#[test]
fn windows_have_sizes_and_ends() {
    for sizes in ["(0, 100)", "(100, -1)", "(100, 20000)"] {
        let mut run = Run::new();
        let call = format!("w_make_window(((0, 0), {sizes}), \"a\", w_red, display)");
        run.enter(&format!("{call};"));
        assert!(run.last().contains("cannot be made"), "{}", run.last());
        assert_eq!(run.places, [call]);
    }
    let mut run = on_box("w_kill_window(win)");
    run.enter("w_draw_point((0.5, 0.5), w_red, box);");
    assert!(run.last().contains("the window \"test\" was killed"), "{}", run.last());
    run.enter("{w_draw_point((0.5, 0.5), w_red, box) : i in [0:2]};");
    assert!(run.last().contains("the window \"test\" was killed"), "{}", run.last());
    assert_eq!(run.session.pictures().len(), 1, "what was drawn stays");
    assert!(marks(&run).is_empty());
    // A window cannot be made inside an apply-to-each, because each iteration would need a
    // different one.
    run.enter("{w_make_window(((0, 0), (9, 9)), \"a\", w_red, display) : i in [0:2]};");
    assert!(run.last().contains("cannot be called in parallel"), "{}", run.last());
}

#[test]
fn one_point_fills_a_box() {
    let mut run = Run::new();
    run.enter("(win, box) = w_make_window_box(((0, 0), (20, 10)), w_bounding_box([(3.0, 4.0)]), \"b\", w_white, display);");
    run.enter("w_draw_point((3.0, 4.0), w_red, box);");
    assert_eq!(run.last(), "T");
}

#[test]
fn the_narrow_numbers_draw_the_same() {
    let settings = Settings { precision: Precision::Bits32, ..Settings::default() };
    let mut run = Run { session: Session::new(settings), said: Vec::new(), places: Vec::new() };
    run.enter("(win, box) = w_make_window_box(((0, 0), (200, 100)), ((0.0, 0.0), (2.0, 1.0)), \"test\", w_white, display);");
    run.enter("w_draw_big_point((0.333333, 0.5), 10, w_rgb(1.0, 0.5, 0.0), box);");
    let expected = "<path d=\"M33.33 50h0\" stroke=\"#ff8000\" stroke-width=\"10\"/>";
    assert_eq!(marks(&run), [expected]);
}

/// Ten thousand points drawn one by one in an apply-to-each become one path.
#[test]
fn many_points_are_one_shape() {
    let run = on_box("#{w_draw_point((float(i) / 5000.0, 0.5), w_red, box) : i in [0:10000]}");
    assert_eq!(run.last(), "10000");
    assert_eq!(marks(&run).len(), 1);
}

/// Arbitrary bytes become valid XML text: characters that XML does not allow are replaced.
#[test]
fn texts_are_escaped() {
    let run = on_box("w_draw_string((0.0, 0.0), {code_char(i) : i in [0:128]}, w_black, box)");
    let [text] = &marks(&run)[..] else { panic!("one text") };
    let inside = text.split_once('>').expect("a tag").1.strip_suffix("</text>").expect("an end");
    assert!(inside.chars().all(|c| c >= ' ' && c != '<' && c != '>'), "{inside}");
    assert!(inside.contains("!\"#$%&amp;'()*+,-./0123456789:;&lt;=&gt;?@A"), "{inside}");
    let run = on_box("w_draw_string((0.0, 0.0), {code_char(i) : i in [128:256]}, w_black, box)");
    assert!(run.svg().contains("éê"), "bytes that are no UTF-8 are Latin-1");
    let run = on_box("w_draw_string((0.0, 0.0), \"größer ≤\", w_black, box)");
    assert!(run.svg().contains(">größer ≤</text>"));
}
