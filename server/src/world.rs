//! The open documents, and the program they make.
//!
//! Changes are made in the order in which they arrive, under one lock, before anything is awaited
//! (handlers of requests run side by side, so the first `await` is where their order is lost). Who
//! reads takes a [`Snapshot`]; a change stops all readings that are under way, and waits for them.

use crate::capabilities::ClientCan;
use crate::lines::{Encoding, Lines};
use crate::options::Options;
use crate::workspace;
use nesl_core::base::ItemId;
use nesl_core::db::{Before, Database, FileId};
use nesl_core::ide;
use nesl_core::syntax::entry::as_program;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower_lsp_server::ls_types::{TextDocumentContentChangeEvent, Uri};

/// The depth of files that load one another.
const MAX_LOADS: usize = 64;

/// The size from which on a text is only checked, in bytes. Answers about all of it would be larger than it is by a
/// multiple, and no editor shows them.
pub const LARGE_BYTES: usize = 4 << 20;

/// Everything that changes.
pub struct World {
    db: Database,
    documents: FxHashMap<Uri, Document>,
    /// Files of documents that were closed: the next ones to be opened take their places. The
    /// database forgets no file, nor what it has found out about its forms.
    free: Vec<FileId>,
    /// Texts of files on the disk, by their canonical paths: the programs of the open folders, and what
    /// documents load. An open document is in the place of its file.
    disk: FxHashMap<PathBuf, FileId>,
    /// The folders that the client has open; shared with snapshots.
    folders: Arc<Vec<PathBuf>>,
    /// The names of files; shared with snapshots.
    uris: Arc<FxHashMap<FileId, Uri>>,
    /// The cells of notebooks, in order.
    notebooks: FxHashMap<Uri, Vec<Uri>>,
    encoding: Encoding,
    /// The capabilities of the client.
    pub client: ClientCan,
    /// The options that the client has chosen.
    pub options: Arc<Options>,
}

/// An open document.
struct Document {
    file: FileId,
    version: i32,
    lines: Arc<Lines>,
    /// True for a cell of a notebook.
    cell: bool,
}

/// An immutable view of a document and its program.
pub struct Snapshot {
    /// The database of the program.
    pub db: Database,
    /// The file of the document.
    pub file: FileId,
    /// The address of the document.
    pub uri: Uri,
    /// The version of the text.
    pub version: i32,
    /// The lines of the text.
    pub lines: Arc<Lines>,
    /// All files of the user, this one first.
    pub files: Vec<FileId>,
    /// The files of the cells above this one, if it is a cell of a notebook.
    pub above: Vec<FileId>,
    /// The folders that the client has open.
    pub folders: Arc<Vec<PathBuf>>,
    /// The options that the client has chosen.
    pub options: Arc<Options>,
    /// The capabilities of the client.
    pub client: ClientCan,
    uris: Arc<FxHashMap<FileId, Uri>>,
    encoding: Encoding,
}

impl Default for World {
    /// Nothing but the library.
    fn default() -> World {
        World {
            db: Database::new(),
            documents: FxHashMap::default(),
            free: Vec::new(),
            disk: FxHashMap::default(),
            folders: Arc::default(),
            uris: Arc::default(),
            notebooks: FxHashMap::default(),
            encoding: Encoding::default(),
            client: ClientCan::default(),
            options: Arc::default(),
        }
    }
}

