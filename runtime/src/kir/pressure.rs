//! Register pressure: how many values are live at the same time.

use super::walk;
use super::{Inst, Value};

/// Returns the largest number of values that are live at the same time, at least 1; of `values`
/// values in all, those for which `counts` returns true.
pub fn register_pressure<'i>(
    insts: impl Iterator<Item = &'i Inst>,
    values: usize,
    counts: impl Fn(Value) -> bool,
) -> usize {
    let mut ranges = LiveRanges { at: 0, ranges: vec![None; values] };
    for inst in insts {
        ranges.inst(inst);
    }
    let mut changes: Vec<(usize, i32)> = Vec::new();
    for (value, range) in ranges.ranges.iter().enumerate() {
        if let Some((from, to)) = range
            && counts(Value(value as u32))
        {
            changes.push((*from, 1));
            changes.push((*to, -1));
        }
    }
    changes.sort_unstable();
    let (mut live, mut most) = (0, 0);
    for (_, change) in changes {
        live += change;
        most = most.max(live);
    }
    most.max(1) as usize
}

/// The first and the last position, in the order of the code, at which values are live.
struct LiveRanges {
    at: usize,
    ranges: Vec<Option<(usize, usize)>>,
}

impl LiveRanges {
    fn inst(&mut self, inst: &Inst) {
        let start = self.at;
        inst.op.each_operand(|v| self.read(v, start));
        self.at += 1;
        inst.op.carried().iter().for_each(|v| self.define(*v));
        for block in inst.op.blocks() {
            block.insts.iter().for_each(|inst| self.inst(inst));
            let at = self.at;
            block.yields.iter().for_each(|v| self.read(*v, at));
        }
        if inst.op.is_loop() {
            // A value from before the loop that is read in it is live until its end.
            let end = self.at;
            walk::each_read(inst, &mut |v| match &mut self.ranges[v.0 as usize] {
                Some((from, to)) if *from <= start => *to = (*to).max(end),
                _ => {}
            });
        }
        self.at += 1;
        inst.results.iter().for_each(|v| self.define(*v));
    }

    fn define(&mut self, value: Value) {
        self.ranges[value.0 as usize] = Some((self.at, self.at));
    }

    fn read(&mut self, value: Value, at: usize) {
        if let Some((_, to)) = &mut self.ranges[value.0 as usize] {
            *to = (*to).max(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::parse;

    #[test]
    fn values_are_counted_from_definition_to_last_use() {
        let text = "\
function \"f\"(v0: i64) -> i64 {
  v1: i64 = add v0, v0
  v2: i64 = add v0, v0
  v3: i64 = add v1, v2
  v4: i64 = add v3, v1
  v5: i64 = add v4, v2
  yield v5
}
";
        let module = parse(text).unwrap();
        let function = &module.functions[0];
        let pressure = |counts: fn(Value) -> bool| {
            register_pressure(function.body.insts.iter(), function.types.len(), counts)
        };
        assert_eq!(pressure(|_| true), 2);
        assert_eq!(pressure(|v| v.0 == 1), 1);
    }
}
