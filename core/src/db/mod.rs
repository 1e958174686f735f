//! The compiler as incremental queries. No other module names salsa.
//!
//! The unit is the *item*, one top-level form. Splitting a text into items is so cheap that it is
//! done eagerly (`outline`): each item's text is a salsa input (`input`) that changes only when its own
//! bytes do. Everything else is computed on demand (`index`, `scope`, `query`):
//!
//! ```text
//! parse(item) ─▶ ast(item) ─▶ names(item) ─▶ references(item) ─▶ groups(file)
//!                                   └───────────▶ inferred(group) ─▶ types(item), signature(item)
//! ```
//!
//! `ast`, `references`, `group` and `signature` are firewalls: their results are compared after
//! recomputation, and when a result is unchanged nothing that depends on it runs again. Hence typing in a
//! comment re-parses one item and stops at `ast`; editing a body stops at `signature` unless its
//! type changed. `tests/incremental.rs` lists the queries that re-run.
//!
//! An [`ItemId`] is the identity of the input and stays valid for the life of the database; ids of
//! deleted items are recycled for items that appear later in the same file.

mod cursor;
mod declaration;
mod definitions;
mod forget;
mod groups;
mod index;
mod input;
mod outline;
mod query;
mod scope;
mod scratch;

use crate::base::{Diagnostic, ItemId, Loc, Name, Severity, Span, TextRange, TextSize};
use crate::names::Names;
use crate::syntax::{Parsed, RawKind, ast};
use crate::types::{ItemTypes, Signature};
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;
use salsa::plumbing::{AsId, FromId};
use salsa::{Durability, Setter};
use std::sync::{Arc, Mutex};

pub use cursor::Cursor;
pub(crate) use cursor::{bare, forms, forms_where};
pub use definitions::{FileDefinitions, SessionState};
pub use input::{Form, Outline};
pub use scope::Before;
pub use scratch::{LibraryName, Scratch};

/// A text of the program: a file, a REPL line, a notebook cell, a part of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// Some bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The file that contains the range.
    pub file: FileId,
    /// The range in bytes.
    pub range: TextRange,
}

/// The compiler's database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    /// The files by [`FileId`]; shared by all handles.
    files: Arc<Mutex<Vec<input::File>>>,
    /// The lengths and lookahead of the forms of each file, for the next change of its text.
    extents: Arc<Mutex<FxHashMap<input::File, Vec<outline::Extent>>>>,
    /// The files that were forgotten, to be used for the next texts.
    spare_files: Arc<Mutex<Vec<input::File>>>,
    /// The names of the queries that ran, while listening is on.
    log: Arc<Mutex<Option<Vec<String>>>>,
}

#[salsa::db]
impl salsa::Database for Database {}

/// The database as queries see it.
#[salsa::db]
pub(crate) trait Db: salsa::Database {}

#[salsa::db]
impl Db for Database {}

impl Default for Database {
    fn default() -> Database {
        Database::new()
    }
}

