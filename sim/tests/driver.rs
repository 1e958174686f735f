//! An ordinary CUDA program, through the real cudarc, on the simulated driver.

#![cfg(target_os = "linux")]

use cudarc::driver::{CudaContext, CudaFunction, DriverError, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;
use nesl_sim::client::{Client, Session};
use nesl_sim::machine::FaultKind;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const SAXPY: &str = include_str!("kernels/saxpy_f64.ptx");
const SCAN: &str = include_str!("kernels/scan.ptx");
const BAD: &str = include_str!("kernels/bad.ptx");

/// The simulator for one test, with options.
fn simulator(options: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in options {
        session.set(name, value).unwrap();
    }
    session
}

/// A context without cudarc's own events: the tests order streams themselves.
fn context() -> Arc<CudaContext> {
    let context = CudaContext::new(0).unwrap();
    // SAFETY: every test orders its streams by events or synchronisation, or means not to.
    unsafe { context.disable_event_tracking() };
    context
}

fn saxpy(context: &Arc<CudaContext>) -> CudaFunction {
    context.load_module(Ptx::from_src(SAXPY)).unwrap().load_function("saxpy_f64").unwrap()
}

fn error_of<T>(outcome: Result<T, DriverError>) -> Option<sys::CUresult> {
    outcome.err().map(|error| error.0)
}

#[test]
fn allocate_copy_launch_and_read() {
    let sim = simulator(&[("check", "1")]);
    let context = context();
    assert_eq!(context.name().unwrap(), "Simulated H100");
    assert_eq!(context.compute_capability().unwrap(), (9, 0));
    assert!(context.has_async_alloc());
    let stream = context.new_stream().unwrap();
    let function = saxpy(&context);
    let n = 10_003;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let dx = stream.clone_htod(&x).unwrap();
    let mut dy = stream.alloc_zeros::<f64>(n as usize).unwrap();
    let start = context.new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
    let end = context.new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
    start.record(&stream).unwrap();
    let config = LaunchConfig { grid_dim: (16, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&function);
    launch.arg(&dx).arg(&mut dy).arg(&3.0f64).arg(&n);
    // SAFETY: the arguments are the kernel's parameters, and both arrays have n elements.
    unsafe { launch.launch(config) }.unwrap();
    end.record(&stream).unwrap();
    end.synchronize().unwrap();
    assert!(start.elapsed_ms(&end).unwrap() >= 0.0);
    let y = stream.clone_dtoh(&dy).unwrap();
    assert!(y.iter().zip(&x).all(|(y, x)| *y == 3.0 * x));
    assert!(sim.findings().is_empty());
    let (kernels, host) = (sim.counters(), sim.host_counters());
    assert_eq!((kernels.launches, kernels.store_bytes), (1, 8 * n as u64));
    // The event, twice more within `elapsed_ms`, and the read.
    assert_eq!((host.writes, host.reads, host.fills, host.drains), (1, 1, 1, 4));
    assert_eq!(host.peak_bytes, 2 * 8 * n as u64);
    assert_eq!(sim.counters_by_kernel()["saxpy_f64"], kernels);
    drop((dx, dy));
    assert_eq!(sim.host_counters().live_bytes, 0);
}

#[test]
fn attributes_and_occupancy() {
    let _sim = simulator(&[("device", "t4")]);
    let context = context();
    assert_eq!(context.compute_capability().unwrap(), (7, 5));
    let function = saxpy(&context);
    assert_eq!(function.max_threads_per_block().unwrap(), 1024);
    let blocks = function.occupancy_max_active_blocks_per_multiprocessor(256, 0, None).unwrap();
    assert_eq!(blocks, 4);
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    assert_eq!(context.attribute(attribute).unwrap(), 40);
}

/// Computes `z = 2 * (2 * x)` on two streams, ordered by an event or not, and returns `z[7]`.
fn two_streams(ordered: bool) -> f64 {
    let context = context();
    let (first, second) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let function = saxpy(&context);
    let n = 1000u32;
    let x = first.clone_htod(&vec![1f64; n as usize]).unwrap();
    let mut y = first.alloc_zeros::<f64>(n as usize).unwrap();
    let mut z = first.alloc_zeros::<f64>(n as usize).unwrap();
    first.synchronize().unwrap();
    let config = LaunchConfig::for_num_elems(n);
    let mut launch = first.launch_builder(&function);
    launch.arg(&x).arg(&mut y).arg(&2.0f64).arg(&n);
    // SAFETY: the arguments are the kernel's parameters, and all arrays have n elements.
    unsafe { launch.launch(config) }.unwrap();
    if ordered {
        second.wait(&first.record_event(None).unwrap()).unwrap();
    }
    let mut launch = second.launch_builder(&function);
    launch.arg(&y).arg(&mut z).arg(&2.0f64).arg(&n);
    // SAFETY: as for the first launch; the missing order is what is tested.
    unsafe { launch.launch(config) }.unwrap();
    let z = second.clone_dtoh(&z).unwrap();
    first.synchronize().unwrap();
    z[7]
}

#[test]
fn a_missing_event_is_a_wrong_result_in_the_deferred_mode() {
    let sim = simulator(&[]);
    assert_eq!(two_streams(false), 4.0);
    sim.set("defer", "1").unwrap();
    assert_eq!(two_streams(true), 4.0);
    assert_ne!(two_streams(false), 4.0);
}

#[test]
fn polling_an_event_brings_deferred_work_forward() {
    let _sim = simulator(&[("defer", "1")]);
    let context = context();
    let stream = context.new_stream().unwrap();
    let zeros = stream.alloc_zeros::<u32>(4).unwrap();
    let event = stream.record_event(None).unwrap();
    let mut polls = 0;
    while !event.is_complete() {
        polls += 1;
        assert!(polls < 10);
    }
    assert!(polls > 0);
    assert_eq!(stream.clone_dtoh(&zeros).unwrap(), [0; 4]);
}

#[test]
fn pinned_memory_is_copied_when_the_copy_runs() {
    let _sim = simulator(&[("defer", "1")]);
    let context = context();
    let stream = context.new_stream().unwrap();
    // SAFETY: the memory is written before it is read.
    let mut pinned = unsafe { context.alloc_pinned_with_flags::<u32>(8, 0) }.unwrap();
    pinned.as_mut_slice().unwrap().fill(1);
    let mut device = stream.alloc_zeros::<u32>(8).unwrap();
    stream.memcpy_htod(&pinned, &mut device).unwrap();
    // Changed too early: the copy has not run, and takes the new value.
    pinned.as_mut_slice().unwrap().fill(2);
    assert_eq!(stream.clone_dtoh(&device).unwrap(), [2; 8]);
}

/// A kernel that waits until a word in mapped memory of the host is not zero.
const POLL: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .entry poll(.param .u64 p_word, .param .u64 p_out)
{
  .reg .pred %p; .reg .b32 %r; .reg .b64 %word, %out;
  ld.param.u64 %word, [p_word];
  ld.param.u64 %out, [p_out];
AGAIN:
  ld.relaxed.sys.global.u32 %r, [%word];
  setp.eq.u32 %p, %r, 0;
  @%p bra AGAIN;
  st.global.u32 [%out], %r;
  ret;
}
";

#[test]
fn a_kernel_polls_a_word_of_the_host() {
    let _sim = simulator(&[]);
    let context = context();
    let stream = context.new_stream().unwrap();
    let module = context.load_module(Ptx::from_src(POLL)).unwrap();
    let function = module.load_function("poll").unwrap();
    // SAFETY: the memory is filled before it is used.
    let mut pinned = unsafe { context.alloc_pinned_with_flags::<u32>(1, 0) }.unwrap();
    pinned.as_mut_slice().unwrap()[0] = 0;
    let host = pinned.as_mut_slice().unwrap().as_mut_ptr();
    let mut word = 0;
    // SAFETY: the pointer is to pinned memory that outlives the launch.
    let status = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut word, host.cast(), 0) };
    assert_eq!(status, sys::CUresult::CUDA_SUCCESS);
    let mut out = stream.alloc_zeros::<u32>(1).unwrap();
    // SAFETY: the word is aligned and lives in `pinned`; both sides use atomic accesses.
    let shared = unsafe { AtomicU32::from_ptr(host) };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            shared.store(7, Ordering::SeqCst);
        });
        let config =
            LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&function);
        launch.arg(&word).arg(&mut out);
        // SAFETY: the arguments are the kernel's parameters.
        unsafe { launch.launch(config) }.unwrap();
    });
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [7]);
}

