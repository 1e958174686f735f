//! The law of the core language.
//!
//! - Every variable is bound once in its function, and used only after it, where it is in scope.
//! - Every operand has the type its operation takes, and every binding the type it gives.
//! - A call passes what its callee's parameters are; `main` takes nothing, or a key.
//! - A nest has at least one binder, and its binders run over sequences.
//! - Both sides of a conditional have the type of its binding.

use super::{Atom, Block, Function, Op, Program, Ty, Var, print_type};
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// What breaks the law, a line each; nothing if the program is well formed.
pub fn verify(program: &Program) -> Vec<String> {
    let mut all = Vec::new();
    for function in &program.functions {
        let mut checker = Checker {
            program,
            scope: FxHashMap::default(),
            bound: FxHashSet::default(),
            complaints: Vec::new(),
        };
        checker.function(function);
        let name = &function.name;
        all.extend(checker.complaints.into_iter().map(|c| format!("{name}: {c}")));
    }
    let main = &program.functions[program.main.0 as usize];
    if main.name == "main" && !main.params.iter().all(|(_, ty)| *ty == Ty::Int) {
        all.push("main: takes more than a key".to_owned());
    }
    all
}

struct Checker<'a> {
    program: &'a Program,
    scope: FxHashMap<Var, Ty>,
    bound: FxHashSet<Var>,
    complaints: Vec<String>,
}

