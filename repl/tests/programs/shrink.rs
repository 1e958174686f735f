//! Generates random programs for proptest and shrinks them by their structure.
//!
//! A shrunk program lacks a form, or has a form replaced by a part of it, or an expression
//! replaced: by the simplest expression of its type, by a part with the same type, a list by a
//! shorter one, an apply-to-each by one with fewer sequences or without its filter, or a `let` by
//! its body with the value substituted. The result is always well typed and fails only where the
//! original program may fail.

use super::generate::program;
use super::tree::{Expr, Pattern, Program, Shape};
use proptest::prelude::*;
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;

/// The strategy that generates random programs.
#[derive(Debug)]
pub struct Programs;

impl Strategy for Programs {
    type Tree = Smaller;
    type Value = Program;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = any::<u64>().new_tree(runner)?.current();
        Ok(Smaller::new(program(seed)))
    }
}

/// The state of shrinking a program.
pub struct Smaller {
    /// The smallest program that is known to fail.
    base: Program,
    /// The candidate that is being tested.
    current: Program,
    changes: Vec<Change>,
    next: usize,
    tried: usize,
}

enum Change {
    DropForm(usize),
    /// Replaces the expression at a path in the form, variable or function with this number.
    Replace(usize, Vec<usize>, Expr),
}

impl Smaller {
    fn new(base: Program) -> Smaller {
        Smaller { current: base.clone(), base, changes: Vec::new(), next: 0, tried: 0 }
    }

    fn advance(&mut self) -> bool {
        if self.tried >= self.changes.len() {
            self.current = self.base.clone();
            return false;
        }
        self.tried += 1;
        self.next %= self.changes.len();
        self.current = apply(&self.base, &self.changes[self.next]);
        self.next += 1;
        true
    }
}

impl ValueTree for Smaller {
    type Value = Program;

    fn current(&self) -> Program {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        self.base = self.current.clone();
        self.changes = changes(&self.base);
        self.tried = 0;
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        self.advance()
    }
}

fn apply(base: &Program, change: &Change) -> Program {
    let mut program = base.clone();
    match change {
        Change::DropForm(at) => drop(program.forms.remove(*at)),
        Change::Replace(root, path, with) => {
            *body_mut(&mut program, *root).at_mut(path) = with.clone();
        }
    }
    program.without_unused()
}

fn body_mut(program: &mut Program, root: usize) -> &mut Expr {
    let (data, functions) = (program.data.len(), program.functions.len());
    if root < data {
        &mut program.data[root].body
    } else if root < data + functions {
        &mut program.functions[root - data].body
    } else {
        &mut program.forms[root - data - functions].body
    }
}

/// Lists all ways to shrink a program, those with the largest effect first.
fn changes(program: &Program) -> Vec<Change> {
    let mut all: Vec<(usize, Change)> = Vec::new();
    if program.forms.len() > 1 {
        for (at, form) in program.forms.iter().enumerate() {
            all.push((cost(&form.body) + 10, Change::DropForm(at)));
        }
    }
    let data = program.data.iter().map(|form| &form.body);
    let functions = program.functions.iter().map(|function| &function.body);
    let forms = program.forms.iter().map(|form| &form.body);
    for (root, body) in data.chain(functions).chain(forms).enumerate() {
        visit(body, &mut Vec::new(), &mut |node, path| {
            let before = cost(node);
            let mut seen = BTreeSet::new();
            for with in replacements(node) {
                let after = cost(&with);
                if after < before && seen.insert(with.to_string()) {
                    all.push((before - after, Change::Replace(root, path.to_vec(), with)));
                }
            }
        });
    }
    // A form may be replaced by an expression of any type.
    let first = program.data.len() + program.functions.len();
    for (at, form) in program.forms.iter().enumerate() {
        let mut inside = Vec::new();
        parts(&form.body, &form.body.binds(), &|_| true, &mut inside);
        for part in inside {
            let gain = cost(&form.body) - cost(&part);
            all.push((gain, Change::Replace(first + at, Vec::new(), part)));
        }
    }
    all.sort_by_key(|(gain, _)| std::cmp::Reverse(*gain));
    all.into_iter().map(|(_, change)| change).collect()
}

