//! Tests named after the points that a newcomer's review of the program made and that no other test holds.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn nesl() -> Command {
    Command::new(env!("CARGO_BIN_EXE_nesl"))
}

/// Returns the value of an expression, and what is said about it.
fn eval(text: &str) -> (String, String) {
    let output = nesl().args(["eval", text]).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn n5_a_backslash_in_a_string_is_warned_about() {
    let (value, said) = eval(r#""a\n""#);
    assert_eq!(value, "it = \"an\" : [char]\n");
    assert!(said.contains("is the letter n") && said.contains("[newline]"), "{said}");
}

#[test]
fn n6_tables_have_rows_of_any_width_empty_fields_and_other_separators() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let path = path.to_str().expect("a path");
    std::fs::write(path, "1,2,3\n4,5,6\n").expect("written");
    let (value, said) = eval(&format!("read_csv([0], \"{path}\")"));
    assert!(value.starts_with("it = [[1, 2, 3], [4, 5, 6]]"), "{value}{said}");
    std::fs::write(path, "x;y;z\n1.5;;a\n2.5;3;b\n").expect("written");
    let columns = format!("read_csv_columns((1.0, 1.0), [\"x\", \"y\"], `;, \"{path}\")");
    let (value, said) = eval(&columns);
    assert!(value.contains("(1.5, nan)") && value.contains("(2.5, 3.0)"), "{value}{said}");
}

#[test]
fn n10_a_run_takes_the_threads_that_it_is_given() {
    for threads in ["1", "2", "3"] {
        let output = nesl()
            .args([
                "--threads",
                threads,
                "eval",
                "--profile",
                "sum({sqrt(float(i)) : i in [0:100000]})",
            ])
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("it = 2.1081"), "{output:?}");
    }
    let refused = nesl().args(["--threads", "0", "eval", "1"]).output().expect("it starts");
    assert!(!refused.status.success(), "{refused:?}");
}

#[test]
fn n11_the_notation_of_the_stages_is_explained() {
    let output = nesl().args(["ir", "--help"]).output().expect("it starts");
    let help = String::from_utf8_lossy(&output.stdout);
    for line in ["How to read the stages", "s1 = count v3 of s0", "collect v4 from s1"] {
        assert!(help.contains(line), "{help}");
    }
}

#[test]
fn n13_names_of_the_library_can_be_variables() {
    for name in ["index", "count", "mod", "hash"] {
        let (value, said) = eval(&format!("{name} = 3; {name} + 1"));
        assert!(
            value.ends_with("it = 4 : int\n") && said.contains("Name warning"),
            "{value}{said}"
        );
    }
    // A name that the language protects is refused once.
    for name in ["name", "next", "find", "rank", "min", "max", "string"] {
        let (_, said) = eval(&format!("{name} = 3; {name} + 1"));
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
    }
}

