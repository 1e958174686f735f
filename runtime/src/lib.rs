//! The contract between the compiler and every NESL backend.
//!
//! A program must give the same answer on the direct interpreter, on the CPU and on a GPU. The
//! things they could disagree about are therefore written down once, here: the meaning of each
//! scalar operation ([`scalar`]), the mathematical functions ([`math`]), the ways in which a
//! running program can fail ([`fault`]), and the random numbers it draws ([`random`]).
//!
//! This crate imports nothing of ours; everything else stands on it.

pub mod bug;
pub mod fault;
pub mod kir;
pub mod math;
pub mod precision;
pub mod profile;
pub mod random;
pub mod runtime;
pub mod scalar;
pub mod services;
pub mod stack;
pub mod testkit;
pub mod violation;
