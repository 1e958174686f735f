//! Clients that are not connected when something is to be sent to them.

use crate::client::{start, start_and_listen_late};
use serde_json::json;

#[test]
fn a_question_waits_for_its_channel() {
    let (mut client, asked) = start_and_listen_late("prompt(\"Who are you? \")");
    let question = client.question();
    assert_eq!(question.content["prompt"], "Who are you? ");
    client.answer(&question, "Guy");
    // On a busy machine, progress may be shown before the question is asked.
    let said = client.done(&asked).said();
    assert_eq!(said.last().map(String::as_str), Some("execute_result: \"Guy\" : [char]"));
}

#[test]
fn a_client_that_connects_again_gets_its_replies_in_order() {
    let mut client = start();
    for leaves in [true, false] {
        let asking = json!({ "code": "prompt(\"?\")", "allow_stdin": true });
        let asked = [
            client.send("execute_request", asking),
            client.execute("2;"),
            client.send("kernel_info_request", json!({})),
            client.execute("3;"),
        ];
        let question = client.question();
        assert_eq!(client.next_reply().parent, asked[2]);
        if leaves {
            client.leave_shell();
        } else {
            // The new connection is there before the old one ends.
            client.enter_shell();
        }
        client.answer(&question, "!");
        client.wait_for(&asked[3], "execute_result");
        if leaves {
            client.enter_shell();
        }
        for id in [&asked[0], &asked[1], &asked[3]] {
            let reply = client.next_reply();
            assert_eq!((&reply.parent, &reply.content["status"]), (id, &json!("ok")));
            client.published(id);
        }
        client.published(&asked[2]);
        assert_eq!(client.run("4;").said(), ["execute_result: 4 : int"]);
    }
}
