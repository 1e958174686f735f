//! Top-level commands: `load`, `describe`, `set`, `show` and the like.

use super::{Event, Session, Sink, Summary, is_error, place};
use crate::sources::read_program;
use nesl_core::base::{Diagnostic, DiagnosticKind, with_stack};
use nesl_core::db::{Before, FileId, Form};
use nesl_core::syntax::RawKind;
use nesl_core::syntax::ast::{Command, CommandArg, ItemKind};
use nesl_core::types::Ty;
use nesl_runtime::bug::OrBug;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of files that may be loading inside each other.
const MAX_LOADS: usize = 64;

/// A file that is being loaded, or run.
pub(super) struct Loading {
    /// The path that is equal for all names of the file.
    path: PathBuf,
    /// The path that messages show.
    shown: String,
}

impl Session {
    /// Reads the texts that `load` forms name, so that the forms after them see what they define.
    pub(super) fn find_loads(&mut self, file: FileId) {
        let forms = self.db.outline(file).forms.clone();
        for (position, form) in forms.iter().enumerate() {
            if form.kind != RawKind::Command {
                continue;
            }
            let ast = self.db.ast(form.id()).clone();
            let ItemKind::Command(command) = &ast.kind else { continue };
            if command.verb.name.folded() != "load" {
                continue;
            }
            let name = loaded_name(command);
            if let Some(Ok((path, text))) =
                name.map(|name| read(&name, &self.folder(file), &self.interrupt))
            {
                let at = Before { file, position: position as u32 };
                self.attach(at, form, &path, &text);
            }
        }
    }

    /// Inserts the text that a `load` form names behind it, unless it is being loaded already.
    fn attach(&mut self, at: Before, form: &Form, path: &Path, text: &str) -> Option<FileId> {
        if self.circle(path).is_some() {
            return None;
        }
        let name = path.to_string_lossy();
        let loaded = self.db.add_file(&name, text, Some(at));
        self.sources.set(loaded, &name, text);
        self.while_loading(path, |session| session.find_loads(loaded));
        self.db.set_loaded(form.id(), Some(loaded));
        Some(loaded)
    }

    /// Returns the folder of a file, from which the files that it loads are looked for; the current one
    /// for a text that is no file.
    fn folder(&self, file: FileId) -> PathBuf {
        let name = self.db.file_name(file);
        Path::new(&*name).parent().map(Path::to_owned).unwrap_or_default()
    }

    /// Does something while a file is being loaded, or run, so that what it loads cannot load it.
    pub(super) fn while_loading<T>(
        &mut self,
        path: &Path,
        work: impl FnOnce(&mut Session) -> T,
    ) -> T {
        self.loading.push(Loading { path: same(path), shown: path.display().to_string() });
        let done = work(self);
        self.loading.pop();
        done
    }

    /// Says why a file cannot be loaded now: it is being loaded already, or too many are.
    fn circle(&self, path: &Path) -> Option<String> {
        let own = same(path);
        if let Some(at) = self.loading.iter().position(|loading| loading.path == own) {
            let way: String = self.loading[at + 1..]
                .iter()
                .map(|loading| format!("loads `{}`, which ", loading.shown))
                .collect();
            let path = path.display();
            return Some(if way.is_empty() {
                format!("`{path}` is being loaded already: a file cannot load itself")
            } else {
                format!("`{path}` is being loaded already: it {way}loads it")
            });
        }
        (self.loading.len() >= MAX_LOADS).then(|| {
            format!(
                "`{}` is not loaded: no more than {MAX_LOADS} files can load one another",
                path.display()
            )
        })
    }

    /// Returns what is wrong with the name in a `load` form, before it runs: an error where the file
    /// loads itself through others, a warning where it is not there, for a form before may write it.
    pub(super) fn load_problem(
        &self,
        file: FileId,
        form: &Form,
    ) -> Option<Diagnostic<super::FileRange>> {
        if form.kind != RawKind::Command || self.db.loaded(form.id()).is_some() {
            return None;
        }
        let ItemKind::Command(command) = &self.db.ast(form.id()).kind else { return None };
        if command.verb.name.folded() != "load" {
            return None;
        }
        let at = place(self.db.whole(form.id()));
        match read(&loaded_name(command)?, &self.folder(file), &self.interrupt) {
            Ok((path, _)) => {
                let message = self.circle(&path)?;
                Some(Diagnostic::error(DiagnosticKind::Runtime, at, message))
            }
            Err(message) => Some(Diagnostic::warning(DiagnosticKind::Runtime, at, message)),
        }
    }

