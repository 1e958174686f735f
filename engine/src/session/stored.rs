//! `x |= exp;`: values kept in files, read back where they are used.
//!
//! A stored value takes no memory between the forms that use it. The files have no names: nobody else can
//! read them, and the system removes them with the process, however that ends.
//! `write_object_to_file` keeps a value for longer.

use crate::host::object;
use nesl_core::base::{ItemId, Name};
use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::rc::Rc;

/// The files of stored variables.
pub(super) type Files = FxHashMap<(ItemId, Name), Rc<File>>;

/// The stored variables of a session.
#[derive(Default)]
pub(super) struct Stored {
    files: Files,
}

impl Stored {
    /// Stores the value of a variable. An error is a text for people.
    pub(super) fn write(
        &mut self,
        item: ItemId,
        name: Name,
        value: &Value,
        ty: &Ty,
    ) -> std::result::Result<(), String> {
        let text = object::write(value, ty, Precision::Bits64, &|| false);
        let file = tempfile::tempfile().and_then(|mut file| {
            file.write_all(&text)?;
            Ok(file)
        });
        let file = file.map_err(|error| format!("`{name}` cannot be stored: {error}"))?;
        self.files.insert((item, name), Rc::new(file));
        Ok(())
    }

    /// Returns the files of the variables.
    pub(super) fn files(&self) -> Files {
        self.files.clone()
    }

    /// Gives the variables the files that they had before.
    pub(super) fn put_back(&mut self, files: Files) {
        self.files = files;
    }

    /// Removes the values of the variables of some items.
    pub(super) fn forget(&mut self, is_forgotten: impl Fn(ItemId) -> bool) {
        self.files.retain(|(item, _), _| !is_forgotten(*item));
    }

    /// Reads the value of a variable back, if it is stored.
    pub(super) fn read(
        &self,
        item: ItemId,
        name: &Name,
        ty: &Ty,
        precision: Precision,
    ) -> Option<std::result::Result<Value, String>> {
        let mut file: &File = self.files.get(&(item, name.clone()))?;
        let mut text = Vec::new();
        let read = file.rewind().and_then(|()| file.read_to_end(&mut text));
        let text = read.map(|_| text).map_err(|error| error.to_string());
        let value = text.and_then(|text| object::read(&text, name.as_written(), ty, precision));
        Some(value.map_err(|why| format!("the stored value of `{name}` cannot be read: {why}")))
    }
}
