//! The C functions of the simulator itself, which [`crate::client`] calls.
//!
//! Reports are texts: records end with [`RECORD_END`], their fields are separated by
//! [`FIELD_SEPARATOR`].

use super::state::driver;
use crate::client::{FIELD_SEPARATOR, RECORD_END, Report};
use std::ffi::{CStr, c_char, c_int};
use std::fmt::Display;

/// Sets an option; returns 0 on success.
///
/// # Safety
/// Both texts end with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn nesl_sim_set(name: *const c_char, value: *const c_char) -> c_int {
    // SAFETY: the caller passes texts that end with a zero.
    let (name, value) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(value)) };
    let (Ok(name), Ok(value)) = (name.to_str(), value.to_str()) else { return 1 };
    c_int::from(driver().options.set(name, value).is_err())
}

/// Tells the simulator that a client reads its findings: they are not printed unasked.
#[unsafe(no_mangle)]
extern "C" fn nesl_sim_attach() {
    driver().attached = true;
}

/// Forgets counters and findings.
#[unsafe(no_mangle)]
extern "C" fn nesl_sim_clear() {
    let mut driver = driver();
    driver.kernels.clear();
    driver.host = crate::counters::HostCounters::default();
    if let Some(context) = driver.primary.as_deref_mut() {
        context.accounts.peak = context.accounts.live();
    }
    driver.note_memory();
    driver.findings.clear();
}

/// Destroys the context, as if the process had ended.
#[unsafe(no_mangle)]
extern "C" fn nesl_sim_reset() {
    let mut driver = driver();
    driver.reset();
    driver.initialised = false;
}

/// Copies a report to a buffer and returns its whole length in bytes.
///
/// # Safety
/// The buffer has `capacity` writable bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn nesl_sim_report(what: c_int, buffer: *mut u8, capacity: usize) -> usize {
    let text = report(what);
    let kept = text.len().min(capacity);
    if !buffer.is_null() {
        // SAFETY: the caller passes `capacity` writable bytes, and no more are written.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, kept) };
    }
    text.len()
}

fn report(what: c_int) -> String {
    let driver = driver();
    let mut text = String::new();
    if what == Report::Options as c_int {
        for (name, value) in driver.options.to_pairs() {
            record(&mut text, &[&name, &value]);
        }
    } else if what == Report::Host as c_int {
        for (name, value) in driver.host.to_pairs() {
            record(&mut text, &[&name, &value]);
        }
    } else if what == Report::Kernels as c_int {
        for (kernel, counters) in &driver.kernels {
            for (name, value) in counters.to_pairs() {
                record(&mut text, &[kernel, &name, &value]);
            }
        }
    } else if what == Report::Findings as c_int {
        for fault in &driver.findings {
            let [x, y, z] = fault.block;
            let thread = fault.thread.map_or(String::new(), |thread| thread.to_string());
            record(
                &mut text,
                &[
                    &fault.kind.name(),
                    &fault.kernel,
                    &fault.line,
                    &fault.text,
                    &x,
                    &y,
                    &z,
                    &thread,
                    &fault.message,
                ],
            );
        }
    }
    text
}

fn record(text: &mut String, fields: &[&dyn Display]) {
    for (k, field) in fields.iter().enumerate() {
        if k > 0 {
            text.push(FIELD_SEPARATOR);
        }
        text.push_str(&field.to_string());
    }
    text.push(RECORD_END);
}
