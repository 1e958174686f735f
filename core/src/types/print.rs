//! Types as text, as NESL 3.1 prints them: no parentheses around an outer tuple, variables
//! `a, b, c, …` in order of appearance, their classes after `::`.

use super::{Basic, Class, Scheme, Ty};
use std::fmt::Write;

/// Returns a scheme as text: `(a, a) -> a :: (a in number)`.
pub fn print_scheme(scheme: &Scheme) -> String {
    print_with(&scheme.ty, &|var| scheme.vars.get(var as usize).copied())
}

/// Returns a type as text, without the classes of its variables.
pub fn print_type(ty: &Ty) -> String {
    print_with(ty, &|_| None)
}

/// The parts of a function's type as text, with the same variable names in all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallParts {
    /// The components of the parameter.
    pub params: Vec<String>,
    /// The types of the optional parameters.
    pub optional: Vec<String>,
    /// The type of the result.
    pub result: String,
    /// The classes of variables, ` :: (a in number)`, or an empty string.
    pub context: String,
}

/// Returns the parts of a function's type, with the parameter split into at most `arity`
/// components; `None` if the type is not a function type.
pub fn print_call(scheme: &Scheme, arity: usize, optional: &[Ty]) -> Option<CallParts> {
    let Ty::Function(f) = &scheme.ty else { return None };
    let mut printer = Printer { names: Vec::new(), out: String::new() };
    let mut params = Vec::new();
    let mut rest = &f.param;
    while params.len() + 1 < arity
        && let Ty::Pair(first, second) = rest
    {
        printer.nested(first);
        params.push(std::mem::take(&mut printer.out));
        rest = second;
    }
    printer.components(rest);
    params.push(std::mem::take(&mut printer.out));
    let mut others = Vec::new();
    for ty in optional {
        printer.nested(ty);
        others.push(std::mem::take(&mut printer.out));
    }
    printer.nested(&f.result);
    let result = std::mem::take(&mut printer.out);
    printer.context(&|var| scheme.vars.get(var as usize).copied());
    Some(CallParts { params, optional: others, result, context: printer.out })
}

/// Returns a type as text; `class` returns the class of a variable, or `None` not to print it.
pub(super) fn print_with(ty: &Ty, class: &dyn Fn(u32) -> Option<Class>) -> String {
    let mut printer = Printer { names: Vec::new(), out: String::new() };
    // A tuple with a function in it would read as a function without its parentheses.
    let mut rest = ty;
    let mut functions = false;
    while let Ty::Pair(first, second) = rest {
        functions |= matches!(**first, Ty::Function(_)) || matches!(**second, Ty::Function(_));
        rest = second;
    }
    match functions {
        true => printer.nested(ty),
        false => printer.components(ty),
    }
    printer.context(class);
    printer.out
}

/// Returns the name of a class.
pub fn class_name(class: Class) -> &'static str {
    match class {
        Class::Any => "any",
        Class::Ordinal => "ordinal",
        Class::Logical => "logical",
        Class::Number => "number",
        Class::Just(Basic::Int) => "int",
        Class::Just(Basic::Float) => "float",
        Class::Just(Basic::Bool) => "bool",
        Class::Just(Basic::Char) => "char",
    }
}

/// Returns the types that belong to a class, for messages.
pub(super) fn members(class: Class) -> &'static str {
    match class {
        Class::Any => "every type",
        Class::Ordinal => "int, float and char",
        Class::Logical => "int and bool",
        Class::Number => "int and float",
        Class::Just(basic) => class_name(Class::Just(basic)),
    }
}

struct Printer {
    /// The variables printed so far; their positions give their letters.
    names: Vec<u32>,
    out: String,
}

impl Printer {
    /// Returns the classes of the variables printed so far.
    fn context(&mut self, class: &dyn Fn(u32) -> Option<Class>) {
        let vars = self.names.iter().enumerate();
        let entries: Vec<String> = vars
            .filter_map(|(i, var)| Some(format!("{} in {}", letter(i), class_name(class(*var)?))))
            .collect();
        if !entries.is_empty() {
            let _ = write!(self.out, " :: ({})", entries.join("; "));
        }
    }

    /// Prints a type where a tuple needs no parentheses.
    fn components(&mut self, ty: &Ty) {
        match ty {
            Ty::Pair(a, b) => {
                self.nested(a);
                self.out.push_str(", ");
                self.components(b);
            }
            Ty::Function(f) => {
                self.nested(&f.param);
                self.out.push_str(" -> ");
                // Arrows associate to the right.
                match f.result {
                    Ty::Function(_) => self.components(&f.result),
                    _ => self.nested(&f.result),
                }
            }
            _ => self.nested(ty),
        }
    }

    /// Prints the components of a tuple that stands in parentheses, where functions need none.
    fn tuple(&mut self, ty: &Ty) {
        let (component, rest) = match ty {
            Ty::Pair(a, b) => (&**a, Some(b)),
            _ => (ty, None),
        };
        match component {
            Ty::Function(_) => self.components(component),
            _ => self.nested(component),
        }
        if let Some(rest) = rest {
            self.out.push_str(", ");
            self.tuple(rest);
        }
    }

    fn nested(&mut self, ty: &Ty) {
        match ty {
            Ty::Pair(..) => {
                self.out.push('(');
                self.tuple(ty);
                self.out.push(')');
            }
            Ty::Function(_) => {
                self.out.push('(');
                self.components(ty);
                self.out.push(')');
            }
            Ty::Error => self.out.push('?'),
            Ty::Int => self.out.push_str("int"),
            Ty::Float => self.out.push_str("float"),
            Ty::Bool => self.out.push_str("bool"),
            Ty::Char => self.out.push_str("char"),
            Ty::Sequence(a) => {
                self.out.push('[');
                match **a {
                    Ty::Pair(..) => self.nested(a),
                    _ => self.components(a),
                }
                self.out.push(']');
            }
            Ty::Record(record, args) => {
                self.out.push_str(record.name.folded());
                if !args.is_empty() {
                    self.out.push('(');
                    for (i, arg) in args.iter().enumerate() {
                        if i > 0 {
                            self.out.push_str(", ");
                        }
                        self.nested(arg);
                    }
                    self.out.push(')');
                }
            }
            Ty::Code(..) => {}
            Ty::Var(var) => {
                let index = self.names.iter().position(|v| v == var).unwrap_or_else(|| {
                    self.names.push(*var);
                    self.names.len() - 1
                });
                self.out.push_str(&letter(index));
            }
        }
    }
}

fn letter(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn pair(a: Ty, b: Ty) -> Ty {
        Ty::Pair(Arc::new(a), Arc::new(b))
    }

    #[test]
    fn as_the_original() {
        let seq = |a: Ty| Ty::Sequence(Arc::new(a));
        assert_eq!(print_type(&pair(Ty::Int, pair(Ty::Int, Ty::Bool))), "int, int, bool");
        assert_eq!(print_type(&pair(pair(Ty::Int, Ty::Int), Ty::Int)), "(int, int), int");
        assert_eq!(print_type(&seq(pair(Ty::Int, Ty::Int))), "[(int, int)]");
        let function = Ty::function(Ty::Float, Ty::Float, Ty::Var(0));
        assert_eq!(print_type(&pair(function, Ty::Float)), "(float -> float, float)");
        let ty = pair(Ty::Var(7), seq(Ty::Var(3)));
        let scheme = Scheme { vars: vec![Class::Number; 8], ty };
        assert_eq!(print_scheme(&scheme), "a, [b] :: (a in number; b in number)");
    }
}
