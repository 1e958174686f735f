//! Generates the functions that are defined by the structure of a type: `eql`, `hash`, `string`, `identity`.
//!
//! ```text
//! eql@[(int, char)](a, b)   ⇒   if #a == #b then all({eql@(int, char)(x, y) : x in a; y in b}) else f
//! ```
//!
//! For scalars and pairs the code is emitted in place; each sequence type gets a function of its own,
//! except texts, whose hashes and comparisons are operations.

use super::build::Body;
use super::instance::{Elaborator, Instance};
use crate::ir::{self, Atom, Nest, Op, Site, Var};
use crate::prim::{Derived, ReduceOp, SeqOp};
use crate::types::{Ty, print_type, record_content};
use nesl_runtime::bug;
use nesl_runtime::scalar::ScalarOp;

impl<'c> Elaborator<'c> {
    /// Emits a derived function applied to operands; `param` is the type of its parameter as a whole.
    pub(super) fn derived(
        &mut self,
        body: &mut Body,
        derived: Derived,
        param: &Ty,
        atoms: &[Atom],
        site: Site,
    ) -> Atom {
        let subject = match (derived, param) {
            (Derived::Eql | Derived::Hash, Ty::Pair(subject, _)) => subject,
            (Derived::Zero, Ty::Sequence(element)) => element,
            (Derived::Groups, Ty::Pair(elements, _)) => elements,
            _ => param,
        };
        match derived {
            Derived::Eql => self.eql(body, subject, atoms[0], atoms[1], site),
            Derived::Hash => self.hash(body, subject, atoms[0], atoms[1], site),
            Derived::String => self.string(body, subject, atoms[0], site),
            Derived::Identity | Derived::Zero => self.identity(body, subject, site),
            Derived::Groups => self.groups(body, subject, atoms[0], atoms[1], site),
            Derived::Distinct => self.distinct(body, subject, atoms[0], site),
        }
    }

    /// Elaborates the function for a sequence type.
    pub(super) fn derive(&mut self, derived: Derived, ty: &Ty) -> ir::Function {
        let Ty::Sequence(element) = ty else { bug!("only sequence types have derived functions") };
        let site = Site { item: crate::base::ItemId(0), span: Default::default() };
        let mut body = Body::default();
        let whole = self.lower(ty);
        let subject = body.fresh(whole.clone());
        let mut params = vec![(subject, whole.clone())];
        match derived {
            Derived::Eql => params.push((body.fresh(whole.clone()), whole)),
            Derived::Hash => params.push((body.fresh(ir::Ty::Int), ir::Ty::Int)),
            Derived::String
            | Derived::Identity
            | Derived::Zero
            | Derived::Groups
            | Derived::Distinct => {}
        }
        body.open();
        let (word, result) = match derived {
            Derived::Eql => ("eql", self.eql_sequence(&mut body, element, &params, site)),
            Derived::Hash => ("hash", self.hash_sequence(&mut body, element, &params, site)),
            Derived::String => ("string", self.string_sequence(&mut body, element, subject, site)),
            Derived::Identity | Derived::Zero => {
                bug!("the zero of a sequence is emitted in place")
            }
            Derived::Groups | Derived::Distinct => bug!("grouping is emitted in place"),
        };
        ir::Function {
            name: self.unique(&format!("{word}@{}", print_type(ty))),
            params,
            result: body.ty(result),
            body: body.close(result),
            site,
            library: true,
            charge: None,
            role: None,
        }
    }

