//! The numbers that decide how a program is compiled, and where and how it runs, with their units.
//!
//! Each field says what it trades against what. The values were found on CPUs by timing the
//! programs in `bench/nesl` with neighbouring powers of two; where a value was derived instead, its
//! doc says from what. For the limits of inlining, unrolling and pools, no timings with other values
//! are recorded. A runtime whose launches, transfers or threads cost something else gets
//! other values here, in [`Thresholds::for_machine`], and nowhere else.
//!
//! Limits of formats and limits that keep a run safe are no thresholds: they stand where they are
//! checked.

use nesl_runtime::runtime::Caps;

/// Limits for every decision of the passes and of [`crate::strategy`], on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Operations up to which a function is inlined wherever it is called.
    ///
    /// Inlining exposes a body to constant folding and fusion, and lengthens the program that later
    /// passes compile.
    pub max_inlined_operations: usize,

    /// Operations that the calls of recursive functions in one function are written out to at most, if their constants say
    /// how deep they are.
    ///
    /// Noise of 4 octaves is 400 operations, and takes half as long without recursion on a CPU.
    pub max_unfolded_operations: usize,

    /// Operations of a function after which nothing more is inlined into it, nor unrolled.
    ///
    /// Bounds compilation time where calls nest: each level of calls may multiply the size.
    pub max_operations_after_inlining: usize,

    /// Elements of a list up to which sequential code unrolls an apply-to-each over it.
    ///
    /// Unrolling saves allocating the list and the loop, and repeats the body. Lists as short as a
    /// point's coordinates or the two halves of a divide and conquer are the ones that programs
    /// write out.
    pub max_unrolled_elements: usize,

    /// Elements of a list of known length up to which they become values of their own.
    ///
    /// Rows of matrices for points and transformations have up to four, the states of simulations a few more.
    pub max_short_list_elements: usize,

    /// Values in a list, rows of rows included, up to which they become values of their own.
    ///
    /// The values of a loop should stay in registers: sixteen are a matrix of four rows of four.
    pub max_short_list_values: usize,

    /// Operations that an apply-to-each over a short list becomes, at most.
    ///
    /// The product of two matrices of four rows is 112 operations.
    pub max_short_list_operations: usize,

    /// Versions of a function for short lists of different lengths, at most.
    pub max_versions: usize,

    /// Reductions of one flattened sequence that are computed row by row, at most.
    ///
    /// A tuple holds what they come to for a row: programs have two or three, and the time to compile grows with the
    /// square. Zero on a device, which reduces all elements at once as well, however unequal the rows are.
    pub max_reductions_of_rows: usize,

    /// Calls of a function that adds to what each gives, within each other: with more the recursion is too deep.
    ///
    /// The code is a loop, which takes no stack. Of the calls themselves, of 50 bytes and more, no stack has room for as
    /// many; the loop is over in 0.1 s.
    pub max_accumulated_calls: i64,

    /// The same of a function that appends what each gives to something.
    ///
    /// As many calls that append 8 bytes each make a sequence that takes up to 200 MB while it grows.
    pub max_appending_calls: i64,

    /// Reductions of one group that are added to tables, at most.
    ///
    /// Each takes a table, which is read and written for each value.
    pub max_reductions_of_group: usize,

    /// Elements of the table up to which reduce-by-key is a histogram in one pass.
    ///
    /// The table of a thread stays in the cache of a core: 128 KiB with elements of 8 bytes.
    pub max_histogram_elements: i64,

    /// Elements of the table up to which reduce-by-key is a histogram in a second pass over the
    /// values, which are at least as many; with more, groups are made.
    ///
    /// A table of sixteen million elements of 8 bytes takes 128 MiB. Adding two million values to one
    /// of the same size takes a CPU a tenth of the time of sorting them.
    pub max_large_histogram_elements: i64,

    /// Elements of the table up to which reduce-by-key is a histogram in a second pass if there are
    /// fewer values than places, but not fewer than one for [`Thresholds::max_places_per_value`].
    ///
    /// The table stays in the second cache of a core: 1 MiB with elements of 8 bytes.
    pub max_sparse_histogram_elements: i64,

    /// Places of such a table for each value, at most.
    ///
    /// A place is cleared and looked at in 1 to 2 ns; to sort a value and to reduce its group takes 50 ns and more
    /// where groups are small.
    pub max_places_per_value: i64,

    /// Places for each value that the table of a histogram may have inside of an apply-to-each.
    ///
    /// Each iteration has a table, so that they take a few times the memory of the values; to sort a value takes as long as
    /// to clear and to read several places.
    pub max_places_per_value_in_nests: i64,

    /// Values from which on reduce-by-key looks at some of the keys before the first pass.
    ///
    /// A launch and a wait take a CPU about 10 µs, a pass over 65,536 values about ten times as long.
    pub min_sampled_values: i64,

    /// Keys that reduce-by-key looks at before the first pass, spread evenly over all: keys are often sorted.
    pub sampled_keys: i64,

    /// True if the different elements of a sequence are found by an intrinsic that writes only those.
    ///
    /// The other way writes two ints for each element, and a filter reads them. On a device the host would
    /// have to wait for the number of different elements.
    pub distinct_by_intrinsic: bool,

    /// Elements from which what is read of a sorted sequence is selected.
    ///
    /// Selection takes some launches and one pass over the elements. A CPU sorts 16,384 floats in about 200 µs.
    pub min_selected_elements: i64,

    /// Elements of a sorted sequence for each one that is read, from which those are selected.
    ///
    /// Selection sorts what it finds by rank, which takes twice as long as sorting values.
    pub min_elements_per_selected: i64,

    /// Operations up to which a value is computed again in the kernels that use it.
    ///
    /// Eight scalar operations cost a CPU less than a store and a load of their result.
    pub max_rematerialised_operations: usize,

    /// Operations of the condition, and of the value, up to which the base case of a recursive
    /// function is inlined into its callers.
    ///
    /// A call costs about as much: saving and restoring registers, and the check of the depth.
    pub max_inlined_base_case_operations: usize,

    /// Elements that a full pool of sequential code grows to, at least.
    ///
    /// A smaller pool would be copied several times before it holds a short sequence.
    pub min_pool_elements: i64,

    /// Elements up to which a pool of sequential code has room at first for as many rows as there will be, if all are
    /// as long as the first.
    ///
    /// A copy costs as much as what is not used then. Memory that is not used is not touched either, but counts.
    pub max_expected_pool_elements: i64,

    /// The number of threads that make progress at the same time.
    ///
    /// Taken from [`Caps::parallelism`].
    pub concurrent_threads: u64,

    /// Work items per concurrent thread from which sequential code keeps the machine busy.
    ///
    /// Oversubscription: with eight work items for each thread, uneven costs balance. Fewer leave
    /// threads idle; a higher limit flattens code that would have kept its intermediate values in
    /// registers. On two to seven threads of a CPU there are as many work items for each as threads: uneven
    /// costs take at most as many times longer as there are threads, and flattened code several times as
    /// long for each element. Ten columns of 50,000 floats, summed on two threads, take 40 µs so, and 280 flattened.
    pub min_work_items_per_thread: u64,

    /// Elements read per work item up to which sequential code is run, however few work items there
    /// are.
    ///
    /// Zero on a CPU, whose launches cost little. On a device each step of flattened code costs a
    /// launch, and where the host needs a count also a wait: together the time in which a thread
    /// reads about 64 elements.
    pub max_elements_of_small_work_item: u64,

    /// Mean elements read per work item from which rows are ordered or grouped by flattened code, whose
    /// intrinsics take all of them at once; shorter ones by sequential code, if there are enough for all threads.
    ///
    /// Rows of 8 take about as long either way on a CPU, rows of 16 a third as long where they are grouped;
    /// flattened code needs 10 to 50 bytes for each element in between, sequential code none.
    pub min_ordered_row_elements: u64,

    /// Elements read in all below which code is not flattened.
    ///
    /// Flattened code takes a launch for each stage. Sixteen thousand elements take a CPU about as
    /// long as the launches saved.
    pub min_flattened_elements: u64,

    /// Elements read in all up to which sequential code that calls itself may leave the device.
    ///
    /// The host executes such code for a device whose work items cannot. For the rest of a quicksort of a
    /// million ints one core takes 25 ms; each level that stays on an H100 costs about 18 launches and 4 waits,
    /// 0.3 ms. With 64 thousand elements the two take about as long.
    pub max_elements_off_device: u64,

    /// Calls of a recursive function after which the rest of the recursion may leave the device, however
    /// many elements it reads.
    ///
    /// Divide and conquer of a hundred million elements has about twice thirty levels; more calls are
    /// a walk, each step of which would cost its launches again.
    pub max_calls_on_device: u64,

    /// Calls of a recursive function after which the work of one call is extrapolated.
    ///
    /// Divide and conquer begins with one large call, a walk along an array with a small one; after
    /// sixteen calls the two are told apart.
    pub min_observed_calls: u64,

    /// Calls of a recursive function, each within the one before, after which their work is extrapolated.
    ///
    /// A recursion that halves an int of 64 bits ends before, and may do all of its work on the way back.
    pub min_observed_depth: u64,

    /// Turns after which a loop that has hardly anything to do is finished by one thread.
    ///
    /// Should a turn make much later on, the thread hands the loop back.
    pub min_idle_calls: u64,

    /// Work items per launch up to which a loop has hardly anything to do.
    pub idle_work_items_per_launch: u64,

    /// Elements that such a loop may read: the thread may have to copy them, which takes about as long as the launches
    /// of the turns that it saves.
    pub max_idle_input_elements: u64,

    /// Work items per call below which a recursion seen [`min_observed_calls`] times is finished by
    /// one thread.
    ///
    /// An eighth of [`min_flattened_elements`]: the recursion goes on for an unknown number of
    /// calls, and each flattened call costs its launches again.
    ///
    /// [`min_observed_calls`]: Thresholds::min_observed_calls
    /// [`min_flattened_elements`]: Thresholds::min_flattened_elements
    pub max_sequential_call_work_items: u64,

    /// Work items per launch below which a recursion that was seen often enough is finished by one thread.
    ///
    /// A launch takes a CPU about 5 µs, a work item of sequential code 5 to 20 ns. Zero on a device, where
    /// one thread takes much longer, and the host would have to fetch the arrays.
    pub sequential_work_items_per_launch: u64,

    /// Light elements that take sequential code as long as a work item.
    ///
    /// Loops over numbers are vectorised, and take 0.3 to 1 ns for an element. On a device a thread takes them one by one.
    pub light_items_per_work_item: u64,

    /// Light elements per launch below which a recursion that was seen often enough is finished by one thread.
    ///
    /// The launch takes 5 to 12 µs over so few, most of it for the host and for waking threads; sequential code
    /// takes 4 to 16 µs. More than for a call of a single launch, since each launch of a call waits for the one before.
    pub light_items_per_launch: u64,

    /// The same for a loop that changes rows where they lie, times the number of threads.
    ///
    /// The table stays in the cache of the one thread, and rows that stay as they are cost nothing; all threads together
    /// write new rows. With two threads that takes longer even for a million elements.
    pub changed_items_per_launch: u64,

    /// Light elements that a turn of a loop makes from which one thread hands the loop back to the host.
    ///
    /// All threads take less for as many, and for the launches, than one thread alone. The host does not leave a
    /// call with as many back to one thread at once: they count as two times `max_sequential_call_work_items`.
    pub min_handed_back_elements: i64,

    /// The factor by which a turn has to make more for each time that a loop was handed back before.
    ///
    /// The host may leave the loop to one thread again, if it does little although it makes much. Each time, what the loop
    /// carries is copied.
    pub handed_back_growth: i64,

    /// Light elements that take as long as another one that a turn of a loop makes.
    ///
    /// As few, so that the host does not take what was handed back for too little to flatten: `min_flattened_elements`.
    pub light_elements_per_made_element: i64,

    /// Operations up to which the elements of a kernel are light, if none of them takes more than a load.
    ///
    /// A conditional minimum, or a sum of products, takes two to four.
    pub max_light_operations: usize,

    /// True if a launch may overwrite arguments that nobody else uses: each of its work items is executed once. A device
    /// executes a launch again with more memory if the work items had too little.
    pub gives_arguments: bool,

    /// Cheap operations up to which a filter in sequential code makes its elements without a test whether they are kept.
    ///
    /// A branch that cannot be predicted costs a CPU as much as twenty. A device writes what is not kept to memory.
    pub max_operations_of_not_kept: usize,

    /// True if sequential code takes mathematical functions behind the loops that give what they are taken of, of several
    /// elements at a time: a thread has vectors. A thread of a device has none.
    pub splits_maths: bool,

    /// Bytes of the stack for launches that recurse which the frames of the host may take before.
    ///
    /// If they take more, such a launch makes a stack of its own, whose memory is faulted in again.
    pub host_frame_bytes: usize,

    /// Elements that the calls of a recursion may move for each of their work items, beside one copy of what they are
    /// given; one that moves more is finished by sequential code after its second call.
    ///
    /// Sixteen elements are copied in the time that a work item takes. A device copies a million elements in the time
    /// of a launch, and its single threads are slow.
    pub max_moved_elements_per_work_item: u64,

    /// Elements up to which a recursion may move whatever it computes.
    ///
    /// A CPU copies them in 10 to 20 µs.
    pub min_moved_elements: u64,

    /// Elements that a call may read for each of its work items, where flattened code copies arrays
    /// that sequential code overwrites; with more, the recursion is finished by sequential code.
    ///
    /// A loop that changes a few rows of a table has little to do in a turn, and copies the table.
    /// Sixteen elements are copied in the time that a work item takes.
    pub max_copied_elements_per_work_item: u64,

    /// Operations up to which a side of a conditional inside a map counts as elementwise.
    ///
    /// The stencils and cellular automata among the programs that users write have sides of 20 to 40
    /// operations. One kernel over all elements takes half of the time that code for each row takes.
    pub max_map_side_operations: usize,

    /// Iterations up to which a loop of a constant number of them counts as short.
    ///
    /// A convolution with 25 weights takes a quarter of the time as one kernel over all elements: its loops
    /// become straight-line code. Dot products of 62,500 elements, each row with 16 others, take twice as
    /// long that way, because code for a row reads the row once for several of them.
    pub max_short_loop_iterations: usize,

    /// Operations of the code of a row up to which it is evaluated to find out if it is one of a matrix
    /// product or a transpose.
    ///
    /// Longer code does something else besides; evaluating it only takes time.
    pub max_evaluated_operations: usize,

    /// Multiplications of a matrix product, or elements of a transpose, from which the runtime does the
    /// operation by itself.
    ///
    /// A smaller one takes about as long either way, a launch.
    pub min_matrix_operations: u64,

    /// Rows and columns of a matrix product or a transpose, at least, that the runtime does by itself.
    ///
    /// A matrix that is used for fewer is read from memory about as fast as it is multiplied, so that
    /// nothing would be gained by packing it.
    pub min_matrix_side: u64,

    /// Work items that a thread of sequential code counts as when the work of a call is observed, if the host does
    /// not know how long its loops are.
    ///
    /// Otherwise it counts as the iterations of its loops: over rows, as many as the mean row has elements.
    pub sequential_thread_work_items: u64,

    /// Work items that such a thread counts as at least, however short its loops are, unless they are short by the
    /// text of the program.
    ///
    /// One on a CPU. A thread of a device takes long for a row, which the threads of a launch read together.
    pub min_sequential_thread_work_items: u64,

    /// Elements up to which the host copies or compares a column itself instead of launching.
    ///
    /// A launch on a CPU costs as much as moving about 256 elements. On a device with memory of its
    /// own each read waits for the device: zero is right there.
    pub max_host_copied_elements: usize,

    /// Segments up to which the host adds up their lengths itself instead of launching a scan.
    ///
    /// The host needs the total in either case, so that a read is not saved by the launch.
    pub max_host_scanned_segments: usize,

    /// Elements of a descriptor up to which the host reads all of it where it needs one, and keeps
    /// what it read.
    ///
    /// On a device with memory of its own, reading two kibibytes costs as much as reading a number.
    /// Zero where arrays lie in the memory of the host, which reads any element at no cost.
    pub max_known_elements: usize,

    /// Segments up to which appending segment by segment is one copy by all threads.
    ///
    /// The host computes the descriptor of the result. With more segments, each is taken to be
    /// short, and a kernel with one thread per segment appends them. It is zero on a device with memory of
    /// its own: there the next threshold decides.
    pub max_host_appended_segments: usize,

    /// Elements for each row, in the arrays that rows are cut from, up to which a thread copies each row, of
    /// any number of rows that are appended or listed at the elements of an apply-to-each.
    ///
    /// The arrays are asked, and not the rows, whose lengths the host would have to wait for. A thread of a GPU
    /// copies an element in the time of a load from memory, about half a microsecond, while kernels over all
    /// elements cost some launches of a few microseconds each. A thread of a CPU copies rows of any length as
    /// fast as the memory can.
    pub max_elements_copied_by_thread: usize,

    /// The number of appends after which an array that is copied gets room for half as many elements again.
    ///
    /// Appends that are not repeated waste no memory; in a loop most appends copy nothing that was there.
    pub min_appends_for_room: u32,

    /// The factor by which a pool must exceed its used elements before these are copied out of it.
    ///
    /// Copying costs the elements used; keeping costs operations on the whole pool. At two, neither
    /// is more than twice the best.
    pub min_pool_waste_factor: usize,

    /// Launches between two checks for failures.
    ///
    /// The check does not wait; if all launches are done, it allows their log to be emptied.
    pub launches_per_poll: u64,

    /// Launches that may be under way before the host waits for them.
    ///
    /// Bounds the log of launches, and how far a program that ends with a failure runs ahead of it.
    pub max_unchecked_launches: usize,

    /// Kernels lowered ahead of a run for speculative compilation.
    ///
    /// Lowering takes the main thread's time, whether or not the kernel is launched later.
    pub max_prefetched_kernels: usize,

    /// Bytes of a resident value up to which it is read for the direct interpreter.
    ///
    /// A larger one is left on the runtime, and the program runs there.
    pub max_interpreted_value_bytes: usize,

    /// Bytes of a resident value up to which showing it reads all of it, to be kept on the host.
    pub max_preview_bytes: u64,

    /// Nanoseconds that compiling one binding takes, about.
    ///
    /// With the two costs below, measured on the programs of the conformance tests; they set how
    /// long a program is interpreted first.
    pub compile_ns_per_binding: u64,

    /// Nanoseconds that compiling one element of a list literal takes, about.
    pub compile_ns_per_list_element: u64,

    /// Nanoseconds that compiling one character of a text literal takes, about.
    pub compile_ns_per_character: u64,

    /// Nanoseconds that every program is interpreted first, at least.
    ///
    /// Below a millisecond nobody notices the difference.
    pub min_interpret_first_ns: u64,

    /// Nanoseconds up to which a program that was interpreted is interpreted again.
    ///
    /// One that took longer is compiled when it comes the next time: it is run ten times as fast then.
    pub max_interpreted_again_ns: u64,

    /// Nanoseconds that a program is interpreted first, at most.
    pub max_interpret_first_ns: u64,

    /// Bytes that a program interpreted first may allocate in all, freed memory included.
    ///
    /// Copying costs little time for each byte, so that the limit of time alone would not bound the
    /// memory of a program that is then compiled and allocates its arrays again.
    pub max_interpret_first_bytes: u64,

    /// Compiled built-in kernels kept for a runtime; then all are forgotten.
    ///
    /// Bounds the memory of a session; a kernel that is needed again after that is compiled again.
    pub max_kept_builtins: usize,

    /// Compiled programs that are kept for forms that are entered again.
    pub max_recent_programs: usize,

    /// Programs remembered as too long to be interpreted first; then all are forgotten.
    pub max_remembered_programs: usize,

    /// Nanoseconds for which a failed program is interpreted again to find the calls around the
    /// failure, estimated from tables.
    ///
    /// Compiled code keeps no call stack. A person does not wait longer for a longer message.
    pub max_trace_search_ns: u64,

    /// Calls within each other up to which a program that failed is interpreted again.
    ///
    /// The last calls of a recursion without an end look like those before, so that this is enough.
    pub max_trace_search_calls: usize,

    /// Bytes of sequences up to which a program that failed, or cannot end, is interpreted.
    pub max_trace_search_bytes: u64,

    /// Nanoseconds, by estimate, for which a program that cannot end is interpreted before that is
    /// reported: it may fail by itself.
    pub max_endless_ns: u64,

    /// Elements of a literal up to which code writes them one by one.
    ///
    /// A longer literal becomes an input of the program, written to the runtime in one transfer:
    /// code for each element costs compilation time.
    pub max_inline_literal_elements: usize,

    /// Operations up to which deferred definitions are linked into the program that reads them.
    ///
    /// Linking saves storing a sequence; a larger program takes longer to compile.
    pub max_deferred_operations: usize,
}

