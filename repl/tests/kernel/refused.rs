//! What is malformed, unsigned or incomplete.

use crate::client::{start, start_with};
use serde_json::json;
use std::io::Read;
use std::process::Stdio;

/// What stands between the addresses of a message and its parts.
const DELIMITER: &[u8] = b"<IDS|MSG>";

#[test]
fn malformed_and_unsigned_messages_are_refused_and_logged() {
    let mut client = start_with(&[], Stdio::piped());
    let header =
        br#"{"msg_id": "forged", "msg_type": "execute_request", "session": "s", "username": "",
                     "version": "5.4"}"#;
    let code = br#"{"code": "forged = 1;"}"#;
    let wrong = [b'0'; 64];
    let forged: [&[&[u8]]; 9] = [
        &[DELIMITER, &wrong, header, b"{}", b"{}", code],
        &[DELIMITER, b"", header, b"{}", b"{}", code],
        &[DELIMITER, b"no hex", header, b"{}", b"{}", code],
        &[DELIMITER, &wrong, header],
        &[DELIMITER],
        &[b"nothing"],
        &[b"", b"", b""],
        &[b"\xff\xfe", DELIMITER, &wrong, b"\xff", b"\xff", b"\xff", b"\xff"],
        &[header, b"{}", b"{}", code],
    ];
    for parts in forged {
        client.send_parts(parts);
    }
    // These can be answered.
    for (kind, content) in [
        ("execute_request", json!({ "code": 3 })),
        ("complete_request", json!({ "code": "su", "cursor_pos": -1 })),
        ("history_request", json!({ "hist_access_type": "tail", "n": "many" })),
        ("unknown_request", json!({})),
    ] {
        assert_eq!(client.ask(kind, content)["status"], "error", "{kind}");
    }
    assert_eq!(client.run("forged;").reply["ename"], "Name error");
    assert_eq!(client.run("1 + 1;").said(), ["execute_result: 2 : int"]);
    client.send_control("shutdown_request", json!({ "restart": false }));
    client.control_reply();
    let mut said = String::new();
    let mut errors = client.kernel.child.stderr.take().expect("it is piped");
    errors.read_to_string(&mut said).expect("it ends");
    assert_eq!(said.matches("a message was refused").count(), 9, "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn requests_may_omit_what_has_a_default() {
    let mut client = start();
    assert_eq!(client.run_with(json!({ "code": "7;" })).said(), ["execute_result: 7 : int"]);
    let history =
        client.ask("history_request", json!({ "hist_access_type": "search", "pattern": "7*" }));
    assert_eq!(history["history"], json!([[1, 1, "7;"]]));
    let nulls = json!({ "hist_access_type": "tail", "n": null, "session": null, "output": null });
    assert_eq!(client.ask("history_request", nulls)["history"], json!([[1, 1, "7;"]]));
    assert_eq!(client.ask("complete_request", json!({ "code": "su" }))["cursor_end"], 2);
    assert_eq!(client.ask("inspect_request", json!({ "code": "sum" }))["found"], true);
    assert_eq!(client.ask("is_complete_request", json!({}))["status"], "complete");
}
