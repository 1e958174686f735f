//! Forms as the compiler's stages see them, for a panel beside the text.
//!
//! While the text is broken the last good view stays, and says that it is stale. Views are kept by
//! document and stage only: a panel shows one at a time.

use crate::protocol::{
    IrLine, IrParams, IrResult, Level, NestedComponent, SegmentStep, SegmentedValue,
    SegmentsResult, StageShown,
};
use crate::world::Snapshot;
use nesl_core::base::ItemId;
use nesl_core::explain;
use nesl_core::pipeline::{Stage, Stages};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};
use tower_lsp_server::ls_types::{Position, Uri};

/// The message above a view of a text that has errors by now.
const LAST_GOOD: &str = "showing the last version without errors";

/// The last views that could be made.
pub struct Views {
    stages: Stages,
    last: Mutex<FxHashMap<(Uri, Stage), Last>>,
}

/// The form shown, if there was one, and its stage.
type Last = (Option<ItemId>, IrResult);

impl Views {
    /// Views of some stages.
    pub fn new(stages: Stages) -> Views {
        Views { stages, last: Mutex::default() }
    }

    /// The stages that can be shown.
    pub fn stages(&self) -> Vec<StageShown> {
        let shown = |stage: Stage| StageShown {
            id: stage.name(),
            title: stage.title(),
            hint: stage.about(),
            preview: stage.pass().in_preview,
        };
        self.stages.iter().map(shown).collect()
    }

    /// The requested view, or the last that could be made.
    pub fn view(&self, snapshot: &Snapshot, params: &IrParams) -> IrResult {
        let at = params.position.map(|position| snapshot.lines.offset(position));
        let item = at.and_then(|at| snapshot.db.item_at(snapshot.file, at)).map(|(item, _)| item);
        let precision = snapshot.options.precision.core();
        let Some(stage) = self.stages.find(&params.stage) else {
            let message = Some(format!("the compiler has no stage `{}`", params.stage));
            return IrResult { message, ..IrResult::default() };
        };
        let key = (snapshot.uri.clone(), stage);
        let made = explain::view(&snapshot.db, snapshot.file, at, stage, precision);
        let mut known = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match made {
            Ok(view) => {
                let result = result(snapshot, stage, view);
                known.insert(key, (item, result.clone()));
                result
            }
            Err(why) => match known.get(&key) {
                Some((of, last)) if *of == item => {
                    let message = Some(LAST_GOOD.to_owned());
                    IrResult { stale: true, message, ..last.clone() }
                }
                _ => IrResult {
                    title: stage.title().to_owned(),
                    message: Some(why),
                    ..IrResult::default()
                },
            },
        }
    }

    /// Forgets a document that was closed.
    pub fn closed(&self, uri: &Uri) {
        let mut known = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(own, _), _| own != uri);
    }
}

fn result(snapshot: &Snapshot, stage: Stage, view: explain::StageView) -> IrResult {
    let lines = view.lines.iter().filter(|line| line.source.file == snapshot.file);
    let lines = lines.map(|line| IrLine {
        line: line.line,
        source: snapshot.lines.lsp_range(line.source.range),
    });
    IrResult {
        title: stage.title().to_owned(),
        lines: lines.collect(),
        subject: view.subject,
        text: view.text,
        summary: view.summary,
        stale: false,
        message: None,
    }
}

/// The form at a position as segments over flat data, step by step.
pub fn segments(snapshot: &Snapshot, position: Position) -> SegmentsResult {
    let at = snapshot.lines.offset(position);
    let precision = snapshot.options.precision.core();
    match explain::segments(&snapshot.db, snapshot.file, at, precision) {
        Err(why) => SegmentsResult { message: Some(why), ..SegmentsResult::default() },
        Ok(found) => SegmentsResult {
            subject: found.subject,
            message: None,
            steps: found.steps.into_iter().map(|one| step(snapshot, one)).collect(),
        },
    }
}

fn step(snapshot: &Snapshot, step: explain::SegmentStep) -> SegmentStep {
    SegmentStep {
        title: step.title,
        code: step.code,
        source: step.source.map(|range| snapshot.lines.lsp_range(range)),
        inputs: step.inputs.into_iter().map(value).collect(),
        output: step.output.map(value),
    }
}

fn level(level: explain::Level) -> Level {
    Level {
        kind: match level.kind {
            explain::Layout::Regular => "regular",
            explain::Layout::Contiguous | explain::Layout::Given => "contiguous",
            explain::Layout::Views => "views",
        },
        starts: level.starts,
        lengths: level.lengths,
    }
}

fn nested(component: explain::NestedComponent) -> NestedComponent {
    NestedComponent {
        component: component.component,
        levels: component.levels.into_iter().map(level).collect(),
        data: component.data,
        nested: component.nested.into_iter().map(nested).collect(),
    }
}

fn value(value: explain::SegmentedValue) -> SegmentedValue {
    SegmentedValue {
        name: value.name,
        ty: value.ty,
        value: value.value,
        levels: value.levels.into_iter().map(level).collect(),
        data: value.data,
        nested: value.nested.into_iter().map(nested).collect(),
    }
}
