//! The programs in the folders that a client has open, found on the disk.
//!
//! A search looks into folders, the nearest first, but not into hidden ones nor into those that
//! tools fill. It is given a time: a client may have opened a whole disk, and waits.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The largest file that is read as a program, in bytes.
const MAX_PROGRAM_BYTES: u64 = 16 << 20;
/// The number of programs that are read at most.
const MAX_PROGRAMS: usize = 5_000;
/// The depth of folders within folders.
const MAX_DEPTH: usize = 24;
/// Folders that hold copies, or what tools have made.
const PASSED_OVER: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// A search that can be continued.
pub struct Search {
    folders: VecDeque<(PathBuf, usize)>,
    found: usize,
}

impl Search {
    /// A search of some folders and those inside them.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Search {
        Search { folders: folders.into_iter().map(|folder| (folder, 0)).collect(), found: 0 }
    }

    /// The programs found within a time; none are left when the search is over.
    pub fn go_on(&mut self, time: Duration) -> Vec<PathBuf> {
        let began = Instant::now();
        let mut all = Vec::new();
        while began.elapsed() < time {
            let Some((folder, depth)) = self.folders.pop_front() else { break };
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with('.') {
                    continue;
                }
                // Links to folders could lead round in a circle.
                if kind.is_dir() {
                    if depth < MAX_DEPTH && !PASSED_OVER.contains(&&*name) {
                        self.folders.push_back((entry.path(), depth + 1));
                    }
                } else if is_program(&entry.path()) && self.found < MAX_PROGRAMS {
                    let small = |data: std::fs::Metadata| data.len() <= MAX_PROGRAM_BYTES;
                    if std::fs::metadata(entry.path()).is_ok_and(small) {
                        self.found += 1;
                        all.push(entry.path());
                    }
                }
            }
        }
        all.sort();
        all
    }

    /// Returns true if nothing is left to be searched.
    pub fn is_over(&self) -> bool {
        self.folders.is_empty() || self.found >= MAX_PROGRAMS
    }
}

/// Returns true for the path of a program.
pub fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "nesl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_2_programs_are_found_in_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.nesl", "b/c.nesl", "b/d.txt", ".git/e.nesl", "target/f.nesl"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, "1;").expect("written");
        }
        let mut search = Search::new([folder.path().to_owned()]);
        let found = search.go_on(Duration::from_secs(10));
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, ["a.nesl", "c.nesl"]);
        assert!(search.is_over() && search.go_on(Duration::from_secs(1)).is_empty());
    }
}
