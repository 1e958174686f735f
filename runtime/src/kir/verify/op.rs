//! The types of operations.

use super::{BOOL, Checker, INDEX, combines};
use crate::kir::{Binary, Block, Class, Combine, Inst, Module, Op, Ty, Unary, Value, ValueTy};

impl Checker<'_> {
    /// Checks the operands; gives the types of the results, unless they cannot be told.
    pub(super) fn op(&mut self, inst: &Inst) -> Option<Vec<ValueTy>> {
        let scalar = |ty| vec![ValueTy::Scalar(ty)];
        Some(match &inst.op {
            Op::Const(literal) => scalar(literal.ty()),
            Op::Text(_) => vec![ValueTy::Array(Ty::U8)],
            Op::Unary(op, a) => {
                let ty = self.scalar(*a)?;
                let defined = match op {
                    Unary::Neg | Unary::Abs => ty.is_int() || ty.is_float(),
                    Unary::Not => ty.is_int() || ty == Ty::Bool,
                    Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest => {
                        ty.is_float()
                    }
                };
                self.defined(defined, op.mnemonic(), ty)?;
                scalar(ty)
            }
            Op::Binary(op, a, b) => {
                let ty = self.scalar(*a)?;
                self.has(*b, ValueTy::Scalar(ty));
                let defined = match op {
                    Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => {
                        ty.is_int() || ty.is_float()
                    }
                    Binary::MulHigh => ty == Ty::I64,
                    Binary::Rem | Binary::Shl | Binary::Shr | Binary::ShrZero => ty.is_int(),
                    Binary::Min | Binary::Max => ty.is_int() || ty == Ty::U8,
                    Binary::And | Binary::Or | Binary::Xor => ty.is_int() || ty == Ty::Bool,
                    Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                        true
                    }
                };
                self.defined(defined, op.mnemonic(), ty)?;
                scalar(if op.compares() { Ty::Bool } else { ty })
            }
            Op::Fma(a, b, c) => {
                let ty = self.scalar(*a)?;
                self.has(*b, ValueTy::Scalar(ty));
                self.has(*c, ValueTy::Scalar(ty));
                self.defined(ty.is_float(), "fma", ty)?;
                scalar(ty)
            }
            Op::Select(cond, a, b) => {
                self.has(*cond, BOOL);
                let ty = self.used(*a)?;
                self.has(*b, ty);
                self.no_mark(*a, "selected");
                vec![ty]
            }
            Op::Convert(to, a) => {
                let from = self.scalar(*a)?;
                if from.is_float() && !(to.is_int() || to.is_float()) {
                    self.wrong(format!("{from} does not become {to}"));
                }
                scalar(*to)
            }
            Op::Bits(to, a) => {
                let from = self.scalar(*a)?;
                let number = |ty: Ty| ty.is_int() || ty.is_float();
                if from != *to && !(number(from) && number(*to) && from.size() == to.size()) {
                    self.wrong(format!("the bits of {from} are not those of {to}"));
                }
                scalar(*to)
            }
            Op::Alloc(ty, length) => {
                self.has(*length, INDEX);
                vec![ValueTy::Array(*ty)]
            }
            Op::Load { array, index } => {
                self.has(*index, INDEX);
                scalar(self.array(*array)?)
            }
            Op::Store { array, index, value } => {
                self.has(*index, INDEX);
                let ty = self.array(*array)?;
                self.has(*value, ValueTy::Scalar(ty));
                Vec::new()
            }
            Op::Slice(array, start) => {
                self.has(*start, INDEX);
                vec![ValueTy::Array(self.array(*array)?)]
            }
            Op::Copy { from, to, count } => {
                self.has(*count, INDEX);
                let ty = self.array(*from)?;
                self.has(*to, ValueTy::Array(ty));
                Vec::new()
            }
            Op::If { cond, then, otherwise } => {
                self.has(*cond, BOOL);
                let types = self.types_of(&inst.results)?;
                self.block(then, &types);
                self.block(otherwise, &types);
                types
            }
            Op::While { init, carried, cond, body } => {
                let types = self.carry(init, carried)?;
                let outer = self.visible.len();
                for value in carried {
                    self.define(*value);
                }
                // The body sees what the condition computes.
                crate::stack::with_stack(|| self.insts(cond));
                self.yields(cond, &[BOOL]);
                self.block(body, &types);
                self.leave(outer);
                types
            }
            Op::For { count, index, init, carried, reduce, body } => {
                self.has(*count, INDEX);
                self.is(*index, INDEX);
                let mut types = self.carry(init, carried)?;
                types.extend(self.reductions(reduce, &inst.results, types.len())?);
                let outer = self.visible.len();
                self.define(*index);
                for value in carried {
                    self.define(*value);
                }
                self.block(body, &types);
                self.leave(outer);
                types
            }
            Op::Call(callee, args) | Op::Compute(callee, args) => {
                let computes = matches!(inst.op, Op::Compute(..));
                let Some(callee) = self.module.functions.get(callee.0 as usize) else {
                    self.wrong(format!("there is no function #{}", callee.0));
                    return None;
                };
                let types =
                    callee.params.iter().map(|param| callee.types.get(param.0 as usize).copied());
                // Wrong in the callee, and said there.
                let types: Vec<ValueTy> = types.collect::<Option<_>>()?;
                self.args(args, &types);
                if computes
                    && !only_computes(self.module, &callee.body, self.module.functions.len())
                {
                    let name = &callee.name;
                    self.wrong(format!("the function {name:?} does not only compute"));
                }
                callee.results.clone()
            }
            Op::Extern(service, args) => {
                let keys = match (service.key_types(), args.first()) {
                    ([], _) | (_, None) => Ty::U8,
                    (allowed, Some(keys)) => {
                        let keys = self.array(*keys)?;
                        self.defined(allowed.contains(&keys), service.mnemonic(), keys)?;
                        keys
                    }
                };
                self.args(args, &service.params(keys));
                service.results().to_vec()
            }
            Op::Check { cond, site: _, detail } => {
                self.has(*cond, BOOL);
                self.detail(detail);
                Vec::new()
            }
            Op::Fail { site: _, text, length, detail } => {
                self.has(*text, ValueTy::Array(Ty::U8));
                self.has(*length, INDEX);
                self.detail(detail);
                Vec::new()
            }
            Op::Mark => vec![ValueTy::Mark],
            Op::Compact { since, keep } => {
                self.has(*since, ValueTy::Mark);
                let mut types = Vec::new();
                for (array, length) in keep {
                    self.has(*length, INDEX);
                    types.push(ValueTy::Array(self.array(*array)?));
                }
                types
            }
        })
    }

    fn defined(&mut self, defined: bool, name: &str, ty: Ty) -> Option<()> {
        if !defined {
            self.wrong(format!("`{name}` is not defined on {ty}"));
        }
        defined.then_some(())
    }

    fn detail(&mut self, detail: &[Value]) {
        for value in detail {
            self.has(*value, INDEX);
        }
        if detail.len() > 4 {
            self.wrong("at most four details");
        }
    }

    fn args(&mut self, args: &[Value], types: &[ValueTy]) {
        if args.len() != types.len() {
            self.wrong(format!("{} arguments, not {}", types.len(), args.len()));
            return;
        }
        for (value, ty) in args.iter().zip(types) {
            self.has(*value, *ty);
        }
    }

    /// Checks the values given to a loop; gives the types of those carried.
    fn carry(&mut self, init: &[Value], carried: &[Value]) -> Option<Vec<ValueTy>> {
        let types = self.types_of(carried)?;
        if init.len() != carried.len() {
            self.wrong(format!("{} values at first for {} carried", init.len(), carried.len()));
            return None;
        }
        for (value, ty) in init.iter().zip(&types) {
            self.has(*value, *ty);
            self.no_mark(*value, "carried");
        }
        Some(types)
    }

    /// The types of the reductions of a loop, which its results tell.
    fn reductions(
        &mut self,
        reduce: &[Combine],
        results: &[Value],
        carried: usize,
    ) -> Option<Vec<ValueTy>> {
        if results.len() != carried + reduce.len() {
            self.wrong(format!("{} results, not {}", carried + reduce.len(), results.len()));
            return None;
        }
        let types = self.types_of(&results[carried..])?;
        for (combine, ty) in reduce.iter().zip(&types) {
            match ty {
                ValueTy::Scalar(ty) if combines(*combine, *ty) => {}
                other => self.wrong(format!("`{}` does not combine {other}", combine.mnemonic())),
            }
        }
        Some(types)
    }

    fn types_of(&mut self, values: &[Value]) -> Option<Vec<ValueTy>> {
        let types = values.iter().map(|value| self.types.get(value.0 as usize).copied());
        let types: Option<Vec<ValueTy>> = types.collect();
        if types.is_none() {
            self.wrong("a value is not in the table of types");
        }
        types
    }
}

/// Returns true if a block is of operations of [`Class::Pure`] and conditionals alone, and calls functions of such
/// within each other at most `depth` times.
fn only_computes(module: &Module, block: &Block, depth: usize) -> bool {
    block.insts.iter().all(|inst| match &inst.op {
        Op::If { then, otherwise, .. } => {
            [then, otherwise].iter().all(|side| only_computes(module, side, depth))
        }
        Op::Compute(callee, _) => {
            let callee = module.functions.get(callee.0 as usize);
            depth > 0 && callee.is_some_and(|f| only_computes(module, &f.body, depth - 1))
        }
        op => op.class() == Class::Pure,
    })
}
