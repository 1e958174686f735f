//! Many requests at once, long cells, and much output.

use crate::client::start;
use crate::interrupts::ENDLESS;
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A kernel that computes nothing large takes less than this. It is more than promised, because the kernel of
/// the tests is not optimised.
#[cfg(target_os = "linux")]
const MAX_SMALL_MB: u64 = 50;

/// A kernel has started, and answered for the first time, within this. It is longer than promised, because
/// the tests share the machine and are not optimised.
const MAX_FIRST_REPLY: Duration = Duration::from_secs(10);

#[test]
fn the_first_reply_comes_soon() {
    let begin = Instant::now();
    let mut client = start();
    assert_eq!(client.run("1 + 1").said(), ["execute_result: 2 : int"]);
    println!("the first reply after {:?}", begin.elapsed());
    assert!(begin.elapsed() < MAX_FIRST_REPLY, "{:?}", begin.elapsed());
}

/// A request that is answered at once takes no longer, even while other tests compute.
const AT_ONCE: Duration = Duration::from_secs(10);

#[test]
fn a_thousand_cells_are_all_answered_in_order() {
    let mut client = start();
    let begin = Instant::now();
    let ids: Vec<String> = (0..1_000).map(|n| client.execute(&format!("{n} + 1;"))).collect();
    for (n, id) in ids.iter().enumerate() {
        let reply = client.next_reply();
        assert_eq!(&reply.parent, id);
        assert_eq!(reply.content["execution_count"], n + 1);
    }
    for (n, id) in ids.iter().enumerate() {
        let published = client.published(id);
        let kinds: Vec<&str> = published.iter().map(|message| message.kind.as_str()).collect();
        assert_eq!(kinds, ["status", "execute_input", "execute_result", "status"]);
        assert_eq!(published[2].content["data"]["text/plain"], format!("{} : int", n + 1));
    }
    println!("1,000 cells in {:?}", begin.elapsed());
}

#[test]
fn everything_but_cells_is_answered_while_a_cell_runs() {
    let mut client = start();
    client.run("function lengthy(xs) = xs; ");
    // The thread that answers is warm.
    client.ask("complete_request", json!({ "code": "leng", "cursor_pos": 4 }));
    let running = client.execute(ENDLESS);
    client.wait_for(&running, "execute_input");
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let begin = Instant::now();
        let code = "lengthy(";
        let completed = client.ask("complete_request", json!({ "code": code, "cursor_pos": 7 }));
        assert_eq!(completed["matches"], json!(["lengthy"]));
        let inspected = client.ask("inspect_request", json!({ "code": code, "cursor_pos": 4 }));
        assert_eq!(inspected["found"], true);
        let judged = client.ask("is_complete_request", json!({ "code": code }));
        assert_eq!(judged["status"], "incomplete");
        assert_eq!(
            client.ask("history_request", json!({}))["history"].as_array().map(Vec::len),
            Some(2)
        );
        client.ask("kernel_info_request", json!({}));
        client.beat();
        let id = client.send_control("kernel_info_request", json!({}));
        assert_eq!(client.control_reply().parent, id);
        let states: Vec<_> =
            client.published(&id).iter().map(|m| m.content["execution_state"].clone()).collect();
        assert_eq!(states, ["busy", "idle"]);
        slowest = slowest.max(begin.elapsed());
    }
    assert!(slowest < AT_ONCE, "{slowest:?}");
    println!("seven requests while a cell runs: {slowest:?} at most");
    client.interrupt();
    assert_eq!(client.done(&running).reply["status"], "error");
}

#[test]
fn what_takes_long_says_how_far_it_is() {
    let mut client = start();
    let id = client.execute(&format!("a = 1; b = 2; {ENDLESS}"));
    let first = client.wait_for(&id, "display_data");
    assert_eq!(
        first.content["data"]["text/plain"],
        "a : int\nb : int\nturn : int -> a :: (a in any)"
    );
    let shown = client.wait_for(&id, "update_display_data");
    client.interrupt();
    let done = client.done(&id);
    let line = shown.content["data"]["text/plain"].as_str().expect("a line");
    assert!(line.starts_with("forms 3/4") && line.ends_with(" s"), "{line}");
    // Nothing of it stays in the notebook, and everything else does.
    let definitions = "display_data: a : int\nb : int\nturn : int -> a :: (a in any)";
    assert_eq!(done.kept(), [definitions, "error: Interrupted."]);

    // Nor where other outputs follow, or none.
    let wait = "shell_command(\"sleep 0.8\", \"\")";
    let code =
        format!("p = print_string(\"one\"); q = {wait}; r = print_string(\"two\"); s = {wait};");
    let done = client.run(&code);
    assert_eq!(done.all("clear_output").len(), 2, "{:?}", done.published);
    let lines = |line: &&String| line.starts_with("stdout") || line.contains("forms");
    let kept = done.kept();
    assert_eq!(kept.iter().filter(lines).collect::<Vec<_>>(), ["stdout: one", "stdout: two"]);
    let done = client.run(&format!(":time {wait}"));
    assert!(!done.kept().iter().any(|line| line.contains("forms")), "{:?}", done.kept());
    // What is fast does not.
    assert_eq!(client.run("3;").published.len(), 4);
}