impl Checker<'_> {
    fn function(&mut self, function: &Function) {
        for (var, ty) in &function.params {
            self.bind(*var, ty);
        }
        let ty = self.block(&function.body);
        self.same("the result", &function.result, ty.as_ref());
    }

    fn complain(&mut self, complaint: String) {
        self.complaints.push(complaint);
    }

    fn bind(&mut self, var: Var, ty: &Ty) {
        if !self.bound.insert(var) {
            self.complain(format!("v{} is bound twice", var.0));
        }
        self.scope.insert(var, ty.clone());
    }

    fn same(&mut self, what: &str, wanted: &Ty, found: Option<&Ty>) {
        if let Some(found) = found
            && wanted != found
        {
            let (wanted, found) = (print_type(wanted), print_type(found));
            self.complain(format!("{what} is {found}, not {wanted}"));
        }
    }

    fn atom(&mut self, atom: &Atom) -> Option<Ty> {
        match atom {
            Atom::Var(var) => {
                let ty = self.scope.get(var).cloned();
                if ty.is_none() {
                    self.complain(format!("v{} is not in scope", var.0));
                }
                ty
            }
            Atom::Unit => Some(Ty::Unit),
            Atom::Int(_) => Some(Ty::Int),
            Atom::Float(_) => Some(Ty::Float),
            Atom::Bool(_) => Some(Ty::Bool),
            Atom::Char(_) => Some(Ty::Char),
        }
    }

    fn block(&mut self, block: &Block) -> Option<Ty> {
        let mut added = Vec::new();
        for bound in &block.lets {
            let ty = self.op(&bound.op, &bound.ty);
            self.same(&format!("v{}", bound.var.0), &bound.ty, ty.as_ref());
            self.bind(bound.var, &bound.ty);
            added.push(bound.var);
        }
        let ty = self.atom(&block.result);
        for var in added {
            self.scope.remove(&var);
        }
        ty
    }

    fn element(&mut self, atom: &Atom) -> Option<Ty> {
        match self.atom(atom)? {
            Ty::Sequence(element) => Some(*element),
            other => {
                self.complain(format!("{} is not a sequence", print_type(&other)));
                None
            }
        }
    }

    /// The type an operation gives; `None` if that cannot be told (or was complained about).
    fn op(&mut self, op: &Op, ty: &Ty) -> Option<Ty> {
        match op {
            Op::Copy(a) => self.atom(a),
            Op::Pair(a, b) => {
                let (a, b) = (self.atom(a)?, self.atom(b)?);
                Some(Ty::Pair(Box::new(a), Box::new(b)))
            }
            Op::First(a) | Op::Second(a) => match (op, self.atom(a)?) {
                (Op::First(_), Ty::Pair(first, _)) => Some(*first),
                (_, Ty::Pair(_, second)) => Some(*second),
                (_, other) => {
                    self.complain(format!("a part of {}", print_type(&other)));
                    None
                }
            },
            Op::Text(_) => Some(Ty::Sequence(Box::new(Ty::Char))),
            Op::List(items) => {
                let Ty::Sequence(element) = ty else {
                    self.complain("a list is bound to no sequence".to_owned());
                    return None;
                };
                for item in items {
                    let found = self.atom(item);
                    self.same("an element", element, found.as_ref());
                }
                Some(ty.clone())
            }
            Op::Scalar(op, args) => {
                let types: Vec<Ty> = args.iter().filter_map(|a| self.atom(a)).collect();
                if types.len() != args.len() {
                    return None;
                }
                let result = scalar(*op, &types);
                if result.is_none() {
                    let types: Vec<String> = types.iter().map(print_type).collect();
                    self.complain(format!("{op:?} of {}", types.join(", ")));
                }
                result
            }
            Op::Seq(op, args) => self.seq(*op, args),
            Op::Call(callee, args) => {
                let Some(function) = self.program.functions.get(callee.0 as usize) else {
                    self.complain(format!("a call of function {}", callee.0));
                    return None;
                };
                if function.params.len() != args.len() {
                    let (n, m) = (function.params.len(), args.len());
                    self.complain(format!("{} takes {n} operands, not {m}", function.name));
                }
                for ((_, wanted), arg) in function.params.iter().zip(args) {
                    let found = self.atom(arg);
                    self.same(&format!("an operand of {}", function.name), wanted, found.as_ref());
                }
                Some(function.result.clone())
            }
            Op::If { cond, then, otherwise } => {
                let found = self.atom(cond);
                self.same("a condition", &Ty::Bool, found.as_ref());
                let a = self.block(then);
                let b = self.block(otherwise);
                self.same("the then side", ty, a.as_ref());
                self.same("the else side", ty, b.as_ref());
                None
            }
            Op::Nest(nest) => {
                if nest.binders.is_empty() {
                    self.complain("a nest over nothing".to_owned());
                }
                for (_, ty, sequence) in &nest.binders {
                    let found = self.element(sequence);
                    self.same("an element of a nest", ty, found.as_ref());
                }
                for (var, ty, _) in &nest.binders {
                    self.bind(*var, ty);
                }
                let body = self.block(&nest.body);
                for (var, ..) in &nest.binders {
                    self.scope.remove(var);
                }
                Some(Ty::Sequence(Box::new(body?)))
            }
            Op::Global(global) => match self.program.globals.get(global.0 as usize) {
                Some(global) => Some(global.ty.clone()),
                None => {
                    self.complain(format!("global {} does not exist", global.0));
                    None
                }
            },
            Op::Check { cond, .. } => {
                let found = self.atom(cond);
                self.same("what is checked", &Ty::Bool, found.as_ref());
                Some(Ty::Bool)
            }
            Op::Error(text) => {
                let found = self.element(text);
                self.same("the text of an error", &Ty::Char, found.as_ref());
                None
            }
            Op::Host(_, args) => {
                for arg in args {
                    self.atom(arg);
                }
                None
            }
            Op::Time(block) => {
                let inner = self.block(block)?;
                Some(Ty::Pair(Box::new(inner), Box::new(Ty::Float)))
            }
        }
    }

    fn seq(&mut self, op: SeqOp, args: &[Atom]) -> Option<Ty> {
        let types: Vec<Ty> = args.iter().filter_map(|a| self.atom(a)).collect();
        if types.len() != args.len() {
            return None;
        }
        let result = sequence(op, &types);
        if result.is_none() {
            let types: Vec<String> = types.iter().map(print_type).collect();
            self.complain(format!("{op:?} of {}", types.join(", ")));
        }
        result
    }
}