    fn eql(&mut self, body: &mut Body, ty: &Ty, a: Atom, b: Atom, site: Site) -> Atom {
        match ty {
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                body.push(ir::Ty::Bool, Op::Scalar(ScalarOp::Eq, vec![a, b]), site)
            }
            Ty::Pair(first, second) => {
                let (a1, b1) = (body.first(a, site), body.first(b, site));
                let (a2, b2) = (body.second(a, site), body.second(b, site));
                let first = self.eql(body, first, a1, b1, site);
                let second = self.eql(body, second, a2, b2, site);
                body.push(ir::Ty::Bool, Op::Scalar(ScalarOp::And, vec![first, second]), site)
            }
            Ty::Sequence(element) if **element == Ty::Char => {
                body.push(ir::Ty::Bool, Op::Seq(SeqOp::SameText, vec![a, b]), site)
            }
            Ty::Sequence(_) => {
                let fun = self.instance(Instance::Derived(Derived::Eql, ty.clone()));
                body.push(ir::Ty::Bool, Op::Call(fun, vec![a, b]), site)
            }
            Ty::Record(record, args) => {
                let content = record_content(&self.definitions.signature(record.item), args);
                self.eql(body, &content, a, b, site)
            }
            // Two values of one function type are the same function; captured variables are ignored.
            Ty::Function(_) | Ty::Code(..) | Ty::Var(_) | Ty::Error => Atom::Bool(true),
        }
    }

    fn eql_sequence(
        &mut self,
        body: &mut Body,
        element: &Ty,
        params: &[(Var, ir::Ty)],
        site: Site,
    ) -> Atom {
        let (a, b) = (Atom::Var(params[0].0), Atom::Var(params[1].0));
        let length =
            |body: &mut Body, v| body.push(ir::Ty::Int, Op::Seq(SeqOp::Length, vec![v]), site);
        let (m, n) = (length(body, a), length(body, b));
        let cond = body.push(ir::Ty::Bool, Op::Scalar(ScalarOp::Eq, vec![m, n]), site);
        body.open();
        let flags = self.each_of(body, &[a, b], site, |this, body, atoms| {
            this.eql(body, element, atoms[0], atoms[1], site)
        });
        let all = Op::Seq(SeqOp::Reduce(ReduceOp::And), vec![flags]);
        let all = body.push(ir::Ty::Bool, all, site);
        let then = body.close(all);
        body.open();
        let otherwise = body.close(Atom::Bool(false));
        body.push(ir::Ty::Bool, Op::If { cond, then, otherwise }, site)
    }

    fn hash(&mut self, body: &mut Body, ty: &Ty, a: Atom, salt: Atom, site: Site) -> Atom {
        let int = |body: &mut Body, op, atoms| body.push(ir::Ty::Int, Op::Scalar(op, atoms), site);
        match ty {
            Ty::Int => int(body, ScalarOp::Mix, vec![a, salt]),
            Ty::Float | Ty::Bool | Ty::Char => {
                let op = match ty {
                    Ty::Float => ScalarOp::FloatBits,
                    Ty::Bool => ScalarOp::BoolToInt,
                    _ => ScalarOp::CharToInt,
                };
                let bits = int(body, op, vec![a]);
                int(body, ScalarOp::Mix, vec![bits, salt])
            }
            Ty::Pair(first, second) => {
                let (x, y) = (body.first(a, site), body.second(a, site));
                let salt = self.hash(body, first, x, salt, site);
                self.hash(body, second, y, salt, site)
            }
            Ty::Sequence(element) if **element == Ty::Char => {
                body.push(ir::Ty::Int, Op::Seq(SeqOp::HashText, vec![a, salt]), site)
            }
            Ty::Sequence(_) => {
                let fun = self.instance(Instance::Derived(Derived::Hash, ty.clone()));
                body.push(ir::Ty::Int, Op::Call(fun, vec![a, salt]), site)
            }
            Ty::Record(record, args) => {
                let content = record_content(&self.definitions.signature(record.item), args);
                self.hash(body, &content, a, salt, site)
            }
            Ty::Function(_) | Ty::Code(..) | Ty::Var(_) | Ty::Error => salt,
        }
    }

    /// Emits the hash of a sequence: the sum of the elements' hashes, each salted with its index. That
    /// is parallel, and depends on the order of the elements.
    fn hash_sequence(
        &mut self,
        body: &mut Body,
        element: &Ty,
        params: &[(Var, ir::Ty)],
        site: Site,
    ) -> Atom {
        let (a, salt) = (Atom::Var(params[0].0), Atom::Var(params[1].0));
        let length = body.push(ir::Ty::Int, Op::Seq(SeqOp::Length, vec![a]), site);
        let ints = ir::Ty::Sequence(Box::new(ir::Ty::Int));
        let range = vec![Atom::Int(0), Atom::Int(1), length];
        let places = body.push(ints, Op::Seq(SeqOp::Range, range), site);
        let mixed = |body: &mut Body, a: Atom, b: Atom| {
            body.push(ir::Ty::Int, Op::Scalar(ScalarOp::Mix, vec![a, b]), site)
        };
        let base = mixed(body, length, salt);
        let hashes = self.each_of(body, &[a, places], site, |this, body, atoms| {
            let place = Op::Scalar(ScalarOp::Add, vec![base, atoms[1]]);
            let salt = body.push(ir::Ty::Int, place, site);
            this.hash(body, element, atoms[0], salt, site)
        });
        let sum = Op::Seq(SeqOp::Reduce(ReduceOp::Sum), vec![hashes]);
        let sum = body.push(ir::Ty::Int, sum, site);
        mixed(body, sum, base)
    }

    /// Emits the grouping of equal elements: ints and texts by their values, chars and bools by their codes, all
    /// others by hashes.
    fn groups(&mut self, body: &mut Body, ty: &Ty, a: Atom, salt: Atom, site: Site) -> Atom {
        let Ty::Sequence(element) = ty else { bug!("grouping applies to a sequence") };
        let code = match &**element {
            Ty::Char => Some(ScalarOp::CharToInt),
            Ty::Bool => Some(ScalarOp::BoolToInt),
            _ => None,
        };
        let (keys, exact) = match (&**element, code) {
            (Ty::Int, _) => (a, true),
            (Ty::Sequence(char), _) if **char == Ty::Char => (a, true),
            (_, Some(op)) => {
                let codes = self.each_of(body, &[a], site, |_, body, atoms| {
                    body.push(ir::Ty::Int, Op::Scalar(op, atoms.to_vec()), site)
                });
                (codes, true)
            }
            (element, None) => {
                let hashes = self.each_of(body, &[a], site, |this, body, atoms| {
                    this.hash(body, element, atoms[0], salt, site)
                });
                (hashes, false)
            }
        };
        let ints = || ir::Ty::Sequence(Box::new(ir::Ty::Int));
        let found = ir::Ty::Pair(Box::new(ints()), Box::new(ints()));
        let found = body.push(found, Op::Seq(SeqOp::Groups, vec![keys]), site);
        body.pair(found, Atom::Bool(exact), site)
    }

    fn string(&mut self, body: &mut Body, ty: &Ty, a: Atom, site: Site) -> Atom {
        let seq = |body: &mut Body, op, atoms| body.push(text_ty(), Op::Seq(op, atoms), site);
        match ty {
            Ty::Int => seq(body, SeqOp::IntText, vec![a]),
            Ty::Float => seq(body, SeqOp::FloatText, vec![a]),
            Ty::Bool => {
                body.open();
                let t = text(body, "t", site);
                let then = body.close(t);
                body.open();
                let f = text(body, "f", site);
                let otherwise = body.close(f);
                body.push(text_ty(), Op::If { cond: a, then, otherwise }, site)
            }
            Ty::Char => body.push(text_ty(), Op::List(vec![Atom::Char(b'`'), a]), site),
            Ty::Pair(..) => {
                let inside = self.components(body, ty, a, site);
                bracket(body, "(", inside, ")", site)
            }
            Ty::Sequence(_) => {
                let fun = self.instance(Instance::Derived(Derived::String, ty.clone()));
                body.push(text_ty(), Op::Call(fun, vec![a]), site)
            }
            Ty::Record(record, args) => {
                let content = record_content(&self.definitions.signature(record.item), args);
                let inside = self.components(body, &content, a, site);
                bracket(body, &format!("{}(", record.name.folded()), inside, ")", site)
            }
            Ty::Function(_) | Ty::Code(..) | Ty::Var(_) | Ty::Error => text(body, "function", site),
        }
    }

    /// Emits the text of the components of a tuple without its parentheses: `1, 2, 3`.
    fn components(&mut self, body: &mut Body, ty: &Ty, a: Atom, site: Site) -> Atom {
        let Ty::Pair(first, second) = ty else { return self.string(body, ty, a, site) };
        let (x, y) = (body.first(a, site), body.second(a, site));
        let first = self.string(body, first, x, site);
        let second = self.components(body, second, y, site);
        let comma = text(body, ", ", site);
        let first = append(body, first, comma, site);
        append(body, first, second, site)
    }

    fn string_sequence(&mut self, body: &mut Body, element: &Ty, subject: Var, site: Site) -> Atom {
        let parts = self.each_of(body, &[Atom::Var(subject)], site, |this, body, atoms| {
            let comma = text(body, ", ", site);
            let one = this.string(body, element, atoms[0], site);
            append(body, comma, one, site)
        });
        let flat = body.push(text_ty(), Op::Seq(SeqOp::Flatten, vec![parts]), site);
        // Drops the first comma, if there is one.
        let length = body.push(ir::Ty::Int, Op::Seq(SeqOp::Length, vec![flat]), site);
        let start = Op::Scalar(ScalarOp::Min, vec![Atom::Int(2), length]);
        let start = body.push(ir::Ty::Int, start, site);
        let rest = body.push(text_ty(), Op::Seq(SeqOp::Subseq, vec![flat, start, length]), site);
        bracket(body, "[", rest, "]", site)
    }

    fn identity(&mut self, body: &mut Body, ty: &Ty, site: Site) -> Atom {
        match ty {
            Ty::Int => Atom::Int(0),
            Ty::Float => Atom::Float(0.0),
            Ty::Bool => Atom::Bool(false),
            Ty::Char => Atom::Char(b' '),
            Ty::Pair(a, b) => {
                let a = self.identity(body, a, site);
                let b = self.identity(body, b, site);
                body.pair(a, b, site)
            }
            Ty::Sequence(_) => {
                let ty = self.lower(ty);
                body.push(ty, Op::List(Vec::new()), site)
            }
            Ty::Record(record, args) => {
                let content = record_content(&self.definitions.signature(record.item), args);
                self.identity(body, &content, site)
            }
            Ty::Function(_) => {
                let ty = self.lower(ty);
                zero(body, &ty, site)
            }
            Ty::Code(..) | Ty::Var(_) | Ty::Error => Atom::Int(0),
        }
    }

    /// Emits an apply-to-each over sequences of equal length.
    pub(super) fn each_of(
        &mut self,
        body: &mut Body,
        sequences: &[Atom],
        site: Site,
        body_of: impl FnOnce(&mut Self, &mut Body, &[Atom]) -> Atom,
    ) -> Atom {
        let mut binders = Vec::new();
        for sequence in sequences {
            let ty = body.element(*sequence);
            binders.push((body.fresh(ty.clone()), ty, *sequence));
        }
        let elements: Vec<Atom> = binders.iter().map(|(var, ..)| Atom::Var(*var)).collect();
        body.open();
        let result = body_of(self, body, &elements);
        let ty = ir::Ty::Sequence(Box::new(body.ty(result)));
        let block = body.close(result);
        body.push(ty, Op::Nest(Nest { binders, body: block, serial: false }), site)
    }
}

