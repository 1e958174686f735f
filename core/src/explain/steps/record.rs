//! Records the steps of a flat program that are shown, while it is interpreted.
//!
//! The recorder watches the interpreter ([`Watch`]) and makes a [`SegmentStep`] of each index space
//! and each value, with these exceptions: copies, pairs, length checks and values that nobody uses
//! are left out; the first value of an index space is shown with it; consecutive scalar operations
//! in one index space become one step; steps that change nothing join those before them
//! (`condense`).

use super::condense::{Kind, Recorded, condense};
use super::draw::{draw, space_to_show};
use super::example::Example;
use super::{BUDGET_NS, SegmentStep, names};
use crate::db::Cursor;
use crate::db::{Database, FileId};
use crate::explain::origin::{CALL_CHARS, Origins};
use crate::explain::summary::{Summariser, unspecialised_name};
use crate::flat::interp::{self, ExecutedStep, Frame, Limits, Watch};
use crate::flat::{self, Block, Function, Let, Op, Program, SpaceId, SpaceKind, Step, Version};
use crate::ir::{self, Atom, Site, Var};
use crate::prim::ScalarProperties;
use nesl_runtime::scalar::Precision;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of steps that are shown: the first ones and the last.
const MAX_STEPS: usize = 24;

/// The limits of an execution whose values fit into a drawing.
const LIMITS: Limits = Limits { max_elements: 200, max_call_depth: 40, budget_ns: BUDGET_NS };

/// Interprets an example and returns its steps; empty if nothing is executed in parallel.
///
/// # Errors
/// One line that says why the program failed or exceeded the limits.
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
        awaiting_element: None,
        elements: FxHashMap::default(),
        parallel: false,
        in_call: false,
    };
    if let Some(Some(function)) = program.functions.get(main) {
        let params = function.params.iter().zip(&example.names);
        let params = params.map(|((var, _), name)| (*var, name.clone())).collect();
        let about = FunctionInfo::new(cursor.db, cursor.item, program, function, Some(params));
        recorder.about.insert(std::ptr::from_ref(function), about);
    }
    let (args, version) = (example.args.clone(), Version::Flattened);
    interp::run_watched(program, args, precision, version, LIMITS, &mut recorder)
        .map_err(|stop| stop.to_string())?;
    let Recorder { steps, parallel, .. } = recorder;
    if !parallel {
        return Ok(Vec::new());
    }
    let mut steps = merged(cursor, condense(steps));
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

/// Returns the steps with those of a function that was inlined as one, and without steps that show what
/// the step before shows.
fn merged(cursor: &Cursor<'_>, steps: Vec<SegmentStep>) -> Vec<SegmentStep> {
    let origins = Origins::new(cursor.db, cursor.item);
    let mut all: Vec<SegmentStep> = Vec::new();
    for step in steps {
        let call = step.source.and_then(|source| origins.call_at(source));
        let Some(last) = all.last_mut() else {
            all.push(step);
            continue;
        };
        let same_picture = last.output.is_some() && last.output == step.output;
        let same_call = call.is_some() && last.source == step.source;
        if !same_picture && !same_call {
            all.push(step);
            continue;
        }
        if let (true, Some(call)) = (same_call, call) {
            last.title = format!("`{call}`");
        }
        last.code = format!("{}\n{}", last.code, step.code);
        // What a step inside has computed is no input of the whole.
        if same_call && step.output.is_some() {
            last.output = step.output;
        }
    }
    all
}

/// The names, layouts, code and uses of the values of a function.
struct FunctionInfo<'a> {
    summariser: Summariser<'a>,
    /// The lines of its text, by the index space or variable that they define.
    code: FxHashMap<String, String>,
    /// The variables that the flattened version uses.
    used: FxHashSet<Var>,
}

impl<'a> FunctionInfo<'a> {
    fn new(
        db: &'a Database,
        item: crate::base::ItemId,
        program: &'a Program,
        function: &'a Function,
        params: Option<FxHashMap<Var, String>>,
    ) -> FunctionInfo<'a> {
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
        let mut summariser = Summariser::new(db, item, program, function);
        let params = params.unwrap_or_else(|| summariser.names.clone());
        summariser.names = names::names(db, item, function, &params, summariser.origins());
        FunctionInfo { summariser, code, used }
    }

    /// Returns the line of the flat program that defines a variable (`v3`) or index space (`s1`).
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

