//! The time and memory that forms and sessions took, as text for people and as JSON for programs. The fields of the
//! JSON are described by `nesl run --help`.

use crate::table::{Table, grouped};
use crate::text::{Lines, fitted, own_start};
use nesl_engine::{Binding, Sources, Stats, Usage};
use nesl_runtime::profile::KernelTime;
use nesl_runtime::runtime::{Refusal, Share};
use serde_json::{Value, json};

/// The time of a form; nothing for one that only defines.
pub fn time(binding: &Binding) -> Option<String> {
    let Usage { seconds, compile_seconds, .. } = binding.usage;
    evaluated(binding).then(|| {
        let (all, compiling) = (duration(seconds), duration(compile_seconds));
        format!("time of {}: {all}, of which {compiling} compiling", binding.name)
    })
}

/// A form as an object in one line; nothing for one that only defines.
///
/// `print_length` is the session's: values that are abbreviated as text are none as data.
pub fn form_object(
    sources: &Sources,
    binding: &Binding,
    first: usize,
    print_length: Option<usize>,
) -> Option<String> {
    if !evaluated(binding) {
        return None;
    }
    let (file, text) = sources.get(binding.at.file);
    let at = own_start(&text, &binding.at.range);
    let usage = binding.usage;
    let mut object = json!({
        "file": &*file,
        "line": first + Lines::new(text.clone()).position(at).line,
        "name": binding.name,
        "type": binding.ty,
        "value": if binding.value.is_empty() { Value::Null } else { json!(binding.value) },
        "data": binding.data.as_ref().map_or(Value::Null, |shown| crate::json::whole(shown, print_length)),
        "seconds": usage.seconds,
        "compile_seconds": usage.compile_seconds,
        "run_seconds": usage.seconds - usage.compile_seconds,
        "on_runtime": usage.on_runtime,
        "launches": usage.launches,
        "modules": usage.modules,
        "transferred": usage.transferred,
        "reads": usage.reads,
        "writes": usage.writes,
        "drains": usage.drains,
        "bytes": usage.bytes,
        "peak_bytes": usage.peak_bytes,
    });
    if let Some((work, depth)) = binding.cost {
        object["work"] = json!(work);
        object["depth"] = json!(depth);
    }
    Some(object.to_string())
}

/// Returns a session's statistics as lines, for a screen of so many columns if there is one.
pub fn stats(stats: &Stats, columns: Option<usize>) -> String {
    let counters = &stats.counters;
    let mut out = match &stats.runtime {
        None => "The direct interpreter ran everything.\n".to_string(),
        Some(runtime) => format!(
            "runtime {runtime}: {}; {} compiled in {}{}{}\n\
             arrays: {} bytes, {} at most; {} bytes to and from the host in {} and {}; {}\n",
            counted(counters.launches, "launch", "launches"),
            counted(counters.modules, "module", "modules"),
            duration(counters.compile_ns as f64 * 1e-9),
            match counters.cached {
                0 => String::new(),
                known => format!(", {} of them from the disk", grouped(known)),
            },
            match counters.prefetch_ns {
                0 => String::new(),
                ahead => format!(", {} more beside", duration(ahead as f64 * 1e-9)),
            },
            grouped(counters.bytes),
            grouped(counters.peak_bytes),
            grouped(counters.transferred),
            counted(counters.writes, "write", "writes"),
            counted(counters.reads, "read", "reads"),
            counted(counters.drains, "wait for launches", "waits for launches"),
        ),
    };
    for share in &stats.shares {
        let launches = counted(share.counters.launches, "launch", "launches");
        out += &format!("on {}: {launches}\n", share.name);
    }
    if let [device, host] = &stats.shares[..] {
        for refusal in &stats.refusals {
            out += &format!(
                "on {} because {} cannot: kernel {}, {}: {}\n",
                host.name,
                device.name,
                refusal.kernel,
                counted(refusal.launches, "launch", "launches"),
                refusal.reason
            );
        }
    }
    for (reason, count) in &stats.unsupported {
        out += &format!(
            "not flattened, but run by one thread: {} with {reason}\n",
            counted(*count, "program", "programs")
        );
    }
    if let Some(columns) = columns {
        out = fitted(&out, columns.saturating_sub(1)) + "\n";
    }
    out + &variables(stats, columns)
}