#[test]
fn n16_a_file_that_is_not_there_is_an_error_with_a_place() {
    let output =
        nesl().args(["eval", "#read_string_from_file(\"/nowhere\")"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(":1:2") && said.contains("/nowhere"), "{said}");
}

#[test]
fn n18_a_read_without_end_is_interrupted_at_once() {
    let mut child = nesl()
        .args(["eval", "#read_string_from_file(\"/dev/zero\")"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The peak of its memory tells that it reads: it starts with less.
    let reads = || peak_bytes(&child).is_some_and(|bytes| bytes > 200 << 20);
    let begun = Instant::now();
    while !reads() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it reads");
        std::thread::sleep(Duration::from_millis(5));
    }
    let asked = Instant::now();
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().expect("kill is there");
    let code = child.wait().expect("it ends").code();
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    let mut said = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("text");
    assert_eq!(said.matches("Interrupted.").count(), 1, "{said}");
    assert_eq!(code, Some(130), "{said}");
}

/// Returns the most memory that a process has had, while it runs.
fn peak_bytes(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

/// The file has no blocks on the disk.
#[test]
fn n19_a_program_has_a_size_from_which_it_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.nesl");
    let file = std::fs::File::create(&path).expect("created");
    file.set_len((64 << 20) + 1).expect("room for a sparse file");
    let output = nesl().arg("run").arg(&path).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("it is larger than 64 MiB"), "{message}");
    assert!(message.contains("`read_csv`"), "{message}");
}

#[test]
fn n20_a_program_that_is_ended_leaves_no_temporary_files() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let folder = tempfile::tempdir().expect("a folder");
        let program = "print_line(\"begun\"); big |= [0:100000]; sum(big);\n\
                       function turn(n) = turn(n + 1); turn(0);\n";
        std::fs::write(folder.path().join("p.nesl"), program).expect("written");
        let temporary = folder.path().join("temporary");
        std::fs::create_dir(&temporary).expect("created");
        let mut child = nesl()
            .args(["run", "p.nesl"])
            .current_dir(folder.path())
            .env("TMPDIR", &temporary)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        // The variables are there, and it goes on for ever.
        let mut lines = output.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with("it = 4999950000")), "{signal}");
        Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .expect("kill is there");
        child.wait().expect("it ends");
        let left: Vec<_> = std::fs::read_dir(&temporary).expect("a folder").flatten().collect();
        assert!(left.is_empty(), "{signal}: {left:?}");
    }
}

/// Asks a server where a function of the library is defined, in the name of a client that can only open files, and
/// returns the answer.
fn definition_in_library(temporary: &Path) -> String {
    let mut child = nesl()
        .arg("lsp")
        .env("TMPDIR", temporary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut tell = |method: &str, id: &str, params: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#);
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
    };
    let mut answer_to = |id: u32| loop {
        let body = message(&mut output);
        if body.contains(&format!("\"id\":{id}")) && !body.contains("\"method\"") {
            return body;
        }
    };
    let client = r#"{"processId":null,"rootUri":null,"capabilities":{}}"#;
    tell("initialize", r#""id":1,"#, client);
    answer_to(1);
    tell("initialized", "", "{}");
    let document = r#"{"uri":"file:///a.nesl","languageId":"nesl","version":1,"text":"any([t]);"}"#;
    tell("textDocument/didOpen", "", &format!(r#"{{"textDocument":{document}}}"#));
    let place = r#"{"textDocument":{"uri":"file:///a.nesl"},"position":{"line":0,"character":1}}"#;
    tell("textDocument/definition", r#""id":2,"#, place);
    let answer = answer_to(2);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    answer
}

/// Returns the next message of a server.
fn message(output: &mut impl BufRead) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).expect("text"), 0, "it answers");
        if let Some(bytes) = line.strip_prefix("Content-Length: ") {
            length = bytes.trim().parse().expect("a number");
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).expect("a message");
    String::from_utf8(body).expect("text")
}

#[test]
fn n21_each_user_has_a_folder_for_the_texts_of_the_library() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let temporary = tempfile::tempdir().expect("a folder");
    let answer = definition_in_library(temporary.path());
    let folders = || std::fs::read_dir(temporary.path()).expect("a folder").flatten();
    let is_library = |name: &str| name.starts_with("nesl-library-");
    let found = folders().find(|entry| entry.file_name().to_str().is_some_and(is_library));
    let folder = found.expect("it has a name of its own").path();
    let name = folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let metadata = folder.metadata().expect("a folder");
    assert!(name.ends_with(&format!("-{}", metadata.uid())), "{name}");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o700);
    assert!(answer.contains(&name), "{answer}");
    // What somebody else put there in its place is not followed.
    std::fs::remove_dir_all(&folder).expect("it is there");
    let elsewhere = tempfile::tempdir().expect("a folder");
    symlink(elsewhere.path(), &folder).expect("a link");
    let answer = definition_in_library(temporary.path());
    assert!(!answer.contains(&name), "{answer}");
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a folder").count(), 0);
}