/// Consecutive scalar operations in one index space, which are shown as one step.
struct MapStep {
    function: *const Function,
    space: SpaceId,
    /// The variables that the operations compute.
    results: Vec<Var>,
}

struct Recorder<'a> {
    db: &'a Database,
    file: FileId,
    program: &'a Program,
    about: FxHashMap<*const Function, FunctionInfo<'a>>,
    steps: Vec<Recorded>,
    /// The last step, if it consists of scalar operations that later ones may join.
    map: Option<MapStep>,
    /// The index space that the last step made, until its first element is computed.
    awaiting_element: Option<(*const Function, SpaceId)>,
    /// For each index space the value by which its elements are shown.
    elements: FxHashMap<(*const Function, SpaceId), Var>,
    /// True once an index space other than the caller's (or a filter of it) has been made.
    parallel: bool,
    /// True once the steps inside of a call are recorded.
    in_call: bool,
}

impl<'a> Recorder<'a> {
    /// Collects the facts about a function at its first use, and returns the key of `about`.
    fn prepare(&mut self, function: &Function) -> *const Function {
        let key = std::ptr::from_ref(function);
        if !self.about.contains_key(&key) {
            let mut functions = self.program.functions.iter().flatten();
            if let Some(own) = functions.find(|own| std::ptr::eq(*own, function)) {
                let item = own.index_space(SpaceId::CALLER).site.item;
                let about = FunctionInfo::new(self.db, item, self.program, own, None);
                self.about.insert(key, about);
            }
        }
        key
    }

    /// Returns the bytes of a source location, if it is in the file.
    fn source(&self, about: &FunctionInfo<'_>, site: Site) -> Option<crate::base::TextRange> {
        let range = about.summariser.range_in_form(site)?;
        (self.db.file_of(site.item) == self.file).then_some(range)
    }

    /// Returns the call that a scalar operation is a part of, if that is of a function that was inlined.
    fn call(about: &FunctionInfo<'_>, binding: &Let) -> Option<String> {
        if !matches!(binding.op, Op::Map(ir::Op::Scalar(..))) {
            return None;
        }
        let call = about.summariser.inlined(binding)?;
        Some(format!("`{}`", about.summariser.origins().text(call, CALL_CHARS)))
    }