#[test]
fn a_flood_is_limited_and_can_be_stopped() {
    let mut client = start();
    let flood = "function flood(n) = if n == 0 then 0 else \
                 let line = {print_string(\"0123456789012345678901234567890123456789\") : i in [0:10000]} \
                 in flood(n - 1); flood(100000);";
    let id = client.execute(flood);
    client.wait_for(&id, "stream");
    std::thread::sleep(Duration::from_secs(2));
    // Nothing else waits for it.
    let begin = Instant::now();
    client.send_control("kernel_info_request", json!({}));
    client.control_reply();
    client.beat();
    assert!(begin.elapsed() < AT_ONCE, "{:?}", begin.elapsed());
    let begin = Instant::now();
    client.interrupt();
    let done = client.done(&id);
    println!("a flood is interrupted in {:?}", begin.elapsed());
    assert!(begin.elapsed() < AT_ONCE, "{:?}", begin.elapsed());
    let texts: Vec<String> =
        done.said().into_iter().filter(|said| said.starts_with("std")).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    assert!((1_000_000..1_600_000).contains(&bytes), "{bytes}");
    assert!(done.all("stream").len() < 500, "{}", done.all("stream").len());
    let notices = texts.iter().filter(|text| text.contains("The rest is left out")).count();
    assert_eq!(notices, 1);
    assert!(texts.last().is_some_and(|text| text.contains("were left out")));
    #[cfg(target_os = "linux")]
    assert!(client.memory_mb() < 200, "{} MB", client.memory_mb());
    // The next cell has a limit of its own.
    assert_eq!(client.run("print_string(\"x\");").said()[0], "stdout: x");
}

#[cfg(target_os = "linux")]
#[test]
fn a_kernel_that_only_answers_stays_small() {
    let mut client = start();
    let idle = client.memory_mb();
    assert!(idle < MAX_SMALL_MB, "{idle} MB");
    for n in 0..800 {
        let done = client.run(&format!("xs = [0:{n}]; sum(xs);"));
        assert_eq!(done.reply["status"], "ok");
    }
    let used = client.memory_mb();
    println!("memory: {idle} MB idle, {used} MB after 800 cells");
    assert!(used < MAX_SMALL_MB, "{idle} MB, then {used} MB");
}

/// Connects to the port that publishes, subscribes to everything, and reads nothing: what a program is that was
/// stopped. The bytes are those of ZMTP 3.0.
fn silent_subscriber(port: u16) -> TcpStream {
    let mut silent = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let mut greeting = [0; 64];
    greeting[..12].copy_from_slice(b"\xff\0\0\0\0\0\0\0\0\x7f\x03\0");
    greeting[12..16].copy_from_slice(b"NULL");
    silent.write_all(&greeting).expect("it is sent");
    let ready = b"\x05READY\x0bSocket-Type\0\0\0\x03SUB";
    silent.write_all(&[4, ready.len() as u8]).expect("it is sent");
    silent.write_all(ready).expect("it is sent");
    silent.write_all(b"\0\x01\x01").expect("it is sent");
    silent
}

#[test]
fn a_client_that_does_not_read_lets_nobody_wait() {
    /// More than the kernel and the system keep for a client.
    const MEGABYTES: usize = 70;
    let mut client = start();
    let mut silent = silent_subscriber(client.kernel.info.iopub_port);
    let begin = Instant::now();
    for _ in 0..MEGABYTES {
        let done = client.run("print_line({`x : i in [0:1000000]});");
        let texts = done.all("stream").into_iter().filter_map(|stream| stream["text"].as_str());
        assert_eq!(texts.map(str::len).sum::<usize>(), 1_000_001);
    }
    // Once the system kept no more, each message used to wait a second for the client.
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    // It was given up, and told so: what it reads ends.
    silent.set_read_timeout(Some(crate::client::MAX_WAIT)).expect("a time");
    let mut block = [0; 1 << 16];
    let end = loop {
        match silent.read(&mut block) {
            Ok(0) => break None,
            Ok(_) => {}
            Err(error) => break Some(error.kind()),
        }
    };
    assert!(matches!(end, None | Some(ErrorKind::ConnectionReset)), "{end:?}");
    assert_eq!(client.run("1 + 1").said(), ["execute_result: 2 : int"]);
}
