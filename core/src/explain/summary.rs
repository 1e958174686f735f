//! The kernels of a form, and the choices between versions, in a few readable lines.
//!
//! The lines describe the fused program, which is what will be executed. Facts that depend on the
//! data are stated in words: the numbers of elements, and so the version that is chosen, and the
//! number of levels of a recursion.

use super::form::program;
use crate::base::{ItemId, Loc, TextRange, shorten};
use crate::db::Database;
use crate::flat::{Block, Function, Kernel, Let, Op, Program, SpaceId, SpaceKind, Step};
use crate::ir::mnemonic::Mnemonic;
use crate::ir::{self, Atom, Site, Ty, Var};
use crate::pipeline;
use crate::prim::{Cost, SeqOp};
use crate::syntax::ast::{Expr, ItemKind, Pat, PatId};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;

/// The layout of the segments of a sequence in its data, from the cheapest to the most expensive to
/// access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layout {
    /// Contiguous segments of equal length.
    Regular,
    /// Contiguous segments of any lengths: each begins where the one before ends.
    Contiguous,
    /// Segments at any offsets; they may overlap.
    Views,
    /// The layout of the caller's argument, which is not known.
    Given,
}

impl Layout {
    /// Returns the name that is shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Regular => "regular",
            Layout::Contiguous => "contiguous",
            Layout::Views => "views",
            Layout::Given => "as given",
        }
    }
}

/// One line of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryLine {
    /// The number of versions and conditions that contain it.
    pub depth: u32,
    /// The line in words, without indentation.
    pub text: String,
    /// The source ranges in the form of the operations that it executes.
    pub sources: Vec<TextRange>,
    /// True for a kernel, which is launched each time the line is executed.
    pub launch: bool,
    /// True for the line that introduces the sequential version of a multi-versioned value; the
    /// launches of the deeper lines below it are alternatives to those of the flattened version.
    pub sequential_version: bool,
}

impl SummaryLine {
    fn new(depth: u32, text: String, sources: Vec<TextRange>, launch: bool) -> SummaryLine {
        SummaryLine { depth, text, sources, launch, sequential_version: false }
    }
}

/// The summary of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The lines, in the order of the program.
    pub lines: Vec<SummaryLine>,
    /// The number of kernels; of a multi-versioned value, those of the flattened version.
    pub launches: u32,
    /// True if it has a multi-versioned value, whose version depends on the number of elements.
    pub chosen: bool,
    /// True if it is recursive, directly or through calls.
    pub recursive: bool,
    /// The names of the functions that it calls in flattened form; their launches are not counted.
    pub calls: Vec<String>,
    /// The layouts of the nested sequences over whose elements kernels iterate.
    pub layouts: Vec<Layout>,
}

impl Summary {
    /// Returns the summary in a few words: `2 launches · regular · version chosen by size`.
    pub fn headline(&self) -> String {
        let calls = match &self.calls[..] {
            [] => None,
            [one] => Some(format!("calls {one}")),
            [first, rest @ ..] => Some(format!("calls {first} and {} more", rest.len())),
        };
        let mut parts = match (self.launches, calls) {
            (0, None) => vec!["no launch".to_owned()],
            (0, Some(calls)) => vec![calls],
            (1, calls) => std::iter::once("1 launch".to_owned()).chain(calls).collect(),
            (n, calls) => std::iter::once(format!("{n} launches")).chain(calls).collect(),
        };
        if self.recursive {
            parts.push("for each level of recursion".to_owned());
        }
        let mut layouts = self.layouts.clone();
        layouts.sort();
        layouts.dedup();
        let known = layouts.iter().filter(|layout| **layout != Layout::Given);
        parts.extend(known.map(|layout| layout.name().to_owned()));
        if self.chosen {
            parts.push("version chosen by size".to_owned());
        }
        parts.join(" · ")
    }
}

