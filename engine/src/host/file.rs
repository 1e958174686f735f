//! Whole files, and what to say when they cannot be had.

mod ending;
mod reading;

pub use ending::{end_between_writes, handle_ends};
pub(crate) use reading::{Waiting, open};

use std::borrow::Cow;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::path::Path;

/// More bytes are not read from a stream, or from what is no regular file, into one string: a device that
/// never ends must not take all memory.
pub(super) const MAX_STREAM_BYTES: usize = 1 << 31;

/// The bytes that are read between two checks of an interruption.
const BLOCK_BYTES: u64 = 16 << 20;

/// The bytes that are written between two checks of an interruption: disks are slower than memory.
const WRITTEN_BYTES: usize = 4 << 20;

/// The bytes of a file, at most `most` of them; `stop` says whether the user asked to stop.
pub(super) fn read(name: &[u8], most: u64, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, String> {
    let (file, metadata) = open(&path(name)).map_err(|e| complaint("open", name, &e))?;
    read_open(name, file, &metadata, most, stop)
}

/// The bytes of a file that [`open`] has opened.
pub(super) fn read_open(
    name: &[u8],
    file: File,
    metadata: &Metadata,
    most: u64,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>, String> {
    // The files of `/proc` have no size, and contents all the same.
    let most = if metadata.is_file() && metadata.len() > 0 {
        most
    } else {
        most.min(MAX_STREAM_BYTES as u64)
    };
    if metadata.len() > most {
        return Err(complaint("read", name, &too_large(most)));
    }
    let mut bytes = Vec::new();
    // One byte more is asked for where a file ends, so that its end is seen without growing.
    let expected = usize::try_from(metadata.len() + 1).unwrap_or(0);
    bytes.try_reserve_exact(expected).map_err(|e| complaint("read", name, &io::Error::other(e)))?;
    match read_blocks(file, metadata.is_file(), most, stop, &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => {
            // The system needs 0.1 s to take a gigabyte back: nobody who has asked to stop waits for that.
            drop(std::thread::Builder::new().name("free".to_owned()).spawn(move || drop(bytes)));
            Err(complaint("read", name, &error))
        }
    }
}

/// Appends the bytes of a file, block by block; fails if there are more than `most`.
fn read_blocks(
    file: File,
    is_file: bool,
    most: u64,
    stop: &dyn Fn() -> bool,
    bytes: &mut Vec<u8>,
) -> io::Result<()> {
    let mut waiting = Waiting::new(file, stop);
    loop {
        if stop() {
            return Err(io::Error::other("stopped"));
        }
        // A regular file gives what it has at once.
        let read = match is_file {
            true => waiting.file().take(BLOCK_BYTES).read_to_end(bytes)?,
            false => (&mut waiting).take(BLOCK_BYTES).read_to_end(bytes)?,
        };
        if read == 0 {
            return Ok(());
        }
        if bytes.len() as u64 > most {
            return Err(too_large(most));
        }
    }
}

/// Makes a file of some bytes, as [`write_whole`] does; fails soon after `stop` says that the user asked to stop.
pub(super) fn write(name: &[u8], bytes: &[u8], stop: &dyn Fn() -> bool) -> Result<(), String> {
    write_until(&path(name), bytes, stop).map_err(|e| complaint("write", name, &e))
}

/// Makes a file of some bytes, or fails and leaves what is there.
///
/// A file of that name keeps its contents until all bytes are written. They go to a file beside it, which
/// has no name where the system allows that, so that nothing is left of it if the process is ended
/// (by signals, if [`handle_ends`] was called). Then it takes the name of the other, and has its permissions.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_until(path, bytes, &|| false)
}

/// As [`write_whole`]; fails soon after `stop` says that the user asked to stop.
fn write_until(path: &Path, bytes: &[u8], stop: &dyn Fn() -> bool) -> io::Result<()> {
    // What a link points to is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let present = std::fs::metadata(&target).ok();
    // A terminal, a pipe or a device is not replaced.
    let is_replaced = present.as_ref().is_none_or(std::fs::Metadata::is_file);
    let is_writable = present.as_ref().is_none_or(|it| !it.permissions().readonly());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let permissions = present.map(|present| present.permissions());
    if !is_replaced || !is_writable {
        return fill(&File::create(&target)?, bytes, None, stop);
    }
    #[cfg(target_os = "linux")]
    if let Some(file) = nameless::create(folder) {
        fill(&file, bytes, permissions, stop)?;
        if nameless::name(&file, folder, &target)? {
            return Ok(());
        }
        return write_named(folder, &target, bytes, None, stop);
    }
    write_named(folder, &target, bytes, permissions, stop)
}

/// Writes a file with a temporary name, and renames it.
fn write_named(
    folder: &Path,
    target: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
    stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(BESIDE);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(0o666));
    }
    let Ok(beside) = builder.tempfile_in(folder) else {
        return fill(&File::create(target)?, bytes, None, stop);
    };
    fill(beside.as_file(), bytes, permissions, stop)?;
    beside.persist(target).map_err(|e| e.error)?;
    Ok(())
}