impl Thresholds {
    /// Returns the thresholds for a runtime with these capabilities.
    ///
    /// If arrays are not in the memory of the host, each transfer waits for the device, so that
    /// the host copies and scans nothing itself.
    pub fn for_machine(caps: &Caps) -> Thresholds {
        let threads = caps.parallelism as u64;
        let most = Thresholds::default().min_work_items_per_thread;
        let cpu = Thresholds {
            concurrent_threads: threads,
            min_work_items_per_thread: if caps.shares_host_memory {
                threads.clamp(2, most)
            } else {
                most
            },
            ..Thresholds::default()
        };
        if caps.shares_host_memory {
            return cpu;
        }
        Thresholds {
            // The keys and values of a second pass would have to be stored on the device.
            max_large_histogram_elements: cpu.max_histogram_elements,
            max_sparse_histogram_elements: 0,
            max_places_per_value: 1,
            // About as many as it sorts in the time of the launches and waits of a selection; not measured.
            min_selected_elements: 1 << 20,
            max_known_elements: 256,
            distinct_by_intrinsic: false,
            max_reductions_of_rows: 0,
            max_elements_off_device: if caps.recursion { u64::MAX } else { 1 << 16 },
            max_elements_of_small_work_item: 64,
            sequential_work_items_per_launch: 0,
            light_items_per_work_item: 1,
            light_items_per_launch: 1,
            changed_items_per_launch: 1,
            min_sequential_thread_work_items: cpu.sequential_thread_work_items,
            max_moved_elements_per_work_item: u64::MAX,
            max_host_copied_elements: 0,
            max_host_scanned_segments: 0,
            max_host_appended_segments: 0,
            max_elements_copied_by_thread: 32,
            gives_arguments: false,
            max_operations_of_not_kept: 0,
            splits_maths: false,
            // The memory of threads is scarce.
            max_expected_pool_elements: 1 << 10,
            ..cpu
        }
    }
}