/// Returns the variables as a table; empty if there are none.
pub fn variables(stats: &Stats, columns: Option<usize>) -> String {
    let mut out = String::new();
    if !stats.variables.is_empty() {
        let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_string(), grouped);
        let mut table = Table::new(&["on host", "on runtime", "name", "type"]);
        for variable in &stats.variables {
            let name = &variable.name;
            table.row([
                bytes(variable.host_bytes),
                bytes(variable.runtime_bytes),
                if variable.shadowed { format!("{name} (an earlier one)") } else { name.clone() },
                variable.ty.clone(),
            ]);
        }
        out += &table.bundle_in(columns).plain;
        out.push('\n');
    }
    out
}

/// A session's statistics as an object in one line.
pub fn stats_object(stats: &Stats) -> String {
    let counters = &stats.counters;
    let variables: Vec<Value> = stats
        .variables
        .iter()
        .map(|variable| {
            json!({
                "name": variable.name,
                "type": variable.ty,
                "host_bytes": variable.host_bytes,
                "runtime_bytes": variable.runtime_bytes,
                "shadowed": variable.shadowed,
            })
        })
        .collect();
    let unsupported = stats
        .unsupported
        .iter()
        .map(|(reason, count)| json!({ "reason": reason.to_string(), "programs": count }));
    let unsupported: Vec<Value> = unsupported.collect();
    let share =
        |share: &Share| json!({ "runtime": share.name, "launches": share.counters.launches });
    let refusal = |refusal: &Refusal| {
        json!({
            "kernel": refusal.kernel,
            "reason": refusal.reason.to_string(),
            "launches": refusal.launches,
        })
    };
    let object = json!({
        "runtime": stats.runtime,
        "launches": counters.launches,
        "modules": counters.modules,
        "cached": counters.cached,
        "compile_seconds": counters.compile_ns as f64 * 1e-9,
        "ahead_seconds": counters.prefetch_ns as f64 * 1e-9,
        "transferred": counters.transferred,
        "reads": counters.reads,
        "writes": counters.writes,
        "drains": counters.drains,
        "bytes": counters.bytes,
        "peak_bytes": counters.peak_bytes,
        "shares": stats.shares.iter().map(share).collect::<Vec<_>>(),
        "refused": stats.refusals.iter().map(refusal).collect::<Vec<_>>(),
        "unsupported": unsupported,
        "variables": variables,
    });
    json!({ "stats": object }).to_string()
}

/// The time that kernels took, as lines, without compiling and without the work of the host.
pub fn profile(kernels: &[KernelTime]) -> String {
    if kernels.iter().all(|kernel| kernel.launches == 0) {
        return "No kernel was launched: the direct interpreter did it all.\n".to_string();
    }
    let all: f64 = kernels.iter().map(|kernel| kernel.time.as_secs_f64()).sum();
    let mut table = Table::new(&["time", "share", "launches", "elements", "name"]);
    for kernel in kernels.iter().filter(|kernel| kernel.launches > 0) {
        let seconds = kernel.time.as_secs_f64();
        table.row([
            duration(seconds),
            format!("{:.1} %", 100.0 * seconds / all),
            grouped(kernel.launches),
            grouped(kernel.work_items),
            kernel.name.clone(),
        ]);
    }
    table.to_string()
}

/// The time that kernels took, as an object in one line.
pub fn profile_object(kernels: &[KernelTime]) -> String {
    let object = |kernel: &KernelTime| {
        json!({
            "kernel": kernel.name,
            "launches": kernel.launches,
            "points": kernel.work_items,
            "seconds": kernel.time.as_secs_f64(),
            "compile_seconds": kernel.compiling.as_secs_f64(),
        })
    };
    json!({ "profile": kernels.iter().map(object).collect::<Vec<_>>() }).to_string()
}

/// Returns true if a form evaluated something.
fn evaluated(binding: &Binding) -> bool {
    binding.usage != Usage::default()
}

fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// Seconds in the unit that fits, with three digits or so.
/// A time with a unit that fits.
pub fn duration(seconds: f64) -> String {
    let (scaled, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    match scaled {
        x if x >= 100.0 => format!("{x:.0} {unit}"),
        x if x >= 10.0 => format!("{x:.1} {unit}"),
        x => format!("{x:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_that_fits() {
        let shown: Vec<String> = [0.0, 4.2e-6, 0.0123, 0.25, 12.345, 250.0].map(duration).into();
        assert_eq!(shown, ["0.00 µs", "4.20 µs", "12.3 ms", "250 ms", "12.3 s", "250 s"]);
    }
}
