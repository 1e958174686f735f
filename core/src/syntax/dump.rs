//! The stages of syntax as text: tokens, tree and abstract syntax, for `nesl ir` and golden tests.

use super::ast::{Expr, ExprId, Item, ItemKind, Pat, PatId, TypeExpr, TypeExprKind, TypeScheme};
use super::{lex, tree};
use crate::base::Constants;
use std::fmt::Write;

/// Returns the tokens of a text, one a line: kind, bytes, text.
pub fn dump_tokens(text: &str) -> String {
    let mut out = String::new();
    for token in lex(text) {
        let range = format!("{}..{}", u32::from(token.range.start()), u32::from(token.range.end()));
        let kind = format!("{:?}", token.kind);
        let _ = writeln!(out, "{kind:<12} {range:>10}  {:?}", &text[token.range]);
    }
    out
}

/// Returns the lossless tree of the text of an item, indented.
pub fn dump_tree(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for event in tree(text).preorder_with_tokens() {
        match event {
            rowan::WalkEvent::Enter(element) => {
                let kind = element.kind();
                let _ = match &element {
                    rowan::NodeOrToken::Node(_) => writeln!(out, "{:1$}{kind:?}", "", depth * 2),
                    rowan::NodeOrToken::Token(token) => {
                        writeln!(out, "{:2$}{kind:?} {:?}", "", token.text(), depth * 2)
                    }
                };
                depth += 1;
            }
            rowan::WalkEvent::Leave(_) => depth -= 1,
        }
    }
    out
}

/// Returns the abstract syntax of an item as NESL, fully parenthesised.
pub fn dump_ast(item: &Item) -> String {
    let printer = Printer { item };
    let mut out = printer.item();
    out.push('\n');
    out
}

struct Printer<'a> {
    item: &'a Item,
}

impl Printer<'_> {
    fn item(&self) -> String {
        match &self.item.kind {
            ItemKind::Function(f) => {
                let mut out = format!("function {}({}", f.name.name, self.pat(f.param));
                for (name, default) in &f.optional {
                    let _ = write!(out, ", {} := {}", name.name, self.expr(*default));
                }
                out.push(')');
                if let Some(annotation) = &f.annotation {
                    let _ = write!(out, " : {}", scheme(annotation));
                }
                if let Some(doc) = &f.doc {
                    let _ = write!(out, " {}", quote(doc.as_bytes()));
                }
                if let Some(body) = f.body {
                    let _ = write!(out, " = {}", self.expr(body));
                }
                out.push(';');
                out
            }
            ItemKind::Datatype(d) => {
                let content = match &d.content.ty.kind {
                    TypeExprKind::Pair(..) => ty(&d.content.ty),
                    _ => format!("({})", ty(&d.content.ty)),
                };
                format!("datatype {}{content}{};", d.name.name, context(&d.content))
            }
            ItemKind::Binding { pattern, value, stored } => {
                let op = if *stored { "|=" } else { "=" };
                format!("{} {op} {};", self.pat(*pattern), self.expr(*value))
            }
            ItemKind::Expr(value) => format!("{};", self.expr(*value)),
            ItemKind::Command(command) => format!("% command {} %", command.verb.name),
            ItemKind::Missing => "% missing %".to_owned(),
        }
    }

    fn pat(&self, pat: PatId) -> String {
        match &self.item.pats[pat] {
            Pat::Missing => "?".to_owned(),
            Pat::Name(name) => name.to_string(),
            Pat::Pair(a, b) => format!("({}, {})", self.pat(*a), self.pat(*b)),
            Pat::Record { name, content } => format!("{}({})", name.name, self.pat(*content)),
        }
    }

    fn bindings(&self, bindings: &[(PatId, ExprId)], word: &str) -> String {
        let all: Vec<String> = bindings
            .iter()
            .map(|(pat, value)| format!("{} {word} {}", self.pat(*pat), self.expr(*value)))
            .collect();
        all.join("; ")
    }

    fn expr(&self, id: ExprId) -> String {
        crate::base::with_stack(|| self.expr_inner(id))
    }

    fn expr_inner(&self, id: ExprId) -> String {
        let e = |id: &ExprId| self.expr(*id);
        match &self.item.exprs[id] {
            Expr::Missing => "?".to_owned(),
            Expr::Int(n) => n.to_string(),
            Expr::Float(x) => format!("{:?}", x.get()),
            Expr::Bool(true) => "t".to_owned(),
            Expr::Bool(false) => "f".to_owned(),
            Expr::Char(c) => format!("`{}", char::from(*c)),
            Expr::Text(bytes) => quote(bytes),
            Expr::Name(name) => name.to_string(),
            Expr::Quote(name) => format!("'{name}"),
            Expr::Pair(a, b) => format!("({}, {})", e(a), e(b)),
            Expr::Sequence(items) => {
                format!("[{}]", items.iter().map(e).collect::<Vec<_>>().join(", "))
            }
            Expr::Constants { elements, .. } => format!("[{}]", literals(elements).join(", ")),
            Expr::Empty(element) => format!("[] {}", ty(element)),
            Expr::Range { start, end, stride: None } => format!("[{}:{}]", e(start), e(end)),
            Expr::Range { start, end, stride: Some(d) } => {
                format!("[{}:{}:{}]", e(start), e(end), e(d))
            }
            Expr::Index { sequence, index } => format!("{}[{}]", e(sequence), e(index)),
            Expr::Call { fun, arg, optional } if optional.is_empty() => {
                let arg = e(arg);
                if arg.starts_with('(') {
                    format!("{}{arg}", e(fun))
                } else {
                    format!("{}({arg})", e(fun))
                }
            }
            Expr::Call { fun, arg, optional } => {
                let mut out = format!("{}({}", e(fun), e(arg));
                for (name, value) in optional {
                    let _ = write!(out, ", {} := {}", name.name, e(value));
                }
                out.push(')');
                out
            }
            Expr::Unary { op, arg, .. } => {
                let op = if op.name() == "negate" { "-" } else { op.name() };
                format!("({op}{})", e(arg))
            }
            Expr::Binary { op, left, right, .. } => {
                format!("({} {} {})", e(left), op.name(), e(right))
            }
            Expr::If { cond, then, otherwise } => {
                format!("(if {} then {} else {})", e(cond), e(then), e(otherwise))
            }
            Expr::Let { bindings, body } => {
                format!("(let {} in {})", self.bindings(bindings, "="), e(body))
            }
            Expr::Each { serial, body, bindings, sieve } => {
                let star = if *serial { "* " } else { "" };
                let sieve = sieve.map(|s| format!(" | {}", self.expr(s))).unwrap_or_default();
                format!("{{{star}{} : {}{sieve}}}", e(body), self.bindings(bindings, "in"))
            }
            Expr::Lambda { param, body } => format!("({} => {})", self.pat(*param), e(body)),
            Expr::Time(inner) => format!("time({})", e(inner)),
        }
    }
}

