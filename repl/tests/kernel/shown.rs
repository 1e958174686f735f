//! The outputs of cells: every form of it, pictures that are drawn on again, cleared output.

use crate::client::start;
use serde_json::json;

#[test]
fn pictures_are_shown_and_replaced() {
    let mut client = start();
    let first = client.run(
        "window = w_make_window(((0, 0), (200, 100)), \"Points\", w_white, display);\n\
         (window, box) = w_add_box(((10, 10), 180, 80), ((0.0, 0.0), 1.0, 1.0), \"\", w_white, window);",
    );
    let shown = first.all("display_data");
    let picture = shown.iter().find(|content| content["data"]["image/svg+xml"].is_string());
    let picture = picture.expect("a picture");
    assert!(picture["data"]["text/plain"].as_str().is_some_and(|text| text.contains("Points")));
    let id = &picture["transient"]["display_id"];
    assert!(id.is_string());
    assert!(first.all("update_display_data").is_empty());

    let again = client.run("w_draw_point((0.2, 0.2), w_black, box);");
    let updates = again.all("update_display_data");
    assert_eq!(updates.len(), 1);
    assert_eq!(&updates[0]["transient"]["display_id"], id);
    assert_ne!(updates[0]["data"]["image/svg+xml"], picture["data"]["image/svg+xml"]);
    // Shown here as well: the output of the first cell may be gone.
    assert!(
        again.all("display_data").iter().any(|content| &content["transient"]["display_id"] == id)
    );
}

#[test]
fn printed_text_is_in_order_with_everything_else() {
    let mut client = start();
    let done = client.run(
        "a = print_string(\"one \"); b = print_string(\"two\"); 1; c = print_string(\"three\"); 2;",
    );
    assert_eq!(
        done.said(),
        [
            "stdout: one ",
            "display_data: a : bool",
            "stdout: two",
            "display_data: b : bool",
            "display_data: 1 : int",
            "stdout: three",
            "display_data: c : bool",
            "execute_result: 2 : int",
        ]
    );
}

#[test]
fn clearing_the_screen_clears_the_output() {
    let mut client = start();
    client.run("escape = [code_char(27)]; clear = escape ++ \"[2J\";");
    let done = client.run("a = print_string(\"1\" ++ clear ++ \"2\");");
    let kinds: Vec<&str> = done.published.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds[2..5], ["stream", "clear_output", "stream"]);
    assert_eq!(done.all("clear_output"), [&json!({ "wait": true })]);
}

#[test]
fn commands_answer_in_cells() {
    let mut client = start();
    let done = client.run(":type [1, 2]");
    assert_eq!(done.said(), ["display_data: [1, 2] : [int]"]);
    let done = client.run("%%time\n1 + 1;");
    assert_eq!(done.reply["ename"], "Command error");
    assert!(done.said()[0].contains("is a command of IPython"), "{:?}", done.said());
}

#[test]
fn a_whole_value_is_bounded_with_a_notice() {
    /// The most that a notebook is shown of a value, in bytes, and the end of its text.
    const MAX_BYTES: usize = (1 << 20) + 100;
    let mut client = start();
    assert_eq!(
        client.run(":full {i : i in [0:4]}").said(),
        ["display_data: it = [0, 1, 2, 3] : [int]"]
    );
    for (code, end) in [
        (":full {i : i in [0:400000]}", ", ... (400000 in all)] : [int]"),
        (":full {[i] : i in [0:400000]}", ", ... (400000 in all)] : [[int]]"),
        (":full {`x : i in [0:2000000]}", "x\" ... (2000000 bytes in all) : [char]"),
    ] {
        let said = client.run(code).kept();
        assert_eq!(said.len(), 2, "{code}");
        assert!(said[0].len() < MAX_BYTES && said[0].ends_with(end), "{code}: {}", said[0].len());
        assert!(said[1].starts_with("display_data: [A notebook shows 1 MB of a value; "));
    }
    assert_eq!(client.run("#it;").said(), ["execute_result: 2000000 : int"]);
}