#[test]
fn n22_the_memory_of_a_run_can_be_limited() {
    let output = nesl()
        .args(["--memory", "5M", "eval", "sum({float(i) : i in sort([0:10000000])})"])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Out of memory") && said.contains("the limit is 5."), "{said}");
}

#[test]
fn a_stack_that_the_computer_has_no_memory_for_is_refused() {
    let output = nesl().args(["--stack", "900T", "eval", "1"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no memory for a stack of 900T: at most "), "{said}");
}

#[test]
fn n23_a_sum_of_many_terms_takes_little_memory() {
    /// The number of terms.
    const TERMS: usize = 100_000;
    /// The memory that a term may take, in bytes, besides what a program without any takes.
    const TERM_BYTES: u64 = 2_000;
    /// The memory of a program that does nothing, in bytes.
    const IDLE_BYTES: u64 = 80 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.nesl");
    std::fs::write(&path, vec!["1"; TERMS].join("+") + ";").expect("written");
    let mut child = nesl().arg("run").arg(&path).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut peak = 0;
    while child.try_wait().expect("a process").is_none() {
        peak = peak_bytes(&child).unwrap_or(0).max(peak);
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut printed = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut printed).expect("text");
    assert_eq!(printed, format!("it = {TERMS} : int\n"));
    assert!(peak < IDLE_BYTES + TERMS as u64 * TERM_BYTES, "{peak} bytes");
}

#[test]
fn programs_in_other_encodings_are_read_or_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect::<Vec<u8>>()
    };
    for (name, text) in [
        ("little.nesl", utf16("1 + 2;\r\n", u16::to_le_bytes)),
        ("big.nesl", utf16("1 + 2;\r\n", u16::to_be_bytes)),
    ] {
        std::fs::write(folder.path().join(name), &text).expect("written");
        for command in ["run", "check", "fmt"] {
            let output = nesl()
                .args([command, name])
                .current_dir(folder.path())
                .output()
                .expect("it starts");
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            let expected = format!("nesl: cannot read {name}: it is UTF-16; save it as UTF-8\n");
            assert_eq!(said, expected);
        }
        assert_eq!(std::fs::read(folder.path().join(name)).expect("it is there"), text);
    }
    // The mark at the beginning of a file in UTF-8 is a blank.
    std::fs::write(folder.path().join("mark.nesl"), "\u{feff}1 + 2;\r\nx;\r\n").expect("written");
    let output = nesl().args(["run", "mark.nesl"]).current_dir(folder.path()).output();
    let output = output.expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "it = 3 : int\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("mark.nesl:2:1"), "{output:?}");
}

/// The limit of a file's size stands for a full disk: a write fails in the middle of a file.
#[test]
fn a_write_beyond_the_limit_is_an_error_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let temporary = tempfile::tempdir().expect("a folder");
    for (call, name) in [
        ("write_csv({(i, i) : i in [0:100000]}, \"\", \"a.csv\")", "a.csv"),
        ("write_npy([0:100000], \"a.npy\")", "a.npy"),
        ("write_string_to_file({`a : i in [0:100000]}, \"a.txt\")", "a.txt"),
        ("write_object_to_file([0:100000], \"a.object\")", "a.object"),
    ] {
        let path = folder.path().join("p.nesl");
        std::fs::write(&path, format!("{call};\n")).expect("written");
        for old in [None, Some("as it was")] {
            let target = folder.path().join(name);
            if let Some(old) = old {
                std::fs::write(&target, old).expect("written");
            }
            // The unit of the limit is 512 or 1,024 bytes, as the shell has it.
            let output = Command::new("sh")
                .args(["-c", "ulimit -f 16; exec \"$0\" run p.nesl", env!("CARGO_BIN_EXE_nesl")])
                .current_dir(folder.path())
                .env("TMPDIR", temporary.path())
                .output()
                .expect("there is a shell");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{call}: {said}");
            let expected = format!("cannot write `{name}`: File too large");
            assert!(said.contains(&expected) && said.contains("p.nesl:1:1"), "{call}: {said}");
            assert_eq!(std::fs::read_to_string(&target).ok().as_deref(), old, "{call}");
            let mut left: Vec<_> = [folder.path(), temporary.path()]
                .iter()
                .flat_map(|folder| std::fs::read_dir(folder).expect("a folder").flatten())
                .map(|entry| entry.file_name().into_string().expect("a name"))
                .filter(|other| other != "p.nesl" && (old.is_none() || other != name))
                .collect();
            left.sort();
            assert!(left.is_empty(), "{call}: {left:?}");
            if old.is_some() {
                std::fs::remove_file(&target).expect("it is there");
            }
        }
    }
}