/// Returns constants as they are written.
fn literals(constants: &Constants) -> Vec<String> {
    fn number(text: String) -> String {
        if text.starts_with('-') { format!("({text})") } else { text }
    }
    match constants {
        Constants::Ints(xs) => xs.iter().map(|x| number(x.to_string())).collect(),
        Constants::Floats(xs) => xs.iter().map(|x| number(format!("{x:?}"))).collect(),
        Constants::Bools(xs) => xs.iter().map(|x| if *x { "t" } else { "f" }.to_owned()).collect(),
        Constants::Chars(xs) => xs.iter().map(|x| format!("`{}", char::from(*x))).collect(),
        Constants::Pairs(pair) => {
            let (first, second) = (literals(&pair.0), literals(&pair.1));
            first.iter().zip(second).map(|(first, second)| format!("({first}, {second})")).collect()
        }
        Constants::Sequences { lengths, elements } => {
            let mut start = 0;
            let mut parts = lengths.iter().map(|length| {
                let part = start..start + *length as usize;
                start = part.end;
                part
            });
            match &**elements {
                Constants::Chars(text) => parts.map(|part| quote(&text[part])).collect(),
                inner => {
                    let all = literals(inner);
                    let empty = format!("[] {}", element_type(inner));
                    let list = |part: std::ops::Range<usize>| match part.is_empty() {
                        true => empty.clone(),
                        false => format!("[{}]", all[part].join(", ")),
                    };
                    parts.by_ref().map(list).collect()
                }
            }
        }
    }
}

/// Returns the type of constants as it is written.
fn element_type(constants: &Constants) -> String {
    match constants {
        Constants::Ints(_) => "int".to_owned(),
        Constants::Floats(_) => "float".to_owned(),
        Constants::Bools(_) => "bool".to_owned(),
        Constants::Chars(_) => "char".to_owned(),
        Constants::Pairs(pair) => {
            format!("({}, {})", element_type(&pair.0), element_type(&pair.1))
        }
        Constants::Sequences { elements, .. } => format!("[{}]", element_type(elements)),
    }
}

fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn scheme(scheme: &TypeScheme) -> String {
    format!("{}{}", ty(&scheme.ty), context(scheme))
}

fn context(scheme: &TypeScheme) -> String {
    if scheme.context.is_empty() {
        return String::new();
    }
    let entries: Vec<String> = scheme
        .context
        .iter()
        .map(|(name, class)| format!("{} in {}", name.name, class.name))
        .collect();
    format!(" :: ({})", entries.join("; "))
}

fn ty(t: &TypeExpr) -> String {
    match &t.kind {
        TypeExprKind::Missing => "?".to_owned(),
        TypeExprKind::Name(name) => name.to_string(),
        TypeExprKind::Apply(name, args) => {
            format!("{}({})", name.name, args.iter().map(ty).collect::<Vec<_>>().join(", "))
        }
        TypeExprKind::Sequence(a) => format!("[{}]", ty(a)),
        TypeExprKind::Pair(a, b) => format!("({}, {})", ty(a), ty(b)),
        TypeExprKind::Arrow(a, b) => match a.kind {
            TypeExprKind::Arrow(..) => format!("({}) -> {}", ty(a), ty(b)),
            _ => format!("{} -> {}", ty(a), ty(b)),
        },
    }
}
