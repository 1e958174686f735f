//! Programs as typed trees, and their text.
//!
//! Every expression has a type. Every name is bound only once in a program, so an expression may be
//! moved to any position where the names it uses are in scope. The names that a template binds
//! itself (`q`, `p`, `j`, `k`, `m`) are either not visible to its operands or do not occur in them.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// A type of generated programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    Int,
    /// A float that has the same value on every runtime.
    Float,
    /// A float that depends on the order of a reduction. It is never compared, converted or
    /// subtracted, so that the error stays small.
    Near,
    Bool,
    Char,
    /// `datatype duo(int, [int])`
    Duo,
    Pair(Box<Ty>, Box<Ty>),
    Seq(Box<Ty>),
}

impl Ty {
    pub fn seq(element: Ty) -> Ty {
        Ty::Seq(Box::new(element))
    }

    pub fn pair(first: Ty, second: Ty) -> Ty {
        Ty::Pair(Box::new(first), Box::new(second))
    }

    pub fn element(&self) -> Option<&Ty> {
        match self {
            Ty::Seq(element) => Some(element),
            _ => None,
        }
    }

    /// Returns true if values of the type are equal on all runtimes.
    pub fn is_exact(&self) -> bool {
        match self {
            Ty::Near => false,
            Ty::Pair(first, second) => first.is_exact() && second.is_exact(),
            Ty::Seq(element) => element.is_exact(),
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Duo => true,
        }
    }

    pub fn is_scalar(&self) -> bool {
        matches!(self, Ty::Int | Ty::Float | Ty::Near | Ty::Bool | Ty::Char)
    }

    pub fn levels(&self) -> usize {
        match self {
            Ty::Seq(element) => 1 + element.levels(),
            Ty::Pair(first, second) => first.levels().max(second.levels()),
            Ty::Duo => 1,
            _ => 0,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Int => write!(out, "int"),
            Ty::Float | Ty::Near => write!(out, "float"),
            Ty::Bool => write!(out, "bool"),
            Ty::Char => write!(out, "char"),
            Ty::Duo => write!(out, "duo"),
            Ty::Pair(first, second) => write!(out, "({first}, {second})"),
            Ty::Seq(element) => write!(out, "[{element}]"),
        }
    }
}

/// The pattern that a value is bound to.
#[derive(Clone)]
pub enum Pattern {
    Name(String),
    Pair(Box<(Pattern, Pattern)>),
    Duo(Box<(Pattern, Pattern)>),
}

impl Pattern {
    pub fn names(&self, out: &mut BTreeSet<String>) {
        match self {
            Pattern::Name(name) => drop(out.insert(name.clone())),
            Pattern::Pair(both) | Pattern::Duo(both) => {
                both.0.names(out);
                both.1.names(out);
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Name(name) => write!(out, "{name}"),
            Pattern::Pair(both) => write!(out, "({}, {})", both.0, both.1),
            Pattern::Duo(both) => write!(out, "duo({}, {})", both.0, both.1),
        }
    }
}

/// An expression with its type.
#[derive(Clone)]
pub struct Expr {
    pub ty: Ty,
    pub shape: Shape,
    pub args: Vec<Expr>,
    /// True if shrinking must not replace the expression, because the expression around it would
    /// then fail or not terminate. Its operands may be replaced.
    pub fixed: bool,
}

/// The kind of an expression, without its operands.
#[derive(Clone)]
pub enum Shape {
    Literal(String),
    Var(String),
    /// A template, in which `$0`, `$1`, … stand for the operands.
    Op(&'static str),
    List,
    Call(String),
    /// A `let`; its operands are the value and the body.
    Let(Pattern),
    If,
    /// An apply-to-each; its operands are the sequences, the body, and the filter if there is one.
    Each(Vec<Pattern>),
}

impl Expr {
    pub fn new(ty: Ty, shape: Shape, args: Vec<Expr>) -> Expr {
        Expr { ty, shape, args, fixed: false }
    }

    pub fn literal(ty: Ty, text: impl Into<String>) -> Expr {
        Expr::new(ty, Shape::Literal(text.into()), Vec::new())
    }

    pub fn var(ty: Ty, name: &str) -> Expr {
        Expr::new(ty, Shape::Var(name.to_owned()), Vec::new())
    }

    pub fn op(ty: Ty, template: &'static str, args: Vec<Expr>) -> Expr {
        Expr::new(ty, Shape::Op(template), args)
    }

