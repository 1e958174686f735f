//! Builders of kir: functions, kernels and their code.
//!
//! A [`Body`] appends instructions to the innermost open block; the methods are named after the
//! operations and give the values they define. Small things are simplified on the way (constants
//! folded, the same constant made once a block), so that callers need not think of them.

use super::{
    Binary, Block, Combine, Extern, Function, FunctionId, Inst, Kernel, Literal, Op, Output, Sink,
    Site, Space, Stage, Ty, Unary, Value, ValueTy,
};
use crate::bug;
use crate::bug::OrBug;

/// Code under construction, for a function or a kernel.
#[derive(Debug, Default)]
pub struct Body {
    types: Vec<ValueTy>,
    open: Vec<Block>,
    /// Per value, what is known of it.
    known: Vec<Option<Known>>,
}

/// A fact about a value.
#[derive(Clone, Copy, Debug)]
enum Known {
    Constant(Literal),
    /// The sum of two ints.
    Sum(Value, Value),
    /// An int and a constant.
    Offset(Value, i64),
}

impl Body {
    fn new() -> Body {
        Body { open: vec![Block::default()], ..Body::default() }
    }

    /// A new value that nothing defines yet: a parameter, an index, something carried.
    pub fn value(&mut self, ty: ValueTy) -> Value {
        let value = Value(self.types.len() as u32);
        self.types.push(ty);
        self.known.push(None);
        value
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> ValueTy {
        self.types[value.0 as usize]
    }

    /// The type of a scalar; that of the elements of an array.
    ///
    /// # Panics
    /// If it is a mark.
    pub fn element(&self, value: Value) -> Ty {
        match self.ty(value) {
            ValueTy::Scalar(ty) | ValueTy::Array(ty) => ty,
            ValueTy::Mark => bug!("a mark has no elements"),
        }
    }

    /// The constant that a value is known to be, if any.
    pub fn constant(&self, value: Value) -> Option<Literal> {
        match self.known[value.0 as usize] {
            Some(Known::Constant(literal)) => Some(literal),
            Some(Known::Sum(..) | Known::Offset(..)) | None => None,
        }
    }

    /// The array and the index that a value was loaded from, in a block that is still open.
    pub fn loaded_from(&self, value: Value) -> Option<(Value, Value)> {
        let insts = self.open.iter().flat_map(|block| &block.insts);
        insts.rev().find(|inst| inst.results.contains(&value)).and_then(|inst| match inst.op {
            Op::Load { array, index } => Some((array, index)),
            _ => None,
        })
    }

    /// Opens a block: what follows is part of it until [`Body::end`].
    pub fn begin(&mut self) {
        self.open.push(Block::default());
    }

    /// Closes the innermost block.
    ///
    /// # Panics
    /// If [`Body::begin`] did not open one.
    pub fn end(&mut self, yields: Vec<Value>) -> Block {
        assert!(self.open.len() > 1, "no block is open");
        let mut block = self.open.pop().or_bug("the builder has an open block");
        block.yields = yields;
        block
    }

    /// Appends an instruction that defines values of these types.
    pub fn push(&mut self, op: Op, types: &[ValueTy]) -> Vec<Value> {
        let results: Vec<Value> = types.iter().map(|ty| self.value(*ty)).collect();
        let block = self.open.last_mut().or_bug("the builder has an open block");
        block.insts.push(Inst { results: results.clone(), op });
        results
    }

    fn scalar(&mut self, op: Op, ty: Ty) -> Value {
        self.push(op, &[ValueTy::Scalar(ty)])[0]
    }

    /// Appends a constant, unless the block has it already.
    pub fn literal(&mut self, literal: Literal) -> Value {
        let value = self.scalar(Op::Const(literal), literal.ty());
        self.known[value.0 as usize] = Some(Known::Constant(literal));
        value
    }

    /// An array of these chars.
    pub fn text(&mut self, text: &[u8]) -> Value {
        self.push(Op::Text(text.into()), &[ValueTy::Array(Ty::U8)])[0]
    }

    /// A length or position.
    pub fn i64(&mut self, x: i64) -> Value {
        self.literal(Literal::I64(x))
    }

    /// A truth value.
    pub fn bool(&mut self, x: bool) -> Value {
        self.literal(Literal::Bool(x))
    }

    /// Appends a unary operation.
    pub fn unary(&mut self, op: Unary, a: Value) -> Value {
        let ty = self.element(a);
        if let (Unary::Not, Some(Literal::Bool(x))) = (op, self.constant(a)) {
            return self.bool(!x);
        }
        self.scalar(Op::Unary(op, a), ty)
    }

    /// Appends a binary operation.
    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        if let Some(known) = self.fold(op, a, b) {
            return known;
        }
        let ty = if op.compares() { Ty::Bool } else { self.element(a) };
        let value = self.scalar(Op::Binary(op, a, b), ty);
        self.known[value.0 as usize] = match (op, self.constant(a), self.constant(b)) {
            (Binary::Add, _, Some(Literal::I64(by))) => Some(self.offset(a, by)),
            (Binary::Add, Some(Literal::I64(by)), _) => Some(self.offset(b, by)),
            (Binary::Sub, _, Some(Literal::I64(by))) => Some(self.offset(a, by.wrapping_neg())),
            (Binary::Add, ..) if ty.is_int() => Some(Known::Sum(a, b)),
            _ => None,
        };
        value
    }

