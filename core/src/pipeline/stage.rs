//! The stages of the compiler: each is the result of a pass.

use super::pass::Pass;
use super::{PASSES, Run};
use nesl_runtime::bug;

/// A representation of a program: the result of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Stage(&'static Pass);

impl Stage {
    /// A stage of the compiler that is known to exist.
    pub fn named(name: &str) -> Stage {
        Stage::of(Stages::default(), name)
    }

    /// One of some stages that is known to exist.
    pub fn of(stages: Stages, name: &str) -> Stage {
        match stages.find(name) {
            Some(stage) => stage,
            None => bug!("no pass makes the stage `{name}`"),
        }
    }

    /// The pass whose result it is.
    pub fn pass(self) -> &'static Pass {
        self.0
    }

    /// Its name, for the command line and editors.
    pub fn name(self) -> &'static str {
        self.0.stage
    }

    /// Its title, for menus.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// A description of its pass, without a full stop.
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// Returns true for the results of passes on core, flat and kernel programs: a form has none if
    /// it has errors or is no program.
    pub fn is_of_program(self) -> bool {
        !matches!(self.0.run, Run::Query(_))
    }

    /// Returns true for core programs.
    pub fn is_of_core(self) -> bool {
        matches!(self.0.run, Run::Elaborate | Run::Ir(_) | Run::Close(_))
    }

    /// The number of its pass in [`PASSES`]; of a stage of a back end, that of the last pass.
    pub(super) fn position(self) -> usize {
        let position = PASSES.iter().position(|pass| pass.stage == self.0.stage);
        position.unwrap_or(PASSES.len() - 1)
    }
}

impl PartialEq for Stage {
    fn eq(&self, other: &Stage) -> bool {
        self.0.stage == other.0.stage
    }
}

impl Eq for Stage {}

impl std::hash::Hash for Stage {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.stage.hash(state);
    }
}

/// The stages that can be shown, in the order of the passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages {
    backend: &'static [Pass],
}

impl Stages {
    /// The stages of the compiler, and those of back ends behind them: rows whose function is a
    /// [`Run::Emit`].
    pub const fn with_backend(backend: &'static [Pass]) -> Stages {
        Stages { backend }
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = Stage> {
        PASSES.iter().chain(self.backend).map(Stage)
    }

    /// The stage of a name.
    pub fn find(self, name: &str) -> Option<Stage> {
        self.iter().find(|stage| stage.name() == name)
    }
}