    pub(super) fn command(
        &mut self,
        form: &Form,
        command: &Command,
        quiet: bool,
        sink: Sink<'_>,
        summary: &mut Summary,
    ) {
        let say = |sink: Sink<'_>, text: String| {
            if !quiet {
                sink(Event::Text(text));
            }
        };
        match command.verb.name.folded() {
            "load" => self.load(form, command, sink, summary),
            "exit" => summary.exit = true,
            "help" => say(sink, HELP.to_owned()),
            "describe" | "show" | "apropos" => match self.tell(command) {
                Ok(text) => say(sink, text),
                Err(message) => self.refuse(form, &message, sink, summary),
            },
            "defconfig" => {
                let message = "`defconfig` describes a machine of NESL 3.1; it has no effect here";
                let at = place(self.db.whole(form.id()));
                sink(Event::Diagnostic(Diagnostic::warning(DiagnosticKind::Name, at, message)));
            }
            "set" if let Some(message) = no_effect(command) => {
                let at = place(self.db.whole(form.id()));
                sink(Event::Diagnostic(Diagnostic::warning(DiagnosticKind::Name, at, message)));
            }
            "set" => match self.set(command) {
                Ok(text) => say(sink, text),
                Err(message) => self.refuse(form, &message, sink, summary),
            },
            other => {
                let (message, instead) = not_here(other);
                let at = place(self.db.whole(form.id()));
                summary.errors += 1;
                let report = Diagnostic::error(DiagnosticKind::Name, at, message).hint(instead);
                sink(Event::Diagnostic(report));
            }
        }
    }

    fn refuse(&mut self, form: &Form, message: &str, sink: Sink<'_>, summary: &mut Summary) {
        let at = place(self.db.whole(form.id()));
        summary.errors += 1;
        sink(Event::Diagnostic(
            Diagnostic::error(DiagnosticKind::Name, at, message).hint("`help;` lists the commands"),
        ));
    }

    fn load(&mut self, form: &Form, command: &Command, sink: Sink<'_>, summary: &mut Summary) {
        let (path, loaded) = match self.find_loaded(form, command) {
            Ok(found) => found,
            Err(message) => {
                let at = place(self.db.whole(form.id()));
                summary.errors += 1;
                let report = Diagnostic::error(DiagnosticKind::Runtime, at, message);
                // Names that are undefined further down were to come from there.
                self.fail(form.id());
                self.check_again();
                let report = match self.left_out() {
                    0 => report,
                    1 => report.note("one form below is left out: it uses what is not defined"),
                    n => report.note(format!(
                        "{n} forms below are left out: they use what is not defined"
                    )),
                };
                sink(Event::Diagnostic(report));
                return;
            }
        };
        let print = command.args.iter().any(|arg| match arg {
            CommandArg::Option(name, value) => {
                name.name.folded() == "print"
                    && self.db.ast(form.id()).exprs[*value]
                        == nesl_core::syntax::ast::Expr::Bool(true)
            }
            CommandArg::Word(_)
            | CommandArg::Text(..)
            | CommandArg::Int(..)
            | CommandArg::Code(..) => false,
        });
        self.while_loading(&path, |session| {
            with_stack(|| session.run_loaded(loaded, !print, sink, summary));
        });
    }

    /// Returns the number of forms after the running one whose only errors follow from its failure.
    fn left_out(&self) -> usize {
        let at = self.last.or_bug("a form that runs has a place");
        let outline = self.db.outline(at.file).clone();
        let follows = |form: &&Form| {
            let diagnostics = match self.broken.get(&form.id()) {
                Some(known) => known.clone(),
                None => self.db.diagnostics(form.id()),
            };
            let mut errors = diagnostics.iter().filter(|d| is_error(d)).peekable();
            errors.peek().is_some() && errors.all(|error| error.follows)
        };
        outline.forms.iter().skip(at.position as usize + 1).filter(follows).count()
    }

    /// Returns the file that a `load` form names when it runs. Its text may have changed since the
    /// file with the form was read: forms before this one can have written it.
    fn find_loaded(&mut self, form: &Form, command: &Command) -> Result<(PathBuf, FileId), String> {
        let name = match command.args.first() {
            Some(CommandArg::Code(text, _)) => self.computed_name(text)?,
            _ => loaded_name(command)
                .ok_or_else(|| "`load` needs the name of a file: `load \"name\";`".to_owned())?,
        };
        let at = self.last.or_bug("a form that runs has a place");
        let (path, text) = read(&name, &self.folder(at.file), &self.interrupt)?;
        if let Some(message) = self.circle(&path) {
            return Err(message);
        }
        let known = self.db.loaded(form.id()).filter(|file| *self.db.file_text(*file) == *text);
        if let Some(file) = known {
            return Ok((path, file));
        }
        let file =
            self.attach(at, form, &path, &text).or_bug("a file that is loading was refused before");
        self.check_again();
        Ok((path, file))
    }

    /// Returns the value of the operand of `load`, an expression for the name of a file.
    fn computed_name(&mut self, text: &str) -> Result<String, String> {
        let file = self.look_at("load", &format!("{text};"));
        let outline = self.db.outline(file);
        let form = outline.forms.first().or_bug("an operand is a form");
        let item = form.id();
        let wrong = |message: &str| format!("the operand of `load` has no value: {message}");
        if let Some(error) = self.db.diagnostics(item).iter().find(|d| is_error(d)) {
            return Err(wrong(&error.message));
        }
        let computed = self.compute(item, None);
        let (elaborated, computed) = computed.map_err(|all| {
            wrong(all.first().map_or("it failed", |diagnostic| &diagnostic.message))
        })?;
        let text = match computed.resident().map(|resident| resident.value(self.runtime())) {
            Some(Ok(value)) if is_text(&elaborated.ty) => value.bytes().to_vec(),
            Some(Err(failure)) => return Err(wrong(&crate::resident::words(&failure))),
            _ => return Err("the operand of `load` is the name of a file, a string".to_owned()),
        };
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn run_loaded(&mut self, file: FileId, quiet: bool, sink: Sink<'_>, summary: &mut Summary) {
        let mut inner = Summary::default();
        self.run_file(file, quiet, sink, &mut inner);
        summary.errors += inner.errors;
        summary.ok += inner.ok;
        summary.interrupted |= inner.interrupted;
    }

    fn tell(&mut self, command: &Command) -> Result<String, String> {
        let words: Vec<String> = command.args.iter().map(word).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match (command.verb.name.folded(), &words[..]) {
            ("describe", [name]) => self.doc(name).ok_or_else(|| format!("`{name}` is not known")),
            ("apropos", [word]) => {
                let found: Vec<String> = self
                    .known()
                    .into_iter()
                    .filter(|name| name.contains(&word.to_lowercase()))
                    .collect();
                Ok(if found.is_empty() { "nothing".to_owned() } else { found.join("  ") })
            }
            ("show", ["code", name]) => {
                self.code(name).ok_or_else(|| format!("`{name}` is not a defined function"))
            }
            ("show", ["status"]) => Ok(self.status()),
            ("show", ["config" | "configs"]) => {
                Ok("there is one configuration: this machine; see `nesl devices`".to_owned())
            }
            ("show", ["bugs"]) => Ok("none known; please report what you find".to_owned()),
            (verb, _) => Err(format!("`{verb}` wants another operand")),
        }
    }

    fn status(&self) -> String {
        let length = match self.settings.print_length {
            Some(n) => n.to_string(),
            None => "all".to_owned(),
        };
        format!(
            "precision {}\nseed {}\nprint_length {length}\narg_check on{}",
            match self.settings.precision {
                super::Precision::Bits32 => 32,
                super::Precision::Bits64 => 64,
            },
            self.settings.seed,
            self.watch_status(),
        )
    }

    fn set(&mut self, command: &Command) -> Result<String, String> {
        let words: Vec<String> = command.args.iter().map(word).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match &words[..] {
            ["print_length", "all"] => self.settings.print_length = None,
            ["print_length", n] => {
                let wrong = |_| "`print_length` wants a number, or `all`".to_owned();
                self.settings.print_length = Some(n.parse().map_err(wrong)?);
            }
            ["precision", "32"] => self.settings.precision = super::Precision::Bits32,
            ["precision", "64"] => self.settings.precision = super::Precision::Bits64,
            // Checks are never dropped here, and there is nothing else to be verbose about.
            ["arg_check" | "verbose", "on" | "off"] => {}
            ["trace", rest @ ..] => self.set_trace(rest)?,
            ["profile", rest @ ..] => self.set_profile(rest)?,
            _ => {
                let setting = words.first().copied().unwrap_or("");
                return Err(match setting {
                    "print_length" | "precision" | "arg_check" | "verbose" | "trace"
                    | "profile" => format!("`set {setting}` wants another value"),
                    _ => format!("`set` has no setting `{setting}`"),
                });
            }
        }
        Ok(format!("set {}", words.join(" ")))
    }
}

