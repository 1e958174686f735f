//! The instructions that a text may use, by the devices that it is for.
//!
//! | target | head | besides the base |
//! |---|---|---|
//! | [`Target::Turing`] | `.version 7.0`, `.target sm_75` | the base: every driver since 2020, every device since Turing |
//! | [`Target::Ampere`] | `.version 7.0`, `.target sm_80` | `redux.sync`: a reduction of 32-bit ints over a warp |
//! | [`Target::Hopper`] | `.version 7.8`, `.target sm_90` | products of small matrices of 64-bit floats |
//! | [`Target::Blackwell`] | `.version 8.8`, `.target sm_100` | loads and stores of 32 bytes |
//!
//! A device executes the text of every target up to its own. A target changes the number of
//! instructions, and never a result: floats are grouped in the same way on all devices.

/// The oldest devices that a text is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Devices from compute capability 7.5 on.
    #[default]
    Turing,
    /// Devices from compute capability 8.0 on.
    Ampere,
    /// Devices of compute capability 9, with a driver of CUDA 11.8 or newer.
    Hopper,
    /// Devices from compute capability 10.0 on, with a driver of CUDA 12.9 or newer.
    Blackwell,
}

/// The first version of CUDA whose drivers take the text for Blackwell: 1000 · major + 10 · minor.
const BLACKWELL_DRIVER_VERSION: i32 = 12_090;

/// The first version of CUDA whose drivers take the text for Hopper: 1000 · major + 10 · minor.
const HOPPER_DRIVER_VERSION: i32 = 11_080;

impl Target {
    /// All targets, the oldest first.
    pub const ALL: [Target; 4] =
        [Target::Turing, Target::Ampere, Target::Hopper, Target::Blackwell];

    /// The best target for a device of some compute capability, major and minor, with a driver that
    /// supports this version of CUDA.
    pub fn of(capability: (i32, i32), driver_version: i32) -> Target {
        match capability.0 {
            10.. if driver_version >= BLACKWELL_DRIVER_VERSION => Target::Blackwell,
            9 if driver_version >= HOPPER_DRIVER_VERSION => Target::Hopper,
            8.. => Target::Ampere,
            _ => Target::Turing,
        }
    }

    /// The best target for an architecture by its name, such as `sm_86`, with a driver that is new
    /// enough. None if it is no name of an architecture since Turing.
    pub fn named(name: &str) -> Option<Target> {
        let number: i32 = name.strip_prefix("sm_")?.parse().ok()?;
        let capability = (number / 10, number % 10);
        (number >= 75).then(|| Target::of(capability, BLACKWELL_DRIVER_VERSION))
    }

    /// The name of the oldest architecture that has all instructions.
    pub fn architecture(self) -> &'static str {
        match self {
            Target::Turing => "sm_75",
            Target::Ampere => "sm_80",
            Target::Hopper => "sm_90",
            Target::Blackwell => "sm_100",
        }
    }

    /// The head of every module.
    pub fn header(self) -> String {
        let version = match self {
            Target::Turing | Target::Ampere => "7.0",
            Target::Hopper => "7.8",
            Target::Blackwell => "8.8",
        };
        let architecture = self.architecture();
        format!(".version {version}\n.target {architecture}\n.address_size 64\n\n")
    }

    /// Returns true if one instruction reduces the 32-bit ints of a warp.
    pub fn reduces_warps(self) -> bool {
        self >= Target::Ampere
    }

    /// Returns true if the warps of a device multiply small matrices of 64-bit floats, adding the products of an
    /// element in order, each in one rounding. Devices of compute capability 9 were found to do so.
    pub fn multiplies_matrices(self) -> bool {
        self == Target::Hopper
    }

    /// The size of the widest access of a thread to global memory, in bytes.
    pub fn access_bytes(self) -> usize {
        if self >= Target::Blackwell { 32 } else { 16 }
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn devices_have_the_best_target_that_their_driver_takes() {
        assert_eq!(Target::of((7, 5), 13_000), Target::Turing);
        assert_eq!(Target::of((8, 9), 11_080), Target::Ampere);
        assert_eq!(Target::of((9, 0), 13_000), Target::Hopper);
        assert_eq!(Target::of((9, 0), 11_070), Target::Ampere);
        assert_eq!(Target::of((10, 3), 12_080), Target::Ampere);
        assert_eq!(Target::of((12, 0), 12_090), Target::Blackwell);
    }

    #[test]
    fn names_are_those_of_architectures() {
        assert_eq!(Target::named("sm_75"), Some(Target::Turing));
        assert_eq!(Target::named("sm_90"), Some(Target::Hopper));
        assert_eq!(Target::named("sm_120"), Some(Target::Blackwell));
        assert_eq!(Target::named("sm_61"), None);
        assert_eq!(Target::named("ada"), None);
        for target in Target::ALL {
            assert_eq!(Target::named(target.architecture()), Some(target));
        }
    }
}
