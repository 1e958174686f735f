//! The memory that a session takes for texts that are entered again and again, counted in the
//! allocator's bytes.

use nesl_engine::{Session, Settings};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

/// Counts the bytes that are allocated and not yet freed.
struct Counting;

static LIVE_BYTES: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged, which keeps the promises of
// `GlobalAlloc`; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller promises what `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller promises that `pointer` came from `alloc` above, hence from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Enters the texts so many times; the bytes that are live then.
fn live_bytes_after(session: &mut Session, texts: &[&str], rounds: usize) -> isize {
    for _ in 0..rounds {
        for text in texts {
            let summary = session.enter("<entry>", text, &mut |_| {});
            assert_eq!(summary.errors, 0, "{text}");
        }
    }
    LIVE_BYTES.load(Ordering::Relaxed)
}

#[test]
fn n7_entering_the_same_forms_again_takes_no_memory() {
    let forms = [
        "function mean(xs) = float(sum(xs)) / float(#xs);",
        "xs = {i * i : i in [0:10]};",
        "m = mean(xs);",
        "{x : x in xs | float(x) > m};",
    ];
    let mut session = Session::new(Settings::default());
    let before = live_bytes_after(&mut session, &forms, 100);
    let after = live_bytes_after(&mut session, &forms, 500);
    let bytes_per_round = (after - before) / 500;
    assert!(bytes_per_round < 100, "{bytes_per_round} bytes a round");
}
