//! Tests the examples in the book and the README.
//!
//! In every page, each ```` ```nesl ```` block that is followed by an ```` ```output ```` block is
//! run, and its output, including messages, is compared. The blocks of a page form one session, as
//! if a reader typed them; later blocks do not see a block that has errors. In a ```` ```console
//! ```` block every line that begins with `$ nesl` is run in the root of the workspace, and
//! compared with the lines that follow it. A line `…` matches any number of lines. A picture that a
//! page draws and shows is stored next to the page. The list in `library.md` is generated from the
//! documentation of the library, and the table of stages in `program.md` from the passes. `BLESS=1` writes the actual output into the pages.

use nesl_engine::{Completion, Session, Settings, Stages};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_example_does_what_the_page_says() {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value != "0");
    let mut wrong = String::new();
    let mut examples = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a readable page");
        let mut checked = Page::default();
        if page.ends_with("library.md") {
            checked.out = library(&text);
            checked.examples = 1;
        } else {
            checked.run(&if page.ends_with("program.md") {
                with_stages(&text)
            } else {
                text.clone()
            });
        }
        examples += checked.examples;
        for (name, picture) in &checked.pictures {
            if !text.contains(&format!("]({name})")) {
                continue;
            }
            let path = page.with_file_name(name);
            if bless {
                std::fs::write(&path, picture).expect("written");
            } else if std::fs::read_to_string(&path).unwrap_or_default() != *picture {
                wrong += &format!("{}: not what is drawn\n", path.display());
            }
        }
        if checked.out == text {
            continue;
        }
        if bless {
            std::fs::write(&page, checked.out).expect("written");
        } else {
            let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
            wrong += &difference(&name, &text, &checked.out);
        }
    }
    assert!(examples > 0, "no examples were found");
    assert!(wrong.is_empty(), "{wrong}\n`cargo xtask bless` accepts what happens");
}

/// The notebooks are run by Jupyter's own tests (`cargo xtask jupyter`), which take minutes. A pass
/// that was added or described anew is the change that their recorded output misses most easily.
#[test]
fn the_notebook_that_lists_the_stages_lists_all() {
    let path = root().join("examples/notebooks/03-how-flattening-works.ipynb");
    let notebook = std::fs::read_to_string(path).expect("a readable notebook");
    for stage in Stages::default().iter() {
        let (name, about) = (stage.name(), stage.about());
        assert!(notebook.contains(about), "the stage `{name}` is missing: {about}");
    }
}

/// Replaces the text after the marker comment of the page by the list of all library functions.
fn library(text: &str) -> String {
    let head = text.split_inclusive("-->\n").next().unwrap_or_default();
    let mut session = Session::new(Settings::default());
    let mut page = head.to_string() + "\n| name | type | what it does |\n|---|---|---|\n";
    let mut names = session.complete("");
    names.retain(|known| !known.name.starts_with('_'));
    names.sort_by(|a, b| a.name.cmp(&b.name));
    names.dedup_by(|a, b| a.name == b.name);
    for Completion { name, ty } in names {
        let doc = session.doc(&name).unwrap_or_default();
        // The documentation consists of the signature, a blank line, and the text.
        let what = doc.split("\n\n").nth(1).unwrap_or_default();
        let what = what.split("\nExample:").next().unwrap_or_default();
        let what = what.split("\nCost:").next().unwrap_or_default().trim();
        let example = doc.split("\nExample:").nth(1).unwrap_or_default();
        let example = example.split("\nExample:").next().unwrap_or_default();
        let example = example.split("\nCost:").next().unwrap_or_default();
        let cell = |text: &str| text.replace('\n', " ").replace('|', "\\|");
        let example = code(&cell(&example.split_whitespace().collect::<Vec<_>>().join(" ")));
        let what = format!("{} {example}", cell(what));
        page += &format!("| `{}` | `{}` | {} |\n", cell(&name), cell(&ty), what.trim());
    }
    page
}

/// Returns a text as code in Markdown, or nothing of no text.
fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        _ if text.contains('`') => format!("`` {text} ``"),
        _ => format!("`{text}`"),
    }
}

/// Replaces the table after the marker comment of the page by the list of all stages of the compiler.
fn with_stages(text: &str) -> String {
    let marker = "<!-- The table of stages is generated by `cargo xtask bless`. -->\n";
    let (head, rest) = text.split_once(marker).expect("the marker of the table of stages");
    let mut page =
        head.to_string() + marker + "\n| stage | pass | what the pass does |\n|---|---|---|\n";
    for stage in Stages::default().iter() {
        page += &format!("| `{}` | `{}` | {} |\n", stage.name(), stage.pass().name, stage.about());
    }
    let after = rest.split_inclusive('\n').skip_while(|line| line.trim().is_empty());
    page + "\n"
        + &after
            .skip_while(|line| line.starts_with('|') || line.trim().is_empty())
            .collect::<String>()
}

/// A page that is rewritten with the actual output.
#[derive(Default)]
struct Page {
    /// The definitions of the blocks so far.
    session: String,
    out: String,
    examples: usize,
    /// The pictures drawn so far: their file names and their texts.
    pictures: BTreeMap<String, String>,
}