impl World {
    /// Sets how columns are counted; before any document is opened.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        self.encoding = encoding;
    }

    /// A cell of a notebook is open from now on.
    pub fn open_cell(&mut self, uri: Uri, version: i32, text: String) {
        self.open_as(uri, version, text, true);
    }

    /// A document is open from now on.
    pub fn open(&mut self, uri: Uri, version: i32, text: String) {
        // Some clients open cells as documents, too.
        let cell = self.documents.get(&uri).is_some_and(|document| document.cell);
        self.open_as(uri, version, text, cell);
    }

    fn open_as(&mut self, uri: Uri, version: i32, text: String, cell: bool) {
        let name = name_of(&uri);
        let known = self.documents.get(&uri).map(|document| document.file);
        let file = match known.or_else(|| self.file_on_disk(&uri)) {
            Some(file) => {
                self.db.set_text(file, program(&text, cell));
                file
            }
            None => match self.free.pop() {
                Some(file) => {
                    self.db.rename(file, &name, None);
                    self.db.set_text(file, program(&text, cell));
                    file
                }
                None => self.db.add_file(&name, &program(&text, cell), None),
            },
        };
        // A file that others may load, from now on in its open state.
        if let (false, Some(path)) = (cell, path_of(&uri)) {
            self.disk.insert(canonical(path), file);
        }
        Arc::make_mut(&mut self.uris).insert(file, uri.clone());
        let lines = Arc::new(Lines::new(text, self.encoding));
        self.documents.insert(uri, Document { file, version, lines, cell });
        self.find_loads(file, 0);
    }

    /// A document was changed. Changes to documents that are not open are not heard of.
    pub fn change(&mut self, uri: &Uri, version: i32, changes: &[TextDocumentContentChangeEvent]) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        for change in changes {
            document.lines = Arc::new(document.lines.changed(change));
        }
        document.version = version;
        let (file, text) = (document.file, program(&document.lines.text, document.cell));
        self.db.set_text(file, text);
        self.find_loads(file, 0);
    }

    /// A document is closed. If others load it, it is what is on the disk.
    pub fn close(&mut self, uri: &Uri) {
        let Some(document) = self.documents.remove(uri) else { return };
        if let Some(path) = path_of(uri).map(canonical) {
            let text = read(&path).filter(|_| self.is_wanted(&path, document.file));
            if let Some(text) = text {
                self.db.set_text(document.file, text);
                self.find_loads(document.file, 0);
                return;
            }
            self.disk.remove(&path);
        }
        self.forget(document.file);
    }

    /// Gives up a file that is neither open nor on the disk.
    fn forget(&mut self, file: FileId) {
        self.db.set_text(file, "");
        Arc::make_mut(&mut self.uris).remove(&file);
        self.free.push(file);
    }

    /// Returns true if a file on the disk matters: others load it, or it is in an open folder.
    fn is_wanted(&self, path: &Path, file: FileId) -> bool {
        let inside = |folder: &PathBuf| path.starts_with(folder);
        let loads = |other: &FileId| *other != file && reaches(&self.db, *other, file, 0);
        (workspace::is_program(path) && self.folders.iter().any(inside))
            || self.uris.keys().any(loads)
    }

    /// The file that has the text of a file on the disk, if it was read.
    fn file_on_disk(&self, uri: &Uri) -> Option<FileId> {
        self.disk.get(&canonical(path_of(uri)?)).copied()
    }

    /// The programs in the folders that the client has open; they are read as they are on the disk.
    pub fn add_programs(&mut self, paths: Vec<PathBuf>) {
        let mut new = Vec::new();
        for path in paths.into_iter().map(canonical) {
            if self.disk.contains_key(&path) {
                continue;
            }
            let Some(text) = read(&path) else { continue };
            let name = path.to_string_lossy().into_owned();
            let file = match self.free.pop() {
                Some(file) => {
                    self.db.rename(file, &name, None);
                    self.db.set_text(file, text);
                    file
                }
                None => self.db.add_file(&name, &text, None),
            };
            if let Some(uri) = Uri::from_file_path(&path) {
                Arc::make_mut(&mut self.uris).insert(file, uri);
            }
            self.disk.insert(path, file);
            new.push(file);
        }
        new.into_iter().for_each(|file| self.find_loads(file, 0));
    }

    /// The folders that the client has open are others.
    pub fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let folders = Arc::make_mut(&mut self.folders);
        folders.retain(|folder| !removed.contains(folder));
        folders.extend(added);
        let open: FxHashSet<FileId> = self.documents.values().map(|d| d.file).collect();
        let closed = self.disk.iter().filter(|(_, file)| !open.contains(file));
        let unwanted = closed.filter(|(path, file)| !self.is_wanted(path, **file));
        let unwanted: Vec<_> = unwanted.map(|(path, file)| (path.clone(), *file)).collect();
        for (path, file) in unwanted {
            self.disk.remove(&path);
            self.forget(file);
        }
    }

    /// Files on the disk have changed, are new, or are gone.
    pub fn changed_on_disk(&mut self, uris: &[Uri]) {
        let open: FxHashSet<FileId> = self.documents.values().map(|d| d.file).collect();
        let mut new = Vec::new();
        for uri in uris {
            let Some(path) = path_of(uri) else { continue };
            // What is gone has no canonical path, but it had one.
            let known = self.file_on_disk(uri).or_else(|| {
                let own = self.uris.iter().find(|(_, own)| *own == uri);
                own.map(|(file, _)| *file)
            });
            let canonical = canonical(path);
            match known {
                Some(file) if open.contains(&file) => {}
                Some(file) => match read(&canonical) {
                    Some(text) => self.db.set_text(file, text),
                    None => {
                        self.disk.retain(|_, own| *own != file);
                        self.forget(file);
                    }
                },
                None if workspace::is_program(&canonical)
                    && self.folders.iter().any(|folder| canonical.starts_with(folder)) =>
                {
                    new.push(canonical);
                }
                None => {}
            }
        }
        self.add_programs(new);
        // What was looked for in vain may be there now, and the reverse.
        let files: Vec<FileId> = self.uris.keys().copied().collect();
        files.into_iter().for_each(|file| self.find_loads(file, 0));
    }

    /// The cells of a notebook, in order: each sees those above it.
    pub fn set_cells(&mut self, notebook: Uri, cells: Vec<Uri>) {
        let mut before = None;
        for (position, cell) in cells.iter().enumerate() {
            let Some(document) = self.documents.get(cell) else { continue };
            // Its address says nothing to people.
            self.db.rename(document.file, &format!("cell {}", position + 1), before);
            before = Some(Before::all(document.file));
        }
        self.notebooks.insert(notebook, cells);
    }

    /// The cells of a notebook.
    pub fn cells(&self, notebook: &Uri) -> Vec<Uri> {
        self.notebooks.get(notebook).cloned().unwrap_or_default()
    }

    /// A notebook is closed.
    pub fn close_notebook(&mut self, notebook: &Uri) {
        for cell in self.notebooks.remove(notebook).unwrap_or_default() {
            self.close(&cell);
        }
    }

    /// The addresses of all open documents.
    pub fn open_documents(&self) -> Vec<Uri> {
        self.documents.keys().cloned().collect()
    }

    /// The documents whose meaning may depend on another one: those that load it, and the cells of
    /// its notebook.
    pub fn affected_by(&self, uri: &Uri) -> Vec<Uri> {
        let mut all = vec![uri.clone()];
        if let Some(document) = self.documents.get(uri) {
            let loads = |file| reaches(&self.db, file, document.file, 0);
            let others = self.documents.iter().filter(|(other, _)| *other != uri);
            all.extend(others.filter(|(_, d)| loads(d.file)).map(|(other, _)| other.clone()));
        }
        for cells in self.notebooks.values().filter(|cells| cells.contains(uri)) {
            all.extend(cells.iter().filter(|cell| *cell != uri).cloned());
        }
        all
    }

    /// The files of the cells above a cell, in order; none for other documents.
    fn above(&self, uri: &Uri) -> Vec<FileId> {
        let notebook = self.notebooks.values().find(|cells| cells.contains(uri));
        let above = notebook.into_iter().flatten().take_while(|cell| *cell != uri);
        above.filter_map(|cell| Some(self.documents.get(cell)?.file)).collect()
    }

    /// A document as it is now; `None` if it is not open.
    pub fn snapshot(&self, uri: &Uri) -> Option<Snapshot> {
        let document = self.documents.get(uri)?;
        Some(self.snapshot_at(document.file, uri, document.version, document.lines.clone()))
    }

    fn snapshot_at(&self, file: FileId, uri: &Uri, version: i32, lines: Arc<Lines>) -> Snapshot {
        let mut files = vec![file];
        files.extend(self.uris.keys().copied().filter(|other| *other != file));
        files[1..].sort_by_key(|file| file.0);
        Snapshot {
            db: self.db.clone(),
            file,
            uri: uri.clone(),
            version,
            lines,
            files,
            above: self.above(uri),
            folders: self.folders.clone(),
            options: self.options.clone(),
            client: self.client,
            uris: self.uris.clone(),
            encoding: self.encoding,
        }
    }

    /// An open document as it is now, by its file.
    pub fn snapshot_of(&self, file: FileId) -> Option<Snapshot> {
        self.snapshot(self.uris.get(&file)?)
    }

    /// Any document, open or on the disk, for what concerns them all.
    pub fn any_snapshot(&self) -> Option<Snapshot> {
        if let Some(uri) = self.documents.keys().next() {
            return self.snapshot(uri);
        }
        let (file, uri) = self.uris.iter().next()?;
        let lines = Arc::new(Lines::new(self.db.file_text(*file), self.encoding));
        Some(self.snapshot_at(*file, uri, 0, lines))
    }

    /// The version of a document.
    pub fn version(&self, uri: &Uri) -> Option<i32> {
        self.documents.get(uri).map(|document| document.version)
    }

    /// Puts the texts that `load` forms name behind them.
    fn find_loads(&mut self, file: FileId, depth: usize) {
        if depth >= MAX_LOADS {
            return;
        }
        let folder = self.uris.get(&file).and_then(path_of);
        let folder = folder.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        let wanted: Vec<(ItemId, PathBuf)> = ide::links(&self.db, file)
            .into_iter()
            .filter_map(|link| Some((link.item, existing(folder.as_deref()?, &link.path)?)))
            .collect();
        let named: FxHashSet<ItemId> = wanted.iter().map(|(item, _)| *item).collect();
        for form in &self.db.outline(file).forms {
            if form.loads() && !named.contains(&form.id()) {
                self.db.set_loaded(form.id(), None);
            }
        }
        for (item, path) in wanted {
            let loaded = match self.disk.get(&path) {
                Some(loaded) => *loaded,
                None => self.add_loaded(path, depth),
            };
            // A text that loads itself, by whatever way, would see itself for ever.
            let goes_round = loaded == file || reaches(&self.db, loaded, file, 0);
            self.db.set_loaded(item, (!goes_round).then_some(loaded));
        }
    }

    fn add_loaded(&mut self, path: PathBuf, depth: usize) -> FileId {
        let text = read(&path).unwrap_or_default();
        let file = self.db.add_file(&path.to_string_lossy(), &text, None);
        if let Some(uri) = Uri::from_file_path(&path) {
            Arc::make_mut(&mut self.uris).insert(file, uri);
        }
        self.disk.insert(path, file);
        self.find_loads(file, depth + 1);
        file
    }
}

