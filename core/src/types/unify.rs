//! Unifies types with classes. Each binding of a variable records the location that caused it,
//! for error messages.

use super::{Basic, Class, FunctionTy, MAX_PARTS, Scheme, Ty};
use crate::base::Loc;
use std::sync::Arc;

/// The table of type variables of an inference.
#[derive(Default)]
pub(super) struct Unifier {
    vars: Vec<Variable>,
}

enum Variable {
    Free(Class),
    /// The type that the variable stands for, and the location that caused the binding.
    Bound(Ty, Loc),
}

/// The reason that two types do not unify.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clash {
    /// The types have different constructors.
    Mismatch,
    /// The type of a variable does not belong to the variable's class.
    NotIn(Ty, Class),
    /// One variable would have to be in two classes of which neither contains the other.
    Classes(Class, Class),
    /// A type would contain itself.
    Infinite,
    /// Two different functions where one is needed.
    Functions,
}

impl Unifier {
    /// Makes a new variable of a class.
    pub(super) fn fresh(&mut self, class: Class) -> Ty {
        self.vars.push(Variable::Free(class));
        Ty::Var(self.vars.len() as u32 - 1)
    }

    /// Instantiates a scheme: its type at new variables, and those variables.
    pub(super) fn instantiate(&mut self, scheme: &Scheme) -> (Ty, Arc<[Ty]>) {
        let args: Arc<[Ty]> = scheme.vars.iter().map(|class| self.fresh(*class)).collect();
        (scheme.ty.substitute(&args), args)
    }

    /// Resolves the outermost variable of a type; the result is a variable only if it is free.
    pub(super) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(v) = ty {
            match &self.vars[*v as usize] {
                Variable::Free(_) => break,
                Variable::Bound(to, _) => ty = to,
            }
        }
        ty.clone()
    }

    /// Returns the class of a free variable.
    pub(super) fn class(&self, var: u32) -> Class {
        match &self.vars[var as usize] {
            Variable::Free(class) => *class,
            Variable::Bound(..) => Class::Any,
        }
    }

    /// Returns the location that determined the outermost constructor of a type that was a
    /// variable.
    pub(super) fn cause(&self, ty: &Ty) -> Option<Loc> {
        let mut ty = ty;
        let mut place = None;
        while let Ty::Var(v) = ty {
            match &self.vars[*v as usize] {
                Variable::Free(_) => break,
                Variable::Bound(to, at) => {
                    place = Some(*at);
                    ty = to;
                }
            }
        }
        place
    }

    /// Substitutes all bound variables of a type; `free` gives the types of free ones. A type nested
    /// deeper than the limit is cut off there, since it is reported elsewhere.
    pub(super) fn resolve(&self, ty: &Ty, free: &mut dyn FnMut(u32) -> Ty) -> Ty {
        self.resolve_within(ty, MAX_PARTS, free)
    }

    fn resolve_within(&self, ty: &Ty, levels: usize, free: &mut dyn FnMut(u32) -> Ty) -> Ty {
        let Some(levels) = levels.checked_sub(1) else { return Ty::Error };
        let mut at = |part: &Ty| self.resolve_within(part, levels, free);
        match self.shallow(ty) {
            Ty::Var(v) => free(v),
            Ty::Pair(a, b) => {
                let a = at(&a);
                Ty::Pair(a.into(), at(&b).into())
            }
            Ty::Sequence(a) => Ty::Sequence(at(&a).into()),
            Ty::Record(record, args) => Ty::Record(record, args.iter().map(at).collect()),
            Ty::Code(code, args) => Ty::Code(code, args.iter().map(at).collect()),
            Ty::Function(f) => {
                let (param, result) = (at(&f.param), at(&f.result));
                Ty::Function(Arc::new(FunctionTy { param, result, code: at(&f.code) }))
            }
            other @ (Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char) => other,
        }
    }

    /// Substitutes all bound variables of a type and leaves the free ones.
    pub(super) fn resolved(&self, ty: &Ty) -> Ty {
        self.resolve(ty, &mut Ty::Var)
    }

    /// Unifies two types. Bindings made before a clash are kept.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty, at: Loc) -> Result<(), Clash> {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Ty::Error, _) | (_, Ty::Error) => Ok(()),
            (Ty::Var(v), Ty::Var(w)) if v == w => Ok(()),
            (Ty::Var(v), Ty::Var(w)) => {
                let class = meet(self.class(*v), self.class(*w))?;
                self.vars[*w as usize] = Variable::Free(class);
                self.vars[*v as usize] = Variable::Bound(b, at);
                Ok(())
            }
            (Ty::Var(v), ty) | (ty, Ty::Var(v)) => self.bind(*v, ty, at),
            (Ty::Int, Ty::Int)
            | (Ty::Float, Ty::Float)
            | (Ty::Bool, Ty::Bool)
            | (Ty::Char, Ty::Char) => Ok(()),
            (Ty::Pair(a1, a2), Ty::Pair(b1, b2)) => {
                self.unify(a1, b1, at)?;
                self.unify(a2, b2, at)
            }
            (Ty::Sequence(a), Ty::Sequence(b)) => self.unify(a, b, at),
            (Ty::Record(r, xs), Ty::Record(s, ys)) if r.item == s.item => {
                self.unify_all(xs, ys, at)
            }
            (Ty::Code(c, xs), Ty::Code(d, ys)) => {
                if c != d {
                    return Err(Clash::Functions);
                }
                self.unify_all(xs, ys, at)
            }
            (Ty::Function(f), Ty::Function(g)) => {
                self.unify(&f.param, &g.param, at)?;
                self.unify(&f.result, &g.result, at)?;
                self.unify(&f.code, &g.code, at)
            }
            _ => Err(Clash::Mismatch),
        }
    }

    fn unify_all(&mut self, xs: &[Ty], ys: &[Ty], at: Loc) -> Result<(), Clash> {
        xs.iter().zip(ys).try_for_each(|(x, y)| self.unify(x, y, at))
    }

    fn bind(&mut self, var: u32, ty: &Ty, at: Loc) -> Result<(), Clash> {
        let class = self.class(var);
        if !contains(class, ty) {
            return Err(Clash::NotIn(self.resolved(ty), class));
        }
        if self.occurs(var, ty) {
            return Err(Clash::Infinite);
        }
        self.vars[var as usize] = Variable::Bound(ty.clone(), at);
        Ok(())
    }

    fn occurs(&self, var: u32, ty: &Ty) -> bool {
        let mut found = false;
        self.resolve(ty, &mut |v| {
            found |= v == var;
            Ty::Var(v)
        });
        found
    }
}

