//! PTX text → decoded module.
//!
//! The subset is what a code generator emits. Everything else is refused with the line and its
//! text, never ignored: a modifier that no decoder takes, a register of the wrong width, a name
//! that is not declared.
//!
//! - Module: `.version` 6.0 to 9.0, `.target`, `.address_size 64`, `.global` and `.const` variables
//!   with initial values, `.shared` and `.extern .shared` arrays, kernels with `.maxntid`,
//!   `.reqntid`, `.minnctapersm`; no functions.
//! - Kernel: nested scopes, `.reg`, `.shared`, `.local`, labels, `.loc`, `.pragma`; the special
//!   registers of threads, blocks, lanes and warps; no clocks.
//! - Arithmetic: add, sub, mul, mad, div, rem, min, max, abs, neg, and, or, xor, not, shl, shr,
//!   popc, clz, brev, bfind, bfe, bfi, prmt, lop3, shf, fma, sqrt, rcp, copysign, testp, setp, selp,
//!   slct, cvt, mov (with vectors), and the `.approx` functions. Float sums and products need
//!   `.rn`, since an assembler may contract those without; `.ftz` is refused.
//! - Memory: ld, st with vectors, orderings and scopes, in all state spaces and generic; cvta;
//!   atom, red; fence, membar; prefetch.
//! - Together: bar, barrier, bar.red, bar.warp.sync, shfl, vote, match, redux, activemask.
//! - Control: bra, ret, exit, trap, nanosleep.
//!
//! `token` cuts the text, `module` reads declarations and kernels, `names` knows what is declared,
//! `statement` reads one instruction as modifiers and operands, and `decode` turns it into an
//! operation of [`crate::isa::code`].

mod declare;
mod decode;
mod error;
mod module;
mod names;
mod statement;
mod token;

pub use error::PtxError;
pub use module::parse;