    /// Records the making of an index space.
    fn index_space(&mut self, frame: &Frame<'_>, space: SpaceId) {
        let key = self.prepare(frame.function);
        let Some(about) = self.about.get(&key) else { return };
        let summariser = &about.summariser;
        let index_space = frame.function.index_space(space);
        let (title, made_of) = match &index_space.kind {
            SpaceKind::Caller => return,
            SpaceKind::Elements { of, sequence } => {
                let each = if frame.function.segments_of(*of).is_none() { "" } else { "every " };
                let name = summariser.quoted_name(*sequence);
                (format!("index space: the elements of {each}{name}"), Some(*sequence))
            }
            SpaceKind::Count { of, count } => {
                let each = if frame.function.segments_of(*of).is_none() { "" } else { "every " };
                let article = if each.is_empty() { "a" } else { "each" };
                let text = names::snippet(self.db, index_space.site.item, index_space.site.span);
                let var = match count {
                    Atom::Var(var) => Some(*var),
                    _ => None,
                };
                let count = match count {
                    Atom::Int(n) => format!("{n} elements"),
                    _ if text.is_empty() => format!("the elements of {article} range"),
                    _ => format!("the elements of {each}`{text}`"),
                };
                (format!("index space: {count}"), var)
            }
            // A condition that holds or not for all: the branch not taken is not shown.
            SpaceKind::Filter { of, .. } if is_single(frame, *of) => return,
            SpaceKind::Filter { flag, is, .. } => {
                let not = if *is { "" } else { "not " };
                let title = match summariser.named(*flag) {
                    Some(name) => format!("filter: the elements where {not}`{name}`"),
                    // The compiler has added the condition: the source has no text for it.
                    None => {
                        let flag = if *is { "T" } else { "F" };
                        format!("filter: the elements whose flag is {flag}")
                    }
                };
                (title, Some(*flag))
            }
            SpaceKind::Concat { .. } => {
                ("concatenate the segments: no data moves".to_owned(), None)
            }
        };
        let around = index_space.around().unwrap_or(SpaceId::CALLER);
        let inputs = made_of.and_then(|var| {
            let home = frame.home(var)?;
            draw(frame, summariser, var, home)
        });
        // A filter is shown by the elements that it selects, beside the flags.
        let shown = self.elements.get(&(key, around)).copied();
        let unfiltered = match index_space.kind {
            SpaceKind::Filter { of, .. } => shown
                .filter(|var| Some(*var) != made_of)
                .and_then(|var| draw(frame, summariser, var, of)),
            _ => None,
        };
        let output = match index_space.kind {
            SpaceKind::Filter { .. } | SpaceKind::Concat { .. } => {
                shown.and_then(|var| draw(frame, summariser, var, space))
            }
            _ => None,
        };
        let code = match &index_space.kind {
            // The filter of a branch has no line of its own: the conditional makes it.
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
            inputs: unfiltered.into_iter().chain(inputs).collect(),
            output,
        };
        let filters = matches!(index_space.kind, SpaceKind::Filter { .. });
        self.parallel |= !filters;
        self.awaiting_element = (!filters).then_some((key, space));
        if let (true, Some(var)) = (filters, shown) {
            self.elements.insert((key, space), var);
        }
        self.map = None;
        let kind = if filters { Kind::Other } else { Kind::IndexSpace };
        self.steps.push(Recorded { kind, step });
    }

    /// Records the computation of a value.
    fn value(&mut self, frame: &Frame<'_>, binding: &Let) {
        let key = self.prepare(frame.function);
        let Some(about) = self.about.get(&key) else { return };
        let space = binding.space;
        let summariser = &about.summariser;
        // Sequences that the source writes out are not shown as steps before the first parallel
        // one.
        let literal = match &binding.op {
            Op::Map(ir::Op::List(_) | ir::Op::Text(_) | ir::Op::Constants(_)) => true,
            // A negative number.
            Op::Map(ir::Op::Scalar(..)) => {
                binding.op.operands().iter().all(|atom| !matches!(atom, Atom::Var(_)))
            }
            _ => false,
        };
        if !about.used.contains(&binding.var) || (literal && !self.parallel) {
            return;
        }
        let is_element = matches!(binding.op, Op::Element { .. } | Op::Position { .. });
        if is_element {
            self.elements.entry((key, space)).or_insert(binding.var);
        }
        let Some(title) = title(self.program, frame, about, binding) else { return };
        let title = Recorder::call(about, binding).unwrap_or(title);
        let code = about.code(&format!("v{}", binding.var.0));
        let source = self.source(about, binding.site);
        let output = draw(frame, summariser, binding.var, space);
        if is_element && self.awaiting_element == Some((key, space)) {
            // It is shown with its index space.
            self.awaiting_element = None;
            if let Some(Recorded { step, .. }) = self.steps.last_mut() {
                step.code.push('\n');
                step.code.push_str(&code);
                step.output = output;
            }
            return;
        }
        let scalar = matches!(&binding.op, Op::Map(ir::Op::Scalar(..)));
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
            Some(map) if scalar && map.function == key && map.space == space => {
                vars.retain(|var| !map.results.contains(var));
                map.results.push(binding.var);
                true
            }
            _ => false,
        };
        for var in vars {
            let read_in = read_in(binding, var);
            if let Some(home) = space_to_show(frame, var, read_in) {
                inputs.extend(draw(frame, summariser, var, home));
            }
        }
        if joins && let Some(Recorded { step, .. }) = self.steps.last_mut() {
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
        self.awaiting_element = None;
        self.map = scalar.then(|| MapStep { function: key, space, results: vec![binding.var] });
        let kind = match binding.op {
            Op::Collect { .. } => Kind::Collect,
            _ => Kind::Other,
        };
        let step = SegmentStep { title, code, source, inputs, output };
        self.steps.push(Recorded { kind, step });
    }
}

