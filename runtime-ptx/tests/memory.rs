//! The memory of a simulated device that has little of it: free blocks are kept and used again, given back
//! when the device is full, and what does not fit is an error that says how much was wanted and what there was.

use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::Ty;
use nesl_runtime::runtime::{Buffer, Failure, Options, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};

/// The memory of the device, in bytes.
const MEMORY_BYTES: usize = 8 << 20;

fn simulator() -> Session {
    let session = Client::load().unwrap().exclusive();
    session.set("memory", &MEMORY_BYTES.to_string()).unwrap();
    session
}

/// An array of so many bytes.
fn array(ptx: &Ptx, bytes: usize) -> Result<Buffer, Failure> {
    ptx.alloc(Ty::U8, bytes)
}

#[test]
fn free_blocks_are_used_again() {
    let session = simulator();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    drop(array(&ptx, 100_000).unwrap());
    let before = session.host_counters().allocations;
    for bytes in [100_000, 99_000, 98_500, 100_000] {
        drop(array(&ptx, bytes).unwrap());
    }
    assert_eq!(session.host_counters().allocations, before, "none is asked of the driver");
}

#[test]
fn free_blocks_are_given_back_when_the_device_is_full() {
    let session = simulator();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    // Blocks of many sizes, which leave no room for a large one while they are kept.
    for bytes in (1..=10).map(|at| 120_000 * at) {
        drop(array(&ptx, bytes).unwrap());
    }
    let kept = session.host_counters().live_bytes;
    assert!(kept > MEMORY_BYTES as u64 / 2, "{kept} bytes are kept");
    let released = session.host_counters().releases;
    let large = array(&ptx, MEMORY_BYTES / 8 * 5).unwrap();
    assert!(session.host_counters().releases > released, "they were given back");
    drop(large);
    array(&ptx, 1000).unwrap();
}

#[test]
fn an_error_says_what_was_wanted_and_what_there_was() {
    let _session = simulator();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let half = array(&ptx, MEMORY_BYTES / 2).unwrap();
    let Err(Failure::Machine(fault)) = array(&ptx, 6_000_000) else {
        panic!("there is no room for it");
    };
    assert_eq!(fault.code, FaultCode::OutOfMemory);
    let detail = fault.detail.unwrap();
    assert!(detail.starts_with("6.0 MB wanted, 4.2 MB in use; the limit is 8.4 MB"), "{detail}");
    // The device goes on.
    drop(half);
    array(&ptx, 6_000_000).unwrap();
}
