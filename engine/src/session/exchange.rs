//! Giving values to a session, and taking them out, without their text.

use super::{Session, lazy};
use crate::data::ValueType;
use crate::exchange::Taken;
use crate::exchange::give::{Refusal, given};
use crate::resident::words;
use nesl_core::base::Name;
use nesl_core::names::Resolution;
use nesl_core::types::{Record, Signature, Ty, record_content};
use nesl_runtime::scalar::Precision;
use std::io::Read;

impl Session {
    /// Defines a variable of a type without datatypes, whose value is read from `data`: its columns
    /// (see [`crate::exchange`]), with `counts` elements. Fails with a message if the name is not one that a
    /// variable may have, or the columns do not fit the type; then nothing is defined.
    pub fn bind(
        &mut self,
        name: &str,
        ty: &ValueType,
        counts: &[usize],
        data: &mut dyn Read,
    ) -> Result<(), String> {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(format!("`{name}` is not a name"));
        }
        // At 32 bits a value goes to the runtime only if it fits; it is looked at on the host.
        let wide = self.settings.precision == Precision::Bits64;
        let runtime = if wide { self.runtime() } else { None };
        let value =
            given(ty, counts, data, runtime, self.settings.precision).map_err(|refusal| {
                match refusal {
                    Refusal::Columns(message) => message,
                    Refusal::Runtime(failure) => words(&failure),
                }
            })?;
        let mut message = None;
        // The definition has the type; its value is replaced.
        let text = format!("{name} = {};", ty.example());
        let summary = self.enter("<given>", &text, &mut |event| {
            if let super::Event::Diagnostic(diagnostic) = event
                && super::is_error(&diagnostic)
            {
                message.get_or_insert(diagnostic.message);
            }
        });
        let form = self.last.and_then(|last| self.db.outline(last.file).forms.first().cloned());
        let Some(form) = form.filter(|_| summary.ok == 1 && summary.errors == 0) else {
            return Err(message.unwrap_or_else(|| format!("`{name}` cannot be defined")));
        };
        self.values.insert((form.id(), Name::new(name)), lazy::Value::Computed(value));
        self.end_undo();
        Ok(())
    }

    /// Takes the value of a variable, or of `it`, the last expression. Returns `None` if there is
    /// no such variable, or its value is not computed yet. Fails with a message if the value cannot be read,
    /// or has functions in it.
    pub fn take(&self, name: &str) -> Result<Option<Taken>, String> {
        let found = || {
            let Resolution::Item(item, name) = self.db.lookup(self.last?, &Name::new(name))? else {
                return None;
            };
            let item = self.current(item, &name);
            let Signature::Values { values } = &**self.db.signature(item) else { return None };
            let ty = &values.iter().find(|(own, _)| *own == name)?.1.ty;
            let content =
                |record: &Record, args: &[Ty]| record_content(self.db.signature(record.item), args);
            let ty = ValueType::of(ty, &content);
            Some((self.values.get(&(item, name))?.computed()?, ty))
        };
        let Some((value, ty)) = found() else { return Ok(None) };
        let runtime = self.executor.as_ref().map(|executor| &executor.runtime);
        match Taken::new(value, ty, runtime) {
            Ok(Some(taken)) => Ok(Some(taken)),
            Ok(None) => Err("functions are not data".to_owned()),
            Err(failure) => Err(words(&failure)),
        }
    }
}