    /// Returns the fact about the sum of an int and a constant.
    fn offset(&self, of: Value, by: i64) -> Known {
        match self.known[of.0 as usize] {
            Some(Known::Offset(first, before)) => Known::Offset(first, before.wrapping_add(by)),
            _ => Known::Offset(of, by),
        }
    }

    /// Returns the difference of two ints, if it is known to be a constant.
    fn distance(&self, a: Value, b: Value) -> Option<i64> {
        let parts = |v: Value| match self.known[v.0 as usize] {
            Some(Known::Constant(Literal::I64(x))) => Some((None, x)),
            Some(Known::Offset(of, by)) => Some((Some(of), by)),
            _ if self.ty(v) == ValueTy::Scalar(Ty::I64) => Some((Some(v), 0)),
            _ => None,
        };
        let (a, b) = (parts(a)?, parts(b)?);
        (a.0 == b.0).then(|| a.1.wrapping_sub(b.1))
    }

    /// Returns true if two values are known to be equal ints.
    fn same(&self, a: Value, b: Value) -> bool {
        self.distance(a, b) == Some(0)
    }

    /// The simple cases of lengths, positions and truth values.
    fn fold(&mut self, op: Binary, a: Value, b: Value) -> Option<Value> {
        use Binary::*;
        // The length of a part that is given by its first position and its length. (Ints wrap around: this holds for
        // all, while an order between sums does not follow.)
        if let (Sub, Some(Known::Sum(x, y))) = (op, self.known[a.0 as usize]) {
            if self.same(x, b) {
                return Some(y);
            } else if self.same(y, b) {
                return Some(x);
            }
        }
        match (op, self.distance(a, b)) {
            (Sub, Some(distance)) => return Some(self.i64(distance)),
            (Eq | Le | Ge, Some(0)) => return Some(self.bool(true)),
            (Ne | Lt | Gt, Some(0)) => return Some(self.bool(false)),
            (Eq, Some(_)) => return Some(self.bool(false)),
            (Ne, Some(_)) => return Some(self.bool(true)),
            _ => {}
        }
        match (op, self.constant(a), self.constant(b)) {
            (Add, Some(Literal::I64(0)), _) | (Mul, Some(Literal::I64(1)), _) => Some(b),
            (Add | Sub, _, Some(Literal::I64(0))) | (Mul, _, Some(Literal::I64(1))) => Some(a),
            (And, Some(Literal::Bool(true)), _) | (Or, Some(Literal::Bool(false)), _) => Some(b),
            (And, _, Some(Literal::Bool(true))) | (Or, _, Some(Literal::Bool(false))) => Some(a),
            (_, Some(Literal::I64(x)), Some(Literal::I64(y))) => {
                let number = match op {
                    Add => x.wrapping_add(y),
                    Sub => x.wrapping_sub(y),
                    Mul => x.wrapping_mul(y),
                    Min => x.min(y),
                    Max => x.max(y),
                    Eq => return Some(self.bool(x == y)),
                    Ne => return Some(self.bool(x != y)),
                    Lt => return Some(self.bool(x < y)),
                    Le => return Some(self.bool(x <= y)),
                    Gt => return Some(self.bool(x > y)),
                    Ge => return Some(self.bool(x >= y)),
                    MulHigh | Div | Rem | And | Or | Xor | Shl | Shr | ShrZero => return None,
                };
                Some(self.i64(number))
            }
            _ => None,
        }
    }