/// Returns the note about a setting of NESL 3.1 that has no meaning here.
fn no_effect(command: &Command) -> Option<String> {
    const SETTINGS: [&str; 12] = [
        "config",
        "machine",
        "memory_size",
        "editor",
        "username",
        "user",
        "host",
        "rsh_command",
        "temp_dir",
        "tempdir",
        "interp_file",
        "print_line_length",
    ];
    let setting = word(command.args.first()?);
    SETTINGS.contains(&setting.as_str()).then(|| {
        format!("`set {setting}` belongs to the environment of NESL 3.1; it has no effect here")
    })
}

/// Returns why a command of NESL 3.1 is refused, and what to do instead.
fn not_here(verb: &str) -> (String, &'static str) {
    let (why, instead) = match verb {
        "dump" => (
            "writes code for the interpreter of NESL 3.1",
            "`nesl ir --stage STAGE FILE` shows a program at the stages of this compiler",
        ),
        "edit" => (
            "starts the editor of NESL 3.1's environment",
            "open the file in an editor, and `load` it again",
        ),
        "get" => {
            ("fetches what `&=` computed on another machine", "write `x = …`, which computes here")
        }
        "shell" => (
            "starts the shell of NESL 3.1's environment",
            "`shell_command(command, input)` runs a command of the system",
        ),
        _ => ("belongs to the environment of NESL 3.1", "`help;` lists the commands"),
    };
    (format!("`{verb}` {why}"), instead)
}