/// An afternoon's task with data, on a few rows: a table with dates, categories and missing values is read,
/// filtered, grouped, joined with another, and written.
#[test]
fn a_table_is_read_grouped_joined_and_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    write(
        "sales.csv",
        "date,region,product,units,price\n2021-03-13,centre,P1,42,36.5\n2021-03-14,north,P2,2,\n\
         2019-02-14,,P1,7,5.25\n2019-02-20,north,P1,3,1.5\n2019-02-21,north,P9,1,0.125\n",
    );
    write("products.csv", "product,name\nP1,\"Item, one\"\nP2,Item two\n");
    write(
        "p.nesl",
        "sales = read_csv((\"\", \"\", \"\", 0, 0.0), \"sales.csv\");\n\
         good = {(d, r, p, n, x) in sales | x == x and #r > 0};\n\
         (#sales, #good);\n\
         months = collect({(take(d, 7), float(n) * x) : (d, r, p, n, x) in good});\n\
         {(month, sum(v)) : (month, v) in permute(months, string_rank({m : (m, v) in months}))};\n\
         names = create_table(read_csv((\"\", \"\"), \"products.csv\"));\n\
         found = search_table({p : (d, r, p, n, x) in good}, names);\n\
         joined = {(name, n) : (d, r, p, n, x) in good; (name, known) in found | known};\n\
         write_csv(joined, \"name,units\", \"joined.csv\");\n\
         write_csv(sales, \"\", \"sales2.csv\");\n\
         eql(@read_csv((\"\", \"\", \"\", 0, 0.0), \"sales2.csv\"), @sales);\n",
    );
    let output =
        nesl().args(["run", "p.nesl"]).current_dir(folder.path()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let its: Vec<&str> = said.lines().filter(|line| line.starts_with("it = ")).collect();
    assert_eq!(
        its,
        [
            "it = (5, 3) : int, int",
            "it = [(\"2019-02\", 4.625), (\"2021-03\", 1533.0)] : [([char], float)]",
            "it = T : bool",
            "it = T : bool",
            "it = T : bool",
        ],
        "{output:?}"
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("read");
    assert_eq!(read("joined.csv"), "name,units\n\"Item, one\",42\n\"Item, one\",3\n");
    assert_eq!(
        read("sales2.csv").lines().nth(1),
        Some("2021-03-14,north,P2,2,nan"),
        "a missing number is written as NaN"
    );
}

/// The nearest command is the one with the fewest keystrokes between, not the one with most letters in common.
#[test]
fn mistyped_commands_suggest_the_nearest() {
    let said = |arguments: &[&str]| {
        let output = nesl().args(arguments).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (arguments, near) in [
        (&["rn", "a.nesl"][..], "'run'"),
        (&["rnu"], "'run'"),
        (&["evl", "1"], "'eval'"),
        (&["chekc"], "'check'"),
        (&["kernl"], "'kernel'"),
        (&["kernel", "instal"], "'install'"),
        (&["--threads", "1", "eavl"], "'eval'"),
    ] {
        let message = said(arguments);
        let tip = format!("tip: a similar subcommand exists: {near}\n");
        assert!(message.contains(&tip), "{arguments:?}: {message}");
    }
    let message = said(&["frobnicate"]);
    assert!(message.contains("unrecognized subcommand") && !message.contains("tip:"), "{message}");
}
