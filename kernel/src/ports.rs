//! Ports on which a kernel can listen that a client starts.
//!
//! They are free when they are chosen and taken when the kernel listens. Meanwhile a connection must not get one as its
//! own: the system gives connections ports of a range, and a client that tries to reach a kernel that does not
//! listen yet is even connected with itself if it gets the port that it tries. So ports below that range are chosen.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ports that are tried: above those of well-known services, below those of connections on Linux (from 32768
/// on), on macOS and on Windows (from 49152 on).
const TRIED: Range<u16> = 12_000..32_000;

/// Returns listeners on free ports of the own machine, each on another. No port is returned twice before all have
/// been tried, and each process begins somewhere else.
pub fn listeners<const COUNT: usize>() -> io::Result<[TcpListener; COUNT]> {
    static FIRST: OnceLock<usize> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let first = *FIRST.get_or_init(|| uuid::Uuid::new_v4().as_fields().0 as usize);
    let mut found = Vec::with_capacity(COUNT);
    for _ in TRIED {
        let at = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % TRIED.len();
        // What cannot be had is in use, or kept by the system.
        found.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, TRIED.start + at as u16)));
        if found.len() == COUNT {
            break;
        }
    }
    found.try_into().map_err(|_| io::Error::other("there are no free ports"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_port_is_chosen_twice() {
        let each = || listeners::<5>().expect("there are ports").map(port);
        let started: Vec<_> = (0..20).map(|_| std::thread::spawn(each)).collect();
        let all = started.into_iter().flat_map(|thread| thread.join().expect("it ends"));
        let all: Vec<u16> = all.collect();
        assert!(all.iter().all(|port| TRIED.contains(port)), "{all:?}");
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{all:?}");
    }

    fn port(listener: TcpListener) -> u16 {
        listener.local_addr().expect("it listens").port()
    }
}
