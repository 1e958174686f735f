//! Whole files, and what to say when they cannot be had.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// More than this is not read into one string; a device that never ends must not take all memory.
pub(super) const MAX_FILE_BYTES: usize = 1 << 31;

/// The bytes of a file.
pub(super) fn read(name: &[u8]) -> Result<Vec<u8>, String> {
    let file = File::open(path(name)).map_err(|e| complaint("open", name, &e))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| complaint("read", name, &e))?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(complaint("read", name, &too_large()));
    }
    Ok(bytes)
}

/// Makes a file of some bytes. A file of that name keeps its contents until all are written: they go to
/// a file beside it, which then takes its name and has its permissions.
pub(super) fn write(name: &[u8], bytes: &[u8]) -> Result<(), String> {
    write_beside(&path(name), bytes).map_err(|e| complaint("write", name, &e))
}

fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a link points to is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let present = std::fs::metadata(&target).ok();
    // A terminal, a pipe or a device is not replaced.
    let is_replaced = present.as_ref().is_none_or(std::fs::Metadata::is_file);
    let is_writable = present.as_ref().is_none_or(|it| !it.permissions().readonly());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nesl-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let beside = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
    let (true, true, Ok(mut beside)) = (is_replaced, is_writable, beside) else {
        return std::fs::write(&target, bytes);
    };
    beside.write_all(bytes)?;
    if let Some(present) = present {
        beside.as_file().set_permissions(present.permissions())?;
    }
    beside.persist(&target).map_err(|e| e.error)?;
    Ok(())
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

pub(super) fn too_large() -> io::Error {
    io::Error::other("it holds more than 2 GiB")
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