impl Snapshot {
    /// Returns true if the text is only checked: there is no answer about all of it.
    pub fn is_large(&self) -> bool {
        self.lines.text.len() > LARGE_BYTES
    }

    /// The address of a file; that of the library's are made up.
    pub fn uri_of(&self, file: FileId) -> Option<Uri> {
        self.uris.get(&file).cloned()
    }

    /// The lines of a file.
    pub fn lines_of(&self, file: FileId) -> Arc<Lines> {
        if file == self.file {
            return self.lines.clone();
        }
        Arc::new(Lines::new(self.db.file_text(file), self.encoding))
    }

    /// The lines of a text that is no file.
    pub fn lines_of_text(&self, text: &str) -> Lines {
        Lines::new(text, self.encoding)
    }
}

/// Returns true if a text loads another one, directly or through others.
fn reaches(db: &Database, from: FileId, to: FileId, depth: usize) -> bool {
    depth < MAX_LOADS
        && db.outline(from).forms.iter().any(|form| {
            form.loads()
                && db
                    .loaded(form.id())
                    .is_some_and(|file| file == to || reaches(db, file, to, depth + 1))
        })
}

/// The file that `load "name"` means, seen from a folder.
pub fn existing(folder: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [folder.join(format!("{name}.nesl")), folder.join(name)];
    let found = candidates.into_iter().find(|path| path.is_file())?;
    Some(found.canonicalize().unwrap_or(found))
}

