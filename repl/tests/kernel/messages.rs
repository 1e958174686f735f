//! Requests and their replies: every kind of them, and the order of what is published.

use crate::client::{start, start_and_subscribe_late};
use serde_json::json;

#[test]
fn a_cell_is_between_busy_and_idle_in_order() {
    let mut client = start();
    let done = client.run("x = [1, 2]; y = 3; x; sum(x); print_string(\"hello\"); x ++ x;");
    let kinds: Vec<&str> = done.published.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds.first(), Some(&"status"));
    assert_eq!(kinds[1], "execute_input");
    assert_eq!(kinds.last(), Some(&"status"));
    assert_eq!(
        done.said(),
        [
            "display_data: x : [int]\ny : int",
            "display_data: [1, 2] : [int]",
            "display_data: 3 : int",
            "stdout: hello",
            "display_data: T : bool",
            "execute_result: [1, 2, 1, 2] : [int]",
        ]
    );
    let result = done.all("execute_result")[0];
    assert_eq!(result["execution_count"], 1);
    // What the protocol demands to be an object is one.
    assert!(result["transient"].is_object() && result["metadata"].is_object());
    assert_eq!(done.all("execute_input")[0]["execution_count"], 1);
    assert_eq!(done.reply["status"], "ok");
    assert_eq!(done.reply["execution_count"], 1);
    assert_eq!(client.run("it").said(), ["execute_result: [1, 2, 1, 2] : [int]"]);
}

#[test]
fn a_client_that_subscribes_late_misses_nothing() {
    let (mut client, asked) = start_and_subscribe_late("20 + 22;");
    let done = client.done(&asked);
    assert_eq!(done.said(), ["execute_result: 42 : int"]);
    assert_eq!(client.run("it").said(), ["execute_result: 42 : int"]);
}

#[test]
fn errors_have_the_place_in_the_cell() {
    let mut client = start();
    client.run("1;");
    let done = client.run("y = 2;\n1 / 0;\n5;");
    assert_eq!(done.reply["status"], "error");
    assert_eq!(done.reply["ename"], "Runtime error");
    let errors = done.all("error");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["evalue"], done.reply["evalue"]);
    let lines: Vec<&str> = errors[0]["traceback"]
        .as_array()
        .expect("lines")
        .iter()
        .filter_map(|l| l.as_str())
        .collect();
    assert!(
        lines[0].starts_with("\u{1b}[") && lines.join("\n").contains("In [2]:2:1"),
        "{lines:?}"
    );
    // Forms after the one that failed ran.
    assert_eq!(done.said().last().map(String::as_str), Some("execute_result: 5 : int"));
}

#[test]
fn the_ways_to_run_a_cell() {
    let mut client = start();
    client.run("a = 1;");
    // Silent: nothing is shown or numbered, and it is not in the history; but it is done.
    let done = client.run_with(json!({ "code": "b = 2; b; 1 / 0;", "silent": true }));
    assert_eq!(done.published.len(), 2);
    assert_eq!(done.reply["status"], "error");
    let done = client.run_with(json!({ "code": "b;", "store_history": false }));
    assert_eq!(done.said(), ["execute_result: 2 : int"]);
    assert_eq!(client.run("3;").reply["execution_count"], 2);

    let expressions = json!({ "sum": "a + b", "wrong": "nowhere", "none": "c = 3;" });
    let done = client.run_with(json!({ "code": "4;", "user_expressions": expressions }));
    let values = &done.reply["user_expressions"];
    assert_eq!(values["sum"]["data"]["text/plain"], "3 : int");
    assert_eq!(values["wrong"]["status"], "error");
    assert_eq!(done.reply["execution_count"], 3);
    let asked = json!({ "code": "1 / 0;", "user_expressions": { "sum": "a + b" } });
    assert_eq!(client.run_with(asked).reply["user_expressions"], json!({}));

    let done = client.run("plus_scan?");
    let page = &done.reply["payload"][0];
    assert_eq!(page["source"], "page");
    assert!(page["data"]["text/plain"].as_str().is_some_and(|text| text.contains("plus_scan")));
    assert!(done.said().is_empty());
    assert_eq!(client.run("exit;").reply["payload"][0]["source"], "ask_exit");
}