/// Returns the index space in which a step reads one of its operands: what collects, combines or writes
/// the elements of an index space reads them there, and of a filter only those that are left.
fn read_in(binding: &Let, var: Var) -> SpaceId {
    match binding.op {
        Op::Collect { from, .. } | Op::Reduce { from, .. } | Op::Histogram { from, .. } => from,
        Op::Scatter { of, from, .. } if of != var => from,
        _ => binding.space,
    }
}

impl Watch for Recorder<'_> {
    fn executed(&mut self, frame: &Frame<'_>, step: ExecutedStep<'_>) {
        match step {
            ExecutedStep::IndexSpace(space) => self.index_space(frame, space),
            ExecutedStep::Value(binding) => self.value(frame, binding),
        }
    }

    fn watch_call(&mut self, _: &Frame<'_>, _: &Let) -> bool {
        // Only the first call is shown from inside, and only if no parallel step came before it.
        let watch = !self.in_call && !self.parallel;
        self.in_call |= watch;
        watch
    }
}

/// Returns true for an index space that has one element and no segments: that of the caller.
fn is_single(frame: &Frame<'_>, space: SpaceId) -> bool {
    let elements = frame.space(space);
    elements.is_some_and(|elements| elements.count == 1 && elements.segments.is_none())
}

/// Returns the title of a step in words; `None` for a step that only passes values on.
fn title(
    program: &Program,
    frame: &Frame<'_>,
    about: &FunctionInfo<'_>,
    binding: &Let,
) -> Option<String> {
    let segments = if is_single(frame, binding.space) { "all elements" } else { "each segment" };
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
            ir::Op::Text(_) | ir::Op::List(_) | ir::Op::Constants(_) => {
                "make a sequence".to_owned()
            }
            ir::Op::Call(callee, _) => {
                let callee = program.source.functions.get(callee.0 as usize)?;
                format!("each element calls `{}` sequentially", unspecialised_name(&callee.name))
            }
            ir::Op::If { .. } => "each element executes its branch of a conditional".to_owned(),
            ir::Op::Nest(_) => "each element runs a loop sequentially".to_owned(),
            ir::Op::Error(_) | ir::Op::Host(..) | ir::Op::Time(_) => return None,
        },
        Op::Element { of, .. } => {
            format!("the element of {} at each index", about.summariser.quoted_name(*of))
        }
        Op::Position { .. } => "the index of each element in its segment".to_owned(),
        Op::Gather(from, _) => match from {
            Atom::Var(var) => {
                format!(
                    "gather: each element reads {} at an index",
                    about.summariser.quoted_name(*var)
                )
            }
            _ => "gather: each element reads at an index".to_owned(),
        },
        // The count of a range and the check of lengths only distract.
        Op::Extent { .. } | Op::SameLength(..) => return None,
        Op::Collect { .. } if is_single(frame, binding.space) => {
            "collect the elements into a sequence".to_owned()
        }
        Op::Collect { .. } => "collect each segment into a sequence: no data moves".to_owned(),
        Op::Reduce { with, .. } => format!("{} of {segments}", with.label()),
        Op::Histogram { with, .. } => {
            format!("histogram: {} of the values for each index", with.label())
        }
        Op::Scatter { of, .. } => {
            format!(
                "scatter: each element writes to {} at an index",
                about.summariser.quoted_name(*of)
            )
        }
        Op::Scan { with, .. } => {
            format!(
                "scan: for each element, {} of those before it in its segment",
                with.scan_label()
            )
        }
        // The branch that is taken has been shown.
        Op::Branch { .. } if is_single(frame, binding.space) => return None,
        Op::Branch { .. } => "merge the results of both branches".to_owned(),
        Op::Call(callee, _) => {
            let callee = program.source.functions.get(callee.0 as usize)?;
            format!("call `{}` for all elements at once", unspecialised_name(&callee.name))
        }
        Op::Sequential(_) => "each element runs this sequentially".to_owned(),
        // The steps inside have been shown.
        Op::Versions { .. } => return None,
    })
}
