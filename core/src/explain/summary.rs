//! The kernels of a form, and the choices between versions, in a few readable lines.
//!
//! The lines describe the fused program, which is what will be executed. Facts that depend on the
//! data are stated in words: the numbers of elements, and so the version that is chosen, and the
//! number of levels of a recursion.

mod naming;

use super::form::program;
use super::origin::Origins;
use crate::base::{ItemId, Loc, Span, TextRange};
use crate::db::Database;
use crate::flat::{Block, Function, Kernel, Let, Op, Program, SpaceId, SpaceKind, Step};
use crate::ir::{self, Site, Var};
use crate::pipeline;
use crate::prim::Cost;
use crate::syntax::ast::ItemKind;
use nesl_runtime::scalar::Precision;
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// The number of launches, if the line stands for several.
    pub launches: u32,
    /// The call that the line stands for, if all of it is a function that was inlined.
    pub call: Option<Span>,
    /// True for the line that introduces the sequential version of a multi-versioned value; the
    /// launches of the deeper lines below it are alternatives to those of the flattened version.
    pub sequential_version: bool,
}

impl SummaryLine {
    fn new(depth: u32, text: String, sources: Vec<TextRange>, launch: bool) -> SummaryLine {
        SummaryLine {
            depth,
            text,
            sources,
            launch,
            launches: u32::from(launch),
            call: None,
            sequential_version: false,
        }
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
    /// True if it is recursive, directly or through calls, in its flattened form.
    pub recursive: bool,
    /// True if it is written as a recursion.
    pub calls_itself: bool,
    /// True if nothing in it is done for many elements at once.
    pub sequential: bool,
    /// The names of the functions that it calls in flattened form; their launches are not counted.
    pub calls: Vec<String>,
    /// The layouts of the nested sequences over whose elements kernels iterate.
    pub layouts: Vec<Layout>,
}

impl Summary {
    /// Returns the summary as a sentence for a reader of the program, in Markdown.
    pub fn sentence(&self) -> String {
        if self.sequential {
            return match self.calls_itself {
                true => "**Sequential:** one call after the other, as deep as the recursion; nothing here is \
                         parallel"
                    .to_owned(),
                false => "**Sequential:** operations on scalars; inside an apply-to-each they are done for all \
                          elements at once"
                    .to_owned(),
            };
        }
        let s = if self.launches == 1 { "" } else { "es" };
        let launches = format!("{} launch{s}", self.launches);
        let mut text = match (self.recursive || self.calls_itself, self.launches) {
            (true, 0) => "**Recursive, and parallel inside**".to_owned(),
            (true, _) => format!("**Per level of recursion: {launches}**"),
            (false, 0) => "**No launch of its own**".to_owned(),
            (false, _) => format!("**Parallel: {launches}**"),
        };
        if !self.calls.is_empty() {
            let calls: Vec<String> = self.calls.iter().map(|name| format!("`{name}`")).collect();
            text.push_str(&format!(", and those of {}", calls.join(", ")));
        }
        text
    }

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
    let mut summary = std::mem::take(&mut summariser.summary);
    summary.calls_itself = summariser.origins.is_recursive();
    summary.sequential = summariser.is_sequential();
    summary.recursive = crate::strategy::recursive(&fused).get(main).copied().unwrap_or(false);
    Ok(summary)
}

/// Returns the number of launches of a form in words, `7 launches`, or what it calls if all are there; `None` if the form has no program.
pub fn launches(db: &Database, item: ItemId, precision: Precision) -> Option<String> {
    let summary = summary(db, item, precision).ok()?;
    Some(match (summary.launches, summary.calls.first()) {
        // All that is launched, it leaves to others.
        (0, Some(callee)) => format!("calls {callee}"),
        (0, None) => "no launch".to_owned(),
        (1, _) => "1 launch".to_owned(),
        (n, _) => format!("{n} launches"),
    })
}

/// Returns the headline of a form's summary; `None` if the form has no program.
pub fn headline(db: &Database, item: ItemId, precision: Precision) -> Option<String> {
    summary(db, item, precision).ok().map(|summary| summary.headline())
}

/// Summarises a function of a flat program; it knows the names and layouts of the variables.
pub(super) struct Summariser<'a> {
    db: &'a Database,
    item: ItemId,
    pub(super) program: &'a Program,
    function: &'a Function,
    origins: Origins<'a>,
    /// The text in the source of each variable that has a short one.
    pub(super) names: FxHashMap<Var, String>,
    pub(super) layouts: FxHashMap<Var, Layout>,
    /// The place in the source of each variable.
    pub(super) sites: FxHashMap<Var, Site>,
    summary: Summary,
    /// The values that are known in the block that is being summarised.
    pub(super) around: Around,
}