impl Database {
    /// A database that holds the library and nothing else.
    pub fn new() -> Database {
        let log = Arc::<Mutex<Option<Vec<String>>>>::default();
        let listener = log.clone();
        let storage = salsa::Storage::new(Some(Box::new(move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind
                && let Ok(mut log) = listener.lock()
                && let Some(log) = log.as_mut()
            {
                log.push(format!("{database_key:?}"));
            }
        })));
        let (files, extents, spare_files) = Default::default();
        let mut db = Database { storage, files, extents, spare_files, log };
        let mut library = Vec::new();
        for (name, text) in crate::prelude::FILES {
            let file = db.add(name, text, None, true);
            library.push(db.input(file));
        }
        let _library = input::Library::builder(library.into()).durability(TEXTS).new(&db);
        db
    }

    /// Adds a text. It sees the forms of `before`, and the library.
    pub fn add_file(&mut self, name: &str, text: &str, before: Option<Before>) -> FileId {
        self.add(name, text, before, false)
    }

    fn add(&mut self, name: &str, text: &str, before: Option<Before>, library: bool) -> FileId {
        let before = before.map(|b| (self.input(b.file), b.position));
        let file = match self.spare_file(name, before) {
            Some(file) => file,
            None => self.new_file(name, before, library),
        };
        let id = {
            let mut files = self.files.lock().unwrap_or_else(|e| e.into_inner());
            files.push(file);
            FileId(files.len() as u32 - 1)
        };
        self.set_text(id, text);
        id
    }

    /// A file without a text.
    fn new_file(
        &self,
        name: &str,
        before: Option<(input::File, u32)>,
        library: bool,
    ) -> input::File {
        let skip_pointer = scope::skip_pointer(self, before.map(|(file, _)| file));
        let (outline, starts) = (Arc::default(), Arc::default());
        let empty = "".into();
        input::File::builder(name.into(), empty, library, before, skip_pointer, outline, starts)
            .durability(TEXTS)
            // No query has read these yet: filling them in must not invalidate the queries that
            // depend on inputs of high durability only.
            .text_durability(Durability::LOW)
            .outline_durability(Durability::LOW)
            .starts_durability(Durability::LOW)
            .new(self)
    }

    /// Replaces a text. Items whose bytes did not change keep the results of all their queries.
    pub fn set_text(&mut self, file: FileId, text: impl Into<Arc<str>>) {
        outline::update(self, self.input(file), text.into());
    }

    /// Turns a form off (it failed: it defines nothing for those after it) or on again.
    pub fn set_disabled(&mut self, item: ItemId, disabled: bool) {
        let input = input::item(item);
        if input.disabled(self) != disabled {
            input.set_disabled(self).with_durability(FAILURES).to(disabled);
        }
    }

    /// Returns true if a form is turned off.
    pub fn is_disabled(&self, item: ItemId) -> bool {
        input::item(item).disabled(self)
    }

    /// Records the text that a `load` form has loaded: its definitions are visible after the form.
    pub fn set_loaded(&mut self, item: ItemId, loaded: Option<FileId>) {
        let loaded = loaded.map(|f| self.input(f));
        outline::set_loaded(self, item, loaded);
    }

    /// The text that a `load` form has loaded.
    pub fn loaded(&self, item: ItemId) -> Option<FileId> {
        let loaded = self.form(item).loaded;
        loaded.map(|file| self.id_of(file))
    }

    /// Gives a file another name, and another view of what comes before it.
    pub fn rename(&mut self, file: FileId, name: &str, before: Option<Before>) {
        let input = self.input(file);
        let before = before.map(|b| (self.input(b.file), b.position));
        if &**input.name(self) != name {
            input.set_name(self).with_durability(TEXTS).to(name.into());
        }
        if input.before(self) != before {
            let skip_pointer = scope::skip_pointer(self, before.map(|(file, _)| file));
            input.set_before(self).with_durability(TEXTS).to(before);
            input.set_skip_pointer(self).with_durability(TEXTS).to(skip_pointer);
        }
    }

    /// Returns true if an item defines variables that hold data: once they have values, the item
    /// itself is not needed any more.
    pub fn is_data(&self, item: ItemId) -> bool {
        query::is_data(self, input::item(item))
    }

    /// Returns true if using an item performs operations that may not run in parallel.
    pub fn is_serial(&self, item: ItemId) -> bool {
        query::serial(self, input::item(item))
    }

    /// Returns true if a file sees the forms of other files besides the library's: of one before it,
    /// or of one that it loads.
    pub fn sees_others(&self, file: FileId) -> bool {
        let file = self.input(file);
        file.before(self).is_some() || file.outline(self).forms.iter().any(|f| f.loaded.is_some())
    }

    /// The text of an item, with the blanks and comments before it.
    pub fn item_text(&self, item: ItemId) -> Arc<str> {
        input::item(item).text(self).clone()
    }

    fn input(&self, file: FileId) -> input::File {
        self.files.lock().unwrap_or_else(|e| e.into_inner())[file.0 as usize]
    }

    fn take_extents(&self, file: input::File) -> Vec<outline::Extent> {
        let mut all = self.extents.lock().unwrap_or_else(|e| e.into_inner());
        all.remove(&file).unwrap_or_default()
    }

    fn keep_extents(&self, file: input::File, extents: Vec<outline::Extent>) {
        self.extents.lock().unwrap_or_else(|e| e.into_inner()).insert(file, extents);
    }

    fn id_of(&self, file: input::File) -> FileId {
        let files = self.files.lock().unwrap_or_else(|e| e.into_inner());
        let index = files.iter().rposition(|f| *f == file);
        FileId(index.or_bug("every file is listed") as u32)
    }

    /// The form at a byte of a file, and the byte at which it begins: forms tile their file. At the
    /// end of the file it is the last form; an empty file has none.
    pub fn item_at(&self, file: FileId, offset: TextSize) -> Option<(ItemId, TextSize)> {
        let file = self.input(file);
        let forms = &file.outline(self).forms;
        let starts = file.starts(self);
        let position = starts.partition_point(|start| *start <= offset).checked_sub(1)?;
        Some((forms.get(position)?.id(), starts[position]))
    }

    /// The file of an item and its place among the forms there; `None` if it is gone.
    pub fn position_of(&self, item: ItemId) -> Option<(FileId, u32)> {
        let input = input::item(item);
        let file = input.file(self);
        let position = index::positions(self, file).get(&input)?;
        Some((self.id_of(file), *position))
    }

    /// The number of the last change of any input: as long as it is the same, nothing has changed.
    pub fn revision(&self) -> Revision {
        Revision(salsa::plumbing::current_revision(self))
    }

    /// A handle with which another thread can cancel a reading of this database: the reading ends as
    /// if the text had changed.
    pub fn stopper(&self) -> Stopper {
        Stopper(salsa::Database::cancellation_token(self))
    }

    /// The name of a file.
    pub fn file_name(&self, file: FileId) -> Arc<str> {
        self.input(file).name(self).clone()
    }

    /// The text of a file.
    pub fn file_text(&self, file: FileId) -> Arc<str> {
        self.input(file).text(self).clone()
    }

    /// The forms of a file, in order.
    pub fn outline(&self, file: FileId) -> Arc<Outline> {
        self.input(file).outline(self).clone()
    }

    /// The byte at which each form of a file begins: their texts tile it.
    pub fn starts(&self, file: FileId) -> &Arc<[TextSize]> {
        self.input(file).starts(self)
    }

    /// Every library file.
    pub fn library(&self) -> Vec<FileId> {
        (0..crate::prelude::FILES.len() as u32).map(FileId).collect()
    }

    /// The file an item belongs to.
    pub fn file_of(&self, item: ItemId) -> FileId {
        self.id_of(input::item(item).file(self))
    }

    /// Returns true if an item belongs to the library.
    pub fn is_library(&self, item: ItemId) -> bool {
        input::item(item).file(self).library(self)
    }

    /// The form of an item: its sort and what it defines.
    pub fn form(&self, item: ItemId) -> Form {
        let input = input::item(item);
        index::form(self, input).clone().unwrap_or_else(|| Form::blank(input))
    }

    /// The parse of an item.
    pub fn parsed(&self, item: ItemId) -> &Parsed {
        index::parse(self, input::item(item))
    }

    /// The recursion group of an item, itself included; empty if it is alone in it.
    pub fn recursion_group(&self, item: ItemId) -> Vec<ItemId> {
        let group = query::group(self, input::item(item));
        let group = group.iter().filter(|_| group.len() > 1);
        group.map(|item| ItemId::from(*item)).collect()
    }

    /// The syntax of an item.
    pub fn ast(&self, item: ItemId) -> &Arc<ast::Item> {
        index::ast(self, input::item(item))
    }

    /// The resolved names of an item.
    pub fn names(&self, item: ItemId) -> &Names {
        query::names(self, input::item(item))
    }

    /// The types of an item.
    pub fn types(&self, item: ItemId) -> &Arc<ItemTypes> {
        query::types(self, input::item(item))
    }

    /// The signature of an item: all that other items see of it.
    pub fn signature(&self, item: ItemId) -> &Arc<Signature> {
        query::signature(self, input::item(item))
    }

    /// The errors and warnings about an item: syntax, names, types. An item whose errors only follow from a mistake
    /// in another one has them, too: they are not to be shown.
    pub fn diagnostics(&self, item: ItemId) -> Vec<Diagnostic<FileRange>> {
        let mut all: Vec<_> = self
            .parsed(item)
            .diagnostics
            .iter()
            .map(|d| d.clone().map(|range| self.in_file(item, range)))
            .collect();
        let input = input::item(item);
        let comment = query::foreign_comment(self, input);
        if all.is_empty() && comment.is_none() {
            all.extend(scope::unterminated(self, input).map(|d| d.map(|loc| self.place(loc))));
        }
        let below = query::diagnostics(self, input);
        let lines = &self.parsed(item).lines;
        if let Some(comment) = comment {
            all.push(comment.map(|range| self.in_file(item, range)));
        } else if !lines.is_empty() && below.iter().any(|d| d.severity == Severity::Error) {
            // What is wrong follows from a line that was to be a form of its own.
            all.extend(lines.iter().map(|d| d.clone().map(|range| self.in_file(item, range))));
        } else {
            all.extend(below.iter().map(|d| d.clone().map(|loc| self.place(loc))));
        }
        if all.iter().any(|d| d.severity == Severity::Error)
            && (index::goes_on(self, input) || query::in_comment(self, input))
        {
            all.iter_mut().for_each(|d| d.follows |= d.severity == Severity::Error);
        }
        all.sort_by_key(|d| d.primary.at.range.start());
        all
    }

    /// The bytes of a source location.
    pub fn place(&self, loc: Loc) -> FileRange {
        let range = self.parsed(loc.item).range(loc.span);
        self.in_file(loc.item, range)
    }

    /// The bytes of an item's own text, without the blanks and comments before it.
    pub fn whole(&self, item: ItemId) -> FileRange {
        let span = self.ast(item).span;
        self.place(Loc { item, span: Span::new(span.start, span.end) })
    }

    fn in_file(&self, item: ItemId, range: TextRange) -> FileRange {
        let item = input::item(item);
        let file = item.file(self);
        let position = index::positions(self, file).get(&item);
        let start = position.and_then(|position| file.starts(self).get(*position as usize));
        FileRange { file: self.id_of(file), range: range + start.copied().unwrap_or_default() }
    }

    /// Resolves a name at the end of a file, or before one of its forms.
    pub fn lookup(&self, from: Before, name: &Name) -> Option<crate::names::Resolution> {
        scope::lookup_at(self, self.input(from.file), from.position, name, false)
    }

    /// All names that can be used at the end of a file, the library's included.
    pub fn known_names(&self, from: Before) -> Vec<Name> {
        scope::known(self, self.input(from.file)).clone()
    }

    /// Starts (`true`) or stops listening to the queries that run.
    pub fn listen(&self, on: bool) {
        if let Ok(mut log) = self.log.lock() {
            *log = on.then(Vec::new);
        }
    }

    /// The queries that ran since the last call, while listening, as `query(item)` with the
    /// item's first name.
    pub fn take_log(&self) -> Vec<String> {
        let log = self.log.lock();
        log.ok().and_then(|mut log| log.as_mut().map(std::mem::take)).unwrap_or_default()
    }
}