    pub fn bind(name: &str, value: Expr, body: Expr) -> Expr {
        let pattern = Pattern::Name(name.to_owned());
        Expr::new(body.ty.clone(), Shape::Let(pattern), vec![value, body])
    }

    pub fn choice(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
        Expr::new(then.ty.clone(), Shape::If, vec![cond, then, otherwise])
    }

    pub fn fixed(mut self) -> Expr {
        self.fixed = true;
        self
    }

    /// Returns the simplest expression of a type.
    pub fn simplest(ty: &Ty) -> Expr {
        let text = match ty {
            Ty::Int => "0".to_owned(),
            Ty::Float => "0.0".to_owned(),
            Ty::Near => "0.5".to_owned(),
            Ty::Bool => "f".to_owned(),
            Ty::Char => "`a".to_owned(),
            Ty::Duo => "duo(0, [] int)".to_owned(),
            Ty::Seq(element) => format!("([] {element})"),
            Ty::Pair(first, second) => {
                let parts = vec![Expr::simplest(first), Expr::simplest(second)];
                return Expr::op(ty.clone(), "($0, $1)", parts);
            }
        };
        Expr::literal(ty.clone(), text)
    }

    /// Returns the names that the expression itself binds, without those bound inside its operands.
    pub fn binds(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        match &self.shape {
            Shape::Let(pattern) => pattern.names(&mut names),
            Shape::Each(patterns) => patterns.iter().for_each(|p| p.names(&mut names)),
            _ => {}
        }
        names
    }

    /// Collects the names of the variables and functions in the expression.
    pub fn mentions(&self, out: &mut BTreeSet<String>) {
        match &self.shape {
            Shape::Var(name) | Shape::Call(name) => drop(out.insert(name.clone())),
            _ => {}
        }
        self.args.iter().for_each(|arg| arg.mentions(out));
    }

    pub fn mentions_any(&self, names: &BTreeSet<String>) -> bool {
        let mut mentioned = BTreeSet::new();
        self.mentions(&mut mentioned);
        !mentioned.is_disjoint(names)
    }

    /// Returns the number of occurrences of a variable.
    pub fn occurrences(&self, of: &str) -> usize {
        let here = matches!(&self.shape, Shape::Var(name) if name == of);
        usize::from(here) + self.args.iter().map(|arg| arg.occurrences(of)).sum::<usize>()
    }

    /// Substitutes a value for a variable wherever this is allowed.
    pub fn with(&self, name: &str, value: &Expr) -> Expr {
        if matches!(&self.shape, Shape::Var(own) if own == name) && !self.fixed {
            return value.clone();
        }
        let args = self.args.iter().map(|arg| arg.with(name, value)).collect();
        Expr { args, ..self.clone() }
    }

    pub fn at_mut(&mut self, path: &[usize]) -> &mut Expr {
        path.iter().fold(self, |node, step| &mut node.args[*step])
    }

    fn write(&self, out: &mut String) {
        match &self.shape {
            Shape::Literal(text) | Shape::Var(text) => out.push_str(text),
            Shape::Op(template) => {
                let mut pieces = template.split('$');
                out.push_str(pieces.next().unwrap_or_default());
                for piece in pieces {
                    let (number, rest) = piece.split_at(1);
                    self.args[number.parse::<usize>().expect("an operand")].write(out);
                    out.push_str(rest);
                }
            }
            Shape::List => self.write_all('[', &self.args, ']', out),
            Shape::Call(name) => {
                out.push_str(name);
                self.write_all('(', &self.args, ')', out);
            }
            Shape::Let(pattern) => {
                let _ = write!(out, "(let {pattern} = {} in {})", self.args[0], self.args[1]);
            }
            Shape::If => {
                let [cond, then, otherwise] = &self.args[..] else { unreachable!("three parts") };
                let _ = write!(out, "(if {cond} then {then} else {otherwise})");
            }
            Shape::Each(patterns) => {
                let _ = write!(out, "{{{}", self.args[patterns.len()]);
                for (place, (pattern, source)) in patterns.iter().zip(&self.args).enumerate() {
                    let _ = write!(out, "{}{pattern} in {source}", [" : ", "; "][place.min(1)]);
                }
                if let Some(sieve) = self.args.get(patterns.len() + 1) {
                    let _ = write!(out, " | {sieve}");
                }
                out.push('}');
            }
        }
    }

