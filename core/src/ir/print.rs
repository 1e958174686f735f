//! Programs as text.
//!
//! ```text
//! fun sumsq(v0: [int]) -> int {
//!   v2: [int] = each v1: int in v0 {
//!     v3: int = mul v1 v1
//!     v3
//!   }
//!   v4: int = reduce.sum v2
//!   v4
//! }
//! ```

use super::{Atom, Block, Function, Op, Program, Ty, Var};
use crate::prim::{ReduceOp, SeqOp};
use std::fmt::Write;

/// A whole program, `main` first.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    for global in &program.globals {
        let _ = writeln!(out, "global {}: {}", global.name, print_type(&global.ty));
    }
    let main = program.main.0 as usize;
    print_into(&program.functions[main], program, &mut out);
    for (i, function) in program.functions.iter().enumerate() {
        if i != main {
            out.push('\n');
            print_into(function, program, &mut out);
        }
    }
    out
}

/// One function of a program.
pub fn print_function(function: &Function, program: &Program) -> String {
    let mut out = String::new();
    print_into(function, program, &mut out);
    out
}

/// A type, fully parenthesised.
pub fn print_type(ty: &Ty) -> String {
    match ty {
        Ty::Unit => "unit".to_owned(),
        Ty::Int => "int".to_owned(),
        Ty::Float => "float".to_owned(),
        Ty::Bool => "bool".to_owned(),
        Ty::Char => "char".to_owned(),
        Ty::Pair(a, b) => format!("({}, {})", print_type(a), print_type(b)),
        Ty::Sequence(a) => format!("[{}]", print_type(a)),
    }
}

fn print_into(function: &Function, program: &Program, out: &mut String) {
    let params: Vec<String> =
        function.params.iter().map(|(v, ty)| format!("{}: {}", var(*v), print_type(ty))).collect();
    let kind = if function.library { "library fun" } else { "fun" };
    let result = print_type(&function.result);
    let _ = writeln!(out, "{kind} {}({}) -> {result} {{", function.name, params.join(", "));
    let mut printer = Printer { program, out };
    printer.block(&function.body, 1);
    out.push_str("}\n");
}

struct Printer<'a> {
    program: &'a Program,
    out: &'a mut String,
}

impl Printer<'_> {
    fn block(&mut self, block: &Block, depth: usize) {
        for bound in &block.lets {
            let (name, ty) = (var(bound.var), print_type(&bound.ty));
            let _ = write!(self.out, "{:1$}{name}: {ty} = ", "", depth * 2);
            self.op(&bound.op, depth);
            self.out.push('\n');
        }
        let _ = writeln!(self.out, "{:1$}{2}", "", depth * 2, atom(&block.result));
    }

    fn braces(&mut self, block: &Block, depth: usize) {
        self.out.push_str("{\n");
        self.block(block, depth + 1);
        let _ = write!(self.out, "{:1$}}}", "", depth * 2);
    }

    fn op(&mut self, op: &Op, depth: usize) {
        let text = match op {
            Op::Copy(a) => atom(a),
            Op::Scalar(op, args) => format!("{} {}", camel(&format!("{op:?}")), atoms(args)),
            Op::Pair(a, b) => format!("({}, {})", atom(a), atom(b)),
            Op::First(a) => format!("first {}", atom(a)),
            Op::Second(a) => format!("second {}", atom(a)),
            Op::Text(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
            Op::List(items) => format!("[{}]", items.iter().map(atom).collect::<Vec<_>>().join(", ")),
            Op::Seq(op, args) => format!("{} {}", seq(*op), atoms(args)),
            Op::Call(fun, args) => {
                let callee = &self.program.functions[fun.0 as usize].name;
                format!("{callee}({})", args.iter().map(atom).collect::<Vec<_>>().join(", "))
            }
            Op::Global(global) => format!("global {}", self.program.globals[global.0 as usize].name),
            Op::Check { cond, message, .. } => format!("check {} {message:?}", atom(cond)),
            Op::Error(a) => format!("error {}", atom(a)),
            Op::Host(op, args) => format!("host.{} {}", camel(&format!("{op:?}")), atoms(args)),
            Op::If { cond, then, otherwise } => {
                let _ = write!(self.out, "if {} ", atom(cond));
                self.braces(then, depth);
                self.out.push_str(" else ");
                self.braces(otherwise, depth);
                return;
            }
            Op::Nest(nest) => {
                let binders: Vec<String> = nest
                    .binders
                    .iter()
                    .map(|(v, ty, s)| format!("{}: {} in {}", var(*v), print_type(ty), atom(s)))
                    .collect();
                let word = if nest.serial { "serial" } else { "each" };
                let _ = write!(self.out, "{word} {} ", binders.join("; "));
                self.braces(&nest.body, depth);
                return;
            }
            Op::Time(block) => {
                self.out.push_str("time ");
                self.braces(block, depth);
                return;
            }
        };
        self.out.push_str(&text);
    }
}

fn var(var: Var) -> String {
    format!("v{}", var.0)
}

fn atom(a: &Atom) -> String {
    match a {
        Atom::Var(v) => var(*v),
        Atom::Unit => "unit".to_owned(),
        Atom::Int(v) => v.to_string(),
        Atom::Float(v) => format!("{v:?}"),
        Atom::Bool(true) => "t".to_owned(),
        Atom::Bool(false) => "f".to_owned(),
        Atom::Char(c) => format!("`{}", char::from(*c)),
    }
}

fn atoms(all: &[Atom]) -> String {
    all.iter().map(atom).collect::<Vec<_>>().join(" ")
}

fn seq(op: SeqOp) -> String {
    let reduce = |op: ReduceOp| camel(&format!("{op:?}"));
    match op {
        SeqOp::Reduce(op) => format!("reduce.{}", reduce(op)),
        SeqOp::Scan(op) => format!("scan.{}", reduce(op)),
        other => camel(&format!("{other:?}")),
    }
}

/// `ToFloat` → `to_float`
fn camel(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
