//! Compiled modules on disk, so that what one process has compiled the next one only loads.
//!
//! ```text
//! FOLDER/2f60…9a.module:   magic · length of the key · key · length of the code · code
//! ```
//!
//! The key is the PTX with what else decides the code: the device's architecture and the version of
//! the driver. A file is named after a hash of its key, and holds the key itself, so that two keys of
//! one hash are told apart. Files are written beside their place and then moved there: a process
//! never sees half of one. Whatever goes wrong with a file, the module is compiled anew.

use super::device::Description;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The beginning of every file; its number changes with the format.
const MAGIC: &[u8] = b"nesl module 1\n";

/// The size of the folder up to which nothing is deleted, in bytes.
const MAX_FOLDER_BYTES: u64 = 256 << 20;

/// The ending of the names of files.
const EXTENSION: &str = "module";

/// A folder of compiled modules.
pub struct Cache {
    folder: PathBuf,
    /// The facts about the device that decide the code, as the beginning of each key.
    target: String,
}

impl Cache {
    /// The cache in a folder, which need not exist yet, for a device.
    pub fn new(folder: &Path, device: &Description) -> Cache {
        let (major, minor) = device.capability;
        let target = format!("sm_{major}{minor} driver {}\n", device.driver_version);
        Cache { folder: folder.to_owned(), target }
    }

    /// Returns the code of a text, if it was kept.
    pub fn find(&self, text: &str) -> Option<Vec<u8>> {
        let path = self.path(text);
        let file = fs::read(&path).ok()?;
        let head = self.head(text);
        let (length, code) = file.strip_prefix(&*head)?.split_first_chunk()?;
        // A file that was cut, by a disk that was full, say, is no code.
        if u64::from_le_bytes(*length) != code.len() as u64 {
            return None;
        }
        // The file counts as new, so that it is deleted later than those nobody uses.
        if let Ok(file) = fs::File::open(&path) {
            let _ = file.set_modified(std::time::SystemTime::now());
        }
        Some(code.to_vec())
    }

    /// Keeps the code of a text. A disk that is full, or a folder that cannot be written to, costs
    /// the next process its time and this one nothing.
    pub fn keep(&self, text: &str, code: &[u8]) {
        let _ = self.try_keep(text, code);
    }

    fn try_keep(&self, text: &str, code: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let path = self.path(text);
        let new = path.with_extension(format!("new{}", std::process::id()));
        fs::write(&new, [&*self.head(text), &(code.len() as u64).to_le_bytes(), code].concat())?;
        fs::rename(&new, &path)?;
        self.delete_old()
    }

    /// Deletes the files that were not used for the longest time, until the rest is small enough.
    fn delete_old(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_file() {
                files.push((metadata.modified()?, metadata.len(), entry.path()));
            }
        }
        let mut bytes: u64 = files.iter().map(|(_, length, _)| length).sum();
        files.sort();
        for (_, length, path) in files {
            if bytes <= MAX_FOLDER_BYTES {
                break;
            }
            fs::remove_file(path)?;
            bytes -= length;
        }
        Ok(())
    }

    fn path(&self, text: &str) -> PathBuf {
        // Two hashes of 64 bits: files of different keys rarely take each other's place.
        let hash = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            (seed, &self.target, text).hash(&mut hasher);
            hasher.finish()
        };
        self.folder.join(format!("{:016x}{:016x}", hash(0), hash(1))).with_extension(EXTENSION)
    }

    /// The bytes of a file before the code.
    fn head(&self, text: &str) -> Vec<u8> {
        let length = (self.target.len() + text.len()) as u64;
        [MAGIC, &length.to_le_bytes(), self.target.as_bytes(), text.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path, driver_version: i32) -> Cache {
        let device = Description {
            name: "a device".to_owned(),
            capability: (9, 0),
            multiprocessors: 1,
            threads_per_multiprocessor: 1,
            memory_bytes: 0,
            memory_bandwidth: None,
            driver_version,
        };
        Cache::new(folder, &device)
    }

    #[test]
    fn what_is_kept_is_found_by_its_text_and_driver() {
        let folder = std::env::temp_dir().join(format!("nesl-cache-{}", std::process::id()));
        let one = cache(&folder, 12080);
        assert_eq!(one.find("text"), None);
        one.keep("text", b"code");
        assert_eq!(one.find("text").as_deref(), Some(&b"code"[..]));
        assert_eq!(one.find("other"), None);
        assert_eq!(cache(&folder, 13000).find("text"), None, "another driver");
        let path = one.path("text");
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(one.find("text"), None, "a file that is cut has no code");
        fs::write(&path, b"something else").unwrap();
        assert_eq!(one.find("text"), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
