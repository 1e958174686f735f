//! Keeps the steps that matter while a flat program is evaluated.

use super::draw::{self, drawn};
use super::example::Example;
use super::{BUDGET_NS, SegmentStep, names};
use crate::db::Cursor;
use crate::db::{Database, FileId};
use crate::explain::summary::{Reader, plain};
use crate::flat::interp::{self, Done, Frame, Limits, Watch};
use crate::flat::{self, Block, Function, Let, Op, Program, SpaceId, SpaceKind, Step, Version};
use crate::ir::{self, Atom, Site, Var};
use crate::prim::ScalarProperties;
use nesl_runtime::scalar::Precision;
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of steps that are shown; those before the last are left out.
const MAX_STEPS: usize = 24;

/// More cannot be drawn.
const LIMITS: Limits = Limits { max_elements: 200, max_call_depth: 40, budget_ns: BUDGET_NS };

/// The steps of an example.
pub(super) fn steps(
    cursor: &Cursor<'_>,
    example: &Example,
    precision: Precision,
) -> Result<Vec<SegmentStep>, String> {
    let program = &example.program;
    let main = program.source.main.0 as usize;
    let mut recorder = Recorder {
        db: cursor.db,
        file: cursor.file,
        program,
        about: FxHashMap::default(),
        steps: Vec::new(),
        map: None,
        waits: None,
        elements: FxHashMap::default(),
        parallel: false,
        inside: false,
    };
    if let Some(Some(function)) = program.functions.get(main) {
        let params = function.params.iter().zip(&example.names);
        let params = params.map(|((var, _), name)| (*var, name.clone())).collect();
        let about = About::new(cursor.db, cursor.item, program, function, Some(params));
        recorder.about.insert(std::ptr::from_ref(function), about);
    }
    let (args, version) = (example.args.clone(), Version::Flattened);
    interp::run_watched(program, args, precision, version, LIMITS, &mut recorder)
        .map_err(|stop| stop.to_string())?;
    let Recorder { mut steps, parallel, .. } = recorder;
    if !parallel {
        return Ok(Vec::new());
    }
    if steps.len() > MAX_STEPS {
        let left = steps.len() - MAX_STEPS;
        let last = steps.pop();
        steps.truncate(MAX_STEPS - 1);
        steps.extend(last.map(|last| SegmentStep {
            title: format!("(after {left} more steps) {}", last.title),
            ..last
        }));
    }
    Ok(steps)
}

/// The names, layouts, code and uses of the values of a function.
struct About<'a> {
    reader: Reader<'a>,
    /// The lines of its text, by what they define.
    code: FxHashMap<String, String>,
    /// The variables that the flattened version uses.
    used: FxHashSet<Var>,
}

impl<'a> About<'a> {
    fn new(
        db: &'a Database,
        item: crate::base::ItemId,
        program: &'a Program,
        function: &'a Function,
        params: Option<FxHashMap<Var, String>>,
    ) -> About<'a> {
        let text = flat::print_function(function, program);
        let mut code = FxHashMap::default();
        for line in text.lines().map(str::trim) {
            let name = line.split([':', ' ']).next().unwrap_or("");
            let flattened = line.starts_with('s') || line.contains(" in s");
            if flattened && !line.contains(" = versions {") {
                code.entry(name.to_owned()).or_insert_with(|| line.to_owned());
            }
        }
        let mut used = FxHashSet::default();
        uses(function, &function.body, &mut used);
        let mut reader = Reader::new(db, item, program, function);
        let params = params.unwrap_or_else(|| reader.names.clone());
        reader.names = names::names(db, item, function, &params);
        About { reader, code, used }
    }

    fn code(&self, name: &str) -> String {
        self.code.get(name).cloned().unwrap_or_default()
    }
}

/// Collects the variables that the flattened version of a function uses.
fn uses(function: &Function, block: &Block, used: &mut FxHashSet<Var>) {
    let index_space = |space: SpaceId, used: &mut FxHashSet<Var>| {
        used.extend(function.index_space(space).kind.made_of());
    };
    for step in &block.steps {
        match step {
            Step::Space(space) => index_space(*space, used),
            Step::Kernel(_) => {}
            Step::Let(binding) => match &binding.op {
                Op::Versions { flattened, .. } => {
                    crate::base::with_stack(|| uses(function, flattened, used));
                }
                Op::Branch { cond, then, otherwise } => {
                    used.insert(*cond);
                    for (space, block) in [then, otherwise] {
                        index_space(*space, used);
                        crate::base::with_stack(|| uses(function, block, used));
                    }
                }
                op => op.each_use(&mut |var| {
                    used.insert(var);
                }),
            },
        }
    }
    if let Atom::Var(var) = block.result {
        used.insert(var);
    }
}

/// Steps at the points of one context that are shown as one.
struct Map {
    function: *const Function,
    space: SpaceId,
    made: Vec<Var>,
}

