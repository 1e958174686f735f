//! Interrupts at any moment, and what they leave.

use crate::client::start;
use serde_json::json;
use std::time::{Duration, Instant};

/// A loop that goes on for ever.
pub const ENDLESS: &str = "function turn(n) = turn(n + 1); turn(0);";

/// An interrupt is answered within this; it is longer than promised, because the tests share the machine.
const PROMPTLY: Duration = Duration::from_secs(10);

#[test]
fn what_waits_is_refused_and_what_comes_later_runs() {
    let mut client = start();
    client.run("kept = 17;");
    let running = client.execute(ENDLESS);
    let waiting: Vec<String> = (0..5).map(|_| client.execute("lost = 1;")).collect();
    client.wait_for(&running, "execute_input");
    std::thread::sleep(Duration::from_millis(50));
    let begin = Instant::now();
    client.interrupt();
    let first = client.next_reply();
    assert!(begin.elapsed() < PROMPTLY, "{:?}", begin.elapsed());
    assert_eq!((&first.parent, &first.content["evalue"]), (&running, &json!("Interrupted.")));
    assert_eq!(first.content["ename"], "Interrupted");
    let published = client.published(&running);
    let errors: Vec<_> = published.iter().filter(|m| m.kind == "error").collect();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].content["ename"], "Interrupted");
    for id in waiting {
        // In the order in which they were sent.
        let reply = client.next_reply();
        assert_eq!((&reply.parent, &reply.content["status"]), (&id, &json!("aborted")));
        assert_eq!(client.published(&id).len(), 2);
    }
    assert_eq!(client.run("kept;").said(), ["execute_result: 17 : int"]);
    assert_eq!(client.run("lost;").reply["ename"], "Name error");
}

#[cfg(unix)]
#[test]
fn the_signal_interrupts_too() {
    let mut client = start();
    for _ in 0..3 {
        let id = client.execute(ENDLESS);
        client.wait_for(&id, "execute_input");
        let process = client.kernel.child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &process]).status();
        assert!(sent.expect("there is `kill`").success());
        let reply = client.done(&id).reply;
        assert_eq!(
            (&reply["ename"], &reply["evalue"]),
            (&json!("Interrupted"), &json!("Interrupted."))
        );
    }
}

#[cfg(unix)]
#[test]
fn a_signal_while_nothing_runs_does_nothing() {
    let mut client = start();
    let process = i32::try_from(client.kernel.child.id()).expect("a process id");
    let process = nix::unistd::Pid::from_raw(process);
    // The same moments in every run.
    let mut seed = 1_u64;
    for round in 0..200 {
        let failing = [":flatten nowhere", "1 / 0;", "5;"][round % 3];
        let id = client.execute(failing);
        client.done(&id);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros((seed >> 40) % 4_000));
        nix::sys::signal::kill(process, nix::sys::signal::SIGINT).expect("it is there");
        // Both are there when the kernel looks.
        assert_eq!(client.run("1 + 1;").said(), ["execute_result: 2 : int"], "round {round}");
    }
}

#[test]
fn two_hundred_moments() {
    let mut client = start();
    client.run("kept = [1, 2, 3]; function twice(n) = n * 2;");
    // The same moments in every run.
    let mut seed = 1_u64;
    for round in 0..200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let wait = Duration::from_micros((seed >> 40) % 12_000);
        let id = client.execute(ENDLESS);
        std::thread::sleep(wait);
        client.interrupt();
        // Either it had begun, or it was queued; or the interrupt arrived first, on a channel of its own.
        let mut tries = 0;
        let reply = loop {
            if let Some(reply) = client.reply_within(&id, Duration::from_millis(300)) {
                break reply;
            }
            assert!(tries < 30, "round {round} is stuck");
            tries += 1;
            client.interrupt();
        };
        let status = reply.content["status"].as_str().unwrap_or("?");
        assert!(matches!(status, "error" | "aborted"), "{status}");
        client.published(&id);
        if round % 20 == 0 {
            assert_eq!(client.run("twice(sum(kept));").said(), ["execute_result: 12 : int"]);
        }
    }
    // An interrupt while nothing runs does nothing.
    client.interrupt();
    assert_eq!(client.run("twice(sum(kept));").said(), ["execute_result: 12 : int"]);
}

#[test]
fn making_a_text_or_a_plot_is_interrupted() {
    let mut client = start();
    client
        .run("xs = {(i, [i]) : i in [0:1000000]}; ys = {float(i) : i in [0:3000000]}; #xs + #ys;");
    let prints = "#{print_line(@i) : i in [0:300000]};";
    for code in [":full xs", ":plot ys", ":histogram ys", "print_line(@xs);", prints] {
        for wait in [1, 30, 300] {
            let id = client.execute(code);
            client.wait_for(&id, "execute_input");
            std::thread::sleep(Duration::from_millis(wait));
            let begin = Instant::now();
            client.interrupt();
            let done = client.done(&id);
            assert!(begin.elapsed() < PROMPTLY, "{code}: {:?}", begin.elapsed());
            // It may have been done before.
            let status = &done.reply["status"];
            assert!(status == "ok" || done.reply["evalue"] == "Interrupted.", "{:?}", done.reply);
        }
    }
    assert_eq!(client.run("#xs;").said(), ["execute_result: 1000000 : int"]);
}

#[test]
fn a_failure_refuses_what_was_sent_before_its_reply() {
    let mut client = start();
    for _ in 0..20 {
        let ids: Vec<String> =
            ["1 / 0;", "2;", "3;"].iter().map(|code| client.execute(code)).collect();
        let replies: Vec<_> = ids.iter().map(|_| client.next_reply()).collect();
        let order: Vec<&String> = replies.iter().map(|reply| &reply.parent).collect();
        assert_eq!(order, ids.iter().collect::<Vec<_>>());
        let status = |at: usize| replies[at].content["status"].as_str().unwrap_or("?");
        assert_eq!([status(0), status(1), status(2)], ["error", "aborted", "aborted"]);
        for id in &ids {
            client.published(id);
        }
        // Sent at once after the reply.
        assert_eq!(client.run("4;").said(), ["execute_result: 4 : int"]);
    }
    let unconcerned = json!({ "code": "1 / 0;", "stop_on_error": false });
    let first = client.send("execute_request", unconcerned);
    let second = client.execute("5;");
    assert_eq!(client.done(&first).reply["status"], "error");
    assert_eq!(client.done(&second).said(), ["execute_result: 5 : int"]);
}
