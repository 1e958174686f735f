//! The end of the process.

use crate::client::{Client, MAX_WAIT, start};
use crate::interrupts::ENDLESS;
use serde_json::json;
use std::time::{Duration, Instant};

/// A kernel that was asked to has ended after this.
const MAX_SHUTDOWN: Duration = Duration::from_secs(20);

fn ends_within(client: &mut Client, longest: Duration) -> bool {
    let end = Instant::now() + longest;
    while Instant::now() < end {
        if client.kernel.child.try_wait().expect("it can be asked").is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn a_shutdown_is_answered_and_done() {
    for restart in [false, true] {
        let mut client = start();
        client.run("x = 1;");
        let running = restart.then(|| client.execute(ENDLESS));
        if let Some(id) = &running {
            client.wait_for(id, "execute_input");
        }
        let id = client.send_control("shutdown_request", json!({ "restart": restart }));
        let reply = client.control_reply();
        assert_eq!(reply.parent, id);
        assert_eq!(reply.content, json!({ "status": "ok", "restart": restart }));
        let published = client.published(&id);
        let kinds: Vec<&str> = published.iter().map(|message| message.kind.as_str()).collect();
        assert_eq!(kinds, ["status", "shutdown_reply", "status"]);
        assert!(ends_within(&mut client, MAX_SHUTDOWN));
        let status = client.kernel.child.wait().expect("it has ended");
        assert!(status.success(), "{status}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn it_ends_with_the_process_that_started_it() {
    use crate::client::start_with;
    use std::process::{Command, Stdio};
    let mut parent = Command::new("sleep").arg("60").spawn().expect("there is `sleep`");
    let variable = format!("JPY_PARENT_PID={}", parent.id());
    let mut client = start_with(&["env", &variable], Stdio::null());
    let id = client.execute(ENDLESS);
    client.wait_for(&id, "execute_input");
    assert!(!ends_within(&mut client, Duration::from_millis(1_500)));
    parent.kill().expect("it runs");
    parent.wait().expect("it has ended");
    assert!(ends_within(&mut client, MAX_WAIT));
}

#[test]
fn a_client_that_goes_away_changes_nothing() {
    let mut client = start();
    let info = client.kernel.info.clone();
    client.run("kept = 5;");
    for _ in 0..5 {
        // Another client subscribes, asks, and is gone before it is answered.
        let gone = std::thread::spawn({
            let info = info.clone();
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(async {
                    use jupyter_zmq_client as zmq;
                    let _iopub = zmq::create_client_iopub_connection(&info, "", "other").await;
                    let identity = zmq::peer_identity_for_session("other").expect("an identity");
                    let shell =
                        zmq::create_client_shell_connection_with_identity(&info, "other", identity);
                    let mut shell = shell.await.expect("it listens");
                    let request =
                        jupyter_protocol::ExecuteRequest::new("kept = kept + 1;".to_owned());
                    let _ = shell.send(request.into()).await;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                });
            }
        });
        gone.join().expect("it is gone");
        let done = client.run("kept;");
        assert_eq!(done.reply["status"], "ok");
    }
    assert_eq!(client.run("kept;").said(), ["execute_result: 10 : int"]);
}