struct Recorder<'a> {
    db: &'a Database,
    file: FileId,
    program: &'a Program,
    about: FxHashMap<*const Function, About<'a>>,
    steps: Vec<SegmentStep>,
    /// The last step, if later ones may join it.
    map: Option<Map>,
    /// The last step is a context whose elements come next.
    waits: Option<(*const Function, SpaceId)>,
    /// A value to show the points of a context by.
    elements: FxHashMap<(*const Function, SpaceId), Var>,
    /// There is a context with more than the caller's point.
    parallel: bool,
    /// A call is being followed.
    inside: bool,
}

impl<'a> Recorder<'a> {
    fn prepare(&mut self, function: &Function) -> *const Function {
        let key = std::ptr::from_ref(function);
        if !self.about.contains_key(&key) {
            let mut functions = self.program.functions.iter().flatten();
            if let Some(own) = functions.find(|own| std::ptr::eq(*own, function)) {
                let item = own.index_space(SpaceId::CALLER).site.item;
                let about = About::new(self.db, item, self.program, own, None);
                self.about.insert(key, about);
            }
        }
        key
    }

    /// The bytes of a place, if they are in the file.
    fn source(&self, about: &About<'_>, site: Site) -> Option<crate::base::TextRange> {
        let range = about.reader.own(site)?;
        (self.db.file_of(site.item) == self.file).then_some(range)
    }

    fn index_space(&mut self, frame: &Frame<'_>, space: SpaceId) {
        let key = self.prepare(frame.function);
        let Some(about) = self.about.get(&key) else { return };
        let reader = &about.reader;
        let index_space = frame.function.index_space(space);
        let (title, made_of) = match &index_space.kind {
            SpaceKind::Caller => return,
            SpaceKind::Elements { of, sequence } => {
                let each = if frame.function.segments_of(*of).is_none() { "" } else { "every " };
                let name = reader.called(*sequence);
                (format!("a point for each element of {each}{name}"), Some(*sequence))
            }
            SpaceKind::Count { of, count } => {
                let each = if frame.function.segments_of(*of).is_none() { "" } else { "every " };
                let text = names::snippet(self.db, index_space.site.item, index_space.site.span);
                let var = match count {
                    Atom::Var(var) => Some(*var),
                    _ => None,
                };
                let count = match count {
                    Atom::Int(n) => format!("each of {n}"),
                    _ if text.is_empty() => "each of a range".to_owned(),
                    _ => format!("each element of {each}`{text}`"),
                };
                (format!("a point for {count}"), var)
            }
            SpaceKind::Filter { flag, is, .. } => {
                let not = if *is { "" } else { "not " };
                let name = reader.called(*flag);
                (format!("keep the points where {not}{name}"), Some(*flag))
            }
            SpaceKind::Concat { .. } => {
                ("join the segments of a level: no data moves".to_owned(), None)
            }
        };
        let around = index_space.around().unwrap_or(SpaceId::CALLER);
        let inputs = made_of.and_then(|var| {
            let home = frame.home(var)?;
            drawn(frame, reader, var, home)
        });
        // The points that are kept are shown by what is there.
        let shown = self.elements.get(&(key, around)).copied();
        let output = match index_space.kind {
            SpaceKind::Filter { .. } | SpaceKind::Concat { .. } => {
                shown.and_then(|var| drawn(frame, reader, var, space))
            }
            _ => None,
        };
        let code = match &index_space.kind {
            // That of a side of a conditional stands on the line of the conditional.
            SpaceKind::Filter { of, flag, is } => {
                let not = if *is { "" } else { "not " };
                format!("{space} = filter {not}v{} of {of}", flag.0)
            }
            _ => about.code(&space.to_string()),
        };
        let step = SegmentStep {
            title,
            code,
            source: self.source(about, index_space.site),
            inputs: inputs.into_iter().collect(),
            output,
        };
        let filters = matches!(index_space.kind, SpaceKind::Filter { .. });
        self.parallel |= !filters;
        self.waits = (!filters).then_some((key, space));
        if let (true, Some(var)) = (filters, shown) {
            self.elements.insert((key, space), var);
        }
        self.map = None;
        self.steps.push(step);
    }