/// Summarises the kernels that a form becomes.
///
/// # Errors
/// One line that says why the form has no program.
pub fn summary(db: &Database, item: ItemId, precision: Precision) -> Result<Summary, String> {
    let program = program(db, item, precision)?;
    let fused = pipeline::compile(&program, &pipeline::Options::at(precision)).flat;
    let main = fused.source.main.0 as usize;
    let Some(Some(function)) = fused.functions.get(main) else {
        let mut summary = Summary::default();
        let text = "step by step on the host: it prints, reads files or asks the clock".to_owned();
        summary.lines.push(SummaryLine::new(0, text, Vec::new(), false));
        return Ok(summary);
    };
    let mut summariser = Summariser::new(db, item, &fused, function);
    summariser.block(&function.body, 0, false);
    let mut summary = summariser.summary;
    summary.recursive = crate::strategy::recursive(&fused).get(main).copied().unwrap_or(false);
    Ok(summary)
}

/// Returns the headline of a form's summary; `None` if the form has no program.
pub fn headline(db: &Database, item: ItemId, precision: Precision) -> Option<String> {
    summary(db, item, precision).ok().map(|summary| summary.headline())
}

/// Summarises a function of a flat program; it knows the names and layouts of the variables.
pub(super) struct Summariser<'a> {
    db: &'a Database,
    item: ItemId,
    program: &'a Program,
    function: &'a Function,
    /// The text in the source of each variable that has a short one.
    pub(super) names: FxHashMap<Var, String>,
    pub(super) layouts: FxHashMap<Var, Layout>,
    summary: Summary,
}

