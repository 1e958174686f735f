//! Generates random well-typed programs of the core language.
//!
//! The seed determines the program. Functions call only earlier functions, so programs terminate;
//! they may fault. Random draws have dummy keys, as after elaboration.

use nesl_core::base::{ItemId, Span};
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::{
    Atom, Block, Charge, CostTerm, FunId, Function, FunctionBuilder, Global, GlobalId, Nest, Op,
    Program, Site, Ty, signature,
};
use nesl_core::prim::{HostOp, ReduceOp, SeqOp, TypeClass, TypePattern};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::random;
use nesl_runtime::scalar::ScalarOp;

/// Random choices determined by a seed.
pub struct Choices {
    seed: u64,
    count: i64,
}

impl Choices {
    pub fn new(seed: u64) -> Choices {
        Choices { seed, count: 0 }
    }

    /// Chooses a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.count += 1;
        random::uniform_int(random::bits(self.seed, self.count), bound as i64) as usize
    }

    /// Returns true once in `n` times on average.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub fn int(&mut self) -> i64 {
        match self.below(12) {
            0 => i64::MIN,
            1 => i64::MAX,
            2 => self.below(1000) as i64 - 500,
            _ => self.below(5) as i64 - 1,
        }
    }

    pub fn float(&mut self) -> f64 {
        *self.pick(&[
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            1e10,
            1e300,
            -2.5e-7,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ])
    }

    /// A random type, with at most `depth` constructors on a path.
    pub fn ty(&mut self, depth: usize) -> Ty {
        match self.below(if depth == 0 { 4 } else { 8 }) {
            0 => Ty::Int,
            1 => Ty::Float,
            2 => Ty::Bool,
            3 => Ty::Char,
            4 => Ty::Unit,
            5 => Ty::pair(self.ty(depth - 1), self.ty(depth - 1)),
            _ => Ty::sequence(self.ty(depth - 1)),
        }
    }

    /// A random value of a type.
    pub fn value(&mut self, ty: &Ty) -> Value {
        match ty {
            Ty::Unit => Value::Unit,
            Ty::Int => Value::Int(self.int()),
            Ty::Float => Value::Float(self.float()),
            Ty::Bool => Value::Bool(self.once_in(2)),
            Ty::Char => Value::Char(self.below(256) as u8),
            Ty::Pair(first, second) => Value::pair(self.value(first), self.value(second)),
            Ty::Sequence(element) => {
                let length = self.below(5);
                let values = (0..length).map(|_| self.value(element)).collect();
                Value::Sequence(Sequence::from_values(element, values))
            }
        }
    }
}

/// Generates a program and values of its globals.
pub fn program(seed: u64) -> (Program, Vec<Value>) {
    let mut choices = Choices::new(seed);
    let mut globals = Vec::new();
    let mut values = Vec::new();
    for i in 0..choices.below(3) {
        let ty = choices.ty(2);
        values.push(choices.value(&ty));
        globals.push(Global {
            item: ItemId(i as u64),
            name: (*choices.pick(&["x", "it", "naïve \"name\"\n"])).into(),
            ty,
        });
    }
    let mut functions = Vec::new();
    for i in 0..choices.below(3) {
        let arity = choices.below(3);
        functions.push(function(&mut choices, &functions, &globals, arity, format!("f{i}@[int]")));
    }
    functions.push(function(&mut choices, &functions, &globals, 0, "main".to_string()));
    let main = FunId(functions.len() as u32 - 1);
    let program = Program { functions, globals, main };
    (program, values)
}

fn function(
    choices: &mut Choices,
    functions: &[Function],
    globals: &[Global],
    arity: usize,
    name: String,
) -> Function {
    let mut writer = Writer {
        choices,
        functions,
        globals,
        builder: FunctionBuilder::new(),
        scope: Vec::new(),
        nesting: 0,
        calls: 0,
    };
    for _ in 0..arity {
        let ty = writer.choices.ty(2);
        let param = writer.builder.param(ty.clone());
        writer.scope.push((param, ty));
    }
    for _ in 0..writer.choices.below(8) {
        writer.binding();
    }
    let ty = writer.choices.ty(2);
    let result = writer.operand(&ty);
    let site = writer.site();
    let mut function = writer.builder.finish(name, site, result);
    function.library = choices.once_in(3);
    if choices.once_in(4) {
        let mut work = vec![CostTerm::One, CostTerm::SizeOfResult];
        if arity > 0 {
            work.push(CostTerm::Size(choices.below(arity) as u32));
            work.push(CostTerm::Length(choices.below(arity) as u32));
        }
        work.truncate(choices.below(4));
        let scans = choices.once_in(2);
        function.charge = Some(Charge { work, scans });
    }
    function
}

struct Writer<'a> {
    choices: &'a mut Choices,
    functions: &'a [Function],
    globals: &'a [Global],
    builder: FunctionBuilder,
    scope: Vec<(Atom, Ty)>,
    nesting: usize,
    calls: usize,
}

