//! Tests named after the points that a newcomer's review of the program made and that no other test holds.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

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