impl<'a> Summariser<'a> {
    pub(super) fn new(
        db: &'a Database,
        item: ItemId,
        program: &'a Program,
        function: &'a Function,
    ) -> Summariser<'a> {
        let mut summariser = Summariser {
            db,
            item,
            program,
            function,
            names: FxHashMap::default(),
            layouts: FxHashMap::default(),
            summary: Summary::default(),
        };
        summariser.name_params();
        function.body.each_let(&mut |binding| summariser.name_and_lay_out(binding));
        summariser
    }

    /// Names the parameters: a function's after the variables of its pattern, another form's after
    /// the top-level variables that it reads.
    fn name_params(&mut self) {
        let params = &self.function.params;
        let globals = &self.program.source.globals;
        let mut names: Vec<String> = globals.iter().map(|g| g.name.to_string()).collect();
        let ast = self.db.ast(self.item);
        if let ItemKind::Function(function) = &ast.kind {
            let mut own = Vec::new();
            pattern_names(&ast.pats, function.param, &mut own);
            names = own;
        }
        // The layout of an argument is the caller's.
        for (var, ty) in params {
            if matches!(ty, Ty::Sequence(_)) {
                self.layouts.insert(*var, Layout::Given);
            }
        }
        if names.len() == params.len() {
            for ((var, _), name) in params.iter().zip(names) {
                self.names.insert(*var, name);
            }
        }
    }

    /// Finds a variable's text in the source, and its layout if it is a sequence.
    fn name_and_lay_out(&mut self, binding: &Let) {
        if let Some(range) = self.range_in_form(binding.site) {
            let text = &self.db.file_text(self.db.file_of(self.item))[range];
            // The element of `x in xs` is `x`.
            let text = match (&binding.op, text.split_once(" in ")) {
                (Op::Element { .. }, Some((element, _))) => element,
                _ => text,
            };
            if text.len() <= 24 && !text.contains('\n') {
                self.names.insert(binding.var, text.to_owned());
            }
        }
        if !matches!(binding.ty, Ty::Sequence(_)) {
            return;
        }
        let layout = match &binding.op {
            Op::Collect { from, .. } => self.layout(*from),
            Op::Map(ir::Op::Seq(op, _)) => match op {
                SeqOp::Range | SeqOp::Dist => Layout::Regular,
                SeqOp::Subseq | SeqOp::Partition | SeqOp::Index => Layout::Views,
                _ => Layout::Contiguous,
            },
            Op::Element { of, .. } => self.layouts.get(of).copied().unwrap_or(Layout::Given),
            Op::Gather(..) => Layout::Views,
            _ => Layout::Given,
        };
        self.layouts.insert(binding.var, layout);
    }

    /// Returns the layout of the segments of an index space.
    pub(super) fn layout(&self, space: SpaceId) -> Layout {
        match &self.function.index_space(space).kind {
            SpaceKind::Caller => Layout::Regular,
            SpaceKind::Count { of, count } => match count {
                // A count that does not depend on the outer element makes segments of equal length.
                Atom::Var(var) if !self.outside(*var, *of) => Layout::Contiguous,
                _ => Layout::Regular,
            },
            SpaceKind::Elements { sequence, .. } => {
                self.layouts.get(sequence).copied().unwrap_or(Layout::Given)
            }
            SpaceKind::Filter { .. } | SpaceKind::Concat { .. } => Layout::Contiguous,
        }
    }

    /// Returns true if a variable is defined outside of an index space, so that its value is
    /// uniform within each segment.
    fn outside(&self, var: Var, space: SpaceId) -> bool {
        let mut home = None;
        self.function.body.each_let(&mut |binding| {
            if binding.var == var {
                home = Some(binding.space);
            }
        });
        home.is_none_or(|home| home != space && self.function.is_within(space, home))
    }

    /// Returns the bytes of a source location, if it is in the form itself.
    pub(super) fn range_in_form(&self, site: Site) -> Option<TextRange> {
        let Site { item, span } = site;
        let inside = item == self.item && span.start < span.end;
        inside.then(|| self.db.place(Loc { item, span }).range)
    }

    /// Returns the range of the apply-to-each that has a binding at a source location, or else the
    /// range of the location.
    fn nest(&self, site: Site) -> Option<TextRange> {
        let own = self.range_in_form(site)?;
        let ast = self.db.ast(self.item);
        let nests = ast.exprs.iter().filter(|(_, expr)| match expr {
            Expr::Each { bindings, .. } => bindings.iter().any(|(pat, sequence)| {
                ast.pat_spans[*pat].cover(ast.expr_spans[*sequence]) == site.span
            }),
            _ => false,
        });
        let spans = nests.map(|(id, _)| ast.expr_spans[id]);
        let smallest = spans.min_by_key(|span| span.end - span.start);
        let place = |span| self.db.place(Loc { item: self.item, span }).range;
        Some(smallest.map_or(own, place))
    }

    /// Returns the source text of a variable in backquotes, or else its name in the flat program.
    pub(super) fn quoted_name(&self, var: Var) -> String {
        self.names.get(&var).map_or_else(|| format!("v{}", var.0), |name| format!("`{name}`"))
    }

    /// Returns the elements of an index space in words, from the innermost space outwards.
    fn describe_space(&self, space: SpaceId) -> String {
        match &self.function.index_space(space).kind {
            SpaceKind::Caller => "once".to_owned(),
            SpaceKind::Elements { of, sequence } => {
                format!(
                    "each element of {}{}",
                    self.quoted_name(*sequence),
                    self.describe_parent(*of)
                )
            }
            SpaceKind::Count { of, count } => {
                let count = match count {
                    Atom::Var(var) => self.quoted_name(*var),
                    Atom::Int(n) => n.to_string(),
                    _ => "some".to_owned(),
                };
                let count = count.strip_prefix('v').map_or(count.clone(), |_| "a range".to_owned());
                format!("each of {count}{}", self.describe_parent(*of))
            }
            SpaceKind::Filter { of, flag, is } => {
                let not = if *is { "" } else { "not " };
                format!("{}, where {not}{}", self.describe_space(*of), self.quoted_name(*flag))
            }
            SpaceKind::Concat { inner, .. } => self.describe_space(*inner),
        }
    }

    /// Returns the words that continue the description of an index space with those around it.
    fn describe_parent(&self, space: SpaceId) -> String {
        match self.function.index_space(space).kind {
            SpaceKind::Caller => String::new(),
            _ => format!(", for {}", self.describe_space(space)),
        }
    }

    /// Appends a line to the summary.
    fn push_line(&mut self, depth: u32, text: String, sources: Vec<TextRange>, launch: bool) {
        self.summary.lines.push(SummaryLine::new(depth, text, sources, launch));
    }

    /// Summarises a block at a nesting depth of lines. `in_sequential` is true inside of a
    /// sequential version, whose launches are not counted, because those of the flattened version
    /// are.
    fn block(&mut self, block: &'a Block, depth: u32, in_sequential: bool) {
        for step in &block.steps {
            match step {
                Step::Space(space) => {
                    if self.function.index_space(*space).around() != Some(SpaceId::CALLER) {
                        let layout = self.layout(*space);
                        self.summary.layouts.push(layout);
                    }
                }
                Step::Kernel(kernel) => self.kernel(kernel, depth, in_sequential),
                Step::Let(binding) => self.value(binding, depth, in_sequential),
            }
        }
    }

    /// Summarises a kernel in one line: its index space, its operations and its filters.
    fn kernel(&mut self, kernel: &Kernel, depth: u32, in_sequential: bool) {
        let working: Vec<&Let> = kernel.lets.iter().filter(|b| does_work(b)).collect();
        let launched = working.iter().any(|b| needs_launch(b));
        let on_host = kernel.space == SpaceId::CALLER && !launched && self.runs_once();
        if working.is_empty() || (on_host && !working.iter().any(|b| is_sequential(b))) {
            return;
        }
        let mut sources: Vec<TextRange> =
            working.iter().filter_map(|b| self.range_in_form(b.site)).collect();
        sources.dedup();
        let mut names: Vec<String> = Vec::new();
        for binding in &working {
            let name = self.operation_name(binding);
            match names.last() {
                Some(last) if *last == name => {}
                _ => names.push(name),
            }
        }
        if names.len() > 7 {
            let rest = names.len() - 5;
            names.truncate(5);
            names.push(format!("{rest} more"));
        }
        for mask in &kernel.masks {
            let SpaceKind::Filter { flag, is, .. } = &self.function.index_space(*mask).kind else {
                continue;
            };
            let not = if *is { "" } else { "not " };
            names.push(format!("filter {not}{}", self.quoted_name(*flag)));
        }
        let text = format!("{}: {}", self.describe_space(kernel.space), names.join(", "));
        if !in_sequential {
            self.summary.launches += 1;
        }
        self.push_line(depth, text, sources, true);
    }

    /// Returns true if the outermost index space has a single element: a form that is not a
    /// function is executed once.
    fn runs_once(&self) -> bool {
        !matches!(self.db.ast(self.item).kind, ItemKind::Function(_))
    }

    /// Returns the name of the operation of a step in the list of a kernel's operations.
    fn operation_name(&self, binding: &Let) -> String {
        match &binding.op {
            Op::Map(op) => match op {
                ir::Op::Scalar(op, _) => op.mnemonic().to_owned(),
                ir::Op::Seq(op, _) => op.mnemonic().to_owned(),
                ir::Op::If { .. } => "if".to_owned(),
                ir::Op::Call(callee, _) => {
                    let callee = self.program.source.functions.get(callee.0 as usize);
                    format!("call {}", callee.map_or("", |f| unspecialised_name(&f.name)))
                }
                ir::Op::Nest(_) => "a loop".to_owned(),
                ir::Op::Check { .. } => "check".to_owned(),
                ir::Op::List(_) => "list".to_owned(),
                ir::Op::Text(_) => "text".to_owned(),
                _ => "copy".to_owned(),
            },
            Op::Gather(..) => "gather".to_owned(),
            Op::Reduce { with, .. } => SeqOp::Reduce(*with).mnemonic().to_owned(),
            Op::Histogram { with, .. } => SeqOp::Histogram(*with).mnemonic().to_owned(),
            Op::Scan { with, .. } => SeqOp::Scan(*with).mnemonic().to_owned(),
            Op::Scatter { .. } => SeqOp::Scatter.mnemonic().to_owned(),
            Op::SameLength(..) => "compare lengths".to_owned(),
            Op::Sequential(_) => self.describe_sequential(binding.site),
            Op::Extent(..) => "count".to_owned(),
            Op::Element { .. }
            | Op::Position
            | Op::Collect { .. }
            | Op::Branch { .. }
            | Op::Call(..)
            | Op::Versions { .. } => "copy".to_owned(),
        }
    }

    /// Returns the source text of the code that runs sequentially, shortened and in backquotes.
    fn describe_sequential(&self, site: Site) -> String {
        let snippet = self.nest(site).map(|range| {
            let text = &self.db.file_text(self.db.file_of(self.item))[range];
            shorten(text, 32)
        });
        snippet.map_or_else(|| "sequential code".to_owned(), |text| format!("`{text}`"))
    }

    /// Summarises a step that is no kernel: a conditional, a call, or a multi-versioned value.
    fn value(&mut self, binding: &'a Let, depth: u32, in_sequential: bool) {
        let sources: Vec<TextRange> = self.range_in_form(binding.site).into_iter().collect();
        match &binding.op {
            Op::Versions { sequential, flattened } => {
                self.summary.chosen = true;
                let text =
                    format!("{}, one of two versions:", self.describe_sequential(binding.site));
                self.push_line(depth, text, sources, false);
                let many =
                    "sequential, a thread for each element: for many elements, or little work";
                let line = SummaryLine::new(depth + 1, many.to_owned(), Vec::new(), false);
                self.summary.lines.push(SummaryLine { sequential_version: true, ..line });
                self.block(sequential, depth + 2, true);
                let few = "flattened, for all elements at once: for few elements with much parallelism inside";
                self.push_line(depth + 1, few.to_owned(), Vec::new(), false);
                self.block(flattened, depth + 2, in_sequential);
            }
            Op::Branch { cond, then, otherwise } => {
                let cond = self.quoted_name(*cond);
                self.push_line(depth, format!("where {cond}:"), sources, false);
                self.block(&then.1, depth + 1, in_sequential);
                self.push_line(depth, format!("where not {cond}:"), Vec::new(), false);
                self.block(&otherwise.1, depth + 1, in_sequential);
            }
            Op::Call(callee, _) => {
                let callee = self.program.source.functions.get(callee.0 as usize);
                let name = callee.map_or("", |f| unspecialised_name(&f.name));
                let own = unspecialised_name(&self.function.name);
                if !in_sequential
                    && name != own
                    && !self.summary.calls.iter().any(|known| known == name)
                {
                    self.summary.calls.push(name.to_owned());
                }
                let around = match self.function.index_space(binding.space).kind {
                    SpaceKind::Caller => String::new(),
                    _ => format!(", all at once, for {}", self.describe_space(binding.space)),
                };
                self.push_line(depth, format!("call `{name}`{around}"), sources, false);
            }
            Op::Sequential(block) => self.sequential_code(block, depth, in_sequential),
            _ => {}
        }
    }

    /// Summarises sequential code that a single thread executes.
    fn sequential_code(&mut self, block: &ir::Block, depth: u32, in_sequential: bool) {
        if !in_sequential {
            self.summary.launches += 1;
        }
        let sources = block.lets.iter().filter_map(|b| self.range_in_form(b.site)).collect();
        self.push_line(depth, "once: sequential code, in one thread".to_owned(), sources, true);
    }
}