/// The beginning of the names of files that are about to take the names of others.
const BESIDE: &str = ".nesl-";

fn fill(
    mut file: &File,
    bytes: &[u8],
    permissions: Option<Permissions>,
    stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    for part in bytes.chunks(WRITTEN_BYTES) {
        if stop() {
            return Err(io::Error::other("stopped"));
        }
        file.write_all(part)?;
    }
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))
}

/// Files without a name, which the system forgets with the process that writes them.
#[cfg(target_os = "linux")]
mod nameless {
    use super::BESIDE;
    use super::ending::undisturbed;
    use nix::errno::Errno;
    use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, open};
    use nix::sys::stat::Mode;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The number of files that took the name of another so far.
    static RENAMED: AtomicU64 = AtomicU64::new(0);

    /// Makes a file without a name; none where the file system cannot do that.
    pub(super) fn create(folder: &Path) -> Option<File> {
        let flags = OFlag::O_TMPFILE | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
        open(folder, flags, Mode::from_bits_truncate(0o666)).ok().map(File::from)
    }

    /// Gives a file a name, also that of another file; returns false where the system cannot do that.
    pub(super) fn name(file: &File, folder: &Path, target: &Path) -> io::Result<bool> {
        match link(file, target) {
            Ok(()) => Ok(true),
            // A link never takes the place of a file; a name does.
            Err(Errno::EEXIST) => {
                let number = RENAMED.fetch_add(1, Ordering::Relaxed);
                let beside = folder.join(format!("{BESIDE}{}-{number}", std::process::id()));
                // Whoever ends the process meanwhile waits: nothing would remove the name.
                undisturbed(|| {
                    if link(file, &beside).is_err() {
                        return Ok(false);
                    }
                    std::fs::rename(&beside, target).inspect_err(|_| {
                        let _ = std::fs::remove_file(&beside);
                    })?;
                    Ok(true)
                })
            }
            Err(_) => Ok(false),
        }
    }

    fn link(file: &File, name: &Path) -> Result<(), Errno> {
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        nix::unistd::linkat(AT_FDCWD, &*own, AT_FDCWD, name, AtFlags::AT_SYMLINK_FOLLOW)
    }
}

/// Adds some bytes to the end of a file, which is made if need be.
pub(super) fn append(name: &[u8], bytes: &[u8]) -> Result<(), String> {
    let file = File::options().append(true).create(true).open(path(name));
    file.and_then(|mut file| file.write_all(bytes)).map_err(|e| complaint("write", name, &e))
}

/// A file's name as the system wants it: any bytes where it allows that.
#[cfg(unix)]
pub(super) fn path(name: &[u8]) -> Cow<'_, Path> {
    use std::os::unix::ffi::OsStrExt;
    Cow::Borrowed(Path::new(std::ffi::OsStr::from_bytes(name)))
}

/// A file's name as the system wants it: any bytes where it allows that.
#[cfg(not(unix))]
pub(super) fn path(name: &[u8]) -> Cow<'_, Path> {
    Cow::Owned(String::from_utf8_lossy(name).into_owned().into())
}

/// Says that a file has more bytes than are read, and the way out.
pub(super) fn too_large(most: u64) -> io::Error {
    io::Error::other(format!(
        "it holds more than {most} bytes; `nesl --memory` sets how much a regular file may hold"
    ))
}

/// ``cannot open `x.csv`: No such file or directory``
pub(super) fn complaint(verb: &str, name: &[u8], error: &io::Error) -> String {
    format!("cannot {verb} `{}`: {}", String::from_utf8_lossy(name), reason(error))
}

/// The reason alone, without the number of the system's error.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}
