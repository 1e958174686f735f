//! The values that a form is shown on.
//!
//! An expression or binding is shown on its own data: the variables that it reads are computed. A
//! function is shown on the first example of its documentation whose arguments are written out,
//! else on those of a call in its file, else on values that are made up for its types.

use super::BUDGET_NS;
use super::draw::show;
use crate::base::shorten;
use crate::base::{ItemId, Name};
use crate::db::Database;
use crate::db::{Cursor, forms};
use crate::elaborate::{Projection, bound_names};
use crate::explain::form;
use crate::flat;
use crate::flat::interp::interpret;
use crate::interp::{Sequence, Value};
use crate::ir;
use crate::names::Resolution;
use crate::pipeline::{self, Stage};
use crate::prelude::parse_doc;
use crate::syntax::ast::{Expr, ExprId, Function, Item, ItemKind, TypeExpr, TypeExprKind, UnaryOp};
use crate::syntax::parse_item;
use crate::types::{Basic, Class, Signature, Ty};
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// The number of scalars in a value that can be drawn.
const MAX_SCALARS: u64 = 100;

/// A flat program and what it is run on.
pub(super) struct Example {
    /// The computation in the words of the source.
    pub subject: String,
    /// Its flat program, not fused.
    pub program: flat::Program,
    /// The arguments of its main function.
    pub args: Vec<Value>,
    /// The names of these, in order.
    pub names: Vec<String>,
}

/// Examples of a form, those that are best first.
pub(super) fn of(cursor: &Cursor<'_>, precision: Precision) -> Result<Vec<Example>, String> {
    let mut data = Data { db: cursor.db, precision, budget_ns: BUDGET_NS };
    match &cursor.ast.kind {
        ItemKind::Function(function) => data.function(cursor, function),
        ItemKind::Binding { value, .. } | ItemKind::Expr(value) => {
            let program = form::program(cursor.db, cursor.item, precision)?;
            let subject = cursor.snippet(cursor.ast.expr_spans[*value], 120);
            Ok(vec![data.example(subject, &program, Vec::new(), Vec::new())?])
        }
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => {
            // It says why.
            let nothing = || "there is nothing to compute here".to_owned();
            Err(form::program(cursor.db, cursor.item, precision).err().unwrap_or_else(nothing))
        }
    }
}

/// Computes values.
struct Data<'a> {
    db: &'a Database,
    precision: Precision,
    budget_ns: u64,
}