/// The path by which a file is known, however it was named.
fn canonical(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

/// A file's text; files that are no UTF-8 are Latin-1.
fn read(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect()),
    )
}

/// The path of an address, if it is that of a file.
pub fn path_of(uri: &Uri) -> Option<PathBuf> {
    uri.to_file_path().map(|path| path.into_owned())
}

/// Returns a document's text as a program: a cell may have commands, and lack its last terminator.
fn program(text: &str, cell: bool) -> Arc<str> {
    if cell { as_program(text).into() } else { text.into() }
}

fn name_of(uri: &Uri) -> String {
    path_of(uri).map_or_else(|| uri.as_str().to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    #[test]
    fn a_closed_document_leaves_its_place() {
        let uri = |name: &str| Uri::from_str(name).expect("an address");
        let mut world = World::default();
        world.open(uri("untitled:a"), 1, "x = 1;".to_owned());
        let first = world.snapshot(&uri("untitled:a")).expect("open").file;
        world.close(&uri("untitled:a"));
        world.open(uri("untitled:b"), 1, "y = x;".to_owned());
        let b = world.snapshot(&uri("untitled:b")).expect("open");
        assert_eq!((b.file, b.files.len()), (first, 1));
        assert_eq!(&*b.db.file_name(b.file), "b");
        // What was there is not to be seen any more.
        assert_eq!(b.db.diagnostics(b.db.outline(b.file).forms[0].id()).len(), 1);
    }
}
