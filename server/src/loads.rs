//! Problems of `load` forms: a file that is not there, a circle, errors in the file that is loaded.

use crate::convert;
use crate::world::{Snapshot, existing, path_of};
use nesl_core::base::{self, Severity};
use nesl_core::db::{Database, FileId, FileRange};
use nesl_core::ide::{self, Link, Problems};
use rustc_hash::FxHashMap;
use std::path::Path;
use tower_lsp_server::ls_types::{Diagnostic, DiagnosticRelatedInformation};

/// The facts about loaded files that are kept between two looks at a document.
#[derive(Default)]
pub struct Loaded(FxHashMap<FileId, Problems>);

impl Loaded {
    /// The problems of the `load` forms of a document.
    pub fn problems(&mut self, snapshot: &Snapshot) -> Vec<Diagnostic> {
        let links = ide::links(&snapshot.db, snapshot.file);
        if links.is_empty() {
            self.0.clear();
            return Vec::new();
        }
        links.iter().filter_map(|link| self.problem(snapshot, link)).collect()
    }

    fn problem(&mut self, snapshot: &Snapshot, link: &Link) -> Option<Diagnostic> {
        let at = FileRange { file: snapshot.file, range: link.range };
        let Some(loaded) = snapshot.db.loaded(link.item) else {
            let message = why_not(snapshot, &link.path);
            let problem = base::Diagnostic::warning(base::DiagnosticKind::Name, at, message);
            return Some(convert::diagnostic(snapshot, &problem));
        };
        let errors = self.errors(&snapshot.db, loaded);
        let first = errors.first()?;
        let name = snapshot.db.file_name(first.primary.at.file);
        let name = Path::new(&*name).file_name().map_or(&*name, |name| name.to_str().unwrap_or(""));
        let line =
            snapshot.lines_of(first.primary.at.file).position(first.primary.at.range.start());
        let count = match errors.len() {
            1 => "an error".to_owned(),
            n => format!("{n} errors, the first"),
        };
        let message = format!("`{name}` has {count} in line {}: {}", line.line + 1, first.message);
        let problem = base::Diagnostic::error(first.kind, at, message);
        let mut shown = convert::diagnostic(snapshot, &problem);
        let location = convert::location(snapshot, first.primary.at);
        shown.related_information = location.map(|location| {
            vec![DiagnosticRelatedInformation { location, message: first.message.clone() }]
        });
        Some(shown)
    }

    /// The errors of a file and of those that it loads.
    fn errors(&mut self, db: &Database, file: FileId) -> Vec<base::Diagnostic<FileRange>> {
        let mut files = vec![file];
        let mut next = 0;
        while let Some(file) = files.get(next).copied() {
            next += 1;
            let loads = db
                .outline(file)
                .forms
                .iter()
                .filter(|form| form.loads())
                .cloned()
                .collect::<Vec<_>>();
            for other in loads.iter().filter_map(|form| db.loaded(form.id())) {
                if !files.contains(&other) {
                    files.push(other);
                }
            }
        }
        let mut all = Vec::new();
        for file in files {
            all.extend(self.0.entry(file).or_default().of(db, file));
        }
        all.retain(|problem| problem.severity == Severity::Error);
        all
    }
}

/// The reason why a file is not loaded.
fn why_not(snapshot: &Snapshot, name: &str) -> String {
    let Some(path) = path_of(&snapshot.uri) else {
        return format!(
            "`{name}` is looked for beside this text, which is in no folder yet: save it"
        );
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let Some(found) = existing(folder, name) else {
        let with =
            if name.ends_with(".nesl") { String::new() } else { format!("`{name}.nesl` or ") };
        return format!("there is no {with}`{name}` in the folder `{}`", folder.display());
    };
    match std::fs::read(&found) {
        Err(error) => format!("cannot read `{}`: {error}", found.display()),
        Ok(_) => format!("`{name}` loads this text, directly or through others: a circle"),
    }
}
