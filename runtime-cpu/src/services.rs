//! The intrinsics of kir for compiled code: C functions around the implementations that all runtimes
//! share. Results are written, as 8 bytes each, to the last argument. Functions that sort take the
//! environment instead, and return a [`Status`].

use crate::abi::{Env, Status};
use crate::workers::Workers;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Extern, Ty};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::groups::{Elements, Found, distinct, groups};
use nesl_runtime::services::product::{Factor, Float, Sizes, product};
use nesl_runtime::services::segments;
use nesl_runtime::services::sort::{Key, Order, Team, Work, rank, sort};
use nesl_runtime::services::text::{self, Texts};
use nesl_runtime::services::transpose::transpose;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Copies bytes; none if their number is negative.
///
/// # Safety
/// The ranges are valid. They may be the same.
pub unsafe extern "C" fn copy(from: *const u8, to: *mut u8, bytes: i64) {
    // SAFETY: kir's `copy` is of arrays with so many elements. They do not overlap, or are the same.
    unsafe { std::ptr::copy(from, to, bytes.max(0) as usize) };
}

/// The address of a function for compiled code.
#[derive(Clone, Copy, Debug)]
pub enum Address {
    /// A function that takes the arguments and the address of the results.
    Plain(*const u8),
    /// A function that takes the environment and the arguments, and returns a status.
    Checked(*const u8),
}

/// Returns the function of an intrinsic, for keys of a type.
pub fn address(service: Extern, keys: Ty) -> Address {
    let plain = match service {
        Extern::RankUp => return Address::Checked(ranking::<false>(keys)),
        Extern::RankDown => return Address::Checked(ranking::<true>(keys)),
        Extern::SortUp => return Address::Checked(sorting::<false>(keys)),
        Extern::SortDown => return Address::Checked(sorting::<true>(keys)),
        Extern::Groups => return Address::Checked(grouping(keys)),
        Extern::TextGroups => return Address::Checked(text_groups as *const u8),
        Extern::Distinct => return Address::Checked(searching(keys)),
        Extern::DistinctTexts => return Address::Checked(distinct_texts as *const u8),
        Extern::RankTexts => return Address::Checked(ranked_texts as *const u8),
        Extern::RankSegmentsUp => return Address::Checked(ranking_segments::<false>(keys)),
        Extern::RankSegmentsDown => return Address::Checked(ranking_segments::<true>(keys)),
        Extern::SortSegmentsUp => return Address::Checked(sorting_segments::<false>(keys)),
        Extern::SortSegmentsDown => return Address::Checked(sorting_segments::<true>(keys)),
        Extern::GroupSegments => return Address::Checked(grouping_segments(keys)),
        Extern::GroupTextSegments => {
            return Address::Checked(grouped_text_segments as *const u8);
        }
        Extern::RankTextSegments => return Address::Checked(ranked_text_segments as *const u8),
        Extern::Product => return Address::Checked(multiplying(keys)),
        Extern::Transpose => return Address::Checked(transposing(keys)),
        Extern::HashText => hash_text as *const u8,
        Extern::SameText => same_text as *const u8,
        Extern::FloatText => float_text as *const u8,
        Extern::FloatText32 => float_text_32 as *const u8,
        Extern::ExpText => exp_text as *const u8,
        Extern::ParseFloat => parse_float::<false> as *const u8,
        Extern::ParseFloat32 => parse_float::<true> as *const u8,
    };
    Address::Plain(plain)
}

fn ranking<const DOWN: bool>(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => ranked::<i32, DOWN> as *const u8,
        Ty::I64 => ranked::<i64, DOWN> as *const u8,
        Ty::F32 => ranked::<f32, DOWN> as *const u8,
        Ty::F64 => ranked::<f64, DOWN> as *const u8,
        Ty::Bool | Ty::U8 => ranked::<u8, DOWN> as *const u8,
    }
}

fn sorting<const DOWN: bool>(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => sorted::<i32, DOWN> as *const u8,
        Ty::I64 => sorted::<i64, DOWN> as *const u8,
        Ty::F32 => sorted::<f32, DOWN> as *const u8,
        Ty::F64 => sorted::<f64, DOWN> as *const u8,
        Ty::Bool | Ty::U8 => sorted::<u8, DOWN> as *const u8,
    }
}

fn grouping(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => int_groups::<i32> as *const u8,
        Ty::I64 | Ty::F32 | Ty::F64 | Ty::Bool | Ty::U8 => int_groups::<i64> as *const u8,
    }
}

