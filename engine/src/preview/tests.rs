//! Tests of how values are read to be shown.

use super::*;
use nesl_runtime::kir::Module;
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Caps, Counters, Launch, Loaded, Options};
use std::cell::Cell;

/// A runtime on which an interrupt arrives with one of its reads.
struct Interrupted<'a> {
    inner: Reference,
    reads: Cell<usize>,
    /// The number of the read.
    at: usize,
    interrupt: &'a AtomicBool,
}

impl Runtime for Interrupted<'_> {
    fn caps(&self) -> &Caps {
        self.inner.caps()
    }
    fn alloc(&self, ty: nesl_runtime::kir::Ty, length: usize) -> Result<Buffer, Failure> {
        self.inner.alloc(ty, length)
    }
    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.inner.write(buffer, at, bytes)
    }
    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        self.inner.load(module)
    }
    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        self.inner.launch(launch)
    }
    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.reads.set(self.reads.get() + 1);
        if self.reads.get() == self.at {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        self.inner.read(buffer, at, out)
    }
    fn sync(&self) -> Result<(), Failure> {
        self.inner.sync()
    }
    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

/// A sequence of so many sequences of … of so many ints, nested `levels` deep, and its type.
fn nested(levels: usize, length: usize) -> (Value, Ty) {
    let ints = Value::Sequence(Sequence::Ints(Arc::new((0..length as i64).collect())));
    (1..levels).fold((ints, Ty::Sequence(Ty::Int.into())), |(value, ty), _| {
        let rows = Value::Sequence(Sequence::Values(Arc::new(vec![value; length])));
        (rows, Ty::Sequence(ty.into()))
    })
}

#[test]
fn an_interrupt_ends_the_reading_of_a_deep_value() {
    let interrupt = AtomicBool::new(false);
    let runtime = |at| Interrupted {
        inner: Reference::new(Options::default()),
        reads: Cell::new(0),
        at,
        interrupt: &interrupt,
    };
    let ends = Some(Ends { head: 10, tail: 5, whole_bytes: 0 });
    let preview = |runtime: &Interrupted<'_>| {
        let (value, ty) = nested(5, 6);
        let precision = Precision::Bits64;
        let parts = ResidentValue::value_of(value, ty.clone()).parts(runtime, precision);
        let resident = ResidentValue::resident(parts.expect("there is memory"), ty, precision);
        resident.preview(ends, Some(runtime), &interrupt).map(|_| ())
    };
    // Two reads for the rows of each sequence, and one for each of the innermost ones.
    let whole = runtime(usize::MAX);
    assert_eq!(preview(&whole), Ok(()));
    assert_eq!(whole.reads.get(), 2 * (1 + 6 + 36 + 216) + 1296);
    let cut = runtime(100);
    assert_eq!(preview(&cut), Err(Failure::Machine(FaultCode::Interrupted.into())));
    assert!(cut.reads.get() <= 101, "{} reads", cut.reads.get());
}

#[test]
fn an_interrupt_ends_the_reading_of_a_long_value() {
    let interrupt = AtomicBool::new(false);
    let runtime = Interrupted {
        inner: Reference::new(Options::default()),
        reads: Cell::new(0),
        at: 3,
        interrupt: &interrupt,
    };
    let length = 10 * POLL_ELEMENTS;
    let (value, ty) = nested(1, length);
    let precision = Precision::Bits64;
    let parts = ResidentValue::value_of(value, ty.clone()).parts(&runtime, precision);
    let resident = ResidentValue::resident(parts.expect("there is memory"), ty, precision);
    // As many as there are, and more, are asked for.
    let ends = Some(Ends { head: 2 * length, tail: 0, whole_bytes: 0 });
    let preview = resident.preview(ends, Some(&runtime), &interrupt).map(|_| ());
    assert_eq!(preview, Err(Failure::Machine(FaultCode::Interrupted.into())));
    assert_eq!(runtime.reads.get(), 3);
    interrupt.store(false, Ordering::Relaxed);
    let preview = resident.preview(ends, Some(&runtime), &interrupt).expect("it is read");
    let Preview::Whole(Value::Sequence(Sequence::Ints(ints))) = preview else {
        panic!("it is kept as the host keeps it: {preview:?}");
    };
    assert_eq!((ints.len(), ints[length - 1]), (length, length as i64 - 1));
}
