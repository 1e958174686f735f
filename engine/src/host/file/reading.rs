//! Reading files that may not give anything for long: pipes with a name, terminals and other devices.
//!
//! A blocking system call cannot be abandoned. So such files are opened without waiting for whoever writes them, and
//! read only when there is something to read; meanwhile it is asked whether the user wants to stop.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The time for which a wish to stop may go unnoticed, in milliseconds.
#[cfg(unix)]
const LOOK_MS: u16 = 20;

/// Opens a file for reading; never waits for whoever writes it. What is not a regular file must be read through
/// [`Waiting`].
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Reads a file when there is something to read, until `stop` returns true; then reading fails.
pub(crate) struct Waiting<S> {
    file: File,
    stop: S,
}

impl<S: Fn() -> bool> Waiting<S> {
    /// Makes a reader of a file that [`open`] has opened.
    pub(crate) fn new(file: File, stop: S) -> Waiting<S> {
        Waiting { file, stop }
    }

    /// Returns the file itself.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns true once there is something to read, or the end: before somebody has opened a pipe for writing
    /// there is neither.
    #[cfg(unix)]
    fn is_ready(&self) -> bool {
        use nix::errno::Errno;
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd;
        let mut asked = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
        // What is wrong with it is what the read says.
        !matches!(poll(&mut asked, PollTimeout::from(LOOK_MS)), Ok(0) | Err(Errno::EINTR))
    }

    /// The same where there is no way to ask.
    #[cfg(not(unix))]
    fn is_ready(&self) -> bool {
        true
    }
}

impl<S: Fn() -> bool> Read for Waiting<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if (self.stop)() {
                return Err(io::Error::other("stopped"));
            }
            if !self.is_ready() {
                continue;
            }
            match self.file.read(into) {
                // Somebody else has taken it.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use std::cell::Cell;
    use std::io::Write;
    use std::path::PathBuf;

    fn pipe(folder: &tempfile::TempDir) -> PathBuf {
        let path = folder.path().join("pipe");
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).expect("a pipe");
        path
    }

    #[test]
    fn a_pipe_that_nobody_writes_can_be_given_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, metadata) = open(&pipe(&folder)).expect("it does not wait");
        assert!(!metadata.is_file());
        let looks = Cell::new(0);
        let stop = || {
            looks.set(looks.get() + 1);
            looks.get() > 3
        };
        let mut text = String::new();
        let error = Waiting::new(file, stop).read_to_string(&mut text).expect_err("it stops");
        assert_eq!((error.to_string().as_str(), looks.get()), ("stopped", 4));
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = pipe(&folder);
        let (file, _) = open(&path).expect("it does not wait");
        let writer = std::thread::spawn(move || {
            let mut file = File::options().write(true).open(path).expect("somebody reads");
            for piece in ["one ", "two ", "three"] {
                file.write_all(piece.as_bytes()).expect("it is read");
            }
        });
        let mut text = String::new();
        Waiting::new(file, || false).read_to_string(&mut text).expect("it is written");
        assert_eq!(text, "one two three");
        writer.join().expect("it is done");
    }
}