/// The facts that the lines of a block depend on.
#[derive(Clone, Default)]
pub(super) struct Around {
    /// The number of lines before those of the block.
    first: usize,
    /// Choices that the compiler makes, not the form: each is told as one computation.
    choices: FxHashSet<Span>,
    /// The calls and choices that have lines of their own in the block: what other kernels do for them is not
    /// told there.
    units: FxHashSet<Span>,
    /// The other sides of the conditionals around.
    pub(super) excluded: Vec<Span>,
    /// The expressions that lines before have told: they are computed again, or go on.
    pub(super) told: FxHashSet<Span>,
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
            origins: Origins::new(db, item),
            names: FxHashMap::default(),
            layouts: FxHashMap::default(),
            sites: FxHashMap::default(),
            summary: Summary::default(),
            around: Around::default(),
        };
        summariser.name_params();
        function.body.each_let(&mut |binding| summariser.name_and_lay_out(binding));
        summariser
    }

    /// Returns the bytes of a source location, if it is in the form itself.
    pub(super) fn range_in_form(&self, site: Site) -> Option<TextRange> {
        let Site { item, span } = site;
        let inside = item == self.item && span.start < span.end;
        inside.then(|| self.db.place(Loc { item, span }).range)
    }

    /// Returns true if a source location is in the form itself.
    fn is_own(&self, site: Site) -> bool {
        self.range_in_form(site).is_some()
    }

    /// Returns the parts of the form that steps come from.
    pub(super) fn origins(&self) -> &Origins<'a> {
        &self.origins
    }

    /// Returns the kind of an index space.
    pub(super) fn kind(&self, space: SpaceId) -> SpaceKind {
        self.function.index_space(space).kind
    }

    /// Returns the source text of a variable, if it has any.
    pub(super) fn named(&self, var: Var) -> Option<&str> {
        self.names.get(&var).map(String::as_str)
    }

    /// Returns the source text of a variable in backquotes, or else words for it.
    pub(super) fn quoted_name(&self, var: Var) -> String {
        self.named(var).map_or_else(|| "a value".to_owned(), |name| format!("`{name}`"))
    }

    /// Appends a line to the summary.
    fn push_line(&mut self, depth: u32, text: String, sources: Vec<TextRange>, launch: bool) {
        self.summary.lines.push(SummaryLine::new(depth, text, sources, launch));
    }

    /// Summarises a block at a nesting depth of lines. `in_sequential` is true inside of a
    /// sequential version, whose launches are not counted, because those of the flattened version
    /// are.
    fn block(&mut self, block: &'a Block, depth: u32, in_sequential: bool) {
        let before = self.around.clone();
        self.around.first = self.summary.lines.len();
        self.find_units(block);
        self.steps(block, depth, in_sequential);
        self.around = before;
    }

    /// Finds the calls and choices that are told as one computation in a block.
    fn find_units(&mut self, block: &Block) {
        for step in &block.steps {
            if let Step::Let(binding) = step
                && matches!(binding.op, Op::Branch { .. })
                && let Some(span) = self.origins.code(binding.site, true)
                && !self.origins.is_conditional(span)
            {
                self.around.choices.insert(span);
            }
        }
        for step in &block.steps {
            let own = match step {
                Step::Space(_) => None,
                Step::Kernel(kernel) => {
                    let working: Vec<&Let> = kernel.lets.iter().filter(|b| does_work(b)).collect();
                    self.unit(&working)
                }
                Step::Let(binding) => {
                    self.unit(&[binding]).filter(|_| binding.op.blocks().next().is_some())
                }
            };
            self.around.units.extend(own);
        }
    }

    fn steps(&mut self, block: &'a Block, depth: u32, in_sequential: bool) {
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
        let spans = working.iter().filter_map(|b| self.origins.span(b.site));
        let mut sources: Vec<TextRange> = spans.map(|span| self.origins.range(span)).collect();
        sources.dedup();
        if !in_sequential {
            self.summary.launches += 1;
        }
        // What is done for a call that has lines of its own is told there.
        let is_told =
            |b: &&Let| self.unit(&[b]).is_some_and(|unit| self.around.units.contains(&unit));
        let own: Vec<&Let> = working.iter().copied().filter(|b| !is_told(b)).collect();
        let unit = match own.is_empty() {
            true => working.first().and_then(|first| self.unit(&[first])),
            false => self.unit(&own),
        };
        match unit {
            Some(unit) => self.push_call(depth, unit, 1),
            None => {
                let text = self.describe(kernel, &own);
                self.push_line(depth, text, sources, true);
            }
        }
    }

    /// The call, or the choice of the compiler, that steps are parts of, if all are of the same.
    fn unit(&self, bindings: &[&Let]) -> Option<Span> {
        let choice = |binding: &Let| {
            let span = self.origins.code(binding.site, true);
            span.filter(|span| self.around.choices.contains(span))
        };
        let mut all =
            bindings.iter().map(|binding| choice(binding).or_else(|| self.inlined(binding)));
        let first = all.next()??;
        all.all(|other| other == Some(first)).then_some(first)
    }

    /// Appends launches of a function that was inlined: a call is one line in its block, however many it has.
    fn push_call(&mut self, depth: u32, call: Span, launches: u32) {
        let own = &mut self.summary.lines[self.around.first..];
        let known = own.iter_mut().find(|line| line.depth == depth && line.call == Some(call));
        if let Some(known) = known {
            known.launches += launches;
            known.launch |= launches > 0;
            let launches = known.launches;
            let at = self
                .summary
                .lines
                .iter()
                .rposition(|line| line.depth == depth && line.call == Some(call));
            let text = self.describe_call(call, launches);
            if let Some(line) = at.and_then(|at| self.summary.lines.get_mut(at)) {
                line.text = text;
            }
            return;
        }
        let text = self.describe_call(call, launches);
        let siblings = self.origins.siblings(call);
        let sources = siblings.into_iter().map(|span| self.origins.range(span)).collect();
        let line = SummaryLine::new(depth, text, sources, launches > 0);
        self.summary.lines.push(SummaryLine { launches, call: Some(call), ..line });
    }

    /// Returns true if no step is executed for many elements, and none is an operation on a sequence.
    fn is_sequential(&self) -> bool {
        let mut parallel = self.summary.chosen;
        let working = |b: &Let| does_work(b) && !matches!(b.op, Op::Branch { .. });
        self.function.body.each_let(&mut |binding| {
            let works =
                working(binding) && (needs_launch(binding) || !self.is_single(binding.space));
            parallel |= works || matches!(binding.op, Op::Call(..) | Op::Versions { .. });
            if let Op::Map(op) = &binding.op {
                parallel |= has_loop(op);
            }
        });
        !parallel
    }

    /// Returns true if the outermost index space has a single element: a form that is not a
    /// function is executed once.
    fn runs_once(&self) -> bool {
        !matches!(self.db.ast(self.item).kind, ItemKind::Function(_))
    }

    /// Returns the source text of the code that has two versions, and the variable that it is for.
    fn describe_sequential(&self, site: Site) -> (String, String) {
        let span = self.origins.code(site, true);
        let code = span.map(|span| format!("`{}`", self.origins.text(span, 48)));
        let label = span.and_then(|span| self.origins.bound_to(span));
        let label = label.map_or_else(String::new, |name| format!("`{name}`: "));
        (label, code.unwrap_or_else(|| "sequential code".to_owned()))
    }

    /// Summarises a step that is no kernel: a conditional, a call, or a multi-versioned value.
    fn value(&mut self, binding: &'a Let, depth: u32, in_sequential: bool) {
        let span = self.origins.span(binding.site);
        let sources: Vec<TextRange> =
            span.map(|span| self.origins.range(span)).into_iter().collect();
        if let (Some(call), true) = (self.unit(&[binding]), binding.op.blocks().next().is_some()) {
            // What happens inside is the function's own business.
            if let (Op::Branch { then, otherwise, .. }, true) =
                (&binding.op, self.is_single(binding.space))
                && self.around.choices.contains(&call)
            {
                let launches = self.alternatives([&then.1, &otherwise.1], depth, in_sequential);
                self.push_call(depth, call, launches);
                return;
            }
            let start = self.summary.lines.len();
            self.parts(binding, depth, in_sequential, sources);
            let inside = self.summary.lines.split_off(start);
            if !inside.is_empty() {
                self.push_call(depth, call, count_launches(&inside));
            }
            return;
        }
        self.parts(binding, depth, in_sequential, sources);
    }

    /// Counts the launches of a choice of the compiler: those of the block that has the most, because only one
    /// of them is executed.
    fn alternatives(&mut self, blocks: [&'a Block; 2], depth: u32, in_sequential: bool) -> u32 {
        let (before, start) = (self.summary.launches, self.summary.lines.len());
        let (mut total, mut most) = (before, 0);
        for block in blocks {
            self.summary.launches = before;
            self.block(block, depth + 1, in_sequential);
            most = most.max(count_launches(&self.summary.lines.split_off(start)));
            total = total.max(self.summary.launches);
        }
        self.summary.launches = total;
        most
    }

    /// Summarises the blocks of a step.
    fn parts(
        &mut self,
        binding: &'a Let,
        depth: u32,
        in_sequential: bool,
        sources: Vec<TextRange>,
    ) {
        match &binding.op {
            Op::Versions { flattened, .. } => {
                self.versions(binding, flattened, depth, in_sequential, sources);
            }
            Op::Branch { cond, then, otherwise } => {
                self.branch(*cond, (&then.1, &otherwise.1), binding, depth, in_sequential, sources);
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
                let space = self.describe_space(binding.space);
                let text = match space.is_empty() {
                    true => format!("call `{name}`"),
                    false => format!("call `{name}` for all of {space} at once"),
                };
                self.push_line(depth, text, sources, false);
            }
            Op::Sequential(block) => self.sequential_code(block, depth, in_sequential),
            _ => {}
        }
    }

    /// Summarises a multi-versioned value: when each version is chosen, and what it launches.
    fn versions(
        &mut self,
        binding: &'a Let,
        flattened: &'a Block,
        depth: u32,
        in_sequential: bool,
        sources: Vec<TextRange>,
    ) {
        self.summary.chosen = true;
        let (label, code) = self.describe_sequential(binding.site);
        let at = self.summary.lines.len();
        self.push_line(
            depth,
            format!("{label}{code}, at run time one of:"),
            sources.clone(),
            false,
        );
        let space = self.describe_space(binding.space);
        // Of one element it matters only how much work it is.
        let (small, large) = match space.is_empty() {
            true => ("little work", "much work"),
            false => ("many, or little work in each", "few, with much work in each"),
        };
        let thread = match space.is_empty() {
            true => "one thread computes it".to_owned(),
            false => format!("a thread for each of {space} computes it"),
        };
        let text = format!("{small}: 1 launch, {thread}");
        let line = SummaryLine::new(depth + 1, text, sources.clone(), true);
        self.summary.lines.push(SummaryLine { sequential_version: true, ..line });
        let few = self.summary.lines.len();
        self.push_line(depth + 1, String::new(), sources, false);
        self.block(flattened, depth + 2, in_sequential);
        // It is known from the first line which variable all of it is for.
        for line in &mut self.summary.lines[few + 1..] {
            if let (false, Some(rest)) = (label.is_empty(), line.text.strip_prefix(&label)) {
                line.text = rest.to_owned();
            }
        }
        let inside = &self.summary.lines[few + 1..];
        let launches = count_launches(inside);
        let only = inside.len() == 1;
        let calls = inside.iter().all(|line| !line.launch);
        let text = match (&inside.first().map(|line| line.text.clone()), only, launches) {
            (Some(call), true, _) if calls => {
                format!("{large}: {call}, level by level")
            }
            (Some(one), true, 1) => format!("{large}: 1 launch, {one}"),
            (_, _, 1) => format!("{large}: 1 launch"),
            (_, _, 0) => format!("{large}: all of them at once"),
            (_, _, n) => format!("{large}: {n} launches"),
        };
        let launch = only && !calls;
        self.summary.lines[few].text = text;
        self.summary.lines[few].launch = launch;
        self.summary.lines[few].launches = if only { launches } else { 0 };
        if only {
            let inner = self.summary.lines.split_off(few + 1);
            self.summary.lines[few].sources.extend(inner.into_iter().flat_map(|line| line.sources));
        }
        // A version inside a version of the same code says nothing new.
        let again = |line: &SummaryLine| line.text.ends_with("at run time one of:");
        let nested = self.summary.lines[few + 1..].iter().any(again);
        if nested && self.summary.lines[few + 1..].iter().filter(|line| line.launch).count() <= 1 {
            self.summary.lines.truncate(few + 1);
            self.summary.lines[few].text = format!("{large}: all of them at once, level by level");
            self.summary.lines[few].launch = true;
            self.summary.lines[few].launches = 1;
        }
        debug_assert!(self.summary.lines.len() > at, "a line is there");
    }

    /// Summarises a conditional. A branch in which nothing is launched is not mentioned, and the
    /// other one then goes on where the conditional stands.
    fn branch(
        &mut self,
        cond: Var,
        (then, otherwise): (&'a Block, &'a Block),
        binding: &'a Let,
        depth: u32,
        in_sequential: bool,
        sources: Vec<TextRange>,
    ) {
        let name = self.quoted_name(cond);
        // The launch that only tests the condition is told with it.
        let own = name.clone();
        let tested = self.summary.lines.last().is_some_and(|line| line.launch && line.text == own);
        let test = if tested { self.summary.lines.pop() } else { None };
        let single = self.is_single(binding.space);
        let mut parts = Vec::new();
        let sides = self.origins.span(binding.site).and_then(|span| self.origins.sides(span));
        let other = sides.map_or([None, None], |(yes, no)| [Some(no), Some(yes)]);
        for (block, other) in [then, otherwise].into_iter().zip(other) {
            let start = self.summary.lines.len();
            let before = self.around.excluded.len();
            self.around.excluded.extend(other);
            self.block(block, depth + 1, in_sequential);
            self.around.excluded.truncate(before);
            parts.push(self.summary.lines.split_off(start));
        }
        let words = match single {
            true => [format!("if {name}:"), "otherwise:".to_owned()],
            false => [format!("where {name}:"), "elsewhere:".to_owned()],
        };
        let both = parts.iter().all(|part| !part.is_empty());
        if let Some(test) = test {
            let text = if both && single { words[0].clone() } else { format!("test {name}") };
            self.summary.lines.push(SummaryLine { text, ..test });
        }
        for (part, words) in parts.into_iter().zip(words) {
            if part.is_empty() {
                continue;
            }
            if both && single && tested && words != "otherwise:" {
                self.summary.lines.extend(part);
            } else if both || !single || !tested {
                let words =
                    if both || words != "otherwise:" { words } else { format!("unless {name}:") };
                let words = if !both && words == "elsewhere:" {
                    format!("where not {name}:")
                } else {
                    words
                };
                self.push_line(depth, words, sources.clone(), false);
                self.summary.lines.extend(part);
            } else {
                let out =
                    part.into_iter().map(|line| SummaryLine { depth: line.depth - 1, ..line });
                self.summary.lines.extend(out);
            }
        }
    }

    /// Summarises sequential code that a single thread executes.
    fn sequential_code(&mut self, block: &ir::Block, depth: u32, in_sequential: bool) {
        if !in_sequential {
            self.summary.launches += 1;
        }
        let sources = block.lets.iter().filter_map(|b| self.range_in_form(b.site)).collect();
        self.push_line(depth, "sequential code, in one thread".to_owned(), sources, true);
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

/// Returns true if an operation has a loop over elements inside.
fn has_loop(op: &ir::Op) -> bool {
    let mut found = matches!(op, ir::Op::Nest(_));
    if let ir::Op::If { then, otherwise, .. } = op {
        for block in [then, otherwise] {
            found |= block.lets.iter().any(|binding| has_loop(&binding.op));
        }
    }
    found
}

/// Returns the number of launches in some lines. Of a multi-versioned computation the flattened version is
/// counted.
pub fn count_launches(lines: &[SummaryLine]) -> u32 {
    let mut count = 0;
    // The depth of the line that begins the sequential version around the current line.
    let mut sequential: Option<u32> = None;
    for line in lines {
        if sequential.is_some_and(|depth| line.depth <= depth) {
            sequential = None;
        }
        if line.sequential_version {
            sequential = sequential.or(Some(line.depth));
        }
        count += if sequential.is_none() { line.launches } else { 0 };
    }
    // Some of it may have no flattened version.
    count.max(u32::from(lines.iter().any(|line| line.launches > 0)))
}

/// Returns true if one thread computes the value by sequential code.
fn is_sequential(binding: &Let) -> bool {
    matches!(binding.op, Op::Sequential(_))
}

/// Returns the name of a function without the types that it is specialised for.
pub(super) fn unspecialised_name(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// Returns the lines of a summary whose sources are within a range, and the lines that contain
/// them.
pub fn within(summary: &Summary, range: TextRange) -> Vec<SummaryLine> {
    let lines = summary.lines.iter().zip(touched(summary, range, None));
    lines.filter(|(_, kept)| *kept).map(|(line, _)| line.clone()).collect()
}

/// Returns the launches of a part of a form, without the conditions that they are inside of: the lines whose
/// sources are within a range, but not all within a part of it that is passed over. A line that is of one version of
/// a multi-versioned value comes with the other version.
pub fn launches_within(
    summary: &Summary,
    range: TextRange,
    passed_over: Option<TextRange>,
) -> Vec<SummaryLine> {
    let kept = touched(summary, range, passed_over);
    let mut out: Vec<SummaryLine> = Vec::new();
    // The depths, in the summary, of the lines that contain the next one, of those that are returned.
    let mut around: Vec<u32> = Vec::new();
    for (i, line) in summary.lines.iter().enumerate() {
        around.retain(|depth| *depth < line.depth);
        // A line that says what is chosen, the sequential version, and the other one follow each other.
        let before = i.checked_sub(1).map(|before| &summary.lines[before]);
        let chooses = summary.lines.get(i + 1).is_some_and(|next| next.sequential_version);
        let flattened = before.is_some_and(|before| before.sequential_version);
        let wanted = if line.sequential_version { kept[i - 1] } else { kept[i] };
        if wanted && (line.launches > 0 || chooses || flattened) {
            out.push(SummaryLine { depth: around.len() as u32, ..line.clone() });
            around.push(line.depth);
        }
    }
    out
}

/// Tells of each line whether a source of it is within a range, and not in a part that is passed over, or a line inside
/// it has such a source.
fn touched(summary: &Summary, range: TextRange, passed_over: Option<TextRange>) -> Vec<bool> {
    let inside = |own: &TextRange| {
        range.contains_range(*own) && !passed_over.is_some_and(|part| part.contains_range(*own))
    };
    let touches = |line: &SummaryLine| line.sources.iter().any(inside);
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
    kept
}

#[cfg(test)]
mod tests;