    fn write_all(&self, open: char, all: &[Expr], close: char, out: &mut String) {
        out.push(open);
        for (place, expr) in all.iter().enumerate() {
            out.push_str(if place == 0 { "" } else { ", " });
            expr.write(out);
        }
        out.push(close);
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        write!(out, "{text}")
    }
}

/// A function definition.
#[derive(Clone)]
pub struct Function {
    pub name: String,
    pub params: Vec<(String, Ty)>,
    pub body: Expr,
}

/// A top-level variable or expression.
#[derive(Clone)]
pub struct Form {
    /// The name of the variable; none for an expression.
    pub name: Option<String>,
    pub body: Expr,
    /// True if the form may fail, at a single place.
    pub risky: bool,
    /// True if that place is in a function, so that the order of calls determines which iteration
    /// fails first.
    pub loose: bool,
}

/// A random program.
#[derive(Clone)]
pub struct Program {
    pub data: Vec<Form>,
    pub functions: Vec<Function>,
    pub forms: Vec<Form>,
}

/// Polymorphic functions and a datatype that operations may use.
const COMMON: [(&str, &str); 8] = [
    ("duo", "datatype duo(int, [int]);"),
    ("twice", "function twice(a) = a ++ a;"),
    ("flip", "function flip(a, b) = (b, a);"),
    ("last_or", "function last_or(a, d) = if #a == 0 then d else a[#a - 1];"),
    ("each_of", "function each_of(g, a) = {g(x) : x in a};"),
    (
        "backwards",
        "function backwards(a) = if #a < 2 then a else flatten({backwards(h) : h in reverse(bottop(a))});",
    ),
    ("heads", "function heads(a, n) = {take(s, min(#s, n)) : s in a};"),
    ("repeated", "function repeated(n, g, x) = if n <= 0 then x else repeated(n - 1, g, g(x));"),
];

/// A text to be entered into a session, and the way to compare its outcome.
pub struct Entry {
    pub text: String,
    /// True if floats need only agree approximately.
    pub near: bool,
    pub risky: bool,
    pub loose: bool,
}

impl Program {
    /// Lists the entries in order; each of them produces one event.
    pub fn entries(&self) -> Vec<Entry> {
        let plain = |text: String| Entry { text, near: false, risky: false, loose: false };
        let entry = |form: &Form| Entry {
            text: match &form.name {
                Some(name) => format!("{name} = {};", form.body),
                None => format!("{};", form.body),
            },
            near: !form.body.ty.is_exact(),
            risky: form.risky,
            loose: form.loose,
        };
        let mut entries: Vec<Entry> = self.data.iter().map(entry).collect();
        for Function { name, params, body } in &self.functions {
            let names: Vec<&str> = params.iter().map(|(name, _)| name.as_str()).collect();
            let types: Vec<String> = params.iter().map(|(_, ty)| ty.to_string()).collect();
            let (names, types) = (names.join(", "), types.join(", "));
            let ty = format!("({types}) -> {}", body.ty);
            entries.push(plain(format!("function {name}({names}) : {ty} = {body};")));
        }
        entries.extend(self.forms.iter().map(entry));
        let uses = |name: &str| {
            let words = |c: char| !c.is_alphanumeric() && c != '_';
            entries.iter().any(|entry| entry.text.split(words).any(|word| word == name))
        };
        let common = COMMON.iter().filter(|(name, _)| uses(name));
        let mut all: Vec<Entry> = common.map(|(_, text)| plain((*text).to_owned())).collect();
        all.extend(entries);
        all
    }

    pub fn text(&self) -> String {
        self.entries().iter().map(|entry| format!("{}\n", entry.text)).collect()
    }

    /// Removes the definitions that no form needs.
    pub fn without_unused(mut self) -> Program {
        let mut needed = BTreeSet::new();
        self.forms.iter().for_each(|form| form.body.mentions(&mut needed));
        loop {
            let before = needed.len();
            for function in &self.functions {
                if needed.contains(&function.name) {
                    function.body.mentions(&mut needed);
                }
            }
            for data in &self.data {
                if data.name.as_ref().is_some_and(|name| needed.contains(name)) {
                    data.body.mentions(&mut needed);
                }
            }
            if needed.len() == before {
                break;
            }
        }
        self.functions.retain(|function| needed.contains(&function.name));
        self.data.retain(|data| data.name.as_ref().is_some_and(|name| needed.contains(name)));
        self
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\n{}", self.text())
    }
}