fn searching(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => distinct_ints::<i32> as *const u8,
        Ty::Bool | Ty::U8 => distinct_ints::<u8> as *const u8,
        Ty::I64 | Ty::F32 | Ty::F64 => distinct_ints::<i64> as *const u8,
    }
}

fn ranking_segments<const DOWN: bool>(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => ranked_segments::<i32, DOWN> as *const u8,
        Ty::I64 => ranked_segments::<i64, DOWN> as *const u8,
        Ty::F32 => ranked_segments::<f32, DOWN> as *const u8,
        Ty::F64 => ranked_segments::<f64, DOWN> as *const u8,
        Ty::Bool | Ty::U8 => ranked_segments::<u8, DOWN> as *const u8,
    }
}

fn sorting_segments<const DOWN: bool>(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => sorted_segments::<i32, DOWN> as *const u8,
        Ty::I64 => sorted_segments::<i64, DOWN> as *const u8,
        Ty::F32 => sorted_segments::<f32, DOWN> as *const u8,
        Ty::F64 => sorted_segments::<f64, DOWN> as *const u8,
        Ty::Bool | Ty::U8 => sorted_segments::<u8, DOWN> as *const u8,
    }
}

fn grouping_segments(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => grouped_segments::<i32> as *const u8,
        Ty::I64 | Ty::F32 | Ty::F64 | Ty::Bool | Ty::U8 => grouped_segments::<i64> as *const u8,
    }
}

fn multiplying(elements: Ty) -> *const u8 {
    match elements {
        Ty::F32 => multiplied::<f32> as *const u8,
        Ty::F64 | Ty::I32 | Ty::I64 | Ty::Bool | Ty::U8 => multiplied::<f64> as *const u8,
    }
}

fn transposing(elements: Ty) -> *const u8 {
    match elements {
        Ty::I64 | Ty::F64 => transposed::<u64> as *const u8,
        Ty::I32 | Ty::F32 => transposed::<u32> as *const u8,
        Ty::Bool | Ty::U8 => transposed::<u8> as *const u8,
    }
}

/// Returns an array as a slice; an empty one may be at any address.
///
/// # Safety
/// The elements are initialised, and not written while the slice lives.
unsafe fn slice<'a, T>(from: *const T, length: i64) -> &'a [T] {
    if length <= 0 {
        return &[];
    }
    // SAFETY: the caller's array has `length` initialised elements.
    unsafe { std::slice::from_raw_parts(from, length as usize) }
}

/// The threads of a runtime, as far as a work item may use them.
struct Helpers<'a> {
    workers: &'a Workers,
    stop: &'a AtomicBool,
    threads: usize,
}

impl Helpers<'_> {
    /// All threads, for the only work item of a launch; else the present one.
    ///
    /// # Safety
    /// The environment is that of the running code.
    unsafe fn of<'a>(env: *const Env) -> Helpers<'a> {
        // SAFETY: the launcher keeps the environment, the workers and the flag until the code returns.
        unsafe {
            let workers = &*(*env).workers;
            let stop = AtomicBool::from_ptr((*env).interrupt.cast_mut().cast());
            let threads = if (*env).alone != 0 { workers.threads() } else { 1 };
            Helpers { workers, stop, threads }
        }
    }
}

impl Team for Helpers<'_> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        if self.threads > 1 {
            return self.workers.each(count, work);
        }
        let mut numbers = 0..count;
        work(&mut || numbers.next());
    }

    fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    fn reserve(&self, bytes: u64) -> bool {
        self.workers.memory().reserve(bytes)
    }

    fn release(&self, bytes: u64) {
        self.workers.memory().unreserve(bytes);
    }
}

fn status(done: Result<(), FaultCode>) -> i32 {
    let status = match done {
        Ok(()) => Status::Done,
        Err(FaultCode::Interrupted) => Status::Interrupted,
        Err(_) => Status::OutOfMemory,
    };
    status as i32
}

fn order(down: bool) -> Order {
    if down { Order::Down } else { Order::Up }
}

/// Returns uninitialised memory as a slice; an empty one may be at any address.
///
/// # Safety
/// The memory has room for `length` elements, and nothing else accesses it while the slice lives.
unsafe fn room<'a, T>(at: *mut T, length: i64) -> &'a mut [MaybeUninit<T>] {
    if length <= 0 {
        return &mut [];
    }
    // SAFETY: the caller's memory has room for `length` elements, and it alone uses it.
    unsafe { std::slice::from_raw_parts_mut(at.cast(), length as usize) }
}