fn zero(body: &mut Body, ty: &ir::Ty, site: Site) -> Atom {
    match ty {
        ir::Ty::Unit => Atom::Unit,
        ir::Ty::Int => Atom::Int(0),
        ir::Ty::Float => Atom::Float(0.0),
        ir::Ty::Bool => Atom::Bool(false),
        ir::Ty::Char => Atom::Char(b' '),
        ir::Ty::Pair(a, b) => {
            let a = zero(body, a, site);
            let b = zero(body, b, site);
            body.pair(a, b, site)
        }
        ir::Ty::Sequence(_) => body.push(ty.clone(), Op::List(Vec::new()), site),
    }
}

fn text_ty() -> ir::Ty {
    ir::Ty::Sequence(Box::new(ir::Ty::Char))
}

fn text(body: &mut Body, text: &str, site: Site) -> Atom {
    body.push(text_ty(), Op::Text(text.as_bytes().into()), site)
}

fn append(body: &mut Body, a: Atom, b: Atom, site: Site) -> Atom {
    let ty = body.ty(a);
    body.push(ty, Op::Seq(SeqOp::Append, vec![a, b]), site)
}

fn bracket(body: &mut Body, open: &str, inside: Atom, close: &str, site: Site) -> Atom {
    let open = text(body, open, site);
    let close = text(body, close, site);
    let left = append(body, open, inside, site);
    append(body, left, close, site)
}
