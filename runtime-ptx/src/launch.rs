//! Launches: the arguments of entries, the areas of their passes, the size of their grids.

use crate::driver::memory::{Block, Memory};
use crate::driver::module::CompiledKernel;
use crate::driver::stream::Stream;
use crate::emit::{Area, BLOCK_THREADS, TILE_BYTES, TILE_ITEMS};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Space, Value, ValueTy};
use nesl_runtime::runtime::{Arg, Failure, Launch};
use std::sync::Arc;

/// The number of blocks that a multiprocessor is given at most: as many as it holds at a time, so
/// that each goes over its part of the space without another one beginning.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 2048 / BLOCK_THREADS;

/// The parts of a runtime that a launch needs.
pub struct Launcher<'a> {
    /// The stream that launches are enqueued on.
    pub stream: &'a Stream,
    /// The memory that areas are taken from.
    pub memory: &'a Arc<Memory>,
    /// The number of multiprocessors of the device.
    pub multiprocessors: u32,
    /// The address of the record of failures.
    pub record: u64,
    /// The address of the ticket, an `u32` that is 0 between passes.
    pub ticket: u64,
}

/// The size of an index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extents {
    elements: u64,
    segments: u64,
}

impl Launcher<'_> {
    /// Enqueues the passes of a kernel; `next_pass` gives each its number.
    pub fn launch(
        &self,
        kernel: &CompiledKernel,
        launch: &Launch<'_>,
        mut next_pass: impl FnMut() -> u64,
    ) -> Result<(), Failure> {
        let args = words(kernel, launch.args)?;
        let extents = self.extents(kernel, &args)?;
        let tiles = extents.elements.div_ceil(u64::from(TILE_ITEMS)).max(1);
        let whole = self.multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
        let needed = extents.elements.max(extents.segments).div_ceil(u64::from(BLOCK_THREADS));
        let blocks = u32::try_from(needed).unwrap_or(u32::MAX).clamp(1, whole.max(1));
        let areas: Vec<Block> = kernel
            .plan
            .areas
            .iter()
            .map(|area| {
                let bytes = match area {
                    Area::Blocks => 8 * u64::from(blocks),
                    Area::Tiles => TILE_BYTES as u64 * tiles,
                    Area::Segments => 8 * extents.segments,
                    Area::Tags(array) => 8 * length(kernel, launch.args, *array),
                };
                let block = self.memory.alloc(usize::try_from(bytes).unwrap_or(usize::MAX))?;
                if let Area::Tags(_) = area {
                    self.stream.clear(block.address(), block.bytes())?;
                }
                Ok(block)
            })
            .collect::<Result<_, Failure>>()?;
        for entry in &kernel.entries {
            let mut params =
                vec![self.record, next_pass(), self.stream.interrupt_word(), self.ticket];
            params.extend(areas.iter().map(Block::address));
            params.extend(&args);
            self.stream.launch(entry, blocks, BLOCK_THREADS, &mut params)?;
        }
        // The areas are free for what is enqueued from here on.
        Ok(())
    }

    /// The size of the space of a launch. That of ragged segments is read from the device.
    fn extents(&self, kernel: &CompiledKernel, args: &[u64]) -> Result<Extents, Failure> {
        let params = &kernel.kernel.params;
        let word = |value: Value| {
            let at = params.iter().position(|param| *param == value);
            args[at.or_bug("the size of a space is a parameter: the verifier sees that")]
        };
        let number = |value: Value| (word(value) as i64).max(0) as u64;
        Ok(match &kernel.kernel.space {
            Space::Flat { count } => Extents { elements: number(*count), segments: 1 },
            Space::Regular { segments, length } => {
                let (segments, length) = (number(*segments), number(*length));
                Extents { elements: segments.saturating_mul(length), segments }
            }
            Space::Segmented { segments, offsets } => {
                let segments = number(*segments);
                let mut end = [0; 8];
                self.stream.read(word(*offsets) + 8 * segments, &mut end)?;
                Extents { elements: i64::from_ne_bytes(end).max(0) as u64, segments }
            }
        })
    }
}

/// The arguments of a kernel, a word each: the bits of a scalar, or the address of the first element.
fn words(kernel: &CompiledKernel, args: &[Arg]) -> Result<Vec<u64>, Failure> {
    let types = &kernel.kernel.types;
    let params = kernel.kernel.params.iter();
    let mut words = Vec::with_capacity(args.len());
    for (param, arg) in params.zip(args) {
        words.push(match (types[param.0 as usize], arg) {
            (ValueTy::Scalar(_), Arg::Scalar(literal)) => scalar(*literal),
            (ValueTy::Array(ty), Arg::Array(buffer, at)) => {
                let block: &Block = buffer.storage().or_bug("a buffer is one of this runtime");
                block.address() + (at * ty.size()) as u64
            }
            (ty, arg) => nesl_runtime::bug!("a parameter of type {ty} is given {arg:?}"),
        });
    }
    Ok(words)
}

/// The length of an array argument, from its first element on.
fn length(kernel: &CompiledKernel, args: &[Arg], array: Value) -> u64 {
    let at = kernel.kernel.params.iter().position(|param| *param == array);
    match &args[at.or_bug("a sink writes a parameter: the verifier sees that")] {
        Arg::Array(buffer, start) => (buffer.len() - start) as u64,
        Arg::Scalar(_) => 0,
    }
}

/// The bits of a literal.
fn scalar(literal: Literal) -> u64 {
    match literal {
        Literal::I32(x) => u64::from(x as u32),
        Literal::I64(x) => x as u64,
        Literal::F32(x) => u64::from(x),
        Literal::F64(x) => x,
        Literal::Bool(x) => u64::from(x),
        Literal::U8(x) => u64::from(x),
    }
}
