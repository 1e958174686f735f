//! Diagnostics → text for people.
//!
//! The layout is ariadne's; what it says is all in the [`Diagnostic`]. Places reach ariadne in
//! characters of the *visible* text (see [`crate::text`]), so nothing in a program's text can
//! confuse a terminal or ariadne. Programs written by programs may have lines of megabytes:
//! those get an excerpt instead.

mod excerpt;

use crate::text::{Lines, fitted, shown_chars, visible, wrapped};
use ariadne::{Color, Config, IndexType, Label, LabelAttach, Report, ReportKind, Source};
use nesl_core::base::{Diagnostic, DiagnosticKind, Severity};
use nesl_engine::{FileId, FileRange};
use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::ops::Range;
use std::sync::Arc;

/// The length in bytes up to which a line is shown whole.
const MAX_WHOLE_LINE_BYTES: usize = 400;

/// The characters before the text of a note: the numbers of lines, a bar, and its title.
const MARGIN_CHARS: usize = 14;
/// The characters of a line of a note that are there on the narrowest screen.
const MIN_NOTE_CHARS: usize = 10;
/// The corner of the arrow that points at a place.
const ARROW_CORNER: &str = "╰";
/// The end of that arrow; a blank and what it says follow.
const ARROW_TIP: &str = "─";
/// The end of all colours.
const PLAIN: &str = "\x1b[0m";
/// The bar between the numbers of lines and the lines.
const MARGIN_BAR: &str = "│";

/// The source of the texts of files.
pub trait Sources {
    /// The name and text of a file.
    fn source(&self, file: FileId) -> (Arc<str>, Arc<str>);
}

impl Sources for nesl_engine::Sources {
    fn source(&self, file: FileId) -> (Arc<str>, Arc<str>) {
        self.get(file)
    }
}

/// Renders diagnostics, remembering the texts it has met.
pub struct Renderer {
    colors: bool,
    /// The characters of a line of the screen; none where lines may be as long as they like.
    width: Option<usize>,
    files: HashMap<FileId, File>,
    first_lines: HashMap<FileId, usize>,
    /// The name and the text of the entry that runs.
    entry: (String, String),
}

/// A text prepared for showing.
pub struct File {
    name: String,
    lines: Lines,
    shown: Source<String>,
    first_line: usize,
}

impl Renderer {
    /// A renderer, with or without colours.
    pub fn new(colors: bool) -> Renderer {
        Renderer {
            colors,
            width: None,
            files: HashMap::new(),
            first_lines: HashMap::new(),
            entry: (String::new(), String::new()),
        }
    }

    /// Notes the name and the text of the entry that runs. Forms that are the operand of a command have blanks in its
    /// place: messages about them show the command.
    pub fn entry(&mut self, name: &str, text: &str) {
        self.entry = (name.to_owned(), text.to_owned());
    }

    /// Returns a text of the entry as it was typed, with the command before its forms; every character stays where
    /// it is.
    fn typed(&self, name: &str, text: &str) -> Option<String> {
        let (entry, whole) = &self.entry;
        let forms = text.trim_start_matches([' ', '\n']);
        let blanks = &text[..text.len() - forms.len()];
        let own = forms.trim_end().trim_end_matches(';').trim_end();
        if entry != name || blanks.is_empty() || own.is_empty() {
            return None;
        }
        let before = &whole[..whole.rfind(own)?];
        let line = |text: &str| text.rfind('\n').map_or(0, |end| end + 1);
        let (typed, blank) = (&before[line(before)..], &blanks[line(blanks)..]);
        let fits = typed.chars().count() == blank.chars().count() && !typed.trim().is_empty();
        fits.then(|| format!("{}{typed}{forms}", &blanks[..line(blanks)]))
    }

    /// Makes notes and suggestions fit into lines of a number of characters from now on.
    pub fn fit(&mut self, width: usize) {
        self.width = Some(width);
    }

    /// Returns a note or a suggestion in as many lines as it needs.
    fn fitted(&self, text: &str) -> String {
        let text = visible(text);
        let Some(width) = self.width else { return text };
        let width = width.saturating_sub(MARGIN_CHARS).max(MIN_NOTE_CHARS);
        fitted(&text, width)
    }

    /// Returns the lines of a report with what its arrows say in as many lines as that needs.
    fn with_fitting_labels(&self, report: &str) -> String {
        let Some(width) = self.width else { return report.to_owned() };
        let mut out = String::with_capacity(report.len());
        for line in report.lines() {
            out += &label_lines(line, width.saturating_sub(1)).unwrap_or_else(|| line.to_owned());
            out.push('\n');
        }
        out
    }

    /// Returns the title of a message in as many lines as it needs.
    fn title(&self, title: String) -> String {
        match self.width {
            Some(width) => fitted(&title, width.saturating_sub(1)),
            None => title,
        }
    }

