//! Chooses the values that a form is shown on.
//!
//! An expression or binding is shown on its own data: the variables that it reads are computed. A
//! function is shown on the first example of its documentation whose arguments are literals, or
//! else on those of a call in its file, or else on values that are generated for its types.

use super::BUDGET_NS;
use super::draw::show;
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
use crate::syntax::{excerpt, parse_item};
use crate::types::{Basic, Class, Signature, Ty};
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// The maximum number of scalars in a value that can be drawn.
const MAX_SCALARS: u64 = 100;

/// A flat program and its arguments.
pub(super) struct Example {
    /// The source text of the computation.
    pub subject: String,
    /// Its flat program, not fused.
    pub program: flat::Program,
    /// The arguments of its main function, in order.
    pub args: Vec<Value>,
    /// The names of the arguments, in order.
    pub names: Vec<String>,
}

/// Returns examples of a form, the best first.
///
/// # Errors
/// One line that says why there is none.
pub(super) fn of(cursor: &Cursor<'_>, precision: Precision) -> Result<Vec<Example>, String> {
    let mut data = Arguments { db: cursor.db, precision, budget_ns: BUDGET_NS };
    match &cursor.ast.kind {
        ItemKind::Function(function) => data.function(cursor, function),
        ItemKind::Binding { value, .. } | ItemKind::Expr(value) => {
            let program = form::program(cursor.db, cursor.item, precision)?;
            let subject = cursor.snippet(cursor.ast.expr_spans[*value], 120);
            Ok(vec![data.example(subject, &program, Vec::new(), Vec::new())?])
        }
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => {
            // The program of such a form is refused with a reason.
            let nothing = || "there is nothing to compute here".to_owned();
            Err(form::program(cursor.db, cursor.item, precision).err().unwrap_or_else(nothing))
        }
    }
}

/// Computes the arguments of examples, within a budget of time.
struct Arguments<'a> {
    db: &'a Database,
    precision: Precision,
    budget_ns: u64,
}

