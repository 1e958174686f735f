//! The client's process: a server whose client is gone has nobody to serve.
//!
//! A client that is killed closes the server's input, which ends it. If another process holds the
//! input open, the server would live on; so it looks whether the process that the client named is
//! still there.

use std::path::Path;
use std::time::Duration;

/// The interval in which the client's process is looked for.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Waits until a process has ended; for ever, where that cannot be seen.
pub async fn ended(process: u32) {
    let is_parent = parent() == Some(process);
    let has_processes = Path::new("/proc/self").exists();
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        let alive = match (is_parent, has_processes) {
            (true, _) => parent() == Some(process),
            (false, true) => Path::new(&format!("/proc/{process}")).exists(),
            (false, false) => true,
        };
        if !alive {
            return;
        }
    }
}

#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}