/// # Safety
/// `keys` and `out` have `length` elements and do not overlap; the environment is that of the
/// code.
unsafe extern "C" fn ranked<T: Key, const DOWN: bool>(
    env: *const Env,
    keys: *const T,
    length: i64,
    out: *mut i64,
) -> i32 {
    // SAFETY: the caller passes arrays of `length` elements that do not overlap, and its environment.
    let (keys, out, helpers) =
        unsafe { (slice(keys, length), room(out, length), Helpers::of(env)) };
    status(rank(keys, order(DOWN), out, &helpers))
}

/// # Safety
/// `keys` and `out` have `length` elements and do not overlap; the environment is that of the code.
unsafe extern "C" fn sorted<T: Key, const DOWN: bool>(
    env: *const Env,
    keys: *const T,
    length: i64,
    out: *mut T,
) -> i32 {
    // SAFETY: the caller passes arrays of `length` elements that do not overlap, and its environment.
    let (keys, out, helpers) =
        unsafe { (slice(keys, length), room(out, length), Helpers::of(env)) };
    status(sort(keys, order(DOWN), out, &helpers))
}

/// # Safety
/// `ints`, `last` and `count` have `length` elements and do not overlap; the environment is that of
/// the code.
unsafe extern "C" fn int_groups<T>(
    env: *const Env,
    ints: *const T,
    length: i64,
    last: *mut i64,
    count: *mut i64,
) -> i32
where
    [T]: Elements,
{
    // SAFETY: the caller passes arrays of `length` elements that do not overlap, and its environment.
    unsafe {
        let found = Found { last: room(last, length), count: room(count, length) };
        status(groups(slice(ints, length), found, &Helpers::of(env)))
    }
}

/// Writes a number where it is wanted, if there is one.
///
/// # Safety
/// `to` has an element.
unsafe fn tell(found: Result<usize, FaultCode>, to: *mut i64) -> i32 {
    status(found.map(|number| {
        // SAFETY: the caller's array has an element.
        unsafe { *to = number as i64 };
    }))
}

/// # Safety
/// `keys`, `last` and `count` have `length` elements, `number` has one, and they do not overlap; the
/// environment is that of the code.
unsafe extern "C" fn distinct_ints<T>(
    env: *const Env,
    keys: *const T,
    length: i64,
    last: *mut i64,
    count: *mut i64,
    number: *mut i64,
) -> i32
where
    [T]: Elements,
{
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let found = Found { last: room(last, length), count: room(count, length) };
        tell(distinct(slice(keys, length), found, &Helpers::of(env)), number)
    }
}

/// Returns the offsets of segments, and the number of elements of all of them.
///
/// # Safety
/// There are `segments + 1` initialised offsets, and nothing writes them while the slice lives.
unsafe fn segment_offsets<'a>(offsets: *const i64, segments: i64) -> (&'a [i64], i64) {
    // SAFETY: the caller passes so many.
    let offsets = unsafe { slice(offsets, segments.max(0) + 1) };
    (offsets, offsets[offsets.len() - 1])
}

/// # Safety
/// There are `segments + 1` offsets, `keys` and `out` have as many elements as the last says, and none of
/// the arrays overlap; the environment is that of the code.
unsafe extern "C" fn ranked_segments<T: Key, const DOWN: bool>(
    env: *const Env,
    keys: *const T,
    segments: i64,
    out: *mut i64,
    offsets: *const i64,
) -> i32 {
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let (offsets, total) = segment_offsets(offsets, segments);
        let (keys, out, helpers) = (slice(keys, total), room(out, total), Helpers::of(env));
        status(segments::rank(keys, offsets, order(DOWN), out, &helpers))
    }
}

/// # Safety
/// There are `segments + 1` offsets, `keys` and `out` have as many elements as the last says, and none of
/// the arrays overlap; the environment is that of the code.
unsafe extern "C" fn sorted_segments<T: Key, const DOWN: bool>(
    env: *const Env,
    keys: *const T,
    segments: i64,
    out: *mut T,
    offsets: *const i64,
) -> i32 {
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let (offsets, total) = segment_offsets(offsets, segments);
        let (keys, out, helpers) = (slice(keys, total), room(out, total), Helpers::of(env));
        status(segments::sort(keys, offsets, order(DOWN), out, &helpers))
    }
}

