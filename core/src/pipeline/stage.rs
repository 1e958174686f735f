//! The stages of the compiler: each is the result of a pass.

use super::pass::Pass;
use super::{PASSES, Run};
use nesl_runtime::bug;

/// A representation of a program: the result of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Stage(&'static Pass);

impl Stage {
    /// Returns the stage of the compiler with a name that is known to exist.
    pub fn named(name: &str) -> Stage {
        Stage::of(Stages::default(), name)
    }

    /// Returns the stage among `stages` with a name that is known to exist.
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
    #[allow(clippy::misnamed_getters, reason = "a pass and the stage that it makes have two names")]
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

    /// Returns true for stages of a whole program (core, flat, kir), which a form reaches only if
    /// it has no errors and is not a datatype or command.
    pub fn is_of_program(self) -> bool {
        !matches!(self.0.run, Run::Query(_))
    }

    /// Returns true for core programs.
    pub fn is_of_core(self) -> bool {
        matches!(
            self.0.run,
            Run::Elaborate
                | Run::Ir(_)
                | Run::Lift(_)
                | Run::Simplify(_)
                | Run::Close(_)
                | Run::Unroll(_)
        )
    }

    /// The index of its pass in [`PASSES`]; for a stage of a back end, the index of the last pass.
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
    /// The stages of the compiler, followed by those of back ends: rows whose function is a
    /// [`Run::Emit`].
    pub const fn with_backend(backend: &'static [Pass]) -> Stages {
        Stages { backend }
    }

    /// Every stage, in order.
    pub fn iter(self) -> impl Iterator<Item = Stage> {
        PASSES.iter().chain(self.backend).map(Stage)
    }

    /// Returns the stage with this name, if there is one.
    pub fn find(self, name: &str) -> Option<Stage> {
        self.iter().find(|stage| stage.name() == name)
    }
}
