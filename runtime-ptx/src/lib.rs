//! The runtime of NVIDIA GPUs: kir → PTX text, which the driver compiles.
//!
//! | module | contents |
//! |---|---|
//! | [`emit`] | kir → PTX |

pub mod emit;