impl Data<'_> {
    /// A program on some arguments, and on the values of the variables that it reads.
    fn example(
        &mut self,
        subject: String,
        program: &ir::Program,
        mut args: Vec<Value>,
        mut names: Vec<String>,
    ) -> Result<Example, String> {
        let mut options = pipeline::Options::at(self.precision);
        // Literals are shown where they stand.
        options.limits.max_inline_literal_elements = usize::MAX;
        let unit = pipeline::up_to(program, &options, Stage::named("flat"));
        let (globals, program) =
            (unit.globals, unit.flat.or_bug("flattening makes a flat program"));
        let parameters = &program.source;
        let main = &parameters.functions[parameters.main.0 as usize];
        // What draws random numbers is given a key.
        if main.params.len() == args.len() + globals.len() + 1 {
            args.push(Value::Int(0));
            names.push("key".to_owned());
        }
        for id in &globals {
            let global = &unit.ir.globals[id.0 as usize];
            let value = self.global(global.item, &global.name, 0)?;
            if value.size() > MAX_SCALARS {
                return Err(format!("`{}` is too large to be drawn", global.name));
            }
            args.push(value);
            names.push(global.name.to_string());
        }
        let typed = args.iter().zip(&main.params).all(|(value, (_, ty))| value.has_type(ty));
        if main.params.len() != args.len() || !typed {
            return Err("there are no small values that this can be shown on".to_owned());
        }
        Ok(Example { subject, program, args, names })
    }

    /// The value of a variable.
    fn global(&mut self, item: ItemId, name: &str, depth: u32) -> Result<Value, String> {
        if depth > 50 {
            return Err("it depends on too much to be drawn".to_owned());
        }
        let program = form::program(self.db, item, self.precision)?;
        let mut globals = Vec::with_capacity(program.globals.len());
        for global in &program.globals {
            let value =
                crate::base::with_stack(|| self.global(global.item, &global.name, depth + 1))?;
            globals.push(value);
        }
        let value = interpret(&program, &globals, &mut self.budget_ns, self.precision);
        let value = value.map_err(|why| format!("`{name}` cannot be computed here: {why}"))?;
        let ast = self.db.ast(item);
        let ItemKind::Binding { pattern, .. } = &ast.kind else { return Ok(value) };
        let name = Name::new(name);
        let way = bound_names(ast, *pattern).into_iter().find(|(own, _)| *own == name);
        let way = way.map(|(_, way)| way).unwrap_or_default();
        part(&value, &way).ok_or_else(|| format!("`{name}` cannot be computed here"))
    }

    fn function(
        &mut self,
        cursor: &Cursor<'_>,
        function: &Function,
    ) -> Result<Vec<Example>, String> {
        // What cannot be shown at all says why.
        let simplest = form::program(self.db, cursor.item, self.precision)?;
        let Signature::Function { scheme, .. } = &**self.db.signature(cursor.item) else {
            return Err("there are errors here".to_owned());
        };
        let Ty::Function(own) = &scheme.ty else { return Err("it is no function".to_owned()) };
        let names: Vec<String> = bound_names(cursor.ast, function.param)
            .into_iter()
            .map(|(name, _)| name.to_string())
            .chain(function.optional.iter().map(|(ident, _)| ident.name.to_string()))
            .collect();
        let mut examples = Vec::new();
        for (subject, argument, ty) in self.calls(cursor, function) {
            let mut args = vec![None; scheme.vars.len()];
            if !matches(&own.param, &ty, &mut args) {
                continue;
            }
            let classes = scheme.vars.iter().zip(args);
            let args: Option<Arc<[Ty]>> = classes
                .map(|(class, ty)| match ty {
                    Some(ty) => accepts(*class, &ty).then_some(ty),
                    None => Some(form::example(*class)),
                })
                .collect();
            let Some(args) = args else { continue };
            let program = form::program_at(self.db, cursor.item, Some(args), self.precision)?;
            if let Some(values) = self.arguments(cursor, function, &argument)
                && let Ok(example) = self.example(subject, &program, values, names.clone())
            {
                examples.push(example);
            }
        }
        let main = &simplest.functions[simplest.main.0 as usize];
        let params: Vec<&ir::Ty> = main.params.iter().take(names.len()).map(|(_, ty)| ty).collect();
        for fancy in Fancy::ALL {
            let mut maker = Maker { fancy, digits: 0, rows: 0 };
            let values: Vec<Value> = params.iter().map(|ty| maker.value(ty, 0)).collect();
            let shown = params.iter().zip(&values).map(|(ty, value)| show(value, ty));
            let shown = shown.collect::<Vec<_>>().join(", ");
            let subject = format!("{}({shown})", function.name.name);
            match self.example(subject, &simplest, values, names.clone()) {
                Ok(example) => examples.push(example),
                Err(why) if examples.is_empty() => return Err(why),
                Err(_) => break,
            }
        }
        Ok(examples)
    }

    /// The parameters, one for each variable, of an argument; the optional ones by default.
    fn arguments(
        &mut self,
        cursor: &Cursor<'_>,
        function: &Function,
        argument: &Value,
    ) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for (_, way) in bound_names(cursor.ast, function.param) {
            values.push(part(argument, &way)?);
        }
        for (_, default) in &function.optional {
            values.push(self.written(cursor.item, cursor.ast, *default)?.0);
        }
        Some(values)
    }

    /// Calls of a function whose arguments are small and known: those of its documentation, then
    /// those of its file.
    fn calls(&mut self, cursor: &Cursor<'_>, function: &Function) -> Vec<(String, Value, Ty)> {
        let mut found = Vec::new();
        let doc = function.doc.as_deref().map(parse_doc).unwrap_or_default();
        for (example, _) in doc.examples {
            let parsed = parse_item(&format!("{example};"));
            let ItemKind::Expr(root) = parsed.ast.kind else { continue };
            let Expr::Call { fun, arg, .. } = &parsed.ast.exprs[root] else { continue };
            let own = Expr::Name(function.name.name.clone());
            if parsed.ast.exprs[*fun] == own
                && let Some((value, ty)) = self.written(cursor.item, &parsed.ast, *arg)
            {
                found.push((shorten(&example, 120), value, ty));
            }
        }
        for (_, other) in forms(self.db, cursor.file, None) {
            let names = self.db.names(other.item);
            if other.item == cursor.item || !names.references.contains(&cursor.item) {
                continue;
            }
            for (id, expr) in other.ast.exprs.iter() {
                let Expr::Call { fun, arg, .. } = expr else { continue };
                let calls = matches!(
                    names.values.get(*fun),
                    Some(Resolution::Item(item, _)) if *item == cursor.item
                );
                if calls && let Some((value, ty)) = self.written(other.item, other.ast, *arg) {
                    let subject = other.snippet(other.ast.expr_spans[id], 120);
                    found.push((subject, value, ty));
                }
            }
        }
        found.retain(|(_, value, _)| value.size() <= MAX_SCALARS);
        found
    }

    /// A value that is written out, and its type: constants, tuples and sequences of them, and
    /// variables of the top level.
    fn written(&mut self, item: ItemId, ast: &Item, expr: ExprId) -> Option<(Value, Ty)> {
        crate::base::with_stack(|| self.written_inner(item, ast, expr))
    }

    fn written_inner(&mut self, item: ItemId, ast: &Item, expr: ExprId) -> Option<(Value, Ty)> {
        Some(match &ast.exprs[expr] {
            Expr::Int(x) => (Value::Int(*x), Ty::Int),
            Expr::Float(x) => (Value::Float(x.get()), Ty::Float),
            Expr::Bool(x) => (Value::Bool(*x), Ty::Bool),
            Expr::Char(x) => (Value::Char(*x), Ty::Char),
            Expr::Text(text) => (Value::text(&**text), Ty::Sequence(Arc::new(Ty::Char))),
            Expr::Pair(a, b) => {
                let ((a, a_ty), (b, b_ty)) =
                    (self.written(item, ast, *a)?, self.written(item, ast, *b)?);
                (Value::pair(a, b), Ty::Pair(Arc::new(a_ty), Arc::new(b_ty)))
            }
            Expr::Sequence(items) => {
                let items = items.iter().map(|expr| self.written(item, ast, *expr));
                let items = items.collect::<Option<Vec<_>>>()?;
                let ty = items.first()?.1.clone();
                if items.iter().any(|(_, own)| *own != ty) {
                    return None;
                }
                let values = items.into_iter().map(|(value, _)| value).collect();
                let element = core_type(&ty)?;
                (Sequence::from_values(&element, values).into(), Ty::Sequence(Arc::new(ty)))
            }
            Expr::Empty(element) => {
                let ty = type_of(element)?;
                let empty = Sequence::empty(&core_type(&ty)?);
                (empty.into(), Ty::Sequence(Arc::new(ty)))
            }
            Expr::Range { start, end, stride: None } => {
                let (start, _) = self.written(item, ast, *start)?;
                let (end, _) = self.written(item, ast, *end)?;
                let (start, end) = (start.as_int()?, end.as_int()?);
                if end.checked_sub(start)? > MAX_SCALARS as i64 {
                    return None;
                }
                let values: Vec<i64> = (start..end).collect();
                (values.into(), Ty::Sequence(Arc::new(Ty::Int)))
            }
            Expr::Unary { op: UnaryOp::Negate, arg, .. } => match self.written(item, ast, *arg)? {
                (Value::Int(x), ty) => (Value::Int(x.checked_neg()?), ty),
                (Value::Float(x), ty) => (Value::Float(-x), ty),
                _ => return None,
            },
            Expr::Name(name) => {
                let (file, position) = self.db.position_of(item)?;
                let before = crate::db::Before { file, position };
                let Resolution::Item(defined, name) = self.db.lookup(before, name)? else {
                    return None;
                };
                let Signature::Values { values } = &**self.db.signature(defined) else {
                    return None;
                };
                let ty = values.iter().find(|(own, _)| *own == name)?.1.ty.clone();
                (self.global(defined, name.folded(), 0).ok()?, ty)
            }
            Expr::Missing
            | Expr::Quote(_)
            | Expr::Range { .. }
            | Expr::Index { .. }
            | Expr::Call { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::If { .. }
            | Expr::Let { .. }
            | Expr::Each { .. }
            | Expr::Lambda { .. }
            | Expr::Time(_) => return None,
        })
    }
}