    /// `a · b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.element(a);
        self.scalar(Op::Fma(a, b, c), ty)
    }

    /// `a` if `cond` else `b`, of scalars or arrays.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        match self.constant(cond) {
            Some(Literal::Bool(true)) => a,
            Some(Literal::Bool(false)) => b,
            _ if a == b => a,
            _ => {
                let ty = self.ty(a);
                self.push(Op::Select(cond, a, b), &[ty])[0]
            }
        }
    }

    /// To another scalar type.
    pub fn convert(&mut self, to: Ty, a: Value) -> Value {
        if self.element(a) == to {
            return a;
        }
        self.scalar(Op::Convert(to, a), to)
    }

    /// The same bits as another type.
    pub fn bits(&mut self, to: Ty, a: Value) -> Value {
        self.scalar(Op::Bits(to, a), to)
    }

    /// A new array.
    pub fn alloc(&mut self, ty: Ty, length: Value) -> Value {
        self.push(Op::Alloc(ty, length), &[ValueTy::Array(ty)])[0]
    }

    /// Appends a load of an element.
    pub fn load(&mut self, array: Value, index: Value) -> Value {
        let ty = self.element(array);
        self.scalar(Op::Load { array, index }, ty)
    }

    /// Writes an element.
    pub fn store(&mut self, array: Value, index: Value, value: Value) {
        self.push(Op::Store { array, index, value }, &[]);
    }

    /// An array from an element on.
    pub fn slice(&mut self, array: Value, start: Value) -> Value {
        if self.constant(start) == Some(Literal::I64(0)) {
            return array;
        }
        let ty = self.ty(array);
        self.push(Op::Slice(array, start), &[ty])[0]
    }

    /// Appends a copy of elements.
    pub fn copy(&mut self, from: Value, to: Value, count: Value) {
        self.push(Op::Copy { from, to, count }, &[]);
    }

    /// One of two blocks, which yield values of the same types.
    pub fn branch(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Body) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Body) -> Vec<Value>,
    ) -> Vec<Value> {
        self.begin();
        let yields = then(self);
        let types: Vec<ValueTy> = yields.iter().map(|v| self.ty(*v)).collect();
        let then = self.end(yields);
        self.begin();
        let yields = otherwise(self);
        let otherwise = self.end(yields);
        self.push(Op::If { cond, then, otherwise }, &types)
    }

    /// A loop with a condition. Both closures are given the values carried.
    pub fn repeat_while(
        &mut self,
        init: Vec<Value>,
        cond: impl FnOnce(&mut Body, &[Value]) -> Value,
        body: impl FnOnce(&mut Body, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types: Vec<ValueTy> = init.iter().map(|v| self.ty(*v)).collect();
        let carried: Vec<Value> = types.iter().map(|ty| self.value(*ty)).collect();
        self.begin();
        let going = cond(self, &carried);
        let cond = self.end(vec![going]);
        self.begin();
        let next = body(self, &carried);
        let body = self.end(next);
        self.push(Op::While { init, carried, cond, body }, &types)
    }

    /// A counted loop. The closure is given the index and the values carried; it yields the next
    /// ones, then an element for each reduction. The results are those of [`Op::For`].
    pub fn count(
        &mut self,
        count: Value,
        init: Vec<Value>,
        reduce: Vec<Combine>,
        body: impl FnOnce(&mut Body, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types: Vec<ValueTy> = init.iter().map(|v| self.ty(*v)).collect();
        let carried: Vec<Value> = types.iter().map(|ty| self.value(*ty)).collect();
        let index = self.value(ValueTy::Scalar(Ty::I64));
        self.begin();
        let yields = body(self, index, &carried);
        let types: Vec<ValueTy> = yields.iter().map(|v| self.ty(*v)).collect();
        let body = self.end(yields);
        self.push(Op::For { count, index, init, carried, reduce, body }, &types)
    }

    /// A call of a function whose results have these types.
    pub fn call(
        &mut self,
        function: FunctionId,
        args: Vec<Value>,
        types: &[ValueTy],
    ) -> Vec<Value> {
        self.push(Op::Call(function, args), types)
    }

    /// The results, of these types, of a function that only computes.
    pub fn compute(
        &mut self,
        function: FunctionId,
        args: Vec<Value>,
        types: &[ValueTy],
    ) -> Vec<Value> {
        self.push(Op::Compute(function, args), types)
    }

    /// A service of the runtime.
    pub fn service(&mut self, service: Extern, args: Vec<Value>) -> Vec<Value> {
        self.push(Op::Extern(service, args), service.results())
    }

    /// Appends a check, which ends the work item unless the condition holds.
    pub fn check(&mut self, cond: Value, site: Site, detail: Vec<Value>) {
        if self.constant(cond) != Some(Literal::Bool(true)) {
            self.push(Op::Check { cond, site, detail }, &[]);
        }
    }

    /// Appends a failure with a text, which ends the work item.
    pub fn fail(&mut self, site: Site, text: Value, length: Value, detail: Vec<Value>) {
        self.push(Op::Fail { site, text, length, detail }, &[]);
    }

    /// Appends a mark: the present top of the thread's memory.
    pub fn mark(&mut self) -> Value {
        self.push(Op::Mark, &[ValueTy::Mark])[0]
    }

    /// Lets go of what was allocated since a mark but for these arrays and their lengths.
    pub fn compact(&mut self, since: Value, keep: Vec<(Value, Value)>) -> Vec<Value> {
        let types: Vec<ValueTy> = keep.iter().map(|(array, _)| self.ty(*array)).collect();
        self.push(Op::Compact { since, keep }, &types)
    }

    fn finish(mut self, yields: Vec<Value>) -> (Block, Vec<ValueTy>) {
        assert!(self.open.len() == 1, "a block is still open");
        let mut block = self.open.pop().or_bug("the builder has an open block");
        block.yields = yields;
        (block, self.types)
    }
}

/// A function under construction.
#[derive(Debug)]
pub struct FunctionBuilder {
    /// The code of the function.
    pub body: Body,
    name: String,
    params: Vec<Value>,
}

impl FunctionBuilder {
    /// A function without parameters or code.
    pub fn new(name: impl Into<String>) -> FunctionBuilder {
        FunctionBuilder { body: Body::new(), name: name.into(), params: Vec::new() }
    }

    /// One more parameter.
    pub fn param(&mut self, ty: ValueTy) -> Value {
        let value = self.body.value(ty);
        self.params.push(value);
        value
    }

    /// The function, which yields these.
    pub fn finish(self, yields: Vec<Value>) -> Function {
        let results = yields.iter().map(|v| self.body.ty(*v)).collect();
        let (body, types) = self.body.finish(yields);
        Function { name: self.name, params: self.params, results, body, types }
    }
}

/// A kernel under construction.
#[derive(Debug)]
pub struct KernelBuilder {
    /// The code of the stage at hand.
    pub body: Body,
    name: String,
    params: Vec<Value>,
    space: Option<(Space, Vec<Value>)>,
    stages: Vec<Stage>,
    sinks: Vec<Sink>,
    outputs: Vec<Ty>,
}

impl KernelBuilder {
    /// A kernel without parameters, space or code.
    pub fn new(name: impl Into<String>) -> KernelBuilder {
        KernelBuilder {
            body: Body::new(),
            name: name.into(),
            params: Vec::new(),
            space: None,
            stages: Vec::new(),
            sinks: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// One more parameter: a scalar, or an array of the runtime.
    pub fn param(&mut self, ty: ValueTy) -> Value {
        let value = self.body.value(ty);
        self.params.push(value);
        value
    }

    /// One more output.
    pub fn output(&mut self, ty: Ty) -> Output {
        self.outputs.push(ty);
        Output(self.outputs.len() as u32 - 1)
    }

    /// Sets the index space; returns the indices, for the body. To be called once, before any code.
    pub fn over(&mut self, space: Space) -> Vec<Value> {
        let index = ValueTy::Scalar(Ty::I64);
        let indices: Vec<Value> = (0..space.rank()).map(|_| self.body.value(index)).collect();
        self.space = Some((space, indices.clone()));
        indices
    }

    /// Appends a sink to the present stage.
    pub fn sink(&mut self, sink: Sink) {
        self.sinks.push(sink);
    }

    /// Ends a stage: what follows sees the results of its sinks.
    pub fn next_stage(&mut self) {
        let code = std::mem::take(&mut self.body.open[0]);
        self.stages.push(Stage { body: code, sinks: std::mem::take(&mut self.sinks) });
    }

    /// Returns the kernel.
    ///
    /// # Panics
    /// If its index space was not set.
    pub fn finish(mut self) -> Kernel {
        self.next_stage();
        let (space, indices) = self.space.or_bug("a kernel builder is told its index space");
        let (_, types) = self.body.finish(Vec::new());
        Kernel {
            name: self.name,
            params: self.params,
            space,
            indices,
            stages: self.stages,
            outputs: self.outputs,
            types,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: ValueTy = ValueTy::Scalar(Ty::I64);

    #[test]
    fn a_sum_less_its_part_is_the_rest() {
        let mut body = Body::new();
        let [start, length] = [(); 2].map(|()| body.value(INT));
        let end = body.binary(Binary::Add, start, length);
        assert_eq!(body.binary(Binary::Sub, end, start), length);
        assert_eq!(body.binary(Binary::Sub, end, length), start);
        let float = ValueTy::Scalar(Ty::F64);
        let [a, b] = [(); 2].map(|()| body.value(float));
        let sum = body.binary(Binary::Add, a, b);
        let rest = body.binary(Binary::Sub, sum, a);
        assert_ne!(rest, b, "a sum of floats is rounded");
        let equal = body.binary(Binary::Eq, a, a);
        assert_eq!(body.constant(equal), None, "no number is equal to itself");
    }

    #[test]
    fn ints_at_constant_distances_are_compared() {
        let mut body = Body::new();
        let size = body.value(INT);
        let [one, minus_one, two] = [1, -1, 2].map(|x| body.i64(x));
        let drop_first = body.binary(Binary::Sub, size, one);
        let drop_last = body.binary(Binary::Add, size, minus_one);
        let mut known = |op, a, b| {
            let value = body.binary(op, a, b);
            body.constant(value)
        };
        assert_eq!(known(Binary::Eq, drop_first, drop_last), Some(Literal::Bool(true)));
        assert_eq!(known(Binary::Sub, size, drop_last), Some(Literal::I64(1)));
        assert_eq!(known(Binary::Ne, size, drop_last), Some(Literal::Bool(true)));
        // The least int less one is greater than it.
        assert_eq!(known(Binary::Lt, drop_last, size), None);
        let drop_two = body.binary(Binary::Sub, drop_first, one);
        let left = body.binary(Binary::Add, drop_two, two);
        let equal = body.binary(Binary::Eq, left, size);
        assert_eq!(body.constant(equal), Some(Literal::Bool(true)));
    }
}