    /// Says that a file's text stands below `line` other lines in what people think of as the
    /// file: forms that came one by one through a pipe are numbered as one text. What was said
    /// first holds.
    pub fn starts_at(&mut self, file: FileId, line: usize) {
        self.first_lines.entry(file).or_insert(line);
    }

    /// As [`Renderer::starts_at`], of a file that is used for one text after the other, which are only looked at.
    pub fn looks_at(&mut self, file: FileId, line: usize) {
        self.first_lines.insert(file, line);
        // The same text may have stood in another entry, behind another command.
        self.files.remove(&file);
    }

    /// The message, ending in an empty line.
    pub fn render(&mut self, sources: &dyn Sources, diagnostic: &Diagnostic<FileRange>) -> String {
        let places = std::iter::once(&diagnostic.primary).chain(&diagnostic.labels);
        for label in places.clone() {
            self.prepare(sources, label.at.file);
        }
        let long = places
            .map(|label| self.file(label.at.file).lines.line_text(label.at.range.start).0.len())
            .any(|length| length > MAX_WHOLE_LINE_BYTES);
        let mut text = if long {
            excerpt::render(&|file| self.file(file), diagnostic)
        } else {
            self.report(diagnostic)
        };
        // Ariadne leaves blanks at the ends of lines.
        text = text.lines().map(|line| line.trim_end().to_string() + "\n").collect();
        text.truncate(text.trim_end().len());
        merged(&text) + "\n\n"
    }

    fn report(&self, diagnostic: &Diagnostic<FileRange>) -> String {
        let (color, paint) = match diagnostic.severity {
            Severity::Error => (Color::Red, "\x1b[1;31m"),
            Severity::Warning => (Color::Yellow, "\x1b[1;33m"),
        };
        let config = Config::new()
            .with_color(self.colors)
            .with_index_type(IndexType::Char)
            .with_label_attach(LabelAttach::Start);
        let primary = self.span(&diagnostic.primary.at);
        let home = primary.0;
        let mut labels = Vec::new();
        // Ariadne points at nothing where it has nothing to say. That is well where the parts of
        // the place are pointed at instead.
        let line = |at: &FileRange| self.file(at.file).lines.position(at.range.start).line;
        let parts = diagnostic.labels.iter().filter(|other| {
            other.at.file == home && line(&other.at) == line(&diagnostic.primary.at)
        });
        match diagnostic.primary.text.as_str() {
            "" if parts.count() >= 2 => {}
            "" => labels.push(label(primary.clone(), "here", color)),
            text => labels.push(label(primary.clone(), text, color)),
        }
        let others = [Color::Blue, Color::Magenta, Color::Cyan, Color::Green];
        for (other, color) in diagnostic.labels.iter().zip(others.into_iter().cycle()) {
            labels.push(label(self.span(&other.at), &other.text, color));
        }
        // Ariadne begins a new box wherever the order of the labels is not that of the text.
        labels.sort_by_key(|(_, (file, range))| (*file != home, *file, range.end));
        let mut report = Report::build(ReportKind::Error, primary)
            .with_config(config)
            .with_labels(labels.into_iter().map(|(label, _)| label));
        for note in &diagnostic.notes {
            report = report.with_note(self.fitted(note));
        }
        for hint in &diagnostic.hints {
            report = report.with_help(self.fitted(&hint.text));
        }
        let mut text = Vec::new();
        if report.finish().write(Shown(&self.files), &mut text).is_err() {
            return excerpt::render(&|file| self.file(file), diagnostic);
        }
        let text = String::from_utf8_lossy(&text);
        // Ariadne colours headings of its own making only, asked or not: we write ours.
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
        let rest = self.with_fitting_labels(&in_theme_colors(rest));
        let (paint, end) = if self.colors { (paint, "\x1b[0m") } else { ("", "") };
        let heading = heading(diagnostic);
        let title = format!("{paint}{heading}:{end} {}", visible(&diagnostic.message));
        format!("{}\n{rest}", self.title(title))
    }

    /// A place in characters; an empty one is widened to the character it stands at, so that
    /// there is something to point at.
    fn span(&self, at: &FileRange) -> Span {
        let File { lines, first_line, .. } = self.file(at.file);
        let start = first_line + lines.char_of(at.range.start);
        let end = first_line + lines.char_of(at.range.end.max(at.range.start));
        (at.file, start..end.max(start + 1))
    }

    fn file(&self, file: FileId) -> &File {
        &self.files[&file]
    }