const SCALARS: [ScalarOp; 46] = {
    use ScalarOp::*;
    [
        Add, Sub, Mul, Div, Rem, Mod, Neg, Abs, Max, Min, Eq, Ne, Lt, Le, Gt, Ge, Not, And, Or,
        Xor, Shl, Shr, Sqrt, Ln, Exp, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Floor,
        Ceil, Trunc, Round, ToFloat, BoolToInt, CharToInt, IntToChar, FloatBits, Mix, Rand, Rand,
    ]
};

impl Writer<'_> {
    fn site(&mut self) -> Site {
        let start = self.choices.below(100) as u32;
        let end = start + self.choices.below(9) as u32;
        Site { item: ItemId(self.choices.below(3) as u64), span: Span { start, end } }
    }

    fn bind(&mut self, ty: Ty, op: Op) -> Atom {
        let site = self.site();
        let atom = self.builder.bind(ty.clone(), op, site);
        self.scope.push((atom, ty));
        atom
    }

    /// An operand of a type: a variable in scope, a constant, or the result of new bindings.
    fn operand(&mut self, ty: &Ty) -> Atom {
        let known: Vec<Atom> =
            self.scope.iter().filter(|(_, of)| of == ty).map(|(atom, _)| *atom).collect();
        if !known.is_empty() && !self.choices.once_in(4) {
            return *self.choices.pick(&known);
        }
        match ty {
            Ty::Unit => Atom::Unit,
            Ty::Int => Atom::Int(self.choices.int()),
            Ty::Float => Atom::Float(self.choices.float()),
            Ty::Bool => Atom::Bool(self.choices.once_in(2)),
            Ty::Char => Atom::Char(self.choices.below(256) as u8),
            Ty::Pair(first, second) => {
                let op = Op::Pair(self.operand(first), self.operand(second));
                self.bind(ty.clone(), op)
            }
            Ty::Sequence(element) if **element == Ty::Char && self.choices.once_in(2) => {
                let length = self.choices.below(6);
                let text: Vec<u8> = (0..length).map(|_| self.choices.below(256) as u8).collect();
                self.bind(ty.clone(), Op::Text(text.into()))
            }
            Ty::Sequence(element) => {
                let length = self.choices.below(4);
                let elements = (0..length).map(|_| self.operand(element)).collect();
                self.bind(ty.clone(), Op::List(elements))
            }
        }
    }

    fn operands(&mut self, types: &[Ty]) -> Vec<Atom> {
        types.iter().map(|ty| self.operand(ty)).collect()
    }

    /// Generates a block with bindings of its own and a result of type `ty`.
    fn block(&mut self, ty: &Ty) -> Block {
        let outside = self.scope.len();
        self.builder.begin();
        self.nesting += 1;
        for _ in 0..self.choices.below(4) {
            self.binding();
        }
        let result = self.operand(ty);
        self.nesting -= 1;
        self.scope.truncate(outside);
        self.builder.end(result)
    }

    /// Adds a binding to the current block.
    fn binding(&mut self) {
        match self.choices.below(16) {
            0..=3 => self.scalar(),
            4..=8 => self.sequence(),
            9 => {
                let ty = self.choices.ty(2);
                let op = Op::Copy(self.operand(&ty));
                self.bind(ty, op);
            }
            10 => {
                let (a, b) = (self.choices.ty(1), self.choices.ty(1));
                let pair = self.operand(&Ty::pair(a.clone(), b.clone()));
                if self.choices.once_in(2) {
                    self.bind(a, Op::First(pair));
                } else {
                    self.bind(b, Op::Second(pair));
                }
            }
            11 if self.nesting < 3 => {
                let ty = self.choices.ty(2);
                let cond = self.operand(&Ty::Bool);
                let then = self.block(&ty);
                let otherwise = self.block(&ty);
                let op = Op::If { cond, then, otherwise };
                self.bind(ty, op);
            }
            12 | 13 if self.nesting < 3 => self.nest(),
            14 if self.calls < 2 && !self.functions.is_empty() => {
                self.calls += 1;
                let callee = self.choices.below(self.functions.len());
                let function = &self.functions[callee];
                let types: Vec<Ty> = function.params.iter().map(|(_, ty)| ty.clone()).collect();
                let args = self.operands(&types);
                let result = self.functions[callee].result.clone();
                self.bind(result, Op::Call(FunId(callee as u32), args));
            }
            _ => self.rare(),
        }
    }

    fn scalar(&mut self) {
        let scalars = [Ty::Int, Ty::Float, Ty::Bool, Ty::Char];
        loop {
            let op = *self.choices.pick(&SCALARS);
            let ty = self.choices.pick(&scalars).clone();
            let types = match op {
                ScalarOp::Rand => vec![Ty::Int, Ty::Int, Ty::Int, ty],
                _ if signature::scalar(op, std::slice::from_ref(&ty)).is_ok() => vec![ty],
                _ => vec![ty.clone(), ty],
            };
            if let Ok(result) = signature::scalar(op, &types) {
                let mut args = self.operands(&types);
                if op == ScalarOp::Rand {
                    args[..3].fill(Atom::Int(0));
                }
                self.bind(result, Op::Scalar(op, args));
                return;
            }
        }
    }

    /// Any operation on sequences, at any types that one of its rules allows.
    fn sequence(&mut self) {
        let with = *self.choices.pick(&ReduceOp::ALL);
        let ops: Vec<SeqOp> =
            SeqOp::all().filter(|op| op.operator().is_none_or(|other| other == with)).collect();
        let op = *self.choices.pick(&ops);
        let rule = self.choices.pick(op.row().signatures);
        let any = self.choices.ty(1);
        let class = |class: TypeClass| match class {
            TypeClass::Reducible => with.class(),
            class => class,
        };
        let mut variable = None;
        let params = rule.params;
        let types: Vec<Ty> = params
            .iter()
            .map(|param| {
                instance(param, &mut |found| {
                    let scalars: &[Ty] = match class(found) {
                        TypeClass::Any | TypeClass::Reducible => return any.clone(),
                        TypeClass::Number => &[Ty::Int, Ty::Float],
                        TypeClass::Ordinal => &[Ty::Int, Ty::Float, Ty::Char],
                        TypeClass::Logical => &[Ty::Int, Ty::Bool],
                        TypeClass::Scalar => &[Ty::Int, Ty::Float, Ty::Char, Ty::Bool],
                    };
                    variable.get_or_insert_with(|| self.choices.pick(scalars).clone()).clone()
                })
            })
            .collect();
        let result = signature::sequence(op, &types).expect("operands of its types");
        let args = self.operands(&types);
        self.bind(result, Op::Seq(op, args));
    }

    fn nest(&mut self) {
        let outside = self.scope.len();
        let count = 1 + self.choices.below(2);
        let mut binders = Vec::new();
        for _ in 0..count {
            let ty = self.choices.ty(1);
            let over = self.operand(&Ty::sequence(ty.clone()));
            binders.push((self.builder.fresh(ty.clone()), ty, over));
        }
        // The bindings of the sequences stay in scope, the binders do not.
        let inside = self.scope.len();
        for (var, ty, _) in &binders {
            self.scope.push((Atom::Var(*var), ty.clone()));
        }
        let ty = self.choices.ty(1);
        let body = self.block(&ty);
        self.scope.truncate(inside.max(outside));
        let serial = self.choices.once_in(4);
        let nest = Nest { binders, body, serial };
        self.bind(Ty::sequence(ty), Op::Nest(nest));
    }

    fn rare(&mut self) {
        match self.choices.below(6) {
            0 if !self.globals.is_empty() => {
                let id = self.choices.below(self.globals.len());
                let ty = self.globals[id].ty.clone();
                self.bind(ty, Op::Global(GlobalId(id as u32)));
            }
            1 => {
                let cond = match self.choices.once_in(8) {
                    true => self.operand(&Ty::Bool),
                    false => Atom::Bool(true),
                };
                let code = *self.choices.pick(&[FaultCode::Message, FaultCode::ZipLength]);
                let message = (*self.choices.pick(&["", "too \"bad\"\n", "naïve"])).into();
                let op = Op::Check { cond, code, message };
                self.bind(Ty::Bool, op);
            }
            2 if self.choices.once_in(8) => {
                let ty = self.choices.ty(2);
                let text = self.operand(&Ty::text());
                self.bind(ty, Op::Error(text));
            }
            3 => {
                let text = self.operand(&Ty::text());
                self.bind(Ty::Bool, Op::Host(HostOp::PrintText, vec![text]));
            }
            4 => {
                let text = self.operand(&Ty::text());
                let op = Op::Host(HostOp::WriteText, vec![text, Atom::Int(1)]);
                self.bind(Ty::pair(Ty::Bool, Ty::text()), op);
            }
            5 if self.nesting < 3 => {
                let ty = self.choices.ty(1);
                let block = self.block(&ty);
                self.bind(Ty::pair(ty, Ty::Float), Op::Time(block));
            }
            _ => self.scalar(),
        }
    }
}

/// The type that a pattern is, with this type for its variable.
fn instance(pattern: &TypePattern, variable: &mut dyn FnMut(TypeClass) -> Ty) -> Ty {
    match pattern {
        TypePattern::Int => Ty::Int,
        TypePattern::Float => Ty::Float,
        TypePattern::Bool => Ty::Bool,
        TypePattern::Char => Ty::Char,
        TypePattern::Variable(class) => variable(*class),
        TypePattern::Sequence(element) => Ty::sequence(instance(element, variable)),
        TypePattern::Pair(first, second) => {
            Ty::pair(instance(first, variable), instance(second, variable))
        }
    }
}
