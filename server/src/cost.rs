//! Work and depth of a form, measured by the direct interpreter in a process of its own.

use crate::child::{self, add_form, definitions_above};
use crate::protocol::CostResult;
use crate::world::Snapshot;
use nesl_core::base::{ItemId, grouped};
use nesl_core::db::Cursor;
use nesl_core::explain::{self, subject};
use nesl_core::syntax::ast::ItemKind;
use nesl_core::syntax::{RawKind, excerpt};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tower_lsp_server::ls_types::{Position, Uri};

/// The time limit of a measurement.
const MAX_MEASURING_TIME: Duration = Duration::from_secs(10);

/// The length of the call that was measured, as it is shown, in characters.
const SUBJECT_CHARS: usize = 60;

/// The costs measured so far, for forms as they were then; hovers show them, too.
#[derive(Default)]
pub struct Costs(Mutex<FxHashMap<ItemId, (Arc<str>, String)>>);

impl Costs {
    /// Keeps a measured cost. A reason why there is none is not kept: it may be gone the next time.
    pub fn keep(&self, (item, text): (ItemId, Arc<str>), cost: &CostResult) {
        if cost.measured {
            self.insert(item, text, format!("{}: {}", cost.subject, cost.text));
        }
    }

    /// Keeps the cost that a run has counted.
    pub fn counted(&self, item: ItemId, text: Arc<str>, work: u64, depth: u64) {
        self.insert(item, text, describe(work, depth));
    }

    fn insert(&self, item: ItemId, text: Arc<str>, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(item, (text, line));
    }

    /// The cost measured for a form, if its text is still the same.
    pub fn of(&self, snapshot: &Snapshot, item: ItemId) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Most forms were never measured.
        let (text, cost) = known.get(&item)?;
        child::is_same_form(text, &snapshot.db.item_text(item)).then(|| cost.clone())
    }
}

/// A form to be measured.
pub struct Asked {
    /// The form, and its text.
    pub form: (ItemId, Arc<str>),
    subject: String,
    text: String,
    /// The line of the form that counts, from 1.
    line: usize,
    source: Uri,
    folder: Option<PathBuf>,
}

/// A line that `nesl cost --json` prints.
#[derive(Deserialize)]
struct Measured {
    line: usize,
    work: u64,
    depth: u64,
}

/// The form at a position: an expression or variable by itself, a function by the first example of
/// its documentation, or else by a call in its file, or else on generated values.
pub fn asked(snapshot: &Snapshot, position: Position) -> Option<Asked> {
    let db = &snapshot.db;
    let cursor = Cursor::new(db, snapshot.file, snapshot.lines.offset(position))?;
    let form = db.form(cursor.item);
    let mut asked = Asked {
        subject: subject(db, &form),
        source: snapshot.uri.clone(),
        folder: child::folder_of(snapshot),
        form: (cursor.item, db.item_text(cursor.item)),
        text: definitions_above(snapshot),
        line: 0,
    };
    let above = asked.text.matches('\n').count();
    let own = snapshot.lines.position(db.whole(cursor.item).range.start()).line as usize;
    for form in &db.outline(snapshot.file).forms {
        let text = db.item_text(form.id());
        let needed = form.kind != RawKind::Expr || form.id() == cursor.item;
        add_form(&mut asked.text, &text, needed);
        if form.id() == cursor.item && form.kind != RawKind::Function {
            asked.line = above + own + 1;
            return Some(asked);
        }
    }
    if matches!(cursor.ast.kind, ItemKind::Function(_))
        && let Some(example) = explain::call(&cursor, snapshot.options.precision.core())
    {
        asked.text.push('\n');
        asked.line = asked.text.matches('\n').count() + 1;
        asked.text.push_str(&example);
        asked.text.push_str(";\n");
        asked.subject = excerpt(&example, SUBJECT_CHARS);
    }
    Some(asked)
}

impl Asked {
    /// Measures the cost in a process of its own.
    pub async fn measure(self, executable: &Path) -> CostResult {
        let subject = self.subject.clone();
        let limit = MAX_MEASURING_TIME.as_secs();
        let result = match tokio::time::timeout(MAX_MEASURING_TIME, self.measured(executable)).await
        {
            Ok(result) => result,
            Err(_) => Err(format!("not measured: it was still running after {limit} seconds")),
        };
        let measured = result.is_ok();
        CostResult { subject, text: result.unwrap_or_else(|why| why), measured }
    }

    async fn measured(self, executable: &Path) -> Result<String, String> {
        if self.line == 0 {
            return Err(
                "not measured: nothing calls it here, and values for its parameters cannot be \
                        made up; give it an example in its documentation: `Example: f(1) → 2`"
                    .to_owned(),
            );
        }
        let mut command = child::command(executable, &self.source, self.folder);
        command.args(["cost", "--json", "--color", "never", "-"]).stderr(Stdio::piped());
        let cannot = |error: std::io::Error| format!("cannot start nesl: {error}");
        let mut child = command.spawn().map_err(cannot)?;
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(self.text.as_bytes()).await;
        }
        let output = child.wait_with_output().await.map_err(cannot)?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let all = lines.lines().filter_map(|line| serde_json::from_str::<Measured>(line).ok());
        let own: Vec<Measured> = all.filter(|measured| measured.line == self.line).collect();
        let Some(measured) = own.last() else {
            return Err(why_not(&String::from_utf8_lossy(&output.stderr)));
        };
        Ok(describe(measured.work, measured.depth))
    }
}

/// The reason why a program has no cost: the first error that it ended with.
fn why_not(printed: &str) -> String {
    let error = printed.lines().find_map(|line| line.split_once(" error: "));
    match error {
        Some((_, message)) => format!("not measured: it fails: {message}"),
        None => "not measured: it ended without a value".to_owned(),
    }
}

fn describe(work: u64, depth: u64) -> String {
    let parallelism = work as f64 / depth.max(1) as f64;
    format!("work {}, depth {}, parallelism {parallelism:.1}", grouped(work), grouped(depth))
}
