//! Memory from the system. Large allocations ask for huge pages: faulting a page in costs more than
//! filling it, and programs on sequences fill many.

use std::alloc::Layout;
use std::ptr::NonNull;

/// The size from which on an allocation asks for huge pages, in bytes.
#[cfg(target_os = "linux")]
const MIN_HUGE_PAGE_BYTES: usize = 4 << 20;

/// Allocates memory, to be freed by [`std::alloc::dealloc`] with the same layout, whose size is not 0.
pub fn alloc(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the callers' layouts include padding, so that their size is not 0.
    let base = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
    #[cfg(target_os = "linux")]
    if layout.size() >= MIN_HUGE_PAGE_BYTES {
        advise(base, layout.size());
    }
    Some(base)
}

/// Lets the system reclaim the pages of an allocation when it needs some, which loses their contents;
/// returns true if it may. Pages that are not reclaimed need not be faulted in again.
///
/// # Safety
/// The allocation has this layout, and its contents are not read any more.
#[cfg(target_os = "linux")]
pub unsafe fn lend(base: NonNull<u8>, layout: Layout) -> bool {
    const MADV_FREE: i32 = 8;
    // SAFETY: the caller does not read the contents any more, so that pages may become zeros.
    layout.size() >= MIN_HUGE_PAGE_BYTES && unsafe { madvise_whole(base, layout.size(), MADV_FREE) }
}

/// As on Linux, for systems that cannot reclaim pages lazily: returns false.
///
/// # Safety
/// The allocation has this layout, and its contents are not read any more.
#[cfg(not(target_os = "linux"))]
pub unsafe fn lend(_base: NonNull<u8>, _layout: Layout) -> bool {
    false
}

/// Asks for huge pages; the system may refuse.
#[cfg(target_os = "linux")]
fn advise(base: NonNull<u8>, bytes: usize) {
    const MADV_HUGEPAGE: i32 = 14;
    // SAFETY: the advice does not change the contents.
    unsafe { madvise_whole(base, bytes, MADV_HUGEPAGE) };
}

/// Gives advice about the whole pages of an allocation; returns true if it was accepted.
///
/// # Safety
/// The program stays correct if the system follows the advice.
#[cfg(target_os = "linux")]
unsafe fn madvise_whole(base: NonNull<u8>, bytes: usize, advice: i32) -> bool {
    /// The size of a small page in bytes; a multiple of it where pages are larger.
    const PAGE_BYTES: usize = 64 << 10;
    unsafe extern "C" {
        fn madvise(address: *mut u8, bytes: usize, advice: i32) -> i32;
    }
    let skip = base.as_ptr().align_offset(PAGE_BYTES);
    let bytes = bytes.saturating_sub(skip) / PAGE_BYTES * PAGE_BYTES;
    // SAFETY: the range is whole pages of the caller's allocation, for which it accepts the advice.
    unsafe { madvise(base.as_ptr().wrapping_add(skip), bytes, advice) == 0 }
}
