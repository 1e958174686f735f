//! Whether a value could stand where a type is wanted.

use super::unify::Unifier;
use super::{Class, Ty};
use crate::base::{ItemId, Loc, Span};

/// What is wanted at a place of a form that is being written.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The type.
    pub ty: &'a Ty,
    /// The classes of the form's variables.
    pub vars: &'a [Class],
    /// How many of them, the first, are declared: they cannot become anything else.
    pub rigid: usize,
}

impl Wanted<'_> {
    /// Whether anything is wanted: some types fit and others do not.
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

    /// Whether a value of this type fits. Its variables have these classes and are its own, as in a
    /// scheme; without classes they are the form's.
    pub fn takes(&self, found: &Ty, own: Option<&[Class]>) -> bool {
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
        // Nobody is told where a clash is.
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
        let a = Wanted { ty: &Ty::Var(0), vars: &vars, rigid: 1 };
        assert!(a.matters() && a.takes(&Ty::Var(0), None));
        assert!(!a.takes(&Ty::Int, None) && !a.takes(&Ty::Var(1), None));
        // The result of `error` fits everywhere.
        assert!(a.takes(&Ty::Var(0), Some(&[Class::Any])));
        let number = Wanted { ty: &Ty::Var(1), vars: &vars, rigid: 1 };
        assert!(number.takes(&Ty::Int, None) && !number.takes(&Ty::Char, None));
    }
}