    fn value(&mut self, frame: &Frame<'_>, binding: &Let) {
        let key = self.prepare(frame.function);
        let Some(about) = self.about.get(&key) else { return };
        let space = binding.space;
        let reader = &about.reader;
        // Before anything is done in parallel, sequences that the source writes out are as they are.
        let written = matches!(&binding.op, Op::Map(ir::Op::List(_) | ir::Op::Text(_)));
        if !about.used.contains(&binding.var) || (written && !self.parallel) {
            return;
        }
        let arrives = matches!(binding.op, Op::Element { .. } | Op::Position);
        if arrives {
            self.elements.entry((key, space)).or_insert(binding.var);
        }
        let Some(title) = title(self.program, frame, about, binding) else { return };
        let code = about.code(&format!("v{}", binding.var.0));
        let source = self.source(about, binding.site);
        let output = drawn(frame, reader, binding.var, space);
        if arrives && self.waits == Some((key, space)) {
            // It belongs to the context.
            self.waits = None;
            if let Some(step) = self.steps.last_mut() {
                step.code.push('\n');
                step.code.push_str(&code);
                step.output = output;
            }
            return;
        }
        let simple = matches!(&binding.op, Op::Map(ir::Op::Scalar(..)));
        let mut inputs = Vec::new();
        let mut vars: Vec<Var> = Vec::new();
        for atom in binding.op.operands() {
            if let Atom::Var(var) = atom
                && !vars.contains(&var)
            {
                vars.push(var);
            }
        }
        let joins = match &mut self.map {
            Some(map) if simple && map.function == key && map.space == space => {
                vars.retain(|var| !map.made.contains(var));
                map.made.push(binding.var);
                true
            }
            _ => false,
        };
        for var in vars {
            if let Some(home) = draw::shown_at(frame, var, space) {
                inputs.extend(drawn(frame, reader, var, home));
            }
        }
        if joins && let Some(step) = self.steps.last_mut() {
            if !step.title.ends_with(&title) {
                step.title = format!("{}, {title}", step.title);
            }
            step.code.push('\n');
            step.code.push_str(&code);
            step.source = match (step.source, source) {
                (Some(a), Some(b)) => Some(a.cover(b)),
                (a, b) => a.or(b),
            };
            for input in inputs {
                if !step.inputs.contains(&input) {
                    step.inputs.push(input);
                }
            }
            step.output = output;
            return;
        }
        self.waits = None;
        self.map = simple.then(|| Map { function: key, space, made: vec![binding.var] });
        self.steps.push(SegmentStep { title, code, source, inputs, output });
    }
}

impl Watch for Recorder<'_> {
    fn done(&mut self, frame: &Frame<'_>, step: Done<'_>) {
        match step {
            Done::IndexSpace(space) => self.index_space(frame, space),
            Done::Value(binding) => self.value(frame, binding),
        }
    }

    fn follows(&mut self, _: &Frame<'_>, _: &Let) -> bool {
        // Once, if nothing has happened that is worth looking at.
        let follows = !self.inside && !self.parallel;
        self.inside |= follows;
        follows
    }
}

/// The title of a step in words; `None` for a step that only passes values on.
fn title(program: &Program, frame: &Frame<'_>, about: &About<'_>, binding: &Let) -> Option<String> {
    let single = |space: SpaceId| {
        let elements = frame.space(space);
        elements.is_some_and(|elements| elements.count == 1 && elements.segments.is_none())
    };
    let segments = if single(binding.space) { "all" } else { "each segment" };
    Some(match &binding.op {
        Op::Map(op) => match op {
            ir::Op::Copy(_)
            | ir::Op::Pair(..)
            | ir::Op::First(_)
            | ir::Op::Second(_)
            | ir::Op::Global(_)
            | ir::Op::Check { .. } => return None,
            ir::Op::Scalar(op, _) => op.row().label.to_owned(),
            ir::Op::Seq(op, _) => op.label(),
            ir::Op::Text(_) | ir::Op::List(_) => "make a sequence".to_owned(),
            ir::Op::Call(callee, _) => {
                let callee = program.source.functions.get(callee.0 as usize)?;
                format!("call `{}`, each point by itself", plain(&callee.name))
            }
            ir::Op::If { .. } => "each point takes its side of a conditional".to_owned(),
            ir::Op::Nest(_) => "each point goes through a loop by itself".to_owned(),
            ir::Op::Error(_) | ir::Op::Host(..) | ir::Op::Time(_) => return None,
        },
        Op::Element { of, .. } => {
            format!("the element of {} at each point", about.reader.called(*of))
        }
        Op::Position => "the position of each point in its segment".to_owned(),
        Op::Gather(from, _) => match from {
            Atom::Var(var) => {
                format!("each point reads {} at its place", about.reader.called(*var))
            }
            _ => "each point reads at its place".to_owned(),
        },
        // The count of a range, and that lengths agree, is told of no student.
        Op::Extent(..) | Op::SameLength(..) => return None,
        Op::Collect { .. } if single(binding.space) => "the points become a sequence".to_owned(),
        Op::Collect { .. } => "each segment becomes a sequence: no data moves".to_owned(),
        Op::Reduce { with, .. } => format!("{} of {segments}", with.label()),
        Op::Histogram { with, .. } => {
            format!("{} of what belongs to each place of a table", with.label())
        }
        Op::Scatter { of, .. } => {
            format!("each point writes to {} at its place", about.reader.called(*of))
        }
        Op::Scan { with, .. } => {
            format!("at each point, {} of those before it in its segment", with.scan_label())
        }
        Op::Branch { .. } => "the sides come together".to_owned(),
        Op::Call(callee, _) => {
            let callee = program.source.functions.get(callee.0 as usize)?;
            format!("call `{}` for all points at once", plain(&callee.name))
        }
        Op::Sequential(_) => "each point does all of this by itself".to_owned(),
        // Its steps have been shown.
        Op::Versions { .. } => return None,
    })
}
