//! The cost of an expression in the language's model, without any trace in the session.
//!
//! The direct interpreter runs the expression with an output and pictures of its own and a seed of its
//! own: nothing is printed, drawn or defined, and random numbers drawn later are not affected. What
//! the expression writes to files is written.

use super::pieces::{Assembled, Piece};
use super::run::options;
use super::{FileRange, Session, is_error, located};
use crate::host::System;
use nesl_core::base::{Diagnostic, DiagnosticKind, ItemId, Severity};
use nesl_core::db::FileId;
use nesl_core::elaborate;
use nesl_core::interp::{self, Host, Value};
use nesl_core::ir;
use nesl_core::pipeline;
use nesl_core::syntax::RawKind;
use nesl_core::syntax::ast::{Expr, ItemKind};
use nesl_runtime::scalar::ScalarOp;

/// The cost of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The name that it defines; `it` for an expression.
    pub name: String,
    /// The number of operations.
    pub work: u64,
    /// The length of the longest chain of dependent operations.
    pub depth: u64,
    /// True if it draws random numbers, so that another seed may give another cost.
    pub draws: bool,
}

impl Session {
    /// Runs the expressions of a text on the direct interpreter, and returns what each costs. What is
    /// drawn depends on the seed alone.
    pub fn cost(
        &mut self,
        name: &str,
        text: &str,
        seed: u64,
    ) -> Result<Vec<Cost>, Vec<Diagnostic<FileRange>>> {
        let file = self.look_at(name, text);
        let mut costs = Vec::new();
        for form in self.db.outline(file).forms.clone() {
            let item = form.id();
            let diagnostics = self.db.diagnostics(item);
            if diagnostics.iter().any(is_error) {
                let typed = |found| self.as_typed(located(found));
                return Err(diagnostics.into_iter().map(typed).collect());
            }
            if matches!(form.kind, RawKind::Binding | RawKind::Expr) {
                costs.push(self.cost_of(item, seed, false)?);
            }
        }
        Ok(costs)
    }

    /// Runs an expression as [`Session::cost`] does, after bindings that prepare its inputs, such as
    /// `n = 1000` and `xs = {rand(n) : i in [0:n]}`, and returns what it costs without them. A binding
    /// sees those before it. All of them stand for places of what was `typed`, and there messages find them.
    pub fn cost_given(
        &mut self,
        name: &str,
        typed: &str,
        inputs: &[Piece],
        expr: &Piece,
        seed: u64,
    ) -> Result<Cost, Vec<Diagnostic<FileRange>>> {
        let mut whole = Assembled::default();
        for (at, input) in inputs.iter().enumerate() {
            whole.word(if at == 0 { "let " } else { "\n; " });
            whole.piece(input);
        }
        if !inputs.is_empty() {
            whole.word("\nin ");
        }
        whole.piece(expr);
        // The `$` cannot be taken for a separator; the end of a line ends a comment's last line.
        whole.word("\n$");
        let file = self.look_at(name, &whole.text);
        let measured = self.cost_assembled(file, expr, &whole, !inputs.is_empty(), seed);
        measured.map_err(|diagnostics| {
            if diagnostics.iter().any(|found| found.kind == DiagnosticKind::Syntax)
                && let Some(own) = self.syntax_errors(name, typed, inputs.iter().chain([expr]))
            {
                return own;
            }
            self.set_source(file, name, typed);
            let place = |at: FileRange| match at.file == file {
                true => FileRange { range: whole.typed(typed, &at.range), ..at },
                false => at,
            };
            diagnostics.into_iter().map(|diagnostic| diagnostic.map(place)).collect()
        })
    }

