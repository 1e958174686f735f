//! Tests whether a value of some type fits where an argument is missing, for completion.

use super::unify::Unifier;
use super::{Class, Ty};
use crate::base::{ItemId, Loc, Span};

/// The type that is expected at a missing part of a form that is being written.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedType<'a> {
    /// The expected type.
    pub ty: &'a Ty,
    /// The classes of the form's variables.
    pub vars: &'a [Class],
    /// The number of variables, the first ones, that an annotation declares. They are rigid: they
    /// unify with no other type.
    pub rigid: usize,
}

impl ExpectedType<'_> {
    /// Returns true if some types fit and others do not.
    pub fn matters(&self) -> bool {
        match self.ty {
            Ty::Error | Ty::Code(..) => false,
            Ty::Var(var) => {
                let class = self.vars.get(*var as usize).copied().unwrap_or(Class::Any);
                (*var as usize) < self.rigid || class != Class::Any
            }
            Ty::Int
            | Ty::Float
            | Ty::Bool
            | Ty::Char
            | Ty::Pair(..)
            | Ty::Sequence(_)
            | Ty::Record(..)
            | Ty::Function(_) => true,
        }
    }

    /// Returns true if a value of type `found` fits. Its variables are those of a scheme, with the classes
    /// `own`; without classes they are the variables of the form.
    pub fn accepts(&self, found: &Ty, own: Option<&[Class]>) -> bool {
        let mut unifier = Unifier::default();
        let args: Vec<Ty> = self.vars.iter().map(|class| unifier.fresh(*class)).collect();
        let wanted = self.ty.substitute(&args);
        let found = match own {
            Some(classes) => {
                let own: Vec<Ty> = classes.iter().map(|class| unifier.fresh(*class)).collect();
                found.substitute(&own)
            }
            None => found.substitute(&args),
        };
        // The location of a clash is not used.
        let nowhere = Loc { item: ItemId(0), span: Span::default() };
        if unifier.unify(&wanted, &found, nowhere).is_err() {
            return false;
        }
        let mut seen = Vec::new();
        args.iter().zip(self.vars).take(self.rigid).all(|(arg, class)| {
            let Ty::Var(var) = unifier.shallow(arg) else { return false };
            let apart = !seen.contains(&var);
            seen.push(var);
            apart && unifier.class(var) == *class
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_variable_is_no_other_type() {
        let vars = [Class::Any, Class::Number];
        let a = ExpectedType { ty: &Ty::Var(0), vars: &vars, rigid: 1 };
        assert!(a.matters() && a.accepts(&Ty::Var(0), None));
        assert!(!a.accepts(&Ty::Int, None) && !a.accepts(&Ty::Var(1), None));
        // The result of `error` fits everywhere.
        assert!(a.accepts(&Ty::Var(0), Some(&[Class::Any])));
        let number = ExpectedType { ty: &Ty::Var(1), vars: &vars, rigid: 1 };
        assert!(number.accepts(&Ty::Int, None) && !number.accepts(&Ty::Char, None));
    }
}
