//! Tests the host operations one by one, as the interpreter calls them.

use nesl_core::interp::{Host, Value};
use nesl_core::ir::Ty;
use nesl_core::prim::HostOp;
use nesl_engine::LineInput;
use nesl_engine::host::System;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Collects the output of a system.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Printed {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn pair(a: Ty, b: Ty) -> Ty {
    Ty::Pair(Box::new(a), Box::new(b))
}

fn seq(element: Ty) -> Ty {
    Ty::Sequence(Box::new(element))
}

fn text() -> Ty {
    seq(Ty::Char)
}

/// The result type of a read operation: `value, (ok, message)`.
fn read(value: Ty) -> Ty {
    pair(value, pair(Ty::Bool, text()))
}

/// Two lines, and the questions that they answer.
struct Lines {
    lines: std::vec::IntoIter<&'static str>,
    questions: Printed,
}

impl LineInput for Lines {
    fn line(&mut self, question: &str) -> std::io::Result<Option<String>> {
        self.questions.write_all(question.as_bytes())?;
        Ok(self.lines.next().map(str::to_owned))
    }
}

struct Machine {
    system: System,
    questions: Printed,
    printed: Printed,
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        let mut system = System::new(0);
        let printed = Printed::default();
        system.set_output(Box::new(printed.clone()));
        let (lines, questions) = (vec!["first line", "second"].into_iter(), Printed::default());
        system.set_input(Box::new(Lines { lines, questions: questions.clone() }));
        Machine { system, questions, printed, folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> Value {
        Value::text(self.folder.path().join(name).to_str().unwrap())
    }

    fn call(&mut self, op: HostOp, args: &[Value], types: &[Ty], result: &Ty) -> Value {
        self.system.call(op, args, types, result).unwrap()
    }

    fn status(&mut self, op: HostOp, args: &[Value]) -> (bool, String) {
        status(&self.call(op, args, &[], &pair(Ty::Bool, text())))
    }

    fn open(&mut self, op: HostOp, name: &str) -> Value {
        let path = self.path(name);
        let opened = self.call(op, &[path], &[text()], &read(Ty::Int));
        assert!(ok(&opened), "{opened:?}");
        halves(&opened).0
    }

    fn read(&mut self, op: HostOp, args: &[Value]) -> Value {
        let end = |ty| read(pair(ty, Ty::Bool));
        let result = match op {
            HostOp::ReadChar => end(Ty::Char),
            HostOp::ReadLine => end(text()),
            HostOp::ReadWord => read(pair(text(), pair(Ty::Char, Ty::Bool))),
            _ => read(pair(text(), Ty::Int)),
        };
        self.call(op, args, &[], &result)
    }
}

fn halves(value: &Value) -> (Value, Value) {
    match value {
        Value::Pair(pair) => (pair.0.clone(), pair.1.clone()),
        other => panic!("{other:?} is not a pair"),
    }
}

fn status(value: &Value) -> (bool, String) {
    let (ok, message) = halves(value);
    (ok.bool(), String::from_utf8(message.bytes().to_vec()).unwrap())
}

fn ok(value: &Value) -> bool {
    status(&halves(value).1).0
}

fn good(value: Value) -> Value {
    Value::pair(value, Value::pair(Value::Bool(true), Value::text("")))
}

#[test]
fn printing_goes_to_the_output() {
    let mut m = Machine::new();
    m.system.print(b"one ");
    assert_eq!(
        m.call(HostOp::PrintText, &[Value::text("two ")], &[], &Ty::Bool),
        Value::Bool(true)
    );
    let written = m.status(HostOp::WriteText, &[Value::text("three"), Value::Int(1)]);
    assert_eq!(written, (true, String::new()));
    assert_eq!(
        m.status(HostOp::WriteText, &[Value::text("x"), Value::Int(-1)]),
        (true, String::new())
    );
    assert_eq!(m.printed.text(), "one two three");
}

#[test]
fn words_lines_and_texts() {
    let mut m = Machine::new();
    let path = m.path("w");
    let content = Value::text("alpha  beta\tgamma\nkey=val;rest of it\n\nend");
    assert!(m.status(HostOp::WriteFile, &[content, path]).0);
    let stream = m.open(HostOp::OpenIn, "w");
    let word = |m: &mut Machine, text: &str, delimiter: u8| {
        let read = m.read(HostOp::ReadWord, std::slice::from_ref(&stream));
        let rest = Value::pair(Value::Char(delimiter), Value::Bool(delimiter == 0));
        assert_eq!(read, good(Value::pair(Value::text(text), rest)));
    };
    word(&mut m, "alpha", b' ');
    word(&mut m, "beta", b'\t');
    word(&mut m, "gamma", b'\n');
    let part = |m: &mut Machine, delimiters: &str, limit: i64, text: &str, which: i64| {
        let args = [Value::text(delimiters), Value::pair(Value::Int(limit), stream.clone())];
        let read = m.read(HostOp::ReadText, &args);
        assert_eq!(read, good(Value::pair(Value::text(text), Value::Int(which))));
    };
    part(&mut m, "=;", 100, "key", i64::from(b'='));
    part(&mut m, "=;", -1, "val", i64::from(b';'));
    part(&mut m, "=;", 4, "rest", -2);
    part(&mut m, "=;", 0, "", -2);
    let line = |m: &mut Machine, text: &str, end: bool| {
        let read = m.read(HostOp::ReadLine, std::slice::from_ref(&stream));
        assert_eq!(read, good(Value::pair(Value::text(text), Value::Bool(end))));
    };
    line(&mut m, " of it", false);
    line(&mut m, "", false);
    let char = |m: &mut Machine, c: u8, end: bool| {
        let read = m.read(HostOp::ReadChar, std::slice::from_ref(&stream));
        assert_eq!(read, good(Value::pair(Value::Char(c), Value::Bool(end))));
    };
    char(&mut m, b'e', false);
    line(&mut m, "nd", true);
    char(&mut m, 0, true);
    line(&mut m, "", true);
    word(&mut m, "", 0);
    part(&mut m, "x", 5, "", -1);
    assert!(m.status(HostOp::Close, std::slice::from_ref(&stream)).0);
    let closed = m.read(HostOp::ReadLine, &[stream]);
    assert_eq!(status(&halves(&closed).1), (false, "stream 3 is not open".to_owned()));
}

#[test]
fn what_is_written_can_be_read_before_it_is_closed() {
    let mut m = Machine::new();
    let out = m.open(HostOp::OpenOut, "f");
    assert!(m.status(HostOp::WriteText, &[Value::text("one"), out.clone()]).0);
    let path = m.path("f");
    let file =
        |m: &mut Machine| m.call(HostOp::ReadFile, std::slice::from_ref(&path), &[], &read(text()));
    assert_eq!(file(&mut m), good(Value::text("one")));
    let refused = m.read(HostOp::ReadLine, std::slice::from_ref(&out));
    assert!(!ok(&refused));
    assert!(m.status(HostOp::Close, &[out]).0);
    let more = m.open(HostOp::OpenAppend, "f");
    assert!(m.status(HostOp::WriteText, &[Value::text("+two"), more.clone()]).0);
    assert!(m.status(HostOp::Close, &[more]).0);
    assert!(m.status(HostOp::AppendFile, &[Value::text("+three"), path.clone()]).0);
    assert_eq!(file(&mut m), good(Value::text("one+two+three")));
    let again = m.open(HostOp::OpenOut, "f");
    assert!(m.status(HostOp::Close, &[again]).0);
    assert_eq!(file(&mut m), good(Value::text("")));
}

#[test]
fn failures_are_answers() {
    let mut m = Machine::new();
    let missing = m.path("missing/file");
    let opened = m.call(HostOp::OpenIn, std::slice::from_ref(&missing), &[], &read(Ty::Int));
    let (stream, told) = halves(&opened);
    assert_eq!(stream, Value::Int(-2));
    let (ok, message) = status(&told);
    assert!(
        !ok && message.starts_with("cannot open `")
            && message.ends_with("No such file or directory"),
        "{message}"
    );
    // What is done with it fails, too.
    let what = "the stream could not be opened".to_owned();
    let written = m.status(HostOp::WriteText, &[Value::text("x"), stream.clone()]);
    assert_eq!(written, (false, what.clone()));
    assert_eq!(m.status(HostOp::Close, std::slice::from_ref(&stream)), (false, what.clone()));
    let line = m.read(HostOp::ReadLine, std::slice::from_ref(&stream));
    assert_eq!(status(&halves(&line).1), (false, what));
    assert!(!m.status(HostOp::WriteFile, &[Value::text("x"), missing.clone()]).0);
    let content = m.call(HostOp::ReadFile, std::slice::from_ref(&missing), &[], &read(text()));
    assert_eq!(halves(&content).0, Value::text(""));
    assert!(!m.status(HostOp::Close, &[Value::Int(77)]).0);
    assert!(!m.status(HostOp::Close, &[Value::Int(1)]).0);
    assert!(!m.status(HostOp::WriteText, &[Value::text("x"), Value::Int(0)]).0);
    assert!(!m.status(HostOp::WriteFile, &[Value::text("x"), Value::text("a\0b")]).0);
    let nothing = m.read(HostOp::ReadLine, &[Value::Int(-1)]);
    assert_eq!(nothing, good(Value::pair(Value::text(""), Value::Bool(true))));

    let ty = pair(Ty::Int, seq(Ty::Float));
    let like = Value::pair(Value::Int(9), Value::sequence(&Ty::Float, []));
    let object =
        m.call(HostOp::ReadObject, &[like, missing.clone()], &[ty.clone(), text()], &read(ty));
    assert_eq!(halves(&object).0, Value::pair(Value::Int(0), Value::sequence(&Ty::Float, [])));

    // Reading a file format reports a fault.
    let fault = m.system.call(HostOp::ReadInts, &[missing], &[text()], &seq(Ty::Int)).unwrap_err();
    assert!(fault.to_string().contains("No such file"));
    let path = m.path("ints");
    assert!(m.status(HostOp::WriteFile, &[Value::text("( 1\n two )"), path.clone()]).0);
    let fault = m.system.call(HostOp::ReadInts, &[path], &[text()], &seq(Ty::Int)).unwrap_err();
    assert!(fault.to_string().ends_with("ints:2:2: expected an int, found `two`"), "{fault}");
}

#[test]
fn objects_tables_and_arrays_go_through_files() {
    let mut m = Machine::new();
    let row = pair(Ty::Int, text());
    let rows = Value::sequence(&row, [Value::pair(Value::Int(7), Value::text("seven"))]);
    let path = m.path("rows");
    let args = [rows.clone(), path.clone()];
    assert!(
        status(&m.call(
            HostOp::WriteObject,
            &args,
            &[seq(row.clone()), text()],
            &pair(Ty::Bool, text())
        ))
        .0
    );
    let like = [Value::sequence(&row, []), path.clone()];
    let back =
        m.call(HostOp::ReadObject, &like, &[seq(row.clone()), text()], &read(seq(row.clone())));
    assert_eq!(back, good(rows.clone()));

    // The last arguments may be passed as a tuple or one by one.
    let tuple = Value::pair(Value::text("n,name"), path.clone());
    let types = [seq(row.clone()), pair(text(), text())];
    m.call(HostOp::WriteCsv, &[rows.clone(), tuple], &types, &Ty::Bool);
    let like = [Value::pair(Value::Int(0), Value::text("")), path.clone()];
    let like = [like[0].clone(), Value::sequence(&text(), []), Value::Char(b','), path.clone()];
    let types = [row.clone(), seq(text()), Ty::Char, text()];
    assert_eq!(m.call(HostOp::ReadCsv, &like, &types, &seq(row)), rows);

    let array = Value::sequence(&Ty::Float, [Value::Float(0.5)]);
    let args = [array.clone(), path.clone()];
    m.call(HostOp::WriteNpy, &args, &[seq(Ty::Float), text()], &Ty::Bool);
    assert_eq!(m.call(HostOp::ReadNpy, &args, &[seq(Ty::Float), text()], &seq(Ty::Float)), array);

    let entry = pair(Ty::Int, pair(Ty::Int, Ty::Float));
    let ty = pair(pair(Ty::Int, Ty::Int), seq(entry.clone()));
    let one = Value::pair(Value::Int(1), Value::pair(Value::Int(0), Value::Float(2.5)));
    let shape = Value::pair(Value::Int(2), Value::Int(1));
    let matrix = Value::pair(shape, Value::sequence(&entry, [one]));
    m.call(
        HostOp::WriteMatrixMarket,
        &[matrix.clone(), path.clone()],
        &[ty.clone(), text()],
        &Ty::Bool,
    );
    assert_eq!(m.call(HostOp::ReadMatrixMarket, &[path], &[text()], &ty), matrix);
}

#[test]
fn standard_input() {
    let mut m = Machine::new();
    let asked = m.call(HostOp::Prompt, &[Value::text("name? ")], &[text()], &text());
    assert_eq!(asked, Value::text("first line"));
    assert_eq!((m.questions.text().as_str(), m.printed.text().as_str()), ("name? ", ""));
    let read = m.read(HostOp::ReadWord, &[Value::Int(0)]);
    let rest = Value::pair(Value::Char(b'\n'), Value::Bool(false));
    assert_eq!(read, good(Value::pair(Value::text("second"), rest)));
    assert_eq!(m.call(HostOp::Prompt, &[Value::text("")], &[text()], &text()), Value::text(""));
}

#[test]
fn seed_environment_and_clock() {
    let mut m = Machine::new();
    assert_eq!(m.call(HostOp::Seed, &[Value::Int(42)], &[Ty::Int], &Ty::Bool), Value::Bool(true));
    assert_eq!(m.system.seed(), 42);
    let path = m.call(HostOp::GetEnv, &[Value::text("PATH")], &[text()], &text());
    assert!(!path.bytes().is_empty());
    for name in ["", "A=B", "A\0B", "NESL_THERE_IS_NO_SUCH_VARIABLE"] {
        let value = m.call(HostOp::GetEnv, &[Value::text(name)], &[text()], &text());
        assert_eq!(value, Value::text(""));
    }
    let start = m.system.clock();
    assert!(m.system.clock() >= start);
}

#[cfg(unix)]
#[test]
fn commands() {
    let mut m = Machine::new();
    let mut shell = |command: &str, input: Vec<u8>| {
        let args = [Value::text(command), Value::text(input)];
        m.call(HostOp::Shell, &args, &[text(), text()], &text())
    };
    assert_eq!(shell("tr a-z A-Z", b"shout".to_vec()), Value::text("SHOUT"));
    assert_eq!(shell("true", vec![b'x'; 1 << 20]), Value::text(""));
    assert_eq!(shell("cat", vec![0xFF; 1 << 20]), Value::text(vec![0xFF; 1 << 20]));
    assert_eq!(shell("exit 3", Vec::new()), Value::text(""));

    let result = pair(Ty::Int, pair(Ty::Int, pair(Ty::Int, Ty::Bool)));
    let command = Value::text("while read line; do echo \"<$line>\"; done; echo done >&2");
    let spawned = m.call(HostOp::Spawn, &[command], &[text()], &result);
    let (input, rest) = halves(&spawned);
    let (output, rest) = halves(&rest);
    let (errors, ok) = halves(&rest);
    assert_eq!(ok, Value::Bool(true));
    for word in ["one", "two"] {
        assert!(m.status(HostOp::WriteText, &[Value::text(format!("{word}\n")), input.clone()]).0);
        let line = m.read(HostOp::ReadLine, std::slice::from_ref(&output));
        let answer = Value::text(format!("<{word}>"));
        assert_eq!(line, good(Value::pair(answer, Value::Bool(false))));
    }
    assert!(m.status(HostOp::Close, &[input]).0);
    let line = m.read(HostOp::ReadLine, &[errors]);
    assert_eq!(line, good(Value::pair(Value::text("done"), Value::Bool(false))));
    let line = m.read(HostOp::ReadLine, &[output]);
    assert_eq!(line, good(Value::pair(Value::text(""), Value::Bool(true))));
}