impl Default for Thresholds {
    /// Returns the thresholds for one thread of a CPU.
    fn default() -> Thresholds {
        Thresholds {
            max_inlined_operations: 40,
            max_unfolded_operations: 500,
            max_operations_after_inlining: 4_000,
            max_unrolled_elements: 4,
            max_short_list_elements: 8,
            max_short_list_values: 16,
            max_short_list_operations: 256,
            max_versions: 4,
            max_reductions_of_rows: 8,
            max_accumulated_calls: 1 << 24,
            max_appending_calls: 1 << 23,
            max_reductions_of_group: 8,
            max_histogram_elements: 1 << 14,
            max_large_histogram_elements: 1 << 24,
            max_sparse_histogram_elements: 1 << 17,
            max_places_per_value: 16,
            max_places_per_value_in_nests: 4,
            min_sampled_values: 1 << 16,
            sampled_keys: 512,
            min_selected_elements: 1 << 14,
            min_elements_per_selected: 16,
            distinct_by_intrinsic: true,
            gives_arguments: true,
            max_operations_of_not_kept: 4,
            splits_maths: true,
            host_frame_bytes: 16 << 20,
            max_rematerialised_operations: 8,
            max_inlined_base_case_operations: 8,
            min_pool_elements: 16,
            max_expected_pool_elements: 1 << 16,
            concurrent_threads: 1,
            min_work_items_per_thread: 8,
            max_elements_of_small_work_item: 0,
            min_ordered_row_elements: 16,
            min_flattened_elements: 1 << 14,
            max_elements_off_device: u64::MAX,
            max_calls_on_device: 64,
            min_observed_calls: 16,
            min_observed_depth: 64,
            min_idle_calls: 3,
            idle_work_items_per_launch: 16,
            max_idle_input_elements: 1 << 17,
            max_sequential_call_work_items: 1 << 11,
            sequential_work_items_per_launch: 1 << 9,
            light_items_per_work_item: 8,
            light_items_per_launch: 1 << 14,
            changed_items_per_launch: 1 << 20,
            min_handed_back_elements: 1 << 15,
            handed_back_growth: 4,
            light_elements_per_made_element: 2,
            max_light_operations: 32,
            max_copied_elements_per_work_item: 16,
            max_moved_elements_per_work_item: 16,
            min_moved_elements: 1 << 15,
            max_map_side_operations: 64,
            max_short_loop_iterations: 8,
            max_evaluated_operations: 400,
            min_matrix_operations: 1 << 12,
            min_matrix_side: 4,
            sequential_thread_work_items: 1 << 10,
            min_sequential_thread_work_items: 1,
            max_host_copied_elements: 256,
            max_host_scanned_segments: 256,
            max_known_elements: 0,
            max_host_appended_segments: 256,
            max_elements_copied_by_thread: usize::MAX,
            min_appends_for_room: 2,
            min_pool_waste_factor: 2,
            launches_per_poll: 64,
            max_unchecked_launches: 1024,
            max_prefetched_kernels: 64,
            max_interpreted_value_bytes: 64 << 10,
            max_preview_bytes: 64 << 10,
            compile_ns_per_binding: 50_000,
            compile_ns_per_list_element: 7_000,
            compile_ns_per_character: 5_000,
            min_interpret_first_ns: 1_000_000,
            max_interpreted_again_ns: 200_000,
            max_interpret_first_ns: 1_000_000_000,
            max_interpret_first_bytes: 256 << 20,
            max_kept_builtins: 256,
            max_recent_programs: 16,
            max_remembered_programs: 4096,
            max_trace_search_ns: 300_000_000,
            max_trace_search_calls: 10_000,
            max_trace_search_bytes: 64 << 20,
            max_endless_ns: 100_000_000,
            max_inline_literal_elements: 64,
            max_deferred_operations: 200,
        }
    }
}
