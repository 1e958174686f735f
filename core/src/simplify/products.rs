//! Recognises matrix products and transposes: an apply-to-each whose values are the rows of one, in whatever
//! way it is spelled.
//!
//! ```text
//! {{sum({x * y : x in row; y in col}) : col in transpose(b)} : row in a}
//! {{sum({a[i][k] * b[k][j] : k in [0:n]}) : j in [0:m]} : i in [0:n]}
//! {{dot(row, col) : col in transpose(b)} : row in a}
//! {{sum({x * y : x in c; y in d}) : d in cols} : c in cols}
//! ```
//!
//! The code of a row is evaluated symbolically, for any row, column and place of the sum: what is read is
//! then an element of an element of a sequence from outside, at two of these three indices, whatever lies
//! between, such as a transpose that is made again for every row. If an element of the row is a sum of
//! products of two such reads, one of which does not depend on the row and the other not on the column, the
//! row is one of a product ([`MatrixRows`]). If it is such a read itself, it is one of a transpose. What must hold so that nothing faults (lengths that agree,
//! indices in bounds) becomes conditions on the product.
//!
//! [`fuse`](mod@crate::fuse) marks the values that are known, so that a runtime does the operation by
//! itself. The simplifier asks so as not to fuse a product with what makes its rows or uses them.

use crate::base::with_stack;
use crate::ir::product::{Condition, Count, Factor, MatrixOperation, MatrixRows};
use crate::ir::{self, Atom, Class, Ty, Var};
use crate::prim::{ReduceOp, SeqOp};
use crate::thresholds::Thresholds;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The place of a variable that the code of a row uses but does not bind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    /// It is the same for all rows.
    Outside,
    /// It is the number of the row.
    Row,
    /// It is the element of a sequence at the row.
    Element(Var),
}

/// The program around the code of a row.
pub(crate) trait Surroundings<'p> {
    /// Returns the place of a variable; `None` if it is not known.
    fn place(&self, var: Var) -> Option<Place>;
    /// Returns a function that the code calls.
    fn callee(&self, id: ir::FunId) -> Option<&'p ir::Function>;
}

/// Returns the product or the transpose whose rows the code computes.
pub(crate) fn of_rows<'p>(
    code: &'p ir::Block,
    surroundings: &dyn Surroundings<'p>,
    limits: &Thresholds,
) -> Option<MatrixRows> {
    let mut evaluation = Evaluation {
        surroundings,
        conditions: Vec::new(),
        positions: Vec::new(),
        steps: 0,
        max_steps: limits.max_evaluated_operations,
    };
    let row = evaluation.block(code, &mut Scope::default())?;
    evaluation.matrix(&row)
}

/// Returns true if an apply-to-each in the body of a function computes a matrix product.
pub(super) fn is_product(nest: &ir::Nest, limits: &Thresholds) -> bool {
    struct Rows<'n>(&'n ir::Nest);
    impl<'p> Surroundings<'p> for Rows<'p> {
        fn place(&self, var: Var) -> Option<Place> {
            match self.0.binders.iter().find(|(element, ..)| *element == var) {
                Some((.., Atom::Var(sequence))) => Some(Place::Element(*sequence)),
                Some(_) => None,
                None => Some(Place::Outside),
            }
        }

        fn callee(&self, _: ir::FunId) -> Option<&'p ir::Function> {
            None
        }
    }
    let matrix = of_rows(&nest.body, &Rows(nest), limits);
    matrix.is_some_and(|m| matches!(m.operation, MatrixOperation::Product { .. }))
}

/// A position that any element may have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Axis {
    /// That of the row in the product.
    Rows,
    /// That of the column.
    Columns,
    /// That of the term in the sum.
    Depth,
    /// The position in another sequence, as long as this says.
    Other(Count),
}

