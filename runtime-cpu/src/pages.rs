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

/// Lets the system take the pages of an allocation when it needs some, which loses what is in them;
/// whether there are such pages, and it does that. What is not taken need not be given again.
///
/// # Safety
/// The allocation has this layout, and nobody needs what is in it.
#[cfg(target_os = "linux")]
pub unsafe fn lend(base: NonNull<u8>, layout: Layout) -> bool {
    const MADV_FREE: i32 = 8;
    // SAFETY: as promised.
    layout.size() >= LARGE && unsafe { madvise_whole(base, layout.size(), MADV_FREE) }
}

/// The same where systems do not do that.
///
/// # Safety
/// The allocation has this layout, and nobody needs what is in it.
#[cfg(not(target_os = "linux"))]
pub unsafe fn lend(_base: NonNull<u8>, _layout: Layout) -> bool {
    false
}

/// Asks for large pages; whether they are given does not matter.
#[cfg(target_os = "linux")]
fn advise(base: NonNull<u8>, bytes: usize) {
    const MADV_HUGEPAGE: i32 = 14;
    // SAFETY: the advice changes nothing that can be seen.
    unsafe { madvise_whole(base, bytes, MADV_HUGEPAGE) };
}

/// Gives advice about the whole pages of an allocation; whether it was taken.
///
/// # Safety
/// The advice may be followed.
#[cfg(target_os = "linux")]
unsafe fn madvise_whole(base: NonNull<u8>, bytes: usize, advice: i32) -> bool {
    /// The size of a small page; a multiple of it where pages are larger.
    const PAGE: usize = 64 << 10;
    unsafe extern "C" {
        fn madvise(address: *mut u8, bytes: usize, advice: i32) -> i32;
    }
    let skip = base.as_ptr().align_offset(PAGE);
    let bytes = bytes.saturating_sub(skip) / PAGE * PAGE;
    // SAFETY: whole pages of the allocation; the caller answers for the advice.
    unsafe { madvise(base.as_ptr().wrapping_add(skip), bytes, advice) == 0 }
}
