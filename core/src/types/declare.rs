//! Type annotations → types and schemes.

use super::{Basic, Class, Code, Record, Scheme, Signature, Ty};
use crate::base::{Diagnostic, DiagnosticKind, ItemId, Loc, Name};
use crate::names::{Names, closest};
use crate::syntax::ast::{Ident, Item, ItemKind, TypeExpr, TypeExprKind, TypeScheme};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Reads type annotations in the scope of declared type variables.
pub(super) struct Reader<'a> {
    pub(super) id: ItemId,
    pub(super) names: &'a Names,
    /// The type of each declared variable.
    pub(super) variables: FxHashMap<Name, Ty>,
    /// Makes the identity of each function type that is read, in order.
    pub(super) fresh_code: &'a mut dyn FnMut() -> Ty,
    /// Returns the number of type arguments of a record.
    pub(super) arity: &'a dyn Fn(ItemId) -> usize,
    /// The unknown names already reported.
    pub(super) unknown: Vec<Name>,
    pub(super) diagnostics: Vec<Diagnostic<Loc>>,
}

impl Reader<'_> {
    /// Reads one type annotation.
    pub(super) fn read(&mut self, ty: &TypeExpr) -> Ty {
        match &ty.kind {
            TypeExprKind::Missing => Ty::Error,
            TypeExprKind::Name(name) => {
                let ident = Ident { name: name.clone(), span: ty.span };
                self.named(&ident, Vec::new())
            }
            TypeExprKind::Apply(name, args) => {
                let args = args.iter().map(|arg| self.read(arg)).collect();
                self.named(name, args)
            }
            TypeExprKind::Sequence(a) => self.read(a).sequence(),
            TypeExprKind::Pair(a, b) => {
                let a = self.read(a);
                Ty::Pair(a.into(), self.read(b).into())
            }
            TypeExprKind::Arrow(a, b) => {
                let param = self.read(a);
                let result = self.read(b);
                Ty::function(param, result, (self.fresh_code)())
            }
        }
    }

    fn named(&mut self, name: &Ident, args: Vec<Ty>) -> Ty {
        if args.is_empty() {
            match name.name.folded() {
                "int" => return Ty::Int,
                "float" => return Ty::Float,
                "bool" => return Ty::Bool,
                "char" => return Ty::Char,
                _ => {}
            }
            if let Some(ty) = self.variables.get(&name.name) {
                return ty.clone();
            }
        }
        let at = Loc { item: self.id, span: name.span };
        let Some(record) = self.names.type_records.get(&name.name) else {
            if self.unknown.contains(&name.name) {
                return Ty::Error;
            }
            self.unknown.push(name.name.clone());
            let report = Diagnostic::error(
                DiagnosticKind::Type,
                at,
                format!("`{}` is not a type", name.name),
            );
            let basic = ["int", "float", "bool", "char"].into_iter().map(Name::new);
            let all = basic.chain(self.variables.keys().cloned());
            // Each unknown name is reported once.
            if self.diagnostics.iter().any(|d| d.message == report.message) {
                return Ty::Error;
            }
            let foreign = match name.name.folded() {
                "double" | "real" => Some("float"),
                "integer" | "long" => Some("int"),
                "boolean" => Some("bool"),
                "character" => Some("char"),
                "string" | "str" => Some("[char]"),
                _ => None,
            };
            if let Some(here) = foreign {
                self.diagnostics.push(report.fix(format!("in NESL it is `{here}`"), at, here));
                return Ty::Error;
            }
            let report = match closest(&name.name, all) {
                Some(other) if name.name.folded().len() > 1 => {
                    report.fix(format!("did you mean `{other}`?"), at, other.as_written())
                }
                _ => report.hint(format!(
                    "declare a type variable after the type: `:: ({} in any)`",
                    name.name
                )),
            };
            self.diagnostics.push(report);
            return Ty::Error;
        };
        let wanted = (self.arity)(*record);
        if wanted != args.len() {
            let message = format!(
                "`{}` takes {wanted} type argument{}, not {}",
                name.name,
                if wanted == 1 { "" } else { "s" },
                args.len()
            );
            self.diagnostics.push(Diagnostic::error(DiagnosticKind::Type, at, message));
            return Ty::Error;
        }
        Ty::Record(Record { item: *record, name: name.name.clone() }, args.into())
    }
}

