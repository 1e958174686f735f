//! Memory from the system. Large allocations ask for large pages: to be given a page costs more
//! than to fill it, and programs on sequences fill many.

use std::alloc::Layout;
use std::ptr::NonNull;

/// Smaller allocations have no large page in them.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// An allocation; freed by [`std::alloc::dealloc`] with the same layout, whose size is not 0.
pub fn alloc(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the callers' layouts have a border, and so are not empty.
    let base = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
    #[cfg(target_os = "linux")]
    if layout.size() >= LARGE {
        advise(base, layout.size());
    }
    Some(base)
}

/// Asks for large pages; whether they are given does not matter.
#[cfg(target_os = "linux")]
fn advise(base: NonNull<u8>, bytes: usize) {
    /// The size of a small page; a multiple of it where pages are larger.
    const PAGE: usize = 64 << 10;
    const MADV_HUGEPAGE: i32 = 14;
    unsafe extern "C" {
        safe fn madvise(address: *mut u8, bytes: usize, advice: i32) -> i32;
    }
    let skip = base.as_ptr().align_offset(PAGE);
    let bytes = bytes.saturating_sub(skip) / PAGE * PAGE;
    // Whole pages of the allocation; the advice changes nothing that can be seen.
    madvise(base.as_ptr().wrapping_add(skip), bytes, MADV_HUGEPAGE);
}
