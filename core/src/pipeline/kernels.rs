//! Kernels as kir: one variant of a kernel, for a launch; and all kernels of a program, to be
//! shown.

use super::Options;
use super::launches::{
    Launch, Origin, StoredDescriptors, Unlaunched, VersionChoice, Visitor, is_renaming, walk,
};
use super::pass::{ListedKernel, Unit};
use crate::flat::{self, Function, Kernel, Op, Program, SpaceId, SpaceKind, Version};
use crate::ir::{self, FunId};
use crate::lower::kernel::{LoweredKernel, Values, Variant, values};
use crate::lower::{self, Lowered, Unsupported};
use crate::strategy::eligibility::Placement;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir;
use nesl_runtime::violation;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Returns the kir of one variant of a kernel, for a launch.
///
/// # Errors
/// The reason why the kernel has no kir.
pub fn kernel(
    program: &Program,
    function: &Function,
    values: &Values,
    kernel: &Kernel,
    variant: &Variant,
    options: &Options,
) -> Result<LoweredKernel, Unsupported> {
    let code =
        lower::kernel::kernel(program, function, values, kernel, variant, &options.lowering())?;
    verify(&code.module);
    Ok(code)
}

/// Lowers a simplified program to sequential code, in which one thread does all of it.
///
/// # Errors
/// [`Unsupported::HostOperation`] if the program prints, reads files or asks for the time.
pub fn sequential(simple: &ir::Program, options: &Options) -> Result<Lowered, Unsupported> {
    let lowered = lower::sequential(simple, &options.lowering())?;
    verify(&lowered.module);
    Ok(lowered)
}

/// Reports a bug in debug builds if a module is not well-formed. Release builds leave the
/// verification out, because this runs at launches.
fn verify(module: &kir::Module) {
    if cfg!(debug_assertions)
        && let Err(violations) = kir::verify(module)
    {
        bug!("the pass `lower` broke an invariant: {}", violation::list(&violations));
    }
}

/// Returns every kernel that a program can launch, in every variant and in the order of the
/// program, followed by the sequential code of the program.
pub(super) fn all(unit: &Unit<'_>, options: &Options) -> Vec<ListedKernel> {
    let whole = sequential(&unit.ir, options);
    let (mut all, mut unsupported) = (Vec::new(), None);
    if let (Some(program), Ok(_)) = (&unit.flat, &whole) {
        let functions = program.functions.iter();
        let values: Vec<Values> =
            functions.map(|f| f.as_ref().map(values).unwrap_or_default()).collect();
        let values = |id: FunId| &values[id.0 as usize];
        let (seen, kernels) = Default::default();
        let mut listing =
            Listing { program, values: &values, options, seen, kernels, unsupported: None };
        walk(program, &values, &mut listing);
        (all, unsupported) = (listing.kernels, listing.unsupported);
    }
    all.push(one_thread(unit, whole, unsupported));
    all
}

/// Lists the kernels of a program.
struct Listing<'p> {
    program: &'p Program,
    values: &'p dyn Fn(FunId) -> &'p Values,
    options: &'p Options,
    /// The launches listed so far. Kernels that are not launched as a whole are parts without steps.
    seen: FxHashSet<(FunId, Origin, Variant)>,
    kernels: Vec<ListedKernel>,
    /// The reason for which a kernel has no code.
    unsupported: Option<Unsupported>,
}

impl Listing<'_> {
    fn function(&self, id: FunId) -> &Function {
        let function = self.program.functions[id.0 as usize].as_ref();
        function.or_bug("a function that is called was flattened")
    }
}

impl Visitor for Listing<'_> {
    fn launch(&mut self, launch: Launch<'_>) -> ControlFlow<(), Option<StoredDescriptors>> {
        let (id, function) = (launch.function, self.function(launch.function));
        let Launch { kernel, variant, .. } = &launch;
        let values = (self.values)(id);
        let code = self::kernel(self.program, function, values, kernel, variant, self.options);
        let stored = code.as_ref().ok().map(StoredDescriptors::of);
        let listed = described(function, &launch, &code);
        self.unsupported = self.unsupported.or(code.err());
        if self.seen.insert((id, launch.origin, launch.variant)) {
            self.kernels.push(listed);
        }
        ControlFlow::Continue(stored)
    }

    fn unlaunched(&mut self, kernel: Unlaunched<'_>) {
        let function = self.function(kernel.function);
        let listed = not_launched(function, &kernel);
        let origin = Origin::Part(kernel.kernel, usize::MAX);
        if self.seen.insert((kernel.function, origin, Variant::default())) {
            self.kernels.push(listed);
        }
    }

    /// Both versions are listed: sizes at run time decide.
    fn versions(&self, _: &VersionChoice<'_>) -> &'static [Version] {
        &[Version::Sequential, Version::Flattened]
    }
}

