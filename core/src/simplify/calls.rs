//! The call graph of a program: callees before callers, recursion, sizes.

use crate::ir::{FunId, Op, Program};
use nesl_runtime::bug::OrBug;

/// The call graph of the functions reached from the form.
pub(super) struct Calls {
    order: Vec<FunId>,
    recursive: Vec<bool>,
    mutual: Vec<bool>,
    groups: Vec<Vec<FunId>>,
    sizes: Vec<usize>,
    times: Vec<usize>,
}

impl Calls {
    pub(super) fn of(program: &Program) -> Calls {
        let count = program.functions.len();
        let mut calls = Calls {
            order: Vec::new(),
            recursive: vec![false; count],
            mutual: vec![false; count],
            groups: Vec::new(),
            sizes: vec![0; count],
            times: vec![0; count],
        };
        let mut callees: Vec<Vec<FunId>> = Vec::with_capacity(count);
        for (function, size) in program.functions.iter().zip(&mut calls.sizes) {
            let mut called = Vec::new();
            function.body.for_each_op(&mut |op| {
                *size += 1;
                if let Op::Call(callee, _) = op {
                    called.push(*callee);
                    calls.times[callee.0 as usize] += 1;
                }
            });
            callees.push(called);
        }
        calls.search(program.main, &callees);
        calls
    }

    /// Tarjan's algorithm, with a stack of its own: groups of functions that call each other
    /// come after those they call.
    fn search(&mut self, main: FunId, callees: &[Vec<FunId>]) {
        const UNSEEN: usize = usize::MAX;
        let count = callees.len();
        let (mut number, mut low) = (vec![UNSEEN; count], vec![0; count]);
        let mut waiting: Vec<usize> = Vec::new();
        let mut is_waiting = vec![false; count];
        let mut path: Vec<(usize, usize)> = vec![(main.0 as usize, 0)];
        let mut next = 0;
        while let Some((at, callee)) = path.last_mut() {
            let at = *at;
            if *callee == 0 {
                (number[at], low[at]) = (next, next);
                next += 1;
                waiting.push(at);
                is_waiting[at] = true;
            }
            if let Some(to) = callees[at].get(*callee) {
                *callee += 1;
                let to = to.0 as usize;
                self.recursive[at] |= to == at;
                if number[to] == UNSEEN {
                    path.push((to, 0));
                } else if is_waiting[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            path.pop();
            if let Some((caller, _)) = path.last() {
                low[*caller] = low[*caller].min(low[at]);
            }
            if low[at] == number[at] {
                let group = waiting.iter().rposition(|f| *f == at).or_bug("the function waits");
                let group = waiting.split_off(group);
                for function in &group {
                    is_waiting[*function] = false;
                    self.recursive[*function] |= group.len() > 1;
                    self.mutual[*function] = group.len() > 1;
                    self.order.push(FunId(*function as u32));
                }
                if group.len() > 1 {
                    self.groups.push(group.iter().map(|at| FunId(*at as u32)).collect());
                }
            }
        }
    }

    /// The functions reached, callees before callers except inside a group.
    pub(super) fn callees_first(&self) -> &[FunId] {
        &self.order
    }

    /// Returns true if a function calls itself, perhaps through others.
    pub(super) fn is_recursive(&self, id: FunId) -> bool {
        self.recursive[id.0 as usize]
    }

    /// Returns true if a function calls itself through others.
    pub(super) fn is_mutual(&self, id: FunId) -> bool {
        self.mutual[id.0 as usize]
    }

    /// The groups of functions that call each other.
    pub(super) fn groups(&self) -> &[Vec<FunId>] {
        &self.groups
    }

    /// Operations in a function as written.
    pub(super) fn size(&self, id: FunId) -> usize {
        self.sizes[id.0 as usize]
    }

    /// Places it is called from.
    pub(super) fn times(&self, id: FunId) -> usize {
        self.times[id.0 as usize]
    }
}
