//! Sorting the notes of a histogram by their bins, before a step adds them.
//!
//! ```text
//! bins     the bin of each note as a key of 32 bits; the number of bins for one of no bin
//! rank     the place of each note among the sorted ones: equal keys keep their order
//! place    each note goes to its place
//! ```
//!
//! These are kernels of a module of their own, which is compiled when a histogram needs it for the
//! first time: most programs never do.

use super::{Run, length};
use crate::driver::memory::Block;
use crate::driver::module::{Compiled, LazyModule};
use crate::emit::{Collect, Notes, TableSize};
use crate::services;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Literal, Ty};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Loaded, Runtime};
use std::sync::Arc;

/// The kernels, for values of type `TY`.
const KERNELS: &str = "\
kernel \"bins\"(v0: i64, v1: i64, v2: [i64], v3: [i32]) over flat v0 at v4 {
  v5: i64 = load v2[v4]
  v6: i64 = const 0
  v7: bool = ge v5, v6
  v8: bool = lt v5, v1
  v9: bool = and v7, v8
  v10: i64 = select v9, v5, v1
  v11: i32 = convert v10
  store v3[v4] = v11
}

kernel \"rank\"(v0: i64, v1: i64, v2: [i32], v3: [i64]) over flat v0 at v4 {
  extern rank_up(v2, v1, v3)
}

kernel \"place\"(v0: i64, v1: [i32], v2: [TY], v3: [i64], v4: [i64], v5: [TY]) over flat v0 at v6 {
  v7: i64 = load v3[v6]
  v8: i32 = load v1[v6]
  v9: i64 = convert v8
  v10: TY = load v2[v6]
  store v4[v7] = v9
  store v5[v7] = v10
}
";

/// The numbers of the kernels.
const BINS: usize = 0;
const RANK: usize = 1;
const PLACE: usize = 2;

impl Run<'_> {
    /// Enqueues the sort of the notes of a histogram, if that is worth its while.
    pub(super) fn sort_notes(&mut self, collect: &Collect) -> Result<(), Failure> {
        let Notes { table, bins, values } = collect.notes;
        let items = self.count(table.items).or_bug("the notes were made");
        let bin_count = length(self.launch.args, table.array);
        if TableSize::Sorted.compute(items, bin_count) == 0 {
            return Ok(());
        }
        let text = KERNELS.replace("TY", &collect.ty.to_string());
        let module = kir::parse(&text).ok().or_bug("the kernels are well-formed");
        let module = self.launcher.runtime.load(&module)?;
        let array = |ty: Ty| -> Result<(Arc<Block>, Arg), Failure> {
            let block = Arc::new(self.launcher.alloc(items.saturating_mul(ty.size() as u64))?);
            Ok((block.clone(), Arg::Array(Buffer::new(ty, items as usize, block), 0)))
        };
        let note = |number: usize, ty: Ty| {
            let block = self.temporaries[number].clone().or_bug("the notes were made");
            Arg::Array(Buffer::new(ty, items as usize, block), 0)
        };
        let number = |x: u64| Arg::Scalar(Literal::I64(x as i64));
        let (_, keys) = array(Ty::I32)?;
        self.enqueue(
            &module,
            BINS,
            &[number(items), number(bin_count), note(bins, Ty::I64), keys.clone()],
        )?;
        let (_, places) = array(Ty::I64)?;
        self.enqueue(&module, RANK, &[number(1), number(items), keys.clone(), places.clone()])?;
        let (sorted_bins, to_bins) = array(Ty::I64)?;
        let (sorted_values, to_values) = array(collect.ty)?;
        let args = [number(items), keys, note(values, collect.ty), places, to_bins, to_values];
        self.enqueue(&module, PLACE, &args)?;
        // The notes as they were are free for what is enqueued from here on.
        self.temporaries[bins] = Some(sorted_bins);
        self.temporaries[values] = Some(sorted_values);
        Ok(())
    }

    /// Enqueues a kernel of the module.
    fn enqueue(&self, module: &Loaded, kernel: usize, args: &[Arg]) -> Result<(), Failure> {
        let runtime = self.launcher.runtime;
        let lazy: &LazyModule = module.0.downcast_ref().or_bug("the runtime loaded the module");
        let launch = Launch { module, kernel, args, tag: self.launch.tag, work_items: None };
        match &runtime.compiled(lazy)?.kernels[kernel] {
            Compiled::Kernel(kernel) => self.launcher.launch(kernel, &launch).map(drop),
            Compiled::Service(service) => {
                let number = runtime.next_pass(launch.tag);
                services::launch::launch(self.launcher, service, &launch, number)
            }
        }
    }
}