/// Describes the sequential code of a program; `unsupported` is the reason to launch it.
fn one_thread(
    unit: &Unit<'_>,
    code: Result<Lowered, Unsupported>,
    unsupported: Option<Unsupported>,
) -> ListedKernel {
    let title = "sequential code: the whole program in one thread".to_owned();
    let site = unit.ir.functions[unit.ir.main.0 as usize].site;
    match code {
        Ok(Lowered { module, fault_sites, .. }) => {
            let reason = match unsupported {
                Some(why) => format!("launched instead, where a kernel above has no code: {why}"),
                None => "not launched: every kernel has code".to_owned(),
            };
            ListedKernel {
                title,
                reason,
                site,
                sites: vec![site],
                module: Some(module),
                fault_sites,
            }
        }
        Err(why) => {
            let reason = format!("left to the direct interpreter: {why}");
            ListedKernel {
                title,
                reason,
                site,
                sites: Vec::new(),
                module: None,
                fault_sites: Vec::new(),
            }
        }
    }
}

fn not_launched(function: &Function, kernel: &Unlaunched<'_>) -> ListedKernel {
    let reason = match kernel.placement {
        Placement::HostSteps => "the host does its steps on the single element",
        Placement::ArrayOperation(operation) if operation.is_ordering() => {
            "an intrinsic of the runtime does it for all segments"
        }
        Placement::ArrayOperation(_) => {
            "it moves descriptors, and elements only where they do not lie in order"
        }
        Placement::Launch => bug!("a kernel that is launched is listed as a launch"),
    };
    ListedKernel {
        title: format!("{} kernel {}", function.name, kernel.kernel),
        reason: format!("no launch of its own: {reason}"),
        site: function.index_space(SpaceId::CALLER).site,
        sites: Vec::new(),
        module: None,
        fault_sites: Vec::new(),
    }
}

fn described(
    function: &Function,
    launch: &Launch<'_>,
    code: &Result<LoweredKernel, Unsupported>,
) -> ListedKernel {
    let Launch { kernel, origin, variant, version, .. } = launch;
    let name = &function.name;
    let mut title = match origin {
        Origin::Own(id) => format!("{name} kernel {id}"),
        Origin::Part(id, first) | Origin::Beside(id, first) => {
            format!("{name} kernel {id}, from step {} on", first + 1)
        }
        Origin::Filter(space) => format!("{name}, the elements of {space}"),
        Origin::Sides(yes, no) => format!("{name}, the elements of {yes} and {no}"),
    };
    let sequential = kernel.lets.iter().any(|step| matches!(step.op, Op::Sequential(_)));
    title += match sequential {
        true => ": sequential code in each thread, ",
        false => ": ",
    };
    title += &match variant.single.contains(&kernel.space) {
        true => format!("one thread for {}", kernel.space),
        false => format!("a thread for each element of {}", kernel.space),
    };
    title += match version {
        Some(Version::Sequential) => " (sequential version)",
        Some(Version::Flattened) => " (flattened version)",
        None => "",
    };
    let site =
        kernel.lets.first().map_or(function.index_space(kernel.space).site, |step| step.site);
    match code {
        Ok(code) if is_renaming(kernel, code) => ListedKernel {
            title,
            reason: "no launch: all that it gives lies there already".to_owned(),
            site,
            sites: Vec::new(),
            module: None,
            fault_sites: Vec::new(),
        },
        Ok(code) => ListedKernel {
            title,
            reason: facts(function, kernel, variant),
            site,
            sites: kernel.lets.iter().map(|step| step.site).collect(),
            module: Some(code.module.clone()),
            fault_sites: code.fault_sites.clone(),
        },
        Err(why) => ListedKernel {
            title,
            reason: format!("no code: {why}; the whole program runs in one thread"),
            site,
            sites: Vec::new(),
            module: None,
            fault_sites: Vec::new(),
        },
    }
}

/// The facts that a variant of a kernel relies on, in words.
fn facts(function: &Function, kernel: &Kernel, variant: &Variant) -> String {
    let mut facts = Vec::new();
    let single: Vec<String> = variant.single.iter().map(ToString::to_string).collect();
    if !single.is_empty() {
        facts.push(format!("a single element in {}: scalars are arguments", single.join(", ")));
    }
    let segmented = |space: SpaceId| {
        let outer = flat::segments_of(&function.spaces, space)?;
        (!variant.single.contains(&outer)).then_some(outer)
    };
    if let Some(outer) = segmented(kernel.space) {
        facts.push(match variant.regular {
            true => format!("segments for {outer} of equal length: no offsets"),
            false => format!("segments for {outer} of any length: offsets"),
        });
    }
    for sequence in variant.tiled.iter() {
        facts.push(format!("v{} lies in order: no starts", sequence.0));
    }
    if let SpaceKind::Filter { .. } = function.index_space(kernel.space).kind {
        facts.push("the indices that the filter keeps".to_owned());
    }
    if facts.is_empty() {
        facts.push("nothing is known of the index spaces".to_owned());
    }
    facts.join("; ")
}