    /// Returns what a text costs that was put together; its last piece is measured.
    fn cost_assembled(
        &mut self,
        file: FileId,
        expr: &Piece,
        whole: &Assembled<'_>,
        has_inputs: bool,
        seed: u64,
    ) -> Result<Cost, Vec<Diagnostic<FileRange>>> {
        let refused = |message: &str| {
            let start = whole.text.len() - "\n$".len() - expr.text.len();
            let at = FileRange { file, range: start..start + expr.text.len() };
            Err(vec![Diagnostic::error(DiagnosticKind::Syntax, at, message)])
        };
        let forms = self.db.outline(file).forms.clone();
        let mut forms = forms.iter().filter(|form| form.kind != RawKind::Blank);
        let (Some(form), None) = (forms.next(), forms.next()) else {
            return refused("one expression is measured, and this is not one");
        };
        let item = form.id();
        let diagnostics = self.db.diagnostics(item);
        if diagnostics.iter().any(is_error) {
            return Err(diagnostics.into_iter().map(located).collect());
        }
        if !matches!(form.kind, RawKind::Binding | RawKind::Expr) {
            return refused("this gives no value to measure");
        }
        self.cost_of(item, seed, has_inputs)
    }

    /// Returns the errors in the syntax of the first piece, as it was typed, that has any by itself. What was put
    /// together has others: of words that nobody typed.
    fn syntax_errors<'a>(
        &mut self,
        name: &str,
        typed: &str,
        pieces: impl Iterator<Item = &'a Piece>,
    ) -> Option<Vec<Diagnostic<FileRange>>> {
        for piece in pieces.filter(|piece| typed.get(piece.at.clone()) == Some(&*piece.text)) {
            let above = typed[..piece.at.start].bytes();
            let blanks: String = above.map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
            let text = self.closed(&(blanks + &piece.text));
            let file = self.look_at(name, &text);
            let mut errors: Vec<Diagnostic<FileRange>> = Vec::new();
            for form in self.db.outline(file).forms.clone() {
                let found = self.db.diagnostics(form.id()).into_iter();
                let found = found.filter(|found| found.kind == DiagnosticKind::Syntax);
                errors.extend(found.map(|found| self.as_typed(located(found))));
            }
            if errors.iter().any(|found| found.severity == Severity::Error) {
                self.set_source(file, name, typed);
                return Some(errors);
            }
        }
        None
    }

    /// Returns the cost of a form; if it is a `let` of inputs, that of its body.
    fn cost_of(
        &mut self,
        item: ItemId,
        seed: u64,
        of_body: bool,
    ) -> Result<Cost, Vec<Diagnostic<FileRange>>> {
        let program = self.elaborate(item)?.program;
        let values = self.globals(item, &program)?;
        let program = pipeline::core(program);
        let (_, globals) = self.with_deferred(item, &program, &values, false)?;
        let values = globals.iter().map(|resident| resident.value(self.runtime()).cloned());
        let values: Result<Vec<Value>, _> = values.collect();
        let values = values.map_err(|failure| vec![self.runtime_failure(item, failure)])?;
        let mut host = System::new(seed);
        host.set_interrupt(self.interrupt.clone());
        host.set_output(Box::new(std::io::sink()));
        host.set_error_output(Box::new(std::io::sink()));
        host.set_precision(self.settings.precision);
        debug_assert_eq!(host.seed(), seed);
        let options = options(&self.settings, &self.interrupt);
        let from = if of_body { self.begin_of_body(item, &program) } else { 0 };
        let outcome = interp::run_counted_from(from, &program, &values, 0, &mut host, &options)
            .map_err(|failure| vec![self.failure(item, &failure)])?;
        Ok(Cost {
            name: elaborate::form_name(self.db.ast(item)),
            work: outcome.work,
            depth: outcome.depth,
            draws: draws(&program),
        })
    }

    /// Returns the binding of the main function with which the body of a form's `let` begins: the one
    /// behind all that come from the tokens before the body.
    fn begin_of_body(&self, item: ItemId, program: &ir::Program) -> usize {
        let ast = self.db.ast(item);
        let ItemKind::Expr(whole) = &ast.kind else { return 0 };
        let Expr::Let { body, .. } = &ast.exprs[*whole] else { return 0 };
        let body = ast.expr_spans[*body].start;
        let lets = &program.functions[program.main.0 as usize].body.lets;
        let prepares = |of: &ir::Let| of.site.item == item && of.site.span.end <= body;
        lets.iter().rposition(prepares).map_or(0, |last| last + 1)
    }
}

fn draws(program: &ir::Program) -> bool {
    let mut draws = false;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| {
            draws |= matches!(op, ir::Op::Scalar(ScalarOp::Rand, _));
        });
    }
    draws
}