/// Returns true if instructions are executed for the elements of a value; for descriptors and other
/// names of values, none are.
fn does_work(binding: &Let) -> bool {
    !binding.is_descriptor_only()
}

/// Returns true for values that need a launch even if the index space has one element, such as
/// sorting and scattering.
fn needs_launch(binding: &Let) -> bool {
    match &binding.op {
        Op::Map(ir::Op::Seq(op, _)) => {
            let cost = op.row().cost;
            cost > Cost::Element && cost != Cost::Generate
        }
        op => op.cost(&binding.ty) == Cost::Parallel,
    }
}

/// Returns true if one thread computes the value by sequential code.
fn is_sequential(binding: &Let) -> bool {
    matches!(binding.op, Op::Sequential(_))
}

/// Returns the name of a function without the types that it is specialised for.
pub(super) fn unspecialised_name(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// Appends the names that a pattern binds, in order.
fn pattern_names(pats: &crate::syntax::ast::Arena<Pat>, pat: PatId, out: &mut Vec<String>) {
    match &pats[pat] {
        Pat::Name(name) => out.push(name.to_string()),
        Pat::Pair(a, b) => {
            pattern_names(pats, *a, out);
            pattern_names(pats, *b, out);
        }
        Pat::Record { content, .. } => pattern_names(pats, *content, out),
        Pat::Missing => {}
    }
}

/// Returns the lines of a summary whose sources are within a range, and the lines that contain
/// them.
pub fn within(summary: &Summary, range: TextRange) -> Vec<SummaryLine> {
    let touches = |line: &SummaryLine| line.sources.iter().any(|own| range.contains_range(*own));
    let mut kept = vec![false; summary.lines.len()];
    for (i, line) in summary.lines.iter().enumerate() {
        if !touches(line) {
            continue;
        }
        let mut depth = line.depth + 1;
        for j in (0..=i).rev() {
            if summary.lines[j].depth < depth {
                kept[j] = true;
                depth = summary.lines[j].depth;
            }
        }
    }
    let lines = summary.lines.iter().zip(kept);
    lines.filter(|(_, kept)| *kept).map(|(line, _)| line.clone()).collect()
}