#[test]
fn history_is_asked_for_in_three_ways() {
    let mut client = start();
    for code in ["alpha = 1;", "beta = alpha + 1;", "alpha;", "alpha;"] {
        client.run(code);
    }
    let mut ask = |content| client.ask("history_request", content)["history"].clone();
    let tail = ask(json!({ "hist_access_type": "tail", "n": 2, "output": false, "raw": true }));
    assert_eq!(tail, json!([[1, 3, "alpha;"], [1, 4, "alpha;"]]));
    let range =
        json!({ "hist_access_type": "range", "session": 0, "start": 1, "stop": 2, "output": true });
    assert_eq!(ask(range), json!([[1, 1, ["alpha = 1;", null]]]));
    let search = json!({ "hist_access_type": "search", "pattern": "*alpha*", "unique": true });
    assert_eq!(ask(search).as_array().map(Vec::len), Some(3));
}

#[test]
fn texts_are_completed_inspected_and_judged() {
    let mut client = start();
    client.run("function halves(xs) = {x / 2 : x in xs};");
    // Places are characters, not bytes.
    let code = "\"é🙂\" ++ halv";
    let completed = client.ask("complete_request", json!({ "code": code, "cursor_pos": 12 }));
    assert_eq!(completed["matches"], json!(["halves"]));
    assert_eq!((&completed["cursor_start"], &completed["cursor_end"]), (&json!(8), &json!(12)));
    let types = &completed["metadata"]["_jupyter_types_experimental"][0];
    assert_eq!((&types["type"], &types["text"]), (&json!("function"), &json!("halves")));
    let inspected =
        client.ask("inspect_request", json!({ "code": "halves([1])", "cursor_pos": 3 }));
    assert_eq!(inspected["found"], true);
    let plain = inspected["data"]["text/plain"].as_str().expect("text");
    assert!(plain.contains("halves : [int] -> [int]"), "{plain}");
    assert_eq!(inspected["data"]["text/markdown"], plain);
    let inspected = client.ask("inspect_request", json!({ "code": "nowhere", "cursor_pos": 3 }));
    assert_eq!((&inspected["status"], &inspected["found"]), (&json!("ok"), &json!(false)));
    for (code, status, indent) in [
        ("1 + 1", "complete", ""),
        ("sum?", "complete", ""),
        (":time\n1 + 1", "complete", ""),
        (":time {x :", "incomplete", "  "),
        (":time {x :\n  x in [1:5]}", "complete", ""),
        ("function g1(x) =\n  let y = {", "incomplete", "      "),
        ("1 + * 2", "invalid", ""),
    ] {
        let judged = client.ask("is_complete_request", json!({ "code": code }));
        assert_eq!(judged["status"], status, "{code}");
        assert_eq!(judged["indent"], indent, "{code}");
    }
}

#[test]
fn the_kernel_says_what_it_is_on_both_channels() {
    let mut client = start();
    let info = client.ask("kernel_info_request", json!({}));
    assert_eq!(info["language_info"]["name"], "nesl");
    assert_eq!(info["protocol_version"], "5.4");
    let id = client.send_control("kernel_info_request", json!({}));
    let reply = client.control_reply();
    assert_eq!((reply.parent.as_str(), &reply.content), (id.as_str(), &info));
    assert_eq!(client.published(&id).len(), 2);
    client.beat();
}

