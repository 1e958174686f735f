//! Operations of the host, performed at once or deferred to the end of an apply-to-each.

use super::super::lockstep::{Event, Output};
use super::super::value::Value;
use super::{ControlFrame, LocatedFault, Machine};
use crate::interp::{self, free};
use crate::ir::{Atom, Let, Site, Ty};
use crate::prim::HostOp;
use nesl_runtime::bug::OrBug;

/// The number of outputs that are performed between two looks at the interrupt.
const POLLED_EVENTS: usize = 1 << 12;

impl Machine<'_, '_> {
    /// Performs an operation of the host, or defers it inside an apply-to-each.
    pub(super) fn host(
        &mut self,
        op: HostOp,
        args: &[Atom],
        binding: &Let,
    ) -> Result<Value, LocatedFault> {
        let values = self.atoms(args);
        let deferring = self.lockstep.outermost;
        match (op, deferring) {
            (HostOp::PrintText, Some(outermost)) => {
                let [value] = <[Value; 1]>::try_from(values).or_bug("printing has one operand");
                self.defer(outermost, Output::Print(value), binding.site);
                Ok(Value::Bool(true))
            }
            (HostOp::WriteText, Some(outermost)) => {
                let types = self.types_of(args);
                self.defer(outermost, Output::Write(values, types), binding.site);
                Ok(Value::pair(Value::Bool(true), Value::text("")))
            }
            (HostOp::Draw, Some(outermost)) => {
                let types = self.types_of(args);
                self.defer(outermost, Output::Draw(values, types), binding.site);
                Ok(Value::Bool(true))
            }
            (op, _) => {
                let types = self.types_of(args);
                Ok(interp::perform(self.host, op, &values, &types, &binding.ty)?)
            }
        }
    }

    /// Defers an output; see [`lockstep`](super::super::lockstep).
    fn defer(&mut self, outermost: usize, output: Output, site: Site) {
        let mut path = Vec::new();
        for frame in &self.frames[outermost + 1..] {
            match frame {
                ControlFrame::Block { step, .. } => {
                    path.extend([step.branch(), step.begun() as u32]);
                }
                ControlFrame::Nest(nest) if nest.nest.serial => path.push(nest.begun as u32),
                ControlFrame::Nest(_) | ControlFrame::Call { .. } | ControlFrame::Clock(_) => {}
            }
        }
        let at = (site, self.current().library);
        self.lockstep.defer(path, Event { output, at });
    }

    /// Performs the deferred outputs.
    pub(super) fn perform_events(&mut self) -> Result<(), LocatedFault> {
        let status = Ty::pair(Ty::Bool, Ty::text());
        let mut events = self.lockstep.take();
        for position in 1_usize.. {
            let Some(event) = events.next() else { break };
            if position.is_multiple_of(POLLED_EVENTS)
                && let Err(fault) = self.limits.poll()
            {
                free::one_by_one(events);
                return Err(LocatedFault { fault, at: Some(event.at) });
            }
            let done = match event.output {
                Output::Print(text) => {
                    self.host.print(text.bytes());
                    continue;
                }
                Output::Write(args, types) => {
                    self.host.call(HostOp::WriteText, &args, &types, &status)
                }
                Output::Draw(args, types) => self.host.call(HostOp::Draw, &args, &types, &Ty::Bool),
            };
            if let Err(fault) = done {
                return Err(LocatedFault { fault, at: Some(event.at) });
            }
        }
        Ok(())
    }
}