/// Returns the class with a name.
pub(super) fn class_of(word: &str) -> Option<Class> {
    Some(match word {
        "any" => Class::Any,
        "ordinal" => Class::Ordinal,
        "logical" => Class::Logical,
        "number" => Class::Number,
        "int" => Class::Just(Basic::Int),
        "float" => Class::Just(Basic::Float),
        "bool" => Class::Just(Basic::Bool),
        "char" => Class::Just(Basic::Char),
        _ => return None,
    })
}

/// Returns the signature of a function from its annotation alone, if it is fully annotated and has
/// no optional parameters; or that of a datatype. All functions of the library are annotated so.
pub fn declared_signature(
    id: ItemId,
    item: &Item,
    names: &Names,
    arity: &dyn Fn(ItemId) -> usize,
) -> Option<Signature> {
    match &item.kind {
        ItemKind::Function(function) if function.optional.is_empty() => {
            let annotation = function.annotation.as_ref()?;
            if !matches!(annotation.ty.kind, TypeExprKind::Arrow(..)) {
                return None;
            }
            let scheme = declared_scheme(id, annotation, Owner::Function, names, arity)?;
            Some(Signature::Function { scheme, optional: Vec::new() })
        }
        ItemKind::Datatype(datatype) => {
            let content = declared_scheme(id, &datatype.content, Owner::Datatype, names, arity)?;
            let record = Record { item: id, name: datatype.name.name.clone() };
            Some(record_signature(record, content))
        }
        _ => None,
    }
}

/// Returns the signature of a datatype whose content has a scheme.
pub(super) fn record_signature(record: Record, content: Scheme) -> Signature {
    let args: Arc<[Ty]> = (0..content.vars.len() as u32).map(Ty::Var).collect();
    let code = Ty::Code(Code::Item(record.item), args.clone());
    let ty = Ty::function(content.ty, Ty::Record(record, args), code);
    Signature::Record { scheme: Scheme { vars: content.vars, ty } }
}

/// The kind of definition whose type variables a context declares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A function: a variable in a class of one is an alias of that type.
    Function,
    /// A datatype: every variable is a type argument.
    Datatype,
}

/// Returns the scheme that an annotation declares: its variables in the order of declaration, then
/// the identities of functions in order of appearance. Inference numbers them in the same way.
fn declared_scheme(
    id: ItemId,
    written: &TypeScheme,
    owner: Owner,
    names: &Names,
    arity: &dyn Fn(ItemId) -> usize,
) -> Option<Scheme> {
    let mut vars = Vec::new();
    let mut variables = FxHashMap::default();
    for (name, class) in &written.context {
        let class = class_of(class.name.folded())?;
        if let (Owner::Function, Some(only)) = (owner, class.only()) {
            variables.insert(name.name.clone(), only);
            continue;
        }
        variables.insert(name.name.clone(), Ty::Var(vars.len() as u32));
        vars.push(class);
    }
    let mut next = vars.len() as u32;
    let mut fresh_code = || {
        next += 1;
        Ty::Var(next - 1)
    };
    let (ty, well_formed) = {
        let mut reader = Reader {
            id,
            names,
            variables,
            fresh_code: &mut fresh_code,
            arity,
            unknown: Vec::new(),
            diagnostics: Vec::new(),
        };
        (reader.read(&written.ty), reader.diagnostics.is_empty())
    };
    if !well_formed {
        return None;
    }
    let ty = match ty {
        // The function's own identity is itself.
        Ty::Function(f) => {
            let own = next - 1;
            let args = (0..own).map(Ty::Var).collect();
            Ty::function(f.param.clone(), f.result.clone(), Ty::Code(Code::Item(id), args))
        }
        other => {
            vars.resize(next as usize, Class::Any);
            return Some(Scheme { vars, ty: other });
        }
    };
    vars.resize(next as usize - 1, Class::Any);
    Some(Scheme { vars, ty })
}

/// Parses the scheme in a row of the table of primitives.
pub fn scheme_of_text(text: &str) -> Scheme {
    let parsed = crate::syntax::parse_item(&format!("function x(y) : {text};"));
    let names = Names::default();
    match declared_signature(ItemId(0), &parsed.ast, &names, &|_| 0) {
        Some(Signature::Function { scheme, .. }) => scheme,
        _ => match &parsed.ast.kind {
            // The row of a constant.
            ItemKind::Function(f) => f
                .annotation
                .as_ref()
                .and_then(|a| declared_scheme(ItemId(0), a, Owner::Function, &names, &|_| 0))
                .unwrap_or_else(|| Scheme::mono(Ty::Error)),
            _ => Scheme::mono(Ty::Error),
        },
    }
}