/// The type a scalar operation gives on operands of these types, if it is defined there.
fn scalar(op: ScalarOp, types: &[Ty]) -> Option<Ty> {
    use ScalarOp::*;
    let number = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float);
    let ordinal = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float | Ty::Char);
    let logical = |ty: &Ty| matches!(ty, Ty::Int | Ty::Bool);
    match (op, types) {
        (Add | Sub | Mul | Div, [a, b]) if a == b && number(a) => Some(a.clone()),
        (Rem | Mod | Shl | Shr | Mix | Split, [Ty::Int, Ty::Int]) => Some(Ty::Int),
        (Neg | Abs, [a]) if number(a) => Some(a.clone()),
        (Max | Min, [a, b]) if a == b && ordinal(a) => Some(a.clone()),
        (Eq | Ne, [a, b]) if a == b && (ordinal(a) || *a == Ty::Bool) => Some(Ty::Bool),
        (Lt | Le | Gt | Ge, [a, b]) if a == b && ordinal(a) => Some(Ty::Bool),
        (Not, [a]) if logical(a) => Some(a.clone()),
        (And | Or | Xor, [a, b]) if a == b && logical(a) => Some(a.clone()),
        (
            Sqrt | Ln | Exp | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh,
            [Ty::Float],
        ) => Some(Ty::Float),
        (Floor | Ceil | Trunc | Round | FloatBits, [Ty::Float]) => Some(Ty::Int),
        (ToFloat, [Ty::Int]) => Some(Ty::Float),
        (BoolToInt, [Ty::Bool]) | (CharToInt, [Ty::Char]) => Some(Ty::Int),
        (IntToChar, [Ty::Int]) => Some(Ty::Char),
        (Rand, [Ty::Int, a]) if number(a) => Some(a.clone()),
        _ => None,
    }
}

/// The type an operation on sequences gives, if it is defined on operands of these types.
fn sequence(op: SeqOp, types: &[Ty]) -> Option<Ty> {
    let of = |ty: &Ty| Ty::Sequence(Box::new(ty.clone()));
    let ints = of(&Ty::Int);
    let text = of(&Ty::Char);
    match (op, types) {
        (SeqOp::Length, [Ty::Sequence(_)]) => Some(Ty::Int),
        (SeqOp::Index, [Ty::Sequence(a), Ty::Int]) => Some((**a).clone()),
        (SeqOp::Range, [Ty::Int, Ty::Int, Ty::Int]) => Some(ints),
        (SeqOp::Dist, [a, Ty::Int]) => Some(of(a)),
        (SeqOp::Gather | SeqOp::Permute, [a @ Ty::Sequence(_), i]) if *i == ints => Some(a.clone()),
        (SeqOp::Scatter, [Ty::Sequence(a), writes]) => {
            let write = Ty::Pair(Box::new(Ty::Int), a.clone());
            (*writes == of(&write)).then(|| of(a))
        }
        (SeqOp::Replace, [Ty::Sequence(a), b, Ty::Int]) if **a == *b => Some(of(a)),
        (SeqOp::Pack, [a @ Ty::Sequence(_), flags]) if *flags == of(&Ty::Bool) => Some(a.clone()),
        (SeqOp::Append, [a @ Ty::Sequence(_), b]) if a == b => Some(a.clone()),
        (SeqOp::Flatten, [Ty::Sequence(rows)]) => match &**rows {
            row @ Ty::Sequence(_) => Some(row.clone()),
            _ => None,
        },
        (SeqOp::Partition, [a @ Ty::Sequence(_), counts]) if *counts == ints => Some(of(a)),
        (SeqOp::Subseq, [a @ Ty::Sequence(_), Ty::Int, Ty::Int]) => Some(a.clone()),
        (SeqOp::Reduce(op), [Ty::Sequence(a)]) if reduces(op, a) => Some((**a).clone()),
        (SeqOp::Scan(op), [Ty::Sequence(a)]) if reduces(op, a) => Some(of(a)),
        (SeqOp::RankUp | SeqOp::RankDown, [Ty::Sequence(a)])
            if matches!(**a, Ty::Int | Ty::Float | Ty::Char) =>
        {
            Some(ints)
        }
        (SeqOp::IntText, [Ty::Int])
        | (SeqOp::FloatText, [Ty::Float])
        | (SeqOp::ExpText, [Ty::Float, Ty::Int]) => Some(text),
        (SeqOp::ParseFloat, [s]) if *s == text => {
            Some(Ty::Pair(Box::new(Ty::Float), Box::new(Ty::Bool)))
        }
        _ => None,
    }
}

fn reduces(op: ReduceOp, element: &Ty) -> bool {
    match op {
        ReduceOp::Sum | ReduceOp::Product => matches!(element, Ty::Int | Ty::Float),
        ReduceOp::Max | ReduceOp::Min => matches!(element, Ty::Int | Ty::Float | Ty::Char),
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => matches!(element, Ty::Int | Ty::Bool),
    }
}