impl Page {
    fn run(&mut self, text: &str) {
        let blocks = Blocks { rest: text };
        // The `nesl` block whose output block has not been reached yet.
        let mut program: Option<&str> = None;
        for piece in blocks {
            let Piece::Block { language, body } = piece else {
                self.out += piece.text();
                continue;
            };
            let shown = match (language, program) {
                ("nesl", _) => {
                    program = Some(body);
                    body.to_string()
                }
                ("output", Some(source)) => {
                    program = None;
                    self.examples += 1;
                    elide(body, &self.enter(source))
                }
                ("console", _) => self.console(body),
                _ => body.to_string(),
            };
            self.out += &format!("```{language}\n{shown}```\n");
        }
    }

    /// Runs a block in the session of the blocks before it.
    fn enter(&mut self, source: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let before = folder.path().join("before.nesl");
        std::fs::write(&before, &self.session).expect("saved");
        let page = folder.path().join("page.nesl");
        std::fs::write(&page, source).expect("saved");
        let mark = "the page begins here";
        let marker = folder.path().join("mark.nesl");
        std::fs::write(&marker, format!("print_line(\"{mark}\");")).expect("saved");
        let script = format!(
            "{} run --pictures {} {} {} {} 2>&1",
            env!("CARGO_BIN_EXE_nesl"),
            folder.path().display(),
            before.display(),
            marker.display(),
            page.display()
        );
        let mut printed = shell(&script);
        // Rerunning the earlier blocks draws their pictures again.
        for name in self.pictures.keys() {
            printed = printed.replace(&format!("Drew {}/{name}.\n", folder.path().display()), "");
        }
        for entry in std::fs::read_dir(folder.path()).expect("the folder").flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "svg") {
                let picture = std::fs::read_to_string(entry.path()).expect("a text");
                self.pictures.insert(entry.file_name().to_string_lossy().into_owned(), picture);
            }
        }
        // The marker form prints one more line, its own result.
        let after = printed.split_once(mark).map_or("", |(_, after)| after);
        let after = after.splitn(3, '\n').nth(2).unwrap_or("");
        let path = format!("{}/", folder.path().display());
        let after = after.replace(&path, "");
        if !after.contains(" error: ") {
            self.session += source;
        }
        tidy(&after)
    }

    /// Runs the commands of a console block.
    fn console(&mut self, body: &str) -> String {
        let mut shown = String::new();
        let mut lines = body.lines().peekable();
        while let Some(line) = lines.next() {
            shown += line;
            shown.push('\n');
            let Some(command) = line.strip_prefix("$ ") else {
                continue;
            };
            let mut expected = String::new();
            while let Some(next) = lines.next_if(|next| !next.starts_with("$ ")) {
                expected += next;
                expected.push('\n');
            }
            if command.starts_with("nesl ") || command.contains("| nesl") {
                self.examples += 1;
                shown += &elide(&expected, &tidy(&shell(&format!("({command}) 2>&1"))));
            } else {
                shown += &expected;
            }
        }
        shown
    }
}

/// Runs a shell script with the tested `nesl` first on the `PATH`.
fn shell(script: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_nesl"));
    let folder = program.parent().expect("it is somewhere");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(root())
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Removes blank lines at the beginning and at the end.
fn tidy(text: &str) -> String {
    let text = text.trim_matches('\n');
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

/// Returns `expected` if its lines, where `…` stands for any number of lines, match `actual`, and
/// `actual` otherwise.
fn elide(expected: &str, actual: &str) -> String {
    if matches(&expected.lines().collect::<Vec<_>>(), &actual.lines().collect::<Vec<_>>()) {
        expected.to_string()
    } else {
        actual.to_string()
    }
}

fn matches(expected: &[&str], actual: &[&str]) -> bool {
    match (expected, actual) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=actual.len()).any(|skip| matches(rest, &actual[skip..])),
        ([first, rest @ ..], [same, others @ ..]) => first == same && matches(rest, others),
        _ => false,
    }
}

/// The text of a page, divided into code blocks and the text between them.
struct Blocks<'a> {
    rest: &'a str,
}

enum Piece<'a> {
    Text(&'a str),
    Block { language: &'a str, body: &'a str },
}

impl<'a> Piece<'a> {
    fn text(&self) -> &'a str {
        match self {
            Piece::Text(text) => text,
            Piece::Block { body, .. } => body,
        }
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        if let Some(after) = self.rest.strip_prefix("```") {
            let (language, after) = after.split_once('\n')?;
            let end = if after.starts_with("```\n") { 0 } else { after.find("\n```\n")? + 1 };
            self.rest = &after[end + 4..];
            return Some(Piece::Block { language, body: &after[..end] });
        }
        let end = self.rest.find("\n```").map_or(self.rest.len(), |at| at + 1);
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Piece::Text(text))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for entry in std::fs::read_dir(root().join("docs/book/src")).expect("the book").flatten() {
        if entry.path().extension().is_some_and(|ending| ending == "md") {
            pages.push(entry.path());
        }
    }
    pages.sort();
    pages
}

/// Describes the first line at which two texts differ.
fn difference(page: &str, want: &str, got: &str) -> String {
    let mut want = want.lines().enumerate();
    let mut got = got.lines();
    loop {
        match (want.next(), got.next()) {
            (Some((_, a)), Some(b)) if a == b => {}
            (Some((at, a)), b) => {
                let b = b.unwrap_or("(the end)");
                return format!("{page}:{}: the page says\n  {a}\nbut there is\n  {b}\n", at + 1);
            }
            (None, b) => return format!("{page}: more is printed: {}\n", b.unwrap_or("")),
        }
    }
}