impl Arguments<'_> {
    /// Completes a program and arguments to an example with the values of the variables it reads.
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
        // A program that draws random numbers has a parameter for the key.
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

    /// Computes the value of a top-level variable, within a depth of definitions that refer to
    /// others.
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
        component(&value, &way).ok_or_else(|| format!("`{name}` cannot be computed here"))
    }

    fn function(
        &mut self,
        cursor: &Cursor<'_>,
        function: &Function,
    ) -> Result<Vec<Example>, String> {
        // A function without a program is refused with a reason.
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
        for shape in ArgumentShape::ALL {
            let mut generator = Generator { shape, digits: 0, rows: 0 };
            let values: Vec<Value> = params.iter().map(|ty| generator.value(ty, 0)).collect();
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

    /// Splits an argument into the values of the parameters, one for each variable; optional ones
    /// have their defaults.
    fn arguments(
        &mut self,
        cursor: &Cursor<'_>,
        function: &Function,
        argument: &Value,
    ) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for (_, way) in bound_names(cursor.ast, function.param) {
            values.push(component(argument, &way)?);
        }
        for (_, default) in &function.optional {
            values.push(self.literal(cursor.item, cursor.ast, *default)?.0);
        }
        Some(values)
    }

    /// Returns calls of a function whose arguments are small and literal, those of its
    /// documentation, then those of its file: the source text, the argument and its type.
    fn calls(&mut self, cursor: &Cursor<'_>, function: &Function) -> Vec<(String, Value, Ty)> {
        let mut found = Vec::new();
        let doc = function.doc.as_deref().map(parse_doc).unwrap_or_default();
        for (example, _) in doc.examples {
            let parsed = parse_item(&format!("{example};"));
            let ItemKind::Expr(root) = parsed.ast.kind else { continue };
            let Expr::Call { fun, arg, .. } = &parsed.ast.exprs[root] else { continue };
            let own = Expr::Name(function.name.name.clone());
            if parsed.ast.exprs[*fun] == own
                && let Some((value, ty)) = self.literal(cursor.item, &parsed.ast, *arg)
            {
                found.push((excerpt(&example, 120), value, ty));
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
                if calls && let Some((value, ty)) = self.literal(other.item, other.ast, *arg) {
                    let subject = other.snippet(other.ast.expr_spans[id], 120);
                    found.push((subject, value, ty));
                }
            }
        }
        found.retain(|(_, value, _)| value.size() <= MAX_SCALARS);
        found
    }

    /// Returns the value of a literal and its type: constants, tuples and sequences of them, and
    /// variables of the top level.
    fn literal(&mut self, item: ItemId, ast: &Item, expr: ExprId) -> Option<(Value, Ty)> {
        crate::base::with_stack(|| self.literal_inner(item, ast, expr))
    }

    fn literal_inner(&mut self, item: ItemId, ast: &Item, expr: ExprId) -> Option<(Value, Ty)> {
        Some(match &ast.exprs[expr] {
            Expr::Int(x) => (Value::Int(*x), Ty::Int),
            Expr::Float(x) => (Value::Float(x.get()), Ty::Float),
            Expr::Bool(x) => (Value::Bool(*x), Ty::Bool),
            Expr::Char(x) => (Value::Char(*x), Ty::Char),
            Expr::Text(text) => (Value::text(&**text), Ty::Sequence(Arc::new(Ty::Char))),
            Expr::Pair(a, b) => {
                let ((a, a_ty), (b, b_ty)) =
                    (self.literal(item, ast, *a)?, self.literal(item, ast, *b)?);
                (Value::pair(a, b), Ty::Pair(Arc::new(a_ty), Arc::new(b_ty)))
            }
            Expr::Sequence(items) => {
                let items = items.iter().map(|expr| self.literal(item, ast, *expr));
                let items = items.collect::<Option<Vec<_>>>()?;
                let ty = items.first()?.1.clone();
                if items.iter().any(|(_, own)| *own != ty) {
                    return None;
                }
                let values = items.into_iter().map(|(value, _)| value).collect();
                let element = core_type(&ty)?;
                (Sequence::from_values(&element, values).into(), Ty::Sequence(Arc::new(ty)))
            }
            // Too long for an example.
            Expr::Constants { .. } => return None,
            Expr::Empty(element) => {
                let ty = literal_type(element)?;
                let empty = Sequence::empty(&core_type(&ty)?);
                (empty.into(), Ty::Sequence(Arc::new(ty)))
            }
            Expr::Range { start, end, stride: None } => {
                let (start, _) = self.literal(item, ast, *start)?;
                let (end, _) = self.literal(item, ast, *end)?;
                let (start, end) = (start.as_int()?, end.as_int()?);
                if end.checked_sub(start)? > MAX_SCALARS as i64 {
                    return None;
                }
                let values: Vec<i64> = (start..end).collect();
                (values.into(), Ty::Sequence(Arc::new(Ty::Int)))
            }
            Expr::Unary { op: UnaryOp::Negate, arg, .. } => match self.literal(item, ast, *arg)? {
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

/// Returns the component of a value that some projections select.
fn component(value: &Value, way: &[Projection]) -> Option<Value> {
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

/// Returns the type that a type expression denotes, if literals can have it.
fn literal_type(written: &TypeExpr) -> Option<Ty> {
    crate::base::with_stack(|| match &written.kind {
        TypeExprKind::Name(name) => match name.folded() {
            "int" => Some(Ty::Int),
            "float" => Some(Ty::Float),
            "bool" => Some(Ty::Bool),
            "char" => Some(Ty::Char),
            _ => None,
        },
        TypeExprKind::Sequence(element) => Some(Ty::Sequence(Arc::new(literal_type(element)?))),
        TypeExprKind::Pair(a, b) => {
            Some(Ty::Pair(Arc::new(literal_type(a)?), Arc::new(literal_type(b)?)))
        }
        TypeExprKind::Missing | TypeExprKind::Apply(..) | TypeExprKind::Arrow(..) => None,
    })
}

/// Returns the core language's type, if literals can have it.
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

/// The shapes of generated arguments. Each is tried in turn until the function accepts one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentShape {
    /// Rows of different lengths, one of them empty.
    Ragged,
    /// As many rows as columns, and sequences of that length; all numbers are valid indices.
    Square,
    /// Sequences of two elements, and all numbers are 1.
    Ones,
    /// As `Ragged`, but longer: a function may handle short sequences without parallelism.
    Long,
}

impl ArgumentShape {
    const ALL: [ArgumentShape; 4] =
        [ArgumentShape::Ragged, ArgumentShape::Square, ArgumentShape::Ones, ArgumentShape::Long];
}

/// Digits in no particular order.
const DIGITS: [i64; 8] = [2, 1, 3, 4, 5, 3, 7, 0];

/// Generates arguments of a shape.
struct Generator {
    shape: ArgumentShape,
    /// The count of numbers generated so far.
    digits: usize,
    /// The count of rows generated so far.
    rows: usize,
}

impl Generator {
    fn digit(&mut self) -> i64 {
        let digit = DIGITS[self.digits % DIGITS.len()];
        self.digits += 1;
        match self.shape {
            ArgumentShape::Ragged | ArgumentShape::Long => digit,
            ArgumentShape::Square => digit % 3,
            ArgumentShape::Ones => 1,
        }
    }

    /// Generates a small value of a type; `level` is the number of sequences around it.
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
                let length = match (self.shape, level, nested) {
                    (ArgumentShape::Ragged, 0, false) => 4,
                    (ArgumentShape::Long, 0, false) => 10,
                    (ArgumentShape::Ragged | ArgumentShape::Long, 1, _) => {
                        self.rows += 1;
                        [2, 0, 3][(self.rows - 1) % 3]
                    }
                    (ArgumentShape::Ragged | ArgumentShape::Long | ArgumentShape::Square, ..) => 3,
                    (ArgumentShape::Ones, ..) => 2,
                };
                let values = (0..length).map(|_| self.value(element, level + 1)).collect();
                Sequence::from_values(element, values).into()
            }
        }
    }
}