/// Returns true for the type of strings.
fn is_text(ty: &Ty) -> bool {
    matches!(ty, Ty::Sequence(element) if **element == Ty::Char)
}

fn word(arg: &CommandArg) -> String {
    match arg {
        CommandArg::Word(ident) => ident.name.folded().to_owned(),
        CommandArg::Text(text, _) => text.clone(),
        CommandArg::Int(n, _) => n.to_string(),
        CommandArg::Option(ident, _) => ident.name.folded().to_owned(),
        CommandArg::Code(text, _) => text.clone(),
    }
}

fn loaded_name(command: &Command) -> Option<String> {
    command.args.iter().find_map(|arg| match arg {
        CommandArg::Text(text, _) => Some(text.clone()),
        CommandArg::Word(_)
        | CommandArg::Int(..)
        | CommandArg::Option(..)
        | CommandArg::Code(..) => None,
    })
}

/// Returns a path that is equal for two names of the same file.
fn same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Reads the file of `load "name"`: the name with `.nesl` added, or else as it is, in the folder of the
/// file that loads it, or else in the current one. Fails with where it was looked for.
fn read(name: &str, folder: &Path, interrupt: &AtomicBool) -> Result<(PathBuf, String), String> {
    let mut names = vec![name.to_owned()];
    if !name.ends_with(".nesl") {
        names.insert(0, format!("{name}.nesl"));
    }
    let mut candidates = Vec::new();
    for folder in [folder, Path::new("")] {
        for name in &names {
            let candidate = folder.join(name);
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    let found = candidates.iter().find(|path| path.is_file());
    if let Some(path) = found {
        let bytes = read_program(path, &|| interrupt.load(Ordering::Relaxed))
            .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        return Ok((path.clone(), crate::host::text::decode(bytes)));
    }
    // A pipe is empty once it was read, and what is loaded is read before it runs, too.
    if let Some(path) = candidates.iter().find(|path| path.exists() && !path.is_dir()) {
        return Err(format!("`{}` is no regular file, which `load` needs", path.display()));
    }
    let places: Vec<String> =
        candidates.iter().map(|path| format!("`{}`", path.display())).collect();
    Err(format!("there is no file `{name}`: looked for {}", places.join(", ")))
}

const HELP: &str = "\
A form ends with `;`: an expression, `x = exp`, `function name(args) = exp`, `datatype name(types)`.
load \"file\";         run a file, quietly (`load \"file\", print := t;` shows results)
describe name;       what a function does
apropos word;        names that contain a word
show code name;      the text of a function
show status;         the settings
set print_length n;  how much of a sequence is shown, or `all`
set precision 32;    32- or 64-bit numbers
set trace name n;    show its calls: 1 that they happen, 2 with arguments and results,
                     3 and bindings, 4 and those inside apply-to-each; 0 not at all
set profile name on; how long its bindings take
exit;";
