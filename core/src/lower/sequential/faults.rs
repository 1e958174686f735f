//! Run-time checks: faults with their site, and the operands that the message shows.

use super::super::repr::LoweredValue;
use super::super::{Detail, FaultSite};
use super::function::FunctionLowering;
use crate::ir::{Atom, Site, Ty};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Binary, Value};
use smol_str::SmolStr;

impl<'a> FunctionLowering<'a> {
    /// Faults unless a condition holds.
    pub(super) fn check(&mut self, cond: Value, code: FaultCode, site: Site) {
        self.check_with(cond, code, &SmolStr::default(), site, (Detail::None, &[]));
    }

    /// Faults unless a condition holds, and shows the operands of `detail`.
    pub(in crate::lower) fn check_detail(
        &mut self,
        cond: Value,
        code: FaultCode,
        site: Site,
        detail: (Detail, &[Value]),
    ) {
        self.check_with(cond, code, &SmolStr::default(), site, detail);
    }

    /// Faults with a message of the program's own unless a condition holds.
    pub(super) fn check_with(
        &mut self,
        cond: Value,
        code: FaultCode,
        message: &SmolStr,
        site: Site,
        (detail, values): (Detail, &[Value]),
    ) {
        let library = self.origin.is_some();
        let site = self.site(FaultSite { code, message: message.clone(), detail, site, library });
        let mut all: Vec<Value> = self.origin.into_iter().collect();
        for value in values {
            all.push(self.index_of(*value));
        }
        self.body.check(cond, site, all);
    }

    /// Faults unless `0 ≤ index < length`, both `i64`.
    pub(in crate::lower) fn in_bounds(
        &mut self,
        index: Value,
        length: Value,
        code: FaultCode,
        site: Site,
    ) {
        self.in_bounds_unless(None, index, length, code, site);
    }

    /// Faults unless `0 ≤ index < length` or the condition `unless` holds.
    pub(in crate::lower) fn in_bounds_unless(
        &mut self,
        unless: Option<Value>,
        index: Value,
        length: Value,
        code: FaultCode,
        site: Site,
    ) {
        let zero = self.body.i64(0);
        let low = self.body.binary(Binary::Ge, index, zero);
        let high = self.body.binary(Binary::Lt, index, length);
        let mut inside = self.body.binary(Binary::And, low, high);
        if let Some(unless) = unless {
            inside = self.body.binary(Binary::Or, inside, unless);
        }
        self.check_detail(inside, code, site, (Detail::Bounds, &[index, length]));
    }

    /// Lowers `error(text)`, which has any type.
    pub(super) fn error(&mut self, text: Atom, ty: &'a Ty, site: Site) -> LoweredValue<'a> {
        let text = self.stored(text);
        let array = self.array_of(text.columns.scalars());
        let library = self.origin.is_some();
        let (code, message, detail) = (FaultCode::Message, SmolStr::default(), Detail::None);
        let site = self.site(FaultSite { code, message, detail, site, library });
        let detail = self.origin.into_iter().collect();
        self.body.fail(site, array, text.length, detail);
        let zero = self.zero_parts(ty);
        self.assemble(ty, &mut zero.into_iter())
    }

    /// Returns the site of a call that leaves the user's program, as an `i64`.
    pub(super) fn call_site(&mut self, site: Site) -> Value {
        let call = FaultSite {
            code: FaultCode::Message,
            message: SmolStr::default(),
            detail: Detail::None,
            site,
            library: false,
        };
        let site = self.site(call);
        self.body.i64(i64::from(site.0))
    }

    /// Returns the number of a fault site, which equal ones share.
    fn site(&mut self, fault: FaultSite) -> kir::Site {
        let shared = &mut *self.shared.borrow_mut();
        let next = kir::Site(shared.fault_sites.len() as u32);
        *shared.sites.entry(fault.clone()).or_insert_with(|| {
            shared.fault_sites.push(fault);
            next
        })
    }
}