/// Returns true if a type that is not a variable belongs to a class.
pub(super) fn contains(class: Class, ty: &Ty) -> bool {
    let basic = match ty {
        Ty::Int => Basic::Int,
        Ty::Float => Basic::Float,
        Ty::Bool => Basic::Bool,
        Ty::Char => Basic::Char,
        Ty::Error => return true,
        Ty::Pair(..)
        | Ty::Sequence(_)
        | Ty::Record(..)
        | Ty::Function(_)
        | Ty::Code(..)
        | Ty::Var(_) => return class == Class::Any,
    };
    includes(class, Class::Just(basic))
}

/// Returns true if class `a` contains every type of class `b`.
pub(super) fn includes(a: Class, b: Class) -> bool {
    use Basic::{Bool, Char, Float, Int};
    match (a, b) {
        (Class::Any, _) => true,
        (Class::Ordinal, Class::Ordinal | Class::Number) => true,
        (Class::Ordinal, Class::Just(Int | Float | Char)) => true,
        (Class::Number, Class::Number | Class::Just(Int | Float)) => true,
        (Class::Logical, Class::Logical | Class::Just(Int | Bool)) => true,
        (Class::Just(x), Class::Just(y)) => x == y,
        _ => false,
    }
}

/// Returns the intersection of two classes, which exists only if one contains the other.
fn meet(a: Class, b: Class) -> Result<Class, Clash> {
    if includes(a, b) {
        Ok(b)
    } else if includes(b, a) {
        Ok(a)
    } else {
        Err(Clash::Classes(a, b))
    }
}