/// A part of a value.
fn part(value: &Value, way: &[Projection]) -> Option<Value> {
    let mut value = value.clone();
    for step in way {
        let (first, second) = value.as_pair()?;
        value = match step {
            Projection::First => first.clone(),
            Projection::Second => second.clone(),
        };
    }
    Some(value)
}

/// Returns true if a type is an instance of another; fills in the types of its variables.
fn matches(general: &Ty, ty: &Ty, args: &mut [Option<Ty>]) -> bool {
    match (general, ty) {
        (Ty::Var(var), _) => match args.get_mut(*var as usize) {
            Some(Some(known)) => known == ty,
            Some(unknown) => {
                *unknown = Some(ty.clone());
                true
            }
            None => false,
        },
        (Ty::Pair(a, b), Ty::Pair(c, d)) => matches(a, c, args) && matches(b, d, args),
        (Ty::Sequence(a), Ty::Sequence(b)) => matches(a, b, args),
        _ => general == ty,
    }
}

/// Returns true if a type belongs to a class.
fn accepts(class: Class, ty: &Ty) -> bool {
    match class {
        Class::Any => true,
        Class::Ordinal => matches!(ty, Ty::Int | Ty::Float | Ty::Char),
        Class::Logical => matches!(ty, Ty::Int | Ty::Bool),
        Class::Number => matches!(ty, Ty::Int | Ty::Float),
        Class::Just(Basic::Int) => *ty == Ty::Int,
        Class::Just(Basic::Float) => *ty == Ty::Float,
        Class::Just(Basic::Bool) => *ty == Ty::Bool,
        Class::Just(Basic::Char) => *ty == Ty::Char,
    }
}

