//! Programs that others wrote for NESL 3.1 run as they are: one test for each way in which they lost
//! something.

use nesl_core::base::Severity;
use nesl_engine::{Event, Session, Settings};

/// Runs a program in a new session; `@TMP@` in it is a folder to write to. Returns a line for each
/// value and each message.
fn run(program: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let program = program.replace("@TMP@", &folder.path().to_string_lossy());
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(std::io::sink()));
    let mut lines = Vec::new();
    session.enter("program", &program, &mut |event| match event {
        Event::Bound(bound) => lines.push(format!("{} : {}", bound.value, bound.ty)),
        Event::Text(text) => lines.push(text),
        Event::Diagnostic(diagnostic) => lines.push(match diagnostic.severity {
            Severity::Error => format!("error: {}", diagnostic.message),
            Severity::Warning => format!("note: {}", diagnostic.message),
        }),
    });
    let pictures = session.pictures().len();
    if pictures > 0 {
        lines.push(format!("pictures: {pictures}"));
    }
    lines
}

#[test]
fn f1_reading_a_stream_says_how_it_ended() {
    let st = "let st = open_check(open_in_file(\"@TMP@/x\"))";
    let written = |text: &str| format!("ok = write_string_to_file(\"{text}\", \"@TMP@/x\");");
    let end = run(&format!("{}{st} in read_char(st);", written("")));
    assert_eq!(end[1], "(` , F, \"End of File.\") : char, bool, [char]");
    let delimiter = run(&format!("{}{st} in read_string(\"c\", -1, st);", written("abcd")));
    assert_eq!(delimiter[1], "((\"ab\", 99), T, \"\") : ([char], int), bool, [char]");
}

#[test]
fn f2_undocumented_functions_of_the_library() {
    let lines = run("first(1, 2.5); rest(1, 2.5); get(\"abc\", [2, 0]); append(\"ab\", \"cd\");");
    assert_eq!(lines, ["1 : int", "2.5 : float", "\"ca\" : [char]", "\"abcd\" : [char]"]);
}