    fn prepare(&mut self, sources: &dyn Sources, file: FileId) {
        let (name, text) = sources.source(file);
        // A session may use one file for several texts that are only looked at.
        if self.files.get(&file).is_some_and(|known| known.lines.is_of(&text)) {
            return;
        }
        let first_line = self.first_lines.get(&file).copied().unwrap_or(0);
        // Lines above, to be counted; a blank below, so that a place at the very end is one.
        let typed = self.typed(&name, &text);
        let shown = visible(typed.as_deref().unwrap_or(&text));
        let shown = "\n".repeat(first_line) + &shown + " ";
        let prepared = File {
            name: visible(&name),
            lines: Lines::new(text),
            shown: Source::from(shown),
            first_line,
        };
        self.files.insert(file, prepared);
    }
}

/// Returns the line of an arrow as lines of at most `width` characters, if it is one that is longer: further ones begin
/// with the bar at the margin, and go on below what the first one says.
fn label_lines(line: &str, width: usize) -> Option<String> {
    let arrow = line.find(ARROW_CORNER).filter(|_| shown_chars(line) > width)?;
    let plain_at = |at: usize| {
        let behind = &line[at..];
        at + behind.strip_prefix(PLAIN).map_or(0, |rest| behind.len() - rest.len())
    };
    let tip = plain_at(line.rfind(ARROW_TIP).filter(|tip| *tip > arrow)? + ARROW_TIP.len());
    let said = line[tip..].starts_with(' ').then_some(tip + 1)?;
    let bar = plain_at(line[..arrow].find(MARGIN_BAR)? + MARGIN_BAR.len());
    let indent = shown_chars(&line[..said]);
    let room = width.checked_sub(indent).filter(|room| *room >= MIN_NOTE_CHARS)?;
    let blanks = " ".repeat(indent - shown_chars(&line[..bar]));
    let below = format!("\n{}{blanks}", &line[..bar]);
    Some(format!("{}{}", &line[..said], wrapped(&line[said..], room).replace('\n', &below)))
}

impl File {
    /// `name:line:column` of a byte.
    fn location(&self, byte: usize) -> String {
        let position = self.lines.position(byte);
        format!("{}:{}:{}", self.name, position.line + self.first_line, position.column)
    }
}

/// Returns a text without the codes that end a colour where the same one begins again: ariadne colours
/// each character by itself.
fn merged(text: &str) -> String {
    const END: &str = "\x1b[0m";
    let (mut out, mut rest, mut color) = (String::with_capacity(text.len()), text, "");
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let again = rest.strip_prefix(END).filter(|_| !color.is_empty());
        if let Some(after) = again.and_then(|after| after.strip_prefix(color)) {
            rest = after;
            continue;
        }
        let code = &rest[..rest.find('m').map_or(rest.len(), |end| end + 1)];
        color = if code == END { "" } else { code };
        out.push_str(code);
        rest = &rest[code.len()..];
    }
    out + rest
}

/// `Type error`, `Name warning`: what a message begins with.
pub fn heading(diagnostic: &Diagnostic<FileRange>) -> String {
    let kind = match diagnostic.kind {
        DiagnosticKind::Syntax => "Syntax",
        DiagnosticKind::Name => "Name",
        DiagnosticKind::Type => "Type",
        DiagnosticKind::Runtime => "Runtime",
    };
    match diagnostic.severity {
        Severity::Error => format!("{kind} error"),
        Severity::Warning => format!("{kind} warning"),
    }
}

/// The colours of ariadne that are the same in every theme, and those of the theme in their place: titles of
/// notes, text that is not pointed at, the margin, and the margin of lines left out. On a light page, or in
/// Jupyter's pale red box, the former can hardly be read.
const THEME_COLORS: [(&str, &str); 4] = [
    ("\x1b[38;5;115m", "\x1b[1;36m"),
    ("\x1b[38;5;249m", "\x1b[39m"),
    ("\x1b[38;5;246m", "\x1b[90m"),
    ("\x1b[38;5;240m", "\x1b[90m"),
];

/// Replaces the colours that are the same in every theme.
fn in_theme_colors(text: &str) -> String {
    let replaced = |text: String, (fixed, themed): &(&str, &str)| text.replace(fixed, themed);
    THEME_COLORS.iter().fold(text.to_string(), replaced)
}

/// A span, as ariadne takes it.
type Span = (FileId, Range<usize>);

fn label(at: Span, text: &str, color: Color) -> (Label<Span>, Span) {
    let label = Label::new(at.clone()).with_color(color);
    (if text.is_empty() { label } else { label.with_message(visible(text)) }, at)
}

/// The prepared files as ariadne wants them.
struct Shown<'a>(&'a HashMap<FileId, File>);

impl ariadne::Cache<FileId> for Shown<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl Debug> {
        self.0.get(id).map(|file| &file.shown).ok_or("no such file")
    }

    fn display<'a>(&self, id: &'a FileId) -> Option<impl Display + 'a> {
        self.0.get(id).map(|file| file.name.clone())
    }
}

#[cfg(test)]
mod tests;
