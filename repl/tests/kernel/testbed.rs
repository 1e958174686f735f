//! The checks of runtimed's kernel-testbed, by its names and in its order, on one kernel.
//!
//! That suite is a program of its own, which scores kernels. It is in no registry, so its checks are made
//! here: with its own types of messages, which refuse what is not as the protocol has it.

use crate::client::{Client, start};
use jupyter_protocol::messaging::JupyterMessageContent;
use serde_json::{Value, json};

/// A check is known by the name that the suite has for it; it panics if it fails.
type Check = (&'static str, fn(&mut Client));

#[test]
fn the_checks_of_kernel_testbed() {
    // The welcome of `iopub_welcome` is waited for where the client starts.
    let mut client = start();
    for (name, check) in CHECKS {
        println!("{name}");
        check(&mut client);
    }
}

/// Tier 1 is the basic protocol, tier 2 interaction, tier 3 rich output, tier 4 the rest.
const CHECKS: [Check; 26] = [
    // Tier 1.
    ("heartbeat_responds", Client::beat),
    ("kernel_info_reply_valid", |client| {
        assert_eq!(info(client)["status"], "ok");
    }),
    ("kernel_info_has_language_info", |client| {
        assert_eq!(info(client)["language_info"]["name"], "nesl");
    }),
    ("kernel_info_has_protocol_version", |client| {
        assert_eq!(info(client)["protocol_version"], "5.4");
    }),
    ("execute_stdout", |client| {
        assert!(run(client, "print_line(\"hello\")").contains(&"stdout: hello\n".to_owned()));
    }),
    ("execute_stderr", |client| {
        let said = run(client, "write_string(\"error\", stderr)");
        assert!(said.contains(&"stderr: error".to_owned()));
    }),
    ("execute_reply_ok", |client| {
        assert_eq!(client.run("x = 1").reply["status"], "ok");
    }),
    ("status_busy_idle_lifecycle", |client| {
        let done = client.run("x = 1");
        let states = done.all("status");
        let states: Vec<&Value> = states.iter().map(|status| &status["execution_state"]).collect();
        assert_eq!(states, ["busy", "idle"]);
    }),
    ("execute_input_broadcast", |client| {
        assert_eq!(client.run("x = 1").all("execute_input")[0]["code"], "x = 1");
    }),
    // Tier 2.
    ("complete_request", |client| {
        client.run("test_variable_for_completion = 42");
        let code = "test_variable_for_";
        let asked = json!({ "code": code, "cursor_pos": code.len() });
        let reply = ask(client, "complete", asked);
        assert_eq!(reply["matches"], json!(["test_variable_for_completion"]));
    }),
    ("inspect_request", |client| {
        let code = "test_variable_for_completion";
        let asked = json!({ "code": code, "cursor_pos": code.len(), "detail_level": 0 });
        assert_eq!(ask(client, "inspect", asked)["found"], true);
    }),
    ("is_complete_complete", |client| {
        assert_eq!(ask(client, "is_complete", json!({ "code": "x = 1" }))["status"], "complete");
    }),
    ("is_complete_incomplete", |client| {
        let asked = json!({ "code": "function foo(x) =" });
        assert_eq!(ask(client, "is_complete", asked)["status"], "incomplete");
    }),
    ("history_request", |client| {
        let asked = json!({ "hist_access_type": "tail", "n": 10, "output": false, "raw": true });
        assert_eq!(ask(client, "history", asked)["history"].as_array().map(Vec::len), Some(6));
    }),
    ("comm_info_request", |client| {
        assert_eq!(ask(client, "comm_info", json!({}))["comms"], json!({}));
    }),
    ("error_handling", |client| {
        let done = client.run("1 + * 2");
        assert_eq!(done.reply["status"], "error");
        assert_eq!(done.all("error").len(), 1);
    }),
    // Tier 3.
    ("display_data", |client| {
        assert_eq!(client.run(":type [1.5]").all("display_data").len(), 1);
    }),
    ("update_display_data", |client| {
        // The line that says how far a cell is.
        let done = client.run("shell_command(\"sleep 1.2\", \"\")");
        let id = &done.all("display_data")[0]["transient"]["display_id"];
        let updates = done.all("update_display_data");
        assert!(updates.iter().any(|update| &update["transient"]["display_id"] == id));
    }),
    ("execute_result", |client| {
        assert_eq!(run(client, "1 + 1"), ["execute_result: 2 : int"]);
    }),
    ("rich_execute_result", |client| {
        let done = client.run("{(i, i * i) : i in [0:4]}");
        let html = done.all("execute_result")[0]["data"]["text/html"].as_str().unwrap_or_default();
        assert!(html.contains("<table"), "{html}");
    }),
    // Tier 4.
    ("stdin_input_request", |client| {
        let asked = json!({ "code": "prompt(\"Enter: \")", "allow_stdin": true });
        let id = client.send("execute_request", asked);
        let question = client.question();
        assert!(known(&question.kind, &question.content));
        client.answer(&question, "test_input_42");
        let done = client.done(&id);
        assert_eq!(done.said().last().map(String::as_str), Some(ANSWERED));
    }),
    ("comms_lifecycle", |client| {
        let open = json!({ "comm_id": "a comm", "target_name": "nobody's", "data": {} });
        let id = client.send("comm_open", open);
        // Its target is unknown, and so it is closed at once.
        let closed = client.published(&id).into_iter().find(|message| message.kind == "comm_close");
        assert_eq!(closed.expect("it is closed").content["comm_id"], "a comm");
        assert_eq!(client.run("x = 1").reply["status"], "ok");
    }),
    ("interrupt_request", Client::interrupt),
    ("execution_count_increments", |client| {
        let mut count = || client.run("x = 1").reply["execution_count"].as_u64();
        let first = count().expect("a number");
        assert_eq!(count(), Some(first + 1));
    }),
    ("parent_header_correlation", |client| {
        let id = client.execute("print_line(\"hello\")");
        assert_eq!(client.reply(&id).kind, "execute_reply");
        // All that is published from `busy` to `idle` has the request for its parent.
        let kinds: Vec<String> = client.published(&id).into_iter().map(|each| each.kind).collect();
        assert_eq!(kinds, ["status", "execute_input", "stream", "execute_result", "status"]);
    }),
    ("shutdown_reply", |client| {
        client.send_control("shutdown_request", json!({ "restart": false }));
        let reply = client.control_reply();
        assert_eq!(
            (reply.kind.as_str(), &reply.content["status"]),
            ("shutdown_reply", &json!("ok"))
        );
        assert!(known(&reply.kind, &reply.content));
    }),
];

/// This is what a cell that asks says after its answer.
const ANSWERED: &str = "execute_result: \"test_input_42\" : [char]";

/// Returns what the kernel says of itself.
fn info(client: &mut Client) -> Value {
    ask(client, "kernel_info", json!({}))
}

/// Returns the reply to a request, which is as the types of the suite have it, and a success.
fn ask(client: &mut Client, what: &str, content: Value) -> Value {
    let reply = client.ask(&format!("{what}_request"), content);
    assert!(known(&format!("{what}_reply"), &reply), "{what}: {reply}");
    assert_ne!(reply["status"], "error");
    reply
}

/// Returns what a cell says; each message is as the types of the suite have it.
fn run(client: &mut Client, code: &str) -> Vec<String> {
    let done = client.run(code);
    assert!(known("execute_reply", &done.reply), "{}", done.reply);
    for (kind, content) in &done.published {
        assert!(known(kind, content), "{kind}: {content}");
    }
    done.said()
}

/// Returns true if the content of a message is as the types of the suite have it.
fn known(kind: &str, content: &Value) -> bool {
    let parsed = JupyterMessageContent::from_type_and_content(kind, content.clone());
    parsed.is_ok_and(|content| !matches!(content, JupyterMessageContent::UnknownMessage(_)))
}