/// Measures how much a reader has to read. The simplest expressions cost least; a variable costs
/// more, because removing it leaves the reader one thing less to look up.
fn cost(expr: &Expr) -> usize {
    let own = match &expr.shape {
        Shape::Literal(text) if *text == Expr::simplest(&expr.ty).to_string() => 1,
        Shape::Literal(text) => 1 + text.len(),
        Shape::Var(_) => 5,
        Shape::Op("($0, $1)") => 0,
        Shape::Op(template) => 2 + template.len() / 10,
        Shape::List => 1,
        Shape::Call(_) => 6,
        Shape::Let(_) => 5,
        Shape::If => 3,
        Shape::Each(patterns) => 4 * patterns.len(),
    };
    own + expr.args.iter().map(cost).sum::<usize>()
}

fn visit(node: &Expr, path: &mut Vec<usize>, at: &mut dyn FnMut(&Expr, &[usize])) {
    at(node, path);
    for (step, arg) in node.args.iter().enumerate() {
        path.push(step);
        visit(arg, path, at);
        path.pop();
    }
}

fn replacements(node: &Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    if !node.fixed {
        all.push(Expr::simplest(&node.ty));
        parts(node, &node.binds(), &|part| part.ty == node.ty, &mut all);
        if let Some(element) = node.ty.element() {
            all.push(Expr::new(node.ty.clone(), Shape::List, vec![Expr::simplest(element)]));
        }
    }
    match &node.shape {
        Shape::List => {
            for at in 0..node.args.len() {
                let mut shorter = node.clone();
                shorter.args.remove(at);
                if !shorter.args.is_empty() {
                    all.push(shorter);
                }
            }
        }
        Shape::Each(patterns) => fewer(node, patterns, &mut all),
        Shape::Let(Pattern::Name(name)) if node.args[1].occurrences(name) == 1 => {
            let inside = node.args[1].with(name, &node.args[0]);
            if inside.occurrences(name) == 0 {
                all.push(Expr { fixed: node.fixed, ..inside });
            }
        }
        Shape::Let(pattern) => {
            let mut names = BTreeSet::new();
            pattern.names(&mut names);
            if !node.args[1].mentions_any(&names) {
                all.push(Expr { fixed: node.fixed, ..node.args[1].clone() });
            }
        }
        Shape::Literal(text) if !node.fixed => {
            if let Ok(number) = text.parse::<i64>() {
                all.push(Expr::literal(node.ty.clone(), (number / 2).to_string()));
                all.push(Expr::literal(node.ty.clone(), (number / 10).to_string()));
            } else if text.starts_with('"') && text.len() > 3 {
                all.push(Expr::literal(node.ty.clone(), format!("{}\"", &text[..text.len() - 2])));
            }
        }
        _ => {}
    }
    all
}

/// Collects the wanted parts of `node` that use no variable bound between `node` and the part.
fn parts(
    node: &Expr,
    bound: &BTreeSet<String>,
    wanted: &dyn Fn(&Expr) -> bool,
    out: &mut Vec<Expr>,
) {
    for arg in &node.args {
        if wanted(arg) && !arg.mentions_any(bound) {
            out.push(Expr { fixed: false, ..arg.clone() });
        }
        let mut more = bound.clone();
        more.extend(arg.binds());
        parts(arg, &more, wanted, out);
    }
}

/// Offers an apply-to-each with fewer sequences, or without its filter.
fn fewer(node: &Expr, patterns: &[Pattern], out: &mut Vec<Expr>) {
    if node.args.len() > patterns.len() + 1 {
        let mut all = node.clone();
        all.args.pop();
        out.push(all);
    }
    if patterns.len() < 2 {
        return;
    }
    for at in 0..patterns.len() {
        let mut names = BTreeSet::new();
        patterns[at].names(&mut names);
        if node.args[patterns.len()..].iter().any(|inner| inner.mentions_any(&names)) {
            continue;
        }
        let (mut left, mut fewer) = (patterns.to_vec(), node.clone());
        left.remove(at);
        fewer.args.remove(at);
        if let [source, ..] = &mut fewer.args[..]
            && left.len() == 1
        {
            // The sequence need no longer have the length of another. Positions may still be used
            // as indices.
            source.fixed &= matches!(source.shape, Shape::Op("index(#$0)"));
        }
        fewer.shape = Shape::Each(left);
        out.push(fewer);
    }
}
