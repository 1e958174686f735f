//! Every function against true values; the narrow ones against the wide ones; vectors against
//! scalars.

use super::*;

mod lanes;
mod narrow;
mod wide;

/// What no function may be off by, in units in the last place.
const BOUND: f64 = 0.81;