/// Cancels a reading of a database in another thread.
#[derive(Clone)]
pub struct Stopper(salsa::CancellationToken);

impl Stopper {
    /// Cancels the reading at its next query.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

/// The number of a change of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision(salsa::Revision);

/// The error of a reading that was cancelled, because a text changed or because a [`Stopper`] was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Reads a database that another thread may change. `Err` if it did, and the reading is void.
/// Other panics propagate.
pub fn reading<T>(read: impl FnOnce() -> T + std::panic::UnwindSafe) -> Result<T, Stopped> {
    salsa::Cancelled::catch(read).map_err(|_| Stopped)
}

impl From<input::Item> for ItemId {
    fn from(item: input::Item) -> ItemId {
        ItemId(item.as_id().as_bits())
    }
}

pub(crate) fn from_item_id(id: ItemId) -> input::Item {
    input::Item::from_id(salsa::plumbing::Id::from_bits(id.0))
}

/// Returns true for the sorts of forms that may be used before they are defined: functions and
/// datatypes.
pub(crate) fn is_hoisted(kind: RawKind) -> bool {
    matches!(kind, RawKind::Function | RawKind::Datatype)
}

/// Writes the outline of a file.
pub(crate) fn set_outline(db: &mut Database, file: input::File, outline: Arc<Outline>) {
    file.set_outline(db).with_durability(TEXTS).to(outline);
}

/// The durability of texts. They change less often than the failures of forms, and those less often
/// than texts are added; salsa does not revisit queries that depend only on inputs of a higher
/// durability than that of the input which changed.
const TEXTS: Durability = Durability::HIGH;
/// The durability of the flag that a form has failed.
const FAILURES: Durability = Durability::MEDIUM;