/// A type that is written, of those that constants have.
fn type_of(written: &TypeExpr) -> Option<Ty> {
    crate::base::with_stack(|| match &written.kind {
        TypeExprKind::Name(name) => match name.folded() {
            "int" => Some(Ty::Int),
            "float" => Some(Ty::Float),
            "bool" => Some(Ty::Bool),
            "char" => Some(Ty::Char),
            _ => None,
        },
        TypeExprKind::Sequence(element) => Some(Ty::Sequence(Arc::new(type_of(element)?))),
        TypeExprKind::Pair(a, b) => Some(Ty::Pair(Arc::new(type_of(a)?), Arc::new(type_of(b)?))),
        TypeExprKind::Missing | TypeExprKind::Apply(..) | TypeExprKind::Arrow(..) => None,
    })
}

fn core_type(ty: &Ty) -> Option<ir::Ty> {
    Some(match ty {
        Ty::Int => ir::Ty::Int,
        Ty::Float => ir::Ty::Float,
        Ty::Bool => ir::Ty::Bool,
        Ty::Char => ir::Ty::Char,
        Ty::Pair(a, b) => ir::Ty::pair(core_type(a)?, core_type(b)?),
        Ty::Sequence(element) => ir::Ty::sequence(core_type(element)?),
        Ty::Error | Ty::Record(..) | Ty::Function(_) | Ty::Code(..) | Ty::Var(_) => return None,
    })
}

/// A way to make up values: each is tried until the function has a value there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fancy {
    /// Rows of all lengths, an empty one too.
    Ragged,
    /// As many rows as columns, as long as any sequence; all numbers are places in these.
    Square,
    /// Two of everything, and all numbers are 1.
    Ones,
    /// As the first, but longer: what is short may be done at once.
    Long,
}

impl Fancy {
    const ALL: [Fancy; 4] = [Fancy::Ragged, Fancy::Square, Fancy::Ones, Fancy::Long];
}

/// Digits in no order.
const DIGITS: [i64; 8] = [2, 1, 3, 4, 5, 3, 7, 0];

/// Makes values up.
struct Maker {
    fancy: Fancy,
    /// Numbers made so far.
    digits: usize,
    /// Rows made so far.
    rows: usize,
}

impl Maker {
    fn digit(&mut self) -> i64 {
        let digit = DIGITS[self.digits % DIGITS.len()];
        self.digits += 1;
        match self.fancy {
            Fancy::Ragged | Fancy::Long => digit,
            Fancy::Square => digit % 3,
            Fancy::Ones => 1,
        }
    }

    /// A small value of a type, in a sequence of so many levels.
    fn value(&mut self, ty: &ir::Ty, level: usize) -> Value {
        match ty {
            ir::Ty::Unit => Value::Unit,
            ir::Ty::Int => Value::Int(self.digit()),
            ir::Ty::Float => Value::Float(self.digit() as f64 + 0.5),
            ir::Ty::Bool => Value::Bool(self.digit() % 2 == 1),
            ir::Ty::Char => Value::Char(b'a' + self.digit() as u8),
            ir::Ty::Pair(a, b) => Value::pair(self.value(a, level), self.value(b, level)),
            ir::Ty::Sequence(element) => {
                let nested = matches!(**element, ir::Ty::Sequence(_));
                if **element == ir::Ty::Char && level == 0 {
                    return Value::text("a bc");
                }
                let length = match (self.fancy, level, nested) {
                    (Fancy::Ragged, 0, false) => 4,
                    (Fancy::Long, 0, false) => 10,
                    (Fancy::Ragged | Fancy::Long, 1, _) => {
                        self.rows += 1;
                        [2, 0, 3][(self.rows - 1) % 3]
                    }
                    (Fancy::Ragged | Fancy::Long | Fancy::Square, ..) => 3,
                    (Fancy::Ones, ..) => 2,
                };
                let values = (0..length).map(|_| self.value(element, level + 1)).collect();
                Sequence::from_values(element, values).into()
            }
        }
    }
}
