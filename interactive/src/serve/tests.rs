//! Tests of the protocol, as another program sees it.

use super::*;
use crate::display::Style;
use crate::runtimes::RuntimeRow;
use crate::state::Setup;
use nesl_engine::{Settings, Stages};
use nesl_runtime::runtime::Options;
use std::io::{BufReader, Cursor};
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

static RUNTIMES: [RuntimeRow; 1] = [RuntimeRow {
    name: "reference",
    about: "The direct interpreter",
    device: |_| "direct interpreter".to_owned(),
    interpret_first: false,
    stages: Stages::with_backend(&[]),
    make: |_| Ok(None),
}];

/// The time after which a test has failed.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// An end of a pipe; reading ends when the other end is dropped.
struct Pipe {
    pieces: Receiver<Vec<u8>>,
    now: Cursor<Vec<u8>>,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.now.position() == self.now.get_ref().len() as u64 {
            match self.pieces.recv_timeout(MAX_WAIT) {
                Ok(piece) => self.now = Cursor::new(piece),
                Err(_) => return Ok(0),
            }
        }
        self.now.read(into)
    }
}

struct PipeEnd(Sender<Vec<u8>>);

impl Write for PipeEnd {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(std::io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn pipe() -> (PipeEnd, BufReader<Pipe>) {
    let (end, pieces) = channel();
    (PipeEnd(end), BufReader::new(Pipe { pieces, now: Cursor::default() }))
}

/// A program that talks to a session.
struct Client {
    requests: PipeEnd,
    answers: BufReader<Pipe>,
    server: JoinHandle<()>,
}

impl Client {
    fn new() -> Client {
        let worker = Worker::start(Setup {
            settings: Settings { shown: ShownValues::Expressions, ..Settings::default() },
            runtimes: &RUNTIMES,
            runtime: &RUNTIMES[0],
            options: Options::default(),
            display: Style::default(),
            extra: &[],
            idle: None,
        })
        .expect("the direct interpreter is everywhere");
        let ((requests, input), (output, answers)) = (pipe(), pipe());
        let server = std::thread::spawn(move || serve(&worker, input, output));
        Client { requests, answers, server }
    }

    fn send(&mut self, request: &Value, bytes: &[u8]) {
        writeln!(self.requests, "{request}").expect("it is read");
        self.requests.write_all(bytes).expect("it is read");
    }

    /// Returns the next answer.
    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it is written");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("an answer is JSON: {line:?}"))
    }

    /// Returns the bytes that follow an answer.
    fn bytes(&mut self, answer: &Value) -> Vec<u8> {
        let mut bytes = vec![0; answer["bytes"].as_u64().expect("bytes follow") as usize];
        self.answers.read_exact(&mut bytes).expect("they are written");
        bytes
    }
}

fn words(all: &[i64]) -> Vec<u8> {
    all.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[test]
fn values_go_to_and_fro_as_bytes() {
    let mut client = Client::new();
    let given = words(&[3, 5, 6, 7]);
    let request =
        json!({"id": 1, "bind": "x", "type": "[int]", "columns": [1, 3], "bytes": given.len()});
    client.send(&request, &given);
    assert_eq!(client.answer(), json!({"id": 1, "done": "ok"}));
    client.send(&json!({"id": 2, "fetch": "x"}), &[]);
    let answer = client.answer();
    let shape = json!([["lengths", 1], ["ints", 3]]);
    assert_eq!(answer, json!({"id": 2, "type": "[int]", "columns": shape, "bytes": 32}));
    assert_eq!(client.bytes(&answer), given);
    assert_eq!(client.answer(), json!({"id": 2, "done": "ok"}));
    // With the value of an entry nothing is shown, but what the program prints.
    client.send(&json!({"id": 3, "enter": "print_line(\"a\"); y = 1; sum(x)", "value": true}), &[]);
    let printed = json!({"kind": "printed", "text": "a\n"});
    assert_eq!(client.answer(), json!({"id": 3, "output": printed}));
    let answer = client.answer();
    assert_eq!(client.bytes(&answer), words(&[18]));
    assert_eq!(client.answer(), json!({"id": 3, "done": "ok"}));
    // Afterwards it is shown again.
    client.send(&json!({"id": 4, "enter": "sum(x)"}), &[]);
    assert_eq!(client.answer()["output"]["text"], "18 : int");
    assert_eq!(client.answer(), json!({"id": 4, "done": "ok"}));
}

#[test]
fn there_is_no_value_where_there_is_none() {
    let mut client = Client::new();
    for request in [
        json!({"id": 1, "enter": "x = 1;", "value": true}),
        json!({"id": 1, "enter": "1 + 1", "show": false}),
        json!({"id": 1, "fetch": "nothing"}),
    ] {
        client.send(&request, &[]);
        assert_eq!(client.answer(), json!({"id": 1, "done": "ok"}), "{request}");
    }
    client.send(&json!({"id": 2, "enter": "1; [1] + 2", "value": true}), &[]);
    assert_eq!(client.answer()["output"]["kind"], "error");
    assert_eq!(client.answer()["done"], "failed");
}

#[test]
fn what_is_refused_does_not_disturb_what_follows() {
    let mut client = Client::new();
    let mut refused = |request: &str, bytes: &[u8]| {
        writeln!(client.requests, "{request}").expect("it is read");
        client.requests.write_all(bytes).expect("it is read");
        let answer = client.answer();
        assert_eq!(answer["done"], "failed", "{request}");
        answer["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    let eight = words(&[1]);
    for (request, message) in [
        (r#"{"bind": "x", "type": "real", "columns": [1], "bytes": 8}"#, "a type is int"),
        (r#"{"bind": "x", "type": "[int]", "columns": [1, 1], "bytes": 8}"#, "do not have 8 bytes"),
        (r#"{"bind": "x", "type": "int", "columns": "one", "bytes": 8}"#, "do not have 8 bytes"),
        (r#"{"bind": "x", "type": "int", "columns": [-1], "bytes": 8}"#, "numbers of elements"),
        (r#"{"bind": "let", "type": "int", "columns": [1], "bytes": 8}"#, ""),
        (r#"{"bind": "x y", "type": "int", "columns": [1], "bytes": 8}"#, "is not a name"),
        (r#"{"what": "x", "bytes": 8}"#, "a request has one of"),
    ] {
        let said = refused(request, &eight);
        assert!(said.contains(message), "{request}: {said}");
    }
    assert!(refused("no JSON at all", &[]).starts_with("no JSON"));
    assert!(refused("[1]", &[]).starts_with("a request has one of"));
    client.send(&json!({"id": 2, "interrupt": true}), &[]);
    assert_eq!(client.answer(), json!({"id": 2, "done": "ok"}));
}

#[test]
fn a_client_that_ends_in_the_middle_ends_the_session() {
    let mut client = Client::new();
    let request = json!({"id": 1, "bind": "x", "type": "[int]", "columns": [1, 3], "bytes": 32});
    client.send(&request, &[0; 10]);
    drop(client.requests);
    client.server.join().expect("it ends");
}

#[test]
fn a_program_that_asks_is_told_that_nobody_answers() {
    let mut client = Client::new();
    client.send(&json!({"id": 1, "enter": "prompt(\"name? \")", "value": true}), &[]);
    let shown = client.answer()["output"]["text"].as_str().unwrap_or_default().to_owned();
    assert!(shown.contains("nobody can be asked for input here"), "{shown}");
    assert_eq!(client.answer()["done"], "failed");
}

#[test]
fn a_program_that_asks_gets_the_answers() {
    let mut client = Client::new();
    let entry = "who = prompt(\"name? \"); who ++ prompt(\"\")";
    client.send(&json!({"id": 1, "enter": entry, "value": true, "ask": true}), &[]);
    assert_eq!(client.answer(), json!({"id": 1, "ask": "name? "}));
    // An answer to another entry is for nobody, and so is what was asked before.
    client.send(&json!({"id": 9, "answer": "Bob"}), &[]);
    client.send(&json!({"id": 1, "answer": "Ada"}), &[]);
    assert_eq!(client.answer(), json!({"id": 1, "ask": ""}));
    client.send(&json!({"id": 1, "answer": "!"}), &[]);
    let value = client.answer();
    assert_eq!((&value["id"], &value["type"]), (&json!(1), &json!("[char]")));
    assert_eq!(client.bytes(&value)[8..], *b"Ada!");
    assert_eq!(client.answer(), json!({"id": 1, "done": "ok"}));
}

#[test]
fn a_question_without_an_answer_ends_the_entry() {
    let mut client = Client::new();
    let ask = |id: i64| json!({"id": id, "enter": "prompt(\"name? \")", "ask": true});
    client.send(&ask(1), &[]);
    assert_eq!(client.answer()["ask"], "name? ");
    client.send(&json!({"id": 1, "answer": null}), &[]);
    let shown = client.answer()["output"]["text"].as_str().unwrap_or_default().to_owned();
    assert!(shown.contains("nobody can be asked for input here"), "{shown}");
    assert_eq!(client.answer()["done"], "failed");
    client.send(&ask(2), &[]);
    assert_eq!(client.answer()["ask"], "name? ");
    client.send(&json!({"id": 3, "interrupt": true}), &[]);
    let until_done = |client: &mut Client| loop {
        let answer = client.answer();
        if answer["done"].is_string() {
            return answer;
        }
    };
    assert_eq!(until_done(&mut client), json!({"id": 3, "done": "ok"}));
    assert_eq!(until_done(&mut client), json!({"id": 2, "done": "interrupted"}));
    client.send(&json!({"id": 2, "answer": "too late"}), &[]);
    client.send(&json!({"id": 4, "enter": "1 + 1"}), &[]);
    assert_eq!(client.answer()["output"]["text"], "2 : int");
    assert_eq!(client.answer(), json!({"id": 4, "done": "ok"}));
    // Nor does it keep a session from ending.
    client.send(&ask(5), &[]);
    assert_eq!(client.answer()["ask"], "name? ");
    drop(client.requests);
    client.server.join().expect("it ends");
}
