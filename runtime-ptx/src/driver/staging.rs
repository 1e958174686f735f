//! Pinned memory of the host, which the device copies from and to by itself, and the ring of pieces that
//! long copies go through.

use super::failure;
use cudarc::driver::result::{self, event};
use cudarc::driver::sys::{self, CUdeviceptr, CUevent_flags};
use nesl_runtime::runtime::Failure;
use std::ffi::c_void;

/// The number of pieces of the ring: the device copies one while the host copies another.
pub const PIECES: usize = 2;

/// The size of a piece, in bytes: long enough that a copy costs much more than its launch.
pub const PIECE_BYTES: usize = 4 << 20;

/// `cuMemHostAlloc`'s flag for memory that kernels can access.
const HOST_ALLOC_DEVICE_MAP: u32 = 2;

/// Pinned memory of the host, which the device can access.
pub struct Pinned {
    /// The address for the host.
    pub host: *mut c_void,
    /// The address for the device.
    pub address: CUdeviceptr,
}

/// A piece of pinned memory.
pub struct Piece {
    pinned: Pinned,
    /// Marks the end of the last copy from or to the piece.
    pub done: sys::CUevent,
    /// True if there was such a copy.
    pub is_used: bool,
}

/// Pieces that are used in turn. The stream whose copies use them has done these when it is dropped.
pub struct Ring {
    pieces: Vec<Piece>,
    /// The number of the piece that is used next.
    pub next: usize,
}

impl Ring {
    /// Allocates the pieces. The context is bound.
    pub fn new() -> Result<Ring, Failure> {
        let piece = || {
            let pinned = Pinned::new(PIECE_BYTES)?;
            // SAFETY: the memory has so many bytes, and nobody else has its address.
            unsafe { pinned.host.cast::<u8>().write_bytes(0, PIECE_BYTES) };
            let done = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)
                .map_err(|error| failure("create an event", error))?;
            Ok(Piece { pinned, done, is_used: false })
        };
        let pieces = (0..PIECES).map(|_| piece()).collect::<Result<_, _>>()?;
        Ok(Ring { pieces, next: 0 })
    }

    /// The next piece.
    pub fn take_next(&mut self) -> &mut Piece {
        let number = self.next;
        self.next = (number + 1) % PIECES;
        self.piece(number)
    }

    /// A piece by its number.
    pub fn piece(&mut self, number: usize) -> &mut Piece {
        &mut self.pieces[number]
    }
}

impl Piece {
    /// The first bytes of the piece, at most [`PIECE_BYTES`].
    pub fn bytes(&mut self, length: usize) -> &mut [u8] {
        assert!(length <= PIECE_BYTES, "a piece is too short");
        // SAFETY: the piece has so many bytes, initialised by `Ring::new`. Whoever asks for them has
        // waited for the device's last access, or leaves them to the device.
        unsafe { std::slice::from_raw_parts_mut(self.pinned.host.cast::<u8>(), length) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: the event is destroyed once; the stream, which is dropped before its fields, has
        // bound the context and waited for the copies.
        let _ = unsafe { event::destroy(self.done) };
    }
}

impl Pinned {
    /// Allocates pinned memory of a size that is not 0.
    pub fn new(bytes: usize) -> Result<Pinned, Failure> {
        // SAFETY: the size is not 0; the memory is freed once, when it is dropped.
        let host = unsafe { result::malloc_host(bytes, HOST_ALLOC_DEVICE_MAP) }
            .map_err(|error| failure("allocate pinned memory", error))?;
        let mut address = 0;
        // SAFETY: `host` was allocated with the flag that maps it.
        let status = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, host, 0) };
        let pinned = Pinned { host, address };
        status.result().map_err(|error| failure("map pinned memory", error))?;
        Ok(pinned)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, freed once; the stream, which is dropped before its fields,
        // has waited for the kernels and copies that use it.
        let _ = unsafe { result::free_host(self.host) };
    }
}