/// A value at any row, column and place.
#[derive(Clone, Debug)]
enum Value<'p> {
    /// The value of a variable from outside.
    Outside(Var),
    /// A constant of the program.
    Constant(Atom),
    /// The length of a sequence.
    Count(Count),
    /// The position along an axis.
    Index(Axis),
    /// The element of a sequence at an index.
    Entry(Rc<Value<'p>>, Rc<Value<'p>>),
    /// The ints below a count.
    Range(Count),
    /// An apply-to-each, which is evaluated for the elements that are asked for.
    Each(Rc<Each<'p>>),
    /// The product of two floats.
    Times(Rc<Value<'p>>, Rc<Value<'p>>),
    /// The sum of a sequence of floats.
    Sum(Rc<Value<'p>>),
    /// A pair of values.
    Pair(Rc<Value<'p>>, Rc<Value<'p>>),
    /// A value that no product uses.
    Unknown,
}

/// The values of the variables in scope.
type Scope<'p> = FxHashMap<Var, Value<'p>>;

/// An apply-to-each whose iterations are not evaluated yet.
#[derive(Debug)]
struct Each<'p> {
    binders: Vec<(Var, Value<'p>)>,
    body: &'p ir::Block,
    scope: Scope<'p>,
}

/// An evaluation of the code of a row.
struct Evaluation<'e, 'p> {
    surroundings: &'e dyn Surroundings<'p>,
    /// The conditions under which the values are what they are said to be.
    conditions: Vec<Condition>,
    /// The positions at which sequences are indexed, with the lengths of these.
    positions: Vec<(Axis, Count)>,
    /// The number of steps so far.
    steps: usize,
    /// The number of steps after which the evaluation ends: longer code is no product alone.
    max_steps: usize,
}

impl<'p> Evaluation<'_, 'p> {
    /// Returns the matrix that a row is one of.
    fn matrix(mut self, row: &Value<'p>) -> Option<MatrixRows> {
        let columns = self.length(row)?;
        let (operation, depth) = match self.entry(row, &Value::Index(Axis::Columns))? {
            Value::Sum(terms) => {
                let depth = self.length(&terms)?;
                (self.product(&terms, depth)?, depth)
            }
            element => match read(&element, Axis::Columns)? {
                (Axis::Rows, Factor { matrix, turned: true }) => {
                    (MatrixOperation::Transpose(matrix), Count::Rows)
                }
                _ => return None,
            },
        };
        self.bound_positions(columns, depth);
        Some(MatrixRows { operation, columns, conditions: self.conditions })
    }

    /// Returns the product whose elements are the sums of these terms.
    fn product(&mut self, terms: &Value<'p>, depth: Count) -> Option<MatrixOperation> {
        let Value::Times(x, y) = self.entry(terms, &Value::Index(Axis::Depth))? else {
            return None;
        };
        let (left, right) = match (read(&x, Axis::Depth)?, read(&y, Axis::Depth)?) {
            ((Axis::Rows, left), (Axis::Columns, right))
            | ((Axis::Columns, right), (Axis::Rows, left)) => (left, right),
            _ => return None,
        };
        Some(MatrixOperation::Product { left, right, depth })
    }

    /// Returns the value of a block; `None` if it is too long, or its faults are not understood.
    fn block(&mut self, block: &'p ir::Block, scope: &mut Scope<'p>) -> Option<Value<'p>> {
        with_stack(|| {
            for binding in &block.lets {
                self.steps += 1;
                if self.steps > self.max_steps {
                    return None;
                }
                let value = self.binding(binding, scope)?;
                scope.insert(binding.var, value);
            }
            self.atom(block.result, scope)
        })
    }

    fn binding(&mut self, binding: &'p ir::Let, scope: &Scope<'p>) -> Option<Value<'p>> {
        let ty = &binding.ty;
        match &binding.op {
            ir::Op::Nest(nest) => self.each(nest, scope),
            ir::Op::If { cond, then, otherwise } => {
                let side = match self.atom(*cond, scope)? {
                    Value::Constant(Atom::Bool(true)) => then,
                    Value::Constant(Atom::Bool(false)) => otherwise,
                    _ => return None,
                };
                self.block(side, &mut scope.clone())
            }
            ir::Op::Call(callee, args) => {
                let callee = self.surroundings.callee(*callee)?;
                let mut inner = Scope::default();
                for ((param, _), arg) in callee.params.iter().zip(args) {
                    inner.insert(*param, self.atom(*arg, scope)?);
                }
                self.block(&callee.body, &mut inner)
            }
            op => {
                let mut args = Vec::new();
                for atom in op.operands() {
                    args.push(self.atom(atom, scope)?);
                }
                let value = self.operation(op, &args, ty);
                // A fault that is not understood might be forgotten.
                value.or_else(|| (op.class(ty) == Class::Pure).then_some(Value::Unknown))
            }
        }
    }

    /// Returns the value of an operation without blocks, unless it is not understood.
    fn operation(&mut self, op: &ir::Op, args: &[Value<'p>], ty: &Ty) -> Option<Value<'p>> {
        match (op, args) {
            (ir::Op::Copy(_), [value]) => Some(value.clone()),
            (ir::Op::Pair(..), [first, second]) => {
                Some(Value::Pair(Rc::new(first.clone()), Rc::new(second.clone())))
            }
            (ir::Op::First(_), [Value::Pair(first, _)]) => Some((**first).clone()),
            (ir::Op::Second(_), [Value::Pair(_, second)]) => Some((**second).clone()),
            (ir::Op::Check { .. }, [holds @ Value::Constant(Atom::Bool(true))]) => {
                Some(holds.clone())
            }
            (ir::Op::Scalar(ScalarOp::Mul, _), [x, y]) if *ty == Ty::Float => {
                Some(Value::Times(Rc::new(x.clone()), Rc::new(y.clone())))
            }
            (ir::Op::Scalar(ScalarOp::Eq, _), [x, y]) => self.equal(x, y),
            (ir::Op::Scalar(ScalarOp::Ge, _), [count, Value::Constant(Atom::Int(0))]) => {
                let count = self.count(count)?;
                self.require(Condition::Positive(count));
                Some(Value::Constant(Atom::Bool(true)))
            }
            (ir::Op::Seq(SeqOp::Length, _), [sequence]) => self.length(sequence).map(Value::Count),
            (ir::Op::Seq(SeqOp::Range, _), [start, stride, end]) => {
                let is = |value: &Value<'_>, int| matches!(value, Value::Constant(Atom::Int(x)) if *x == int);
                let count = self.count(end)?;
                (is(start, 0) && is(stride, 1)).then(|| {
                    self.require(Condition::Positive(count));
                    Value::Range(count)
                })
            }
            (ir::Op::Seq(SeqOp::Index, _), [sequence, index]) => {
                let length = self.length(sequence)?;
                match index {
                    Value::Index(axis) => self.positions.push((*axis, length)),
                    Value::Constant(Atom::Int(0)) => self.require(Condition::Positive(length)),
                    _ => return None,
                }
                self.entry(sequence, index)
            }
            (ir::Op::Seq(SeqOp::Reduce(ReduceOp::Sum), _), [terms]) if *ty == Ty::Float => {
                Some(Value::Sum(Rc::new(terms.clone())))
            }
            (ir::Op::Seq(SeqOp::Reduce(ReduceOp::And), _), [all]) => {
                let axis = Axis::Other(self.length(all)?);
                let any = self.entry(all, &Value::Index(axis))?;
                matches!(any, Value::Constant(Atom::Bool(true))).then_some(any)
            }
            _ => None,
        }
    }

    /// Returns an apply-to-each as a value. What may fault in it is looked at once, for any element.
    fn each(&mut self, nest: &'p ir::Nest, scope: &Scope<'p>) -> Option<Value<'p>> {
        let mut binders = Vec::new();
        let mut lengths = Vec::new();
        for (var, _, sequence) in &nest.binders {
            let sequence = self.atom(*sequence, scope)?;
            lengths.push(self.length(&sequence)?);
            binders.push((*var, sequence));
        }
        let first = *lengths.first()?;
        for other in &lengths[1..] {
            self.require(Condition::Equal(first, *other));
        }
        let value = Value::Each(Rc::new(Each { binders, body: &nest.body, scope: scope.clone() }));
        if nest.body.may_fault() {
            self.entry(&value, &Value::Index(Axis::Other(first)))?;
        }
        Some(value)
    }

    /// Returns whether two values are equal, if that can be decided or made a condition.
    fn equal(&mut self, x: &Value<'p>, y: &Value<'p>) -> Option<Value<'p>> {
        let (x, y) = (self.count(x)?, self.count(y)?);
        let holds = match (x, y) {
            _ if x == y => true,
            (Count::Int(Atom::Int(_)), Count::Int(Atom::Int(_))) => false,
            // They may be scalars of another type.
            (Count::Int(Atom::Var(_)), Count::Int(Atom::Var(_))) => return None,
            (count, Count::Int(Atom::Int(0))) | (Count::Int(Atom::Int(0)), count) => {
                self.require(Condition::Positive(count));
                false
            }
            _ => {
                self.require(Condition::Equal(x, y));
                true
            }
        };
        Some(Value::Constant(Atom::Bool(holds)))
    }

    fn require(&mut self, condition: Condition) {
        let trivial =
            matches!(condition, Condition::Equal(a, b) | Condition::AtMost(a, b) if a == b);
        if !trivial && !self.conditions.contains(&condition) {
            self.conditions.push(condition);
        }
    }

    /// Makes conditions of the positions at which sequences are indexed.
    fn bound_positions(&mut self, columns: Count, depth: Count) {
        for (axis, length) in std::mem::take(&mut self.positions) {
            let extent = match axis {
                Axis::Rows => Count::Rows,
                Axis::Columns => columns,
                Axis::Depth => depth,
                Axis::Other(count) => count,
            };
            self.require(Condition::AtMost(extent, length));
        }
    }

    fn atom(&self, atom: Atom, scope: &Scope<'p>) -> Option<Value<'p>> {
        match atom {
            Atom::Var(var) => match scope.get(&var) {
                Some(value) => Some(value.clone()),
                None => self.outside(var),
            },
            constant => Some(Value::Constant(constant)),
        }
    }

    /// Returns the value of a variable that is bound outside of the code of a row.
    fn outside(&self, var: Var) -> Option<Value<'p>> {
        let row = Value::Index(Axis::Rows);
        Some(match self.surroundings.place(var)? {
            Place::Outside => Value::Outside(var),
            Place::Row => row,
            Place::Element(of) => match self.outside(of)? {
                matrix @ Value::Outside(_) => Value::Entry(Rc::new(matrix), Rc::new(row)),
                _ => return None,
            },
        })
    }

    /// Returns the number of elements of a sequence.
    fn length(&mut self, sequence: &Value<'p>) -> Option<Count> {
        match sequence {
            Value::Outside(var) => Some(Count::Length(*var)),
            Value::Entry(of, _) => match **of {
                Value::Outside(var) => Some(Count::RowLength(var)),
                _ => None,
            },
            Value::Range(count) => Some(*count),
            Value::Each(each) => self.length(&each.binders.first()?.1),
            _ => None,
        }
    }

    /// Returns the count that an int is.
    fn count(&self, value: &Value<'p>) -> Option<Count> {
        match value {
            Value::Count(count) => Some(*count),
            Value::Constant(int @ Atom::Int(_)) => Some(Count::Int(*int)),
            Value::Outside(var) => Some(Count::Int(Atom::Var(*var))),
            _ => None,
        }
    }

    /// Returns the element of a sequence at an index that is in bounds.
    fn entry(&mut self, sequence: &Value<'p>, index: &Value<'p>) -> Option<Value<'p>> {
        match sequence {
            Value::Outside(_) | Value::Entry(..) => {
                Some(Value::Entry(Rc::new(sequence.clone()), Rc::new(index.clone())))
            }
            Value::Range(_) => Some(index.clone()),
            Value::Each(each) => {
                let mut scope = each.scope.clone();
                for (var, sequence) in &each.binders {
                    let element = self.entry(sequence, index)?;
                    scope.insert(*var, element);
                }
                self.block(each.body, &mut scope)
            }
            _ => None,
        }
    }
}

/// Returns the matrix that an element is read from at some place, and the other index; turned if the
/// place is the row.
fn read(value: &Value<'_>, place: Axis) -> Option<(Axis, Factor)> {
    let Value::Entry(row, column) = value else { return None };
    let Value::Entry(matrix, row) = &**row else { return None };
    let (Value::Outside(matrix), Value::Index(row), Value::Index(column)) =
        (&**matrix, &**row, &**column)
    else {
        return None;
    };
    let (matrix, turned) = (*matrix, *row == place);
    let (own, other) = if turned { (*column, *row) } else { (*row, *column) };
    (other == place).then_some((own, Factor { matrix, turned }))
}
