//! The source of a reader of a format: a file that is read at any position, or bytes in memory.

use super::file;
use std::fs::File;
use std::io;

/// The bytes of a file.
pub(super) enum Source {
    /// A regular file, of which parts are read when they are needed, and its size in bytes.
    #[cfg(unix)]
    File(File, u64),
    /// Bytes in memory: what came through a pipe.
    Bytes(Vec<u8>),
}

impl Source {
    /// Opens a file. What is not a regular file is read to its end, as [`file::read`] does.
    pub(super) fn open(name: &[u8], most: u64, stop: &dyn Fn() -> bool) -> Result<Source, String> {
        let opened = file::open(&file::path(name));
        let (file, metadata) = opened.map_err(|e| file::complaint("open", name, &e))?;
        // The files of `/proc` have no size, and contents all the same.
        #[cfg(unix)]
        if metadata.is_file() && metadata.len() > 0 {
            return Ok(Source::File(file, metadata.len()));
        }
        file::read_open(name, file, &metadata, most, stop).map(Source::Bytes)
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> u64 {
        match self {
            #[cfg(unix)]
            Source::File(_, bytes) => *bytes,
            Source::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Reads bytes from a position on; returns how many there were.
    pub(super) fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let out_len = out.len() as u64;
        let count = self.len().saturating_sub(at).min(out_len) as usize;
        let out = &mut out[..count];
        match self {
            #[cfg(unix)]
            Source::File(file, _) => {
                use std::os::unix::fs::FileExt;
                loop {
                    match file.read_at(out, at) {
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        done => return done,
                    }
                }
            }
            Source::Bytes(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                out.copy_from_slice(&bytes[at..at + count]);
                Ok(count)
            }
        }
    }

    /// Fills a slice with the bytes from a position on. Fails if there are too few.
    pub(super) fn read_exact_at(&self, mut at: u64, mut out: &mut [u8]) -> io::Result<()> {
        while !out.is_empty() {
            let count = self.read_at(at, out)?;
            if count == 0 {
                return Err(io::Error::other("it ends before its size"));
            }
            out = &mut out[count..];
            at += count as u64;
        }
        Ok(())
    }
}
