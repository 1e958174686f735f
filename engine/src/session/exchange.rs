//! Giving values to a session, and taking them out, without their text.

use super::run::words;
use super::{Session, lazy};
use crate::data::ValueType;
use crate::exchange::{self, Column};
use crate::resident::ResidentValue;
use nesl_core::base::Name;
use nesl_core::names::Resolution;
use nesl_core::types::{Record, Signature, Ty, record_content};

impl Session {
    /// Defines a variable of a type without datatypes, whose value columns hold (see
    /// [`crate::exchange`]). Fails with a message if the name is not one that a variable may have, or
    /// the columns do not fit the type.
    pub fn bind(&mut self, name: &str, ty: &ValueType, columns: Vec<Column>) -> Result<(), String> {
        let value = exchange::value(ty, columns)?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(format!("`{name}` is not a name"));
        }
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
        let value = ResidentValue::value_of(value, ty.representation());
        self.values.insert((form.id(), Name::new(name)), lazy::Value::Computed(value));
        Ok(())
    }

    /// Returns the type and the columns of `it`, the value of the last expression; `None` if there is
    /// none, or it holds functions. Fails if it cannot be read.
    pub fn last_value(&self) -> Result<Option<(ValueType, Vec<Column>)>, String> {
        let Some((value, ty)) = self.it() else { return Ok(None) };
        let value = value.value(self.runtime()).map_err(|failure| words(&failure))?;
        Ok(exchange::columns(value, &ty).map(|columns| (ty, columns)))
    }

    /// Returns the value of the last expression, and its type.
    fn it(&self) -> Option<(&ResidentValue, ValueType)> {
        let name = Name::new("it");
        let Resolution::Item(item, name) = self.db.lookup(self.last?, &name)? else { return None };
        let item = self.current(item, &name);
        let Signature::Values { values } = &**self.db.signature(item) else { return None };
        let ty = &values.iter().find(|(own, _)| *own == name)?.1.ty;
        let content =
            |record: &Record, args: &[Ty]| record_content(self.db.signature(record.item), args);
        let value = self.values.get(&(item, name))?.computed()?;
        Some((value, ValueType::of(ty, &content)))
    }
}