#[test]
fn f3_functions_that_ask_a_window_are_defined_and_draw() {
    let lines = run("function show_it(_) =
           let win = w_make_window(((0, 0), (100, 100)), \"t\", w_white, display);
               win = w_add_button(((5, 5), (40, 20)), \"quit\", w_gray, win);
               win = w_add_button_stack(((50, 5), (40, 60)), [\"a\", \"b\"], w_black, win);
               ev = w_get_input(win)
           in w_kill_window(win) $
         function others(w) = (w_get_zoom_box(w), w_get_button_input(w), w_get_input_noblock(w));
         show_it(0);");
    assert_eq!(lines[0], "fn : a -> bool :: (a in any)");
    assert!(lines[2].starts_with("error: `w_get_input` waits for input in a window"), "{lines:?}");
    assert_eq!(lines[3], "pictures: 1");
}

#[test]
fn f4_names_of_the_environment() {
    let lines = run("#nesl_path >= 0; #user >= 0; display = \"host:0\"; display;");
    assert_eq!(lines, ["T : bool", "T : bool", "\"host:0\" : [char]", "\"host:0\" : [char]"]);
}

#[test]
fn f5_the_old_plot_library_draws_a_picture() {
    let lines = run("function plot(points) =
           let win = make_window(\"points\", bounding_box(points), display);
               a = draw_points(points, win);
               b = draw_lines(points, 2, win);
               c = draw_segments([((0, 0), (1, 2))], 1, win);
               d = draw_string((1, 1), \"here\", win)
           in close_window(win);
         function bb(pts) = bounding_box(pts);
         plot([(0, 0), (3, 4), (1, 2)]);");
    assert_eq!(
        lines,
        [
            "fn : [(a, a)] -> bool :: (a in number)",
            "fn : [(a, a)] -> bound_box(a) :: (a in number)",
            "T : bool",
            "pictures: 1",
        ]
    );
}

#[test]
fn f6_candidates_of_a_search() {
    assert_eq!(run("next_char([0, 1, 2], \"ab\", \"abab\", 0);"), ["[0, 2] : [int]"]);
}

#[test]
fn f7_unprotected_names_are_redefined_with_one_note() {
    let lines = run("function split(a, i) = (take(a, i), drop(a, i));
         split([1, 2, 3], 1);
         function count(x, a) = sum({btoi(x == y) : y in a});
         count(3, [1, 3, 3]);
         index = 2;
         index + 1;
         {bottop(v) : v in [[1, 2, 3]]};");
    assert_eq!(
        lines,
        [
            "note: `split` is a name of the library, too",
            "fn : ([a], int) -> ([a], [a]) :: (a in any)",
            "([1], [2, 3]) : [int], [int]",
            "note: `count` is a name of the library, too",
            "fn : (a, [a]) -> int :: (a in ordinal)",
            "2 : int",
            "note: `index` is a name of the library, too",
            "2 : int",
            "3 : int",
            "[[[1, 2], [3]]] : [[[int]]]",
        ]
    );
}

#[test]
fn f7_protected_names_stay_and_give_one_error() {
    let lines = run("function sort(a, b) = a; sort(1, 2); x = sort(3, 4); 5;");
    assert_eq!(lines, ["error: `sort` is built in and cannot be redefined", "5 : int"]);
}

#[test]
fn f8_load_takes_an_expression() {
    let lines = run("dir = \"@TMP@/\";
         ok = write_string_to_file(\"function seven_(x) = 7;\", dir ++ \"seven.nesl\");
         load dir ++ \"seven\";
         seven_(0);
         load(dir ++ \"seven\", print := t);
         load (3 + 4);
         load dirr ++ \"x\";");
    assert_eq!(lines[2], "7 : int");
    assert_eq!(lines[3], "fn : a -> int :: (a in any)");
    assert_eq!(lines[4], "error: the operand of `load` is the name of a file, a string");
    assert_eq!(lines[5], "error: the operand of `load` has no value: `dirr` is undefined");
}

#[test]
fn f9_objects_and_numbers_on_streams() {
    let lines = run("let st = open_check(open_out_file(\"@TMP@/o\"));
             a = write_object((5, \"five\"), st);
             b = write_object([[1.5], [] float], st);
             c = write_string(\" ( 22 33 -11 ) ( 1.5 2 ) (x)\", st);
             d = close_file(st)
         in (a, b);
         let st = open_check(open_in_file(\"@TMP@/o\"));
             a = read_object((0, \"\"), st);
             b = read_object([[0.0]], st);
             c = read_int_seq(st);
             d = read_float_seq(st);
             e = read_int_seq(st)
         in (a, b, c, d, e);");
    assert_eq!(lines[0], "((T, \"\"), T, \"\") : (bool, [char]), bool, [char]");
    let expected = "(((5, \"five\"), T, \"\"), ([[1.5], []], T, \"\"), ([22, 33, -11], T, \"\"), \
                    ([1.5, 2.0], T, \"\"), [], F, \"one of them is not an int.\")";
    assert!(lines[1].starts_with(expected), "{}", lines[1]);
}

#[test]
fn f10_object_files_of_strings() {
    let lines = run("ok = write_string_to_file(\"[ 2 ] [ 3 0 ] ( 3 ) abc\", \"@TMP@/s\");
         read_object_from_file([\"\"], \"@TMP@/s\");
         ok = write_string_to_file(\"[ 2 ] ( 2 ) a(\", \"@TMP@/s\");
         read_object_from_file(\"\", \"@TMP@/s\");");
    assert_eq!(lines[1], "[\"abc\", \"\"] : [[char]]");
    assert_eq!(lines[3], "\"a(\" : [char]");
}

#[test]
fn f11_a_function_as_text() {
    assert_eq!(run("@sin;"), ["\"function\" : [char]"]);
}

#[test]
fn f12_commands_of_the_environment() {
    let lines = run("defconfig mine, memory_size := 40000000, interp_file := \"bin/vinterp\";
         set config mine;
         show config;
         dump vcode \"x\" 1 + 1;
         edit \"x\";
         x &= 3;
         set colour 3;
         5;");
    assert_eq!(
        lines,
        [
            "note: `defconfig` describes a machine of NESL 3.1; it has no effect here",
            "note: `set config` belongs to the environment of NESL 3.1; it has no effect here",
            "there is one configuration: this machine; see `nesl devices`",
            "error: `dump` writes code for the interpreter of NESL 3.1",
            "error: `edit` starts the editor of NESL 3.1's environment",
            "error: `&=` computes on another machine, which is not available here",
            "error: `set` has no setting `colour`",
            "5 : int",
        ]
    );
}

#[test]
fn f13_small_functions_and_general_types() {
    let lines = run("parse_int_vect(\"1 2 3\"); digitp(`3); grep(\"b\", \"ab
cd
b\");
         function start(cmd) = open_check(spawn(cmd, nullstr, nullstr, nullstr));
         function r(box) = w_draw_rectangle(((1.0, 1.0), (2, 3)), 1, w_black, box);
         function s(box) = w_shade_rectangle(((1.0, 1.0), (2, 0.5)), w_black, box);");
    assert_eq!(
        lines,
        [
            "([1, 2, 3], T) : [int], bool",
            "T : bool",
            "[\"ab\", \"b\"] : [[char]]",
            "fn : [char] -> (stream, stream, stream)",
            "fn : w_box -> bool",
            "fn : w_box -> bool",
        ]
    );
}

#[test]
fn f14_types_and_descriptions() {
    let lines = run("function g(h, x) = h(x) + 1.0;
         create_table([(1, 2)]);
         describe +;
         describe time;");
    assert_eq!(lines[0], "fn : (a -> float, a) -> float :: (a in any)");
    assert!(lines[1].ends_with(": hashtable(int, int)"), "{}", lines[1]);
    assert!(lines[2].starts_with("+ : (a, a) -> a"), "{}", lines[2]);
    assert!(lines[3].starts_with("time : a -> (a, float)"), "{}", lines[3]);
}