#[test]
fn a_bad_module_has_a_log() {
    let _sim = simulator(&[]);
    let context = context();
    let refused = context.load_module(Ptx::from_src(BAD));
    assert_eq!(error_of(refused), Some(sys::CUresult::CUDA_ERROR_INVALID_PTX));
    let text = std::ffi::CString::new(BAD).unwrap();
    let mut log = vec![0u8; 1024];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends with a zero, and the log has as many bytes as its size says.
    let status = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    assert_eq!(status, sys::CUresult::CUDA_ERROR_INVALID_PTX);
    let log = String::from_utf8_lossy(&log[..values[1] as usize]).into_owned();
    assert!(log.contains("line 35") && log.contains("add.s32 %r5, %rd5, %r7;"), "{log}");
}

#[test]
fn a_launch_past_the_end_is_a_fault_that_stays() {
    let sim = simulator(&[]);
    let context = context();
    let stream = context.new_stream().unwrap();
    let function = saxpy(&context);
    let x = stream.clone_htod(&vec![1f64; 1000]).unwrap();
    let mut y = stream.alloc_zeros::<f64>(1000).unwrap();
    let mut launch = stream.launch_builder(&function);
    launch.arg(&x).arg(&mut y).arg(&2.0f64).arg(&1001u32);
    // SAFETY: that one element is missing is what is tested; the simulator notices.
    unsafe { launch.launch(LaunchConfig::for_num_elems(1001)) }.unwrap();
    let expected = Some(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(error_of(stream.synchronize()), expected);
    assert_eq!(error_of(stream.alloc_zeros::<f64>(1)), expected);
    let findings = sim.findings();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].kind, FaultKind::OutOfBounds);
    assert_eq!((findings[0].kernel.as_str(), findings[0].line), ("saxpy_f64", 31));
    assert_eq!(findings[0].text, "ld.global.f64 %f2, [%rd4];");
    drop((x, y, function, stream, context));
    // A new context works again.
    let context = CudaContext::new(0).unwrap();
    context.new_stream().unwrap().alloc_zeros::<f64>(1).unwrap();
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let _sim = simulator(&[]);
    let context = context();
    let stream = context.new_stream().unwrap();
    let module = context.load_module(Ptx::from_src(SCAN)).unwrap();
    let function = module.load_function("scan_i64").unwrap();
    let refused = |block: u32, shared: u32| {
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (block, 1, 1),
            shared_mem_bytes: shared,
        };
        let zero = 0u64;
        let mut launch = stream.launch_builder(&function);
        launch.arg(&zero).arg(&zero).arg(&0u32).arg(&zero).arg(&zero).arg(&zero).arg(&zero);
        // SAFETY: the launch is refused before anything runs.
        error_of(unsafe { launch.launch(config) })
    };
    assert_eq!(refused(2048, 0), Some(sys::CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(refused(0, 0), Some(sys::CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(refused(256, 0), Some(sys::CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
    assert_eq!(refused(128, 1 << 20), Some(sys::CUresult::CUDA_ERROR_INVALID_VALUE));
    assert!(module.load_function("missing").is_err());
}

#[test]
fn memory_runs_out_and_the_pool_can_be_emptied() {
    let sim = simulator(&[("memory", "1000000")]);
    let context = context();
    let stream = context.new_stream().unwrap();
    let out_of_memory = Some(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let half = stream.alloc_zeros::<u8>(600_000).unwrap();
    assert_eq!(error_of(stream.alloc_zeros::<u8>(600_000)), out_of_memory);
    drop(half);
    // The pool still holds it, for an ordinary allocation in vain.
    let mut address = 0;
    // SAFETY: the result is written to a local variable.
    let status = unsafe { sys::cuMemAlloc_v2(&mut address, 600_000) };
    assert_eq!(status, sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    stream.synchronize().unwrap();
    // SAFETY: as above.
    let status = unsafe { sys::cuMemAlloc_v2(&mut address, 600_000) };
    assert_eq!(status, sys::CUresult::CUDA_SUCCESS);
    assert_eq!(context.mem_get_info().unwrap(), (400_000, 1_000_000));
    assert_eq!(sim.host_counters().peak_bytes, 600_000);
}

#[test]
fn a_machine_without_a_device() {
    let _sim = simulator(&[("device", "none")]);
    // SAFETY: asking for the library loads it at most.
    assert!(unsafe { sys::is_culib_present() });
    let count = CudaContext::device_count();
    assert_eq!(error_of(count), Some(sys::CUresult::CUDA_ERROR_NO_DEVICE));
    let error = CudaContext::new(0).unwrap_err();
    assert_eq!(error.error_name().unwrap().to_str().unwrap(), "CUDA_ERROR_NO_DEVICE");
}

#[test]
fn use_after_release_and_a_forgotten_write() {
    let sim = simulator(&[("check", "1")]);
    let context = context();
    let stream = context.new_stream().unwrap();
    let function = saxpy(&context);
    // SAFETY: reading it unwritten is what is tested.
    let x = unsafe { stream.alloc::<f64>(8) }.unwrap();
    let mut y = stream.alloc_zeros::<f64>(8).unwrap();
    let mut launch = stream.launch_builder(&function);
    launch.arg(&x).arg(&mut y).arg(&1.0f64).arg(&8u32);
    // SAFETY: the arguments are the kernel's parameters.
    unsafe { launch.launch(LaunchConfig::for_num_elems(8)) }.unwrap();
    assert_eq!(error_of(stream.synchronize()), Some(sys::CUresult::CUDA_ERROR_LAUNCH_FAILED));
    assert_eq!(sim.findings()[0].kind, FaultKind::Uninitialised);
}

/// The environment variable that makes [`as_another_process`] the program that is run.
const CHILD: &str = "NESL_SIM_TEST_CHILD";

#[test]
fn any_program_runs_with_a_library_path() {
    let folder = std::env::temp_dir().join(format!("nesl-sim-{}", std::process::id()));
    nesl_sim::client::install(&folder).unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "as_another_process", "--nocapture"])
        .env(CHILD, "1")
        .env("LD_LIBRARY_PATH", &folder)
        .env("NESL_SIM_DEVICE", "t4")
        .env("NESL_SIM_CHECK", "1")
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let (out, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{errors}");
    assert!(out.contains("runs on Simulated T4"), "{out}");
    assert!(errors.contains("uninitialised in kernel saxpy_f64"), "{errors}");
}

#[test]
fn as_another_process() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let context = context();
    println!("runs on {}", context.name().unwrap());
    let stream = context.new_stream().unwrap();
    let function = saxpy(&context);
    // SAFETY: reading it unwritten is what is tested.
    let x = unsafe { stream.alloc::<f64>(1) }.unwrap();
    let mut y = stream.alloc_zeros::<f64>(1).unwrap();
    let mut launch = stream.launch_builder(&function);
    launch.arg(&x).arg(&mut y).arg(&1.0f64).arg(&1u32);
    // SAFETY: the arguments are the kernel's parameters.
    unsafe { launch.launch(LaunchConfig::for_num_elems(1)) }.unwrap();
    assert!(stream.synchronize().is_err());
}