#[test]
fn comms_and_debuggers_are_declined() {
    let mut client = start();
    assert_eq!(client.ask("comm_info_request", json!({}))["comms"], json!({}));
    let opened = json!({ "comm_id": "c", "target_name": "widget", "data": {} });
    let id = client.send("comm_open", opened);
    let published = client.published(&id);
    let kinds: Vec<&str> = published.iter().map(|message| message.kind.as_str()).collect();
    assert_eq!(kinds, ["status", "comm_close", "status"]);
    assert_eq!(published[1].content["comm_id"], "c");
    let id = client.send("comm_msg", json!({ "comm_id": "c", "data": {} }));
    assert_eq!(client.published(&id).len(), 2);
    let asked = json!({ "type": "request", "seq": 7, "command": "initialize" });
    let id = client.send_control("debug_request", asked);
    let reply = client.control_reply();
    assert_eq!((reply.parent, &reply.content["success"]), (id, &json!(false)));
    assert_eq!(reply.content["request_seq"], 7);
}

#[test]
fn programs_ask_the_person() {
    let mut client = start();
    let code = "print_string(\"hello\"); prompt(\"name? \");";
    let id = client.send("execute_request", json!({ "code": code, "allow_stdin": true }));
    let question = client.question();
    assert_eq!((question.kind.as_str(), &question.parent), ("input_request", &id));
    assert_eq!(question.content["prompt"], "name? ");
    // What was printed before is there by now.
    assert_eq!(client.wait_for(&id, "stream").content["text"], "hello");
    client.answer(&question, "Ann");
    assert_eq!(
        client.done(&id).said().last().map(String::as_str),
        Some("execute_result: \"Ann\" : [char]")
    );

    // An interrupt takes the question back; an answer that comes late answers nothing.
    let id = client.send("execute_request", json!({ "code": code, "allow_stdin": true }));
    let late = client.question();
    client.interrupt();
    assert_eq!(client.done(&id).reply["evalue"], "Interrupted.");
    let id = client.send("execute_request", json!({ "code": code, "allow_stdin": true }));
    let question = client.question();
    client.answer(&late, "nobody");
    client.answer(&question, "Bob");
    assert_eq!(
        client.done(&id).said().last().map(String::as_str),
        Some("execute_result: \"Bob\" : [char]")
    );

    // Nobody can be asked: there is no input.
    let done = client.run_with(json!({ "code": code, "allow_stdin": false }));
    assert_eq!(done.all("input_request").len(), 0);
    assert!(done.reply["status"] == "ok" || done.reply["status"] == "error");
}

#[test]
fn silent_cells_and_expressions_of_requests_leave_no_trace() {
    let mut client = start();
    client.run("x = 20; 17;");
    let silent = client.run_with(json!({ "code": "x + 1; y = 5;", "silent": true }));
    assert_eq!(silent.said(), Vec::<String>::new());
    let asked = json!({
        "code": "x;", "store_history": false,
        "user_expressions": { "more": "x + 2", "less": "it - 1", "wrong": "nowhere" },
    });
    let done = client.run_with(asked);
    let expressions = &done.reply["user_expressions"];
    assert_eq!(expressions["more"]["data"]["text/plain"], "22 : int");
    assert_eq!(expressions["less"]["data"]["text/plain"], "19 : int");
    assert_eq!(expressions["wrong"]["status"], "error");
    client.run_with(json!({ "code": "", "user_expressions": { "other": "1 + 1" } }));
    // The cell was one; the expressions, and the cell that was silent, were none.
    let done = client.run("(it, y);");
    assert_eq!(done.said(), ["execute_result: (20, 5) : int, int"]);
    assert_eq!(done.reply["execution_count"], 3);
}

#[test]
fn an_entry_is_taken_back() {
    let mut client = start();
    client.run("x = 1;");
    client.run("x = 2; y = 3;");
    assert_eq!(client.run(":undo").said(), ["display_data: `x`, `y` are what they were before."]);
    assert_eq!(client.run("x").said(), ["execute_result: 1 : int"]);
    assert_eq!(client.run("y").reply["ename"], "Name error");
    // Completion knows it, too.
    let completed = client.ask("complete_request", json!({ "code": ":und", "cursor_pos": 4 }));
    assert_eq!(completed["matches"], json!([":undo"]));
    let timed = client.run(":time 3 x + 1").said();
    assert_eq!(timed[0], "execute_result: 2 : int");
    assert!(timed[1].starts_with("display_data: time of 3 runs: "), "{timed:?}");
}