/// # Safety
/// There are `segments + 1` offsets, `ints`, `last` and `count` have as many elements as the last says, and
/// none of the arrays overlap; the environment is that of the code.
unsafe extern "C" fn grouped_segments<T>(
    env: *const Env,
    ints: *const T,
    segments: i64,
    last: *mut i64,
    count: *mut i64,
    offsets: *const i64,
) -> i32
where
    [T]: Elements,
{
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let (offsets, total) = segment_offsets(offsets, segments);
        let found = Found { last: room(last, total), count: room(count, total) };
        status(segments::groups(slice(ints, total), offsets, found, &Helpers::of(env)))
    }
}

/// # Safety
/// There are `segments + 1` offsets, `starts`, `lengths`, `last` and `count` have as many elements as the
/// last says, and none of the arrays overlap; each text lies in the array at `chars`; the environment is
/// that of the code.
#[allow(clippy::too_many_arguments, reason = "the operands of the intrinsic")]
unsafe extern "C" fn grouped_text_segments(
    env: *const Env,
    starts: *const i64,
    segments: i64,
    lengths: *const i64,
    chars: *const u8,
    last: *mut i64,
    count: *mut i64,
    offsets: *const i64,
) -> i32 {
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let (offsets, total) = segment_offsets(offsets, segments);
        let texts = Texts::new(slice(starts, total), slice(lengths, total), chars);
        let found = Found { last: room(last, total), count: room(count, total) };
        status(segments::groups(&texts, offsets, found, &Helpers::of(env)))
    }
}

/// # Safety
/// There are `segments + 1` offsets, `starts`, `lengths` and `out` have as many elements as the last says,
/// and none of the arrays overlap; each text lies in the array at `chars`; the environment is that of the
/// code.
unsafe extern "C" fn ranked_text_segments(
    env: *const Env,
    starts: *const i64,
    segments: i64,
    lengths: *const i64,
    chars: *const u8,
    out: *mut i64,
    offsets: *const i64,
) -> i32 {
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let (offsets, total) = segment_offsets(offsets, segments);
        let texts = Texts::new(slice(starts, total), slice(lengths, total), chars);
        status(segments::rank_texts(&texts, offsets, room(out, total), &Helpers::of(env)))
    }
}

/// # Safety
/// There are `columns` starts, from each of which on the array has `rows` elements; `out` has room for
/// `rows * columns` elements and overlaps nothing; the environment is that of the code.
unsafe extern "C" fn transposed<T: Copy + Send + Sync>(
    env: *const Env,
    pool: *const T,
    starts: *const i64,
    rows: i64,
    columns: i64,
    out: *mut T,
) -> i32 {
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let starts = slice(starts, columns);
        let rows = rows.max(0) as usize;
        let out = room(out, (rows * starts.len()) as i64);
        status(transpose(pool, starts, rows, out, &Helpers::of(env)))
    }
}

/// # Safety
/// From each of its starts on, a matrix has as many elements as the sizes say for its rows; there are as
/// many starts as rows; `out` has room for `rows * columns` elements and overlaps nothing; the environment
/// is that of the code.
#[allow(clippy::too_many_arguments, reason = "the operands of the intrinsic")]
unsafe extern "C" fn multiplied<T: Float>(
    env: *const Env,
    left: *const T,
    left_starts: *const i64,
    left_turned: i64,
    right: *const T,
    right_starts: *const i64,
    right_turned: i64,
    rows: i64,
    columns: i64,
    depth: i64,
    out: *mut T,
) -> i32 {
    let stored = |own: i64, turned: i64| if turned == 0 { own } else { depth };
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let starts = slice(left_starts, stored(rows, left_turned));
        let left = Factor::new(left, starts, left_turned != 0);
        let starts = slice(right_starts, stored(columns, right_turned));
        let right = Factor::new(right, starts, right_turned != 0);
        let [rows, columns, depth] = [rows, columns, depth].map(|count| count.max(0) as usize);
        let sizes = Sizes { rows, columns, depth };
        let out = room(out, (rows * columns) as i64);
        status(product(left, right, sizes, out, &Helpers::of(env)))
    }
}

/// # Safety
/// `starts`, `lengths`, `last` and `count` have `number` elements and do not overlap; each text lies in
/// the array at `chars`; the environment is that of the code.
unsafe extern "C" fn text_groups(
    env: *const Env,
    starts: *const i64,
    number: i64,
    lengths: *const i64,
    chars: *const u8,
    last: *mut i64,
    count: *mut i64,
) -> i32 {
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let texts = Texts::new(slice(starts, number), slice(lengths, number), chars);
        let found = Found { last: room(last, number), count: room(count, number) };
        status(groups(&texts, found, &Helpers::of(env)))
    }
}

/// # Safety
/// `starts`, `lengths`, `last` and `count` have `number` elements, `different` has one, and they do not
/// overlap; each text lies in the array at `chars`; the environment is that of the code.
unsafe extern "C" fn distinct_texts(
    env: *const Env,
    starts: *const i64,
    number: i64,
    lengths: *const i64,
    chars: *const u8,
    last: *mut i64,
    count: *mut i64,
    different: *mut i64,
) -> i32 {
    // SAFETY: the caller passes such arrays, and its environment.
    unsafe {
        let texts = Texts::new(slice(starts, number), slice(lengths, number), chars);
        let found = Found { last: room(last, number), count: room(count, number) };
        tell(distinct(&texts, found, &Helpers::of(env)), different)
    }
}

/// # Safety
/// `starts`, `lengths` and `out` have `number` elements and do not overlap; each text is in bounds of
/// the array `chars`; the environment is that of the running code.
unsafe extern "C" fn ranked_texts(
    env: *const Env,
    starts: *const i64,
    number: i64,
    lengths: *const i64,
    chars: *const u8,
    out: *mut i64,
) -> i32 {
    // SAFETY: compiled code calls this with arrays that lowering made as this function requires,
    // and its own environment.
    let (texts, out, helpers) = unsafe {
        let texts = Texts::new(slice(starts, number), slice(lengths, number), chars);
        (texts, room(out, number), Helpers::of(env))
    };
    status(text::rank(texts.len(), &|index| texts.get(index), out, &helpers))
}

/// # Safety
/// `text` has `length` chars, `results` room for one result.
unsafe extern "C" fn hash_text(text: *const u8, length: i64, salt: i64, results: *mut u64) {
    // SAFETY: the caller passes a text of `length` chars and room for a result.
    unsafe { *results = text::hash(slice(text, length), salt) as u64 };
}

/// # Safety
/// `a` has `m` chars, `b` has `n`, `results` room for one result.
unsafe extern "C" fn same_text(a: *const u8, m: i64, b: *const u8, n: i64, results: *mut u64) {
    // SAFETY: the caller passes two texts of these lengths and room for a result.
    unsafe { *results = u64::from(text::same(slice(a, m), slice(b, n))) };
}

/// Writes a text; returns its length.
///
/// # Safety
/// `out` has room for the text.
unsafe fn write_text(text: &str, out: *mut u8) -> u64 {
    // SAFETY: the caller has seen that there is room for the text.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out, text.len()) };
    text.len() as u64
}

/// # Safety
/// `out` has room for 32 chars, `results` for one result.
unsafe extern "C" fn float_text(x: f64, out: *mut u8, results: *mut u64) {
    // SAFETY: the caller passes room for 32 chars, more than any float takes, and for a result.
    unsafe { *results = write_text(&text::float(x, Precision::Bits64), out) };
}

/// # Safety
/// `out` has room for 32 chars, `results` for one result.
unsafe extern "C" fn float_text_32(x: f64, out: *mut u8, results: *mut u64) {
    // SAFETY: the caller passes room for 32 chars, more than any float takes, and for a result.
    unsafe { *results = write_text(&text::float(x, Precision::Bits32), out) };
}

/// # Safety
/// `out` has room for 64 chars, `results` for two results.
unsafe extern "C" fn exp_text(x: f64, digits: i64, out: *mut u8, results: *mut u64) {
    let (length, ok) = match text::exponential(x, digits) {
        // SAFETY: the caller passes room for 64 chars, to which `exponential` limits the text.
        Ok(text) => (unsafe { write_text(&text, out) }, true),
        Err(_) => (0, false),
    };
    // SAFETY: the caller passes room for two results.
    unsafe {
        *results = length;
        *results.add(1) = u64::from(ok);
    }
}

/// # Safety
/// `text` has `length` chars, `results` room for two results.
unsafe extern "C" fn parse_float<const SINGLE: bool>(
    text: *const u8,
    length: i64,
    results: *mut u64,
) {
    let precision = if SINGLE { Precision::Bits32 } else { Precision::Bits64 };
    // SAFETY: the caller passes a text of `length` chars.
    let (value, all) = text::parse_float(unsafe { slice(text, length) }, precision);
    // SAFETY: the caller passes room for two results.
    unsafe {
        *results = value.to_bits();
        *results.add(1) = u64::from(all);
    }
}
