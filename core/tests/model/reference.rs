//! A second interpreter of the core language, as different from the first as possible: it runs all
//! iterations of a nest together, one operation at a time (so it prints in lockstep because it *is*
//! in lockstep), keeps variables in maps, recurses on the host's stack, and performs sequence operations
//! on plain vectors of values.
//!
//! It counts no cost. If several iterations fault, another one than in the first interpreter may be
//! reported.

use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::{Atom, Block, FunId, Let, Op, Program, Ty};
use nesl_core::prim::{HostOp, ReduceOp, SeqOp};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::random::Source;
use nesl_runtime::scalar::{Precision, Scalar, ScalarOp, draw, eval};
use std::collections::HashMap;

type Env = HashMap<u32, Value>;

/// The state of a run.
pub struct Reference<'p> {
    pub program: &'p Program,
    pub globals: &'p [Value],
    pub precision: Precision,
    pub max_length: usize,
    pub printed: String,
}

impl Reference<'_> {
    /// Runs the main function; `key` is the argument of one that draws random numbers.
    pub fn run(&mut self, key: i64) -> Result<Value, FaultCode> {
        let args = match self.program.functions[self.program.main.0 as usize].params[..] {
            [] => vec![],
            _ => vec![Value::Int(self.precision.wrap(key))],
        };
        let results = self.call(self.program.main, vec![args])?;
        Ok(results.into_iter().next().unwrap())
    }

    /// Calls a function for several iterations at once.
    fn call(&mut self, id: FunId, calls: Vec<Vec<Value>>) -> Result<Vec<Value>, FaultCode> {
        let function = &self.program.functions[id.0 as usize];
        let mut envs: Vec<Env> = calls
            .into_iter()
            .map(|args| {
                let params = function.params.iter().map(|(var, _)| var.0);
                params.zip(args).collect()
            })
            .collect();
        self.block(&function.body, &mut envs)
    }

    fn block(&mut self, block: &Block, envs: &mut [Env]) -> Result<Vec<Value>, FaultCode> {
        if envs.is_empty() {
            return Ok(Vec::new());
        }
        for binding in &block.lets {
            let values = self.binding(binding, envs)?;
            for (env, value) in envs.iter_mut().zip(values) {
                env.insert(binding.var.0, value);
            }
        }
        Ok(envs.iter().map(|env| self.atom(block.result, env)).collect())
    }

    fn binding(&mut self, binding: &Let, envs: &mut [Env]) -> Result<Vec<Value>, FaultCode> {
        match &binding.op {
            Op::Call(callee, args) => {
                let calls = envs.iter().map(|env| self.atoms(args, env)).collect();
                self.call(*callee, calls)
            }
            Op::If { cond, then, otherwise } => {
                let mut results = vec![Value::Unit; envs.len()];
                for (side, block) in [(true, then), (false, otherwise)] {
                    let chosen: Vec<usize> = (0..envs.len())
                        .filter(|i| self.atom(*cond, &envs[*i]) == Value::Bool(side))
                        .collect();
                    let mut inner: Vec<Env> = chosen.iter().map(|i| envs[*i].clone()).collect();
                    for (i, value) in chosen.into_iter().zip(self.block(block, &mut inner)?) {
                        results[i] = value;
                    }
                }
                Ok(results)
            }
            Op::Nest(nest) => {
                let mut lengths = Vec::new();
                for env in envs.iter() {
                    let mut here = nest
                        .binders
                        .iter()
                        .map(|(.., over)| self.atom(*over, env).as_sequence().unwrap().len());
                    let length = here.next().unwrap();
                    if here.any(|other| other != length) {
                        return Err(FaultCode::NestLength);
                    }
                    lengths.push(length);
                }
                let longest = lengths.iter().copied().max().unwrap_or(0);
                let mut results = vec![Vec::new(); envs.len()];
                // Each round runs some iterations of every environment: all, or the i-th.
                let rounds: Vec<std::ops::Range<usize>> = match nest.serial {
                    true => (0..longest).map(|i| i..i + 1).collect(),
                    false => std::iter::once(0..longest).collect(),
                };
                for turn in rounds {
                    let mut inner = Vec::new();
                    let mut owners = Vec::new();
                    for (owner, env) in envs.iter().enumerate() {
                        for index in turn.start..turn.end.min(lengths[owner]) {
                            let mut instance = env.clone();
                            for (var, _, over) in &nest.binders {
                                let over = self.atom(*over, env);
                                let element = over.as_sequence().unwrap().get(index).unwrap();
                                instance.insert(var.0, element);
                            }
                            inner.push(instance);
                            owners.push(owner);
                        }
                    }
                    for (owner, value) in
                        owners.into_iter().zip(self.block(&nest.body, &mut inner)?)
                    {
                        results[owner].push(value);
                    }
                }
                let element = binding.ty.element().unwrap();
                Ok(results
                    .into_iter()
                    .map(|values| Sequence::from_values(element, values).into())
                    .collect())
            }
            Op::Time(block) => {
                let values = self.block(block, envs)?;
                let timed = |value| Value::pair(value, Value::Float(0.0));
                Ok(values.into_iter().map(timed).collect())
            }
            _ => {
                let mut values = Vec::new();
                for env in envs.iter() {
                    values.push(self.simple(binding, env)?);
                }
                Ok(values)
            }
        }
    }

    fn simple(&mut self, binding: &Let, env: &Env) -> Result<Value, FaultCode> {
        let args = self.atoms(&binding.op.operands(), env);
        Ok(match &binding.op {
            Op::Copy(_) => args[0].clone(),
            Op::Scalar(ScalarOp::Rand, _) => {
                let int = |at: usize| args[at].as_int().unwrap();
                let source = Source { key: int(0), index: int(1), number: int(2) };
                value(draw(0, source, scalar(&args[3]), self.precision)?)
            }
            Op::Scalar(op, _) => {
                let args: Vec<Scalar> = args.iter().map(scalar).collect();
                value(eval(*op, &args, self.precision)?)
            }
            Op::Pair(..) => Value::pair(args[0].clone(), args[1].clone()),
            Op::First(_) => args[0].as_pair().unwrap().0.clone(),
            Op::Second(_) => args[0].as_pair().unwrap().1.clone(),
            Op::Text(text) => Value::text(&**text),
            Op::List(_) => Sequence::from_values(binding.ty.element().unwrap(), args).into(),
            Op::Seq(op, _) => sequence(*op, &args, &binding.ty, self.precision, self.max_length)?,
            Op::Global(id) => self.globals[id.0 as usize].clone(),
            Op::Check { code, .. } => match args[0] {
                Value::Bool(true) => Value::Bool(true),
                _ => return Err(*code),
            },
            Op::Error(_) => return Err(FaultCode::Message),
            Op::Host(HostOp::PrintText, _) => {
                self.printed.push_str(&String::from_utf8_lossy(args[0].as_text().unwrap()));
                Value::Bool(true)
            }
            Op::Host(HostOp::WriteText, _) => {
                let text = String::from_utf8_lossy(args[0].as_text().unwrap()).into_owned();
                let stream = args[1].as_int().unwrap();
                self.printed.push_str(&format!("<{stream}:{text}>"));
                Value::pair(Value::Bool(true), Value::text(""))
            }
            other => panic!("{other:?}"),
        })
    }

    fn atoms(&self, atoms: &[Atom], env: &Env) -> Vec<Value> {
        atoms.iter().map(|atom| self.atom(*atom, env)).collect()
    }

    fn atom(&self, atom: Atom, env: &Env) -> Value {
        match atom {
            Atom::Var(var) => env[&var.0].clone(),
            Atom::Unit => Value::Unit,
            Atom::Int(x) => Value::Int(self.precision.wrap(x)),
            Atom::Float(x) => Value::Float(self.precision.round(x)),
            Atom::Bool(x) => Value::Bool(x),
            Atom::Char(x) => Value::Char(x),
        }
    }
}

/// The result of an operation on sequences, computed on plain vectors.
pub fn sequence(
    op: SeqOp,
    args: &[Value],
    result: &Ty,
    precision: Precision,
    max_length: usize,
) -> Result<Value, FaultCode> {
    let list = |i: usize| -> Vec<Value> { args[i].as_sequence().unwrap().iter().collect() };
    let int = |i: usize| args[i].as_int().unwrap();
    let within = |place: i64, length: usize, code| {
        usize::try_from(place).ok().filter(|place| *place < length).ok_or(code)
    };
    let values: Vec<Value> = match op {
        SeqOp::Length => return Ok(Value::Int(list(0).len() as i64)),
        SeqOp::Index => {
            let a = list(0);
            return Ok(a[within(int(1), a.len(), FaultCode::Index)?].clone());
        }
        SeqOp::Range => {
            let (start, stride, end) = (int(0), int(1), int(2));
            if end < start || stride < 1 {
                return Err(FaultCode::Range);
            }
            let mut values = Vec::new();
            let mut next = i128::from(start);
            while next < i128::from(end) {
                if values.len() == max_length {
                    return Err(FaultCode::OutOfMemory);
                }
                values.push(Value::Int(next as i64));
                next += i128::from(stride);
            }
            values
        }
        SeqOp::Dist => match int(1) {
            n if n < 0 => return Err(FaultCode::NegativeLength),
            n if n > max_length as i64 => return Err(FaultCode::OutOfMemory),
            n => (0..n).map(|_| args[0].clone()).collect(),
        },
        SeqOp::Gather => {
            let a = list(0);
            let mut values = Vec::new();
            for place in list(1) {
                let place = within(place.as_int().unwrap(), a.len(), FaultCode::Gather)?;
                values.push(a[place].clone());
            }
            values
        }
        SeqOp::Scatter => {
            let mut d = list(0);
            for write in list(1) {
                let (place, value) = write.as_pair().unwrap();
                let place = within(place.as_int().unwrap(), d.len(), FaultCode::Scatter)?;
                d[place] = value.clone();
            }
            d
        }
        SeqOp::Replace => {
            let mut d = list(0);
            let place = within(int(2), d.len(), FaultCode::Replace)?;
            d[place] = args[1].clone();
            d
        }
        SeqOp::Permute => {
            let (a, places) = (list(0), list(1));
            if a.len() != places.len() {
                return Err(FaultCode::Permute);
            }
            let mut values = vec![None; a.len()];
            for (value, place) in a.iter().zip(places) {
                let place = within(place.as_int().unwrap(), a.len(), FaultCode::Permute)?;
                if values[place].replace(value.clone()).is_some() {
                    return Err(FaultCode::Permute);
                }
            }
            values.into_iter().map(Option::unwrap).collect()
        }
        SeqOp::Pack => {
            let (a, flags) = (list(0), list(1));
            if a.len() != flags.len() {
                return Err(FaultCode::PackLength);
            }
            let mut values = Vec::new();
            for (value, flag) in a.into_iter().zip(flags) {
                if flag == Value::Bool(true) {
                    values.push(value);
                }
            }
            values
        }
        SeqOp::Append => [list(0), list(1)].concat(),
        SeqOp::Flatten => list(0)
            .iter()
            .flat_map(|part| part.as_sequence().unwrap().iter().collect::<Vec<_>>())
            .collect(),
        SeqOp::Partition => {
            let mut rest = list(0);
            let mut pieces = Vec::new();
            for count in list(1) {
                let count = usize::try_from(count.as_int().unwrap());
                let count = count.map_err(|_| FaultCode::Partition)?;
                if count > rest.len() {
                    return Err(FaultCode::Partition);
                }
                let after = rest.split_off(count);
                let element = result.element().unwrap().element().unwrap();
                pieces.push(Sequence::from_values(element, rest).into());
                rest = after;
            }
            if !rest.is_empty() {
                return Err(FaultCode::Partition);
            }
            pieces
        }
        SeqOp::Subseq => {
            let a = list(0);
            let (start, end) = (int(1), int(2));
            if start < 0 || start > end || end > a.len() as i64 {
                return Err(FaultCode::Subseq);
            }
            a[start as usize..end as usize].to_vec()
        }
        SeqOp::Reduce(with) => {
            let mut sum = neutral(with, result, precision);
            for x in list(0) {
                sum = combine(with, &sum, &x, precision);
            }
            return Ok(sum);
        }
        SeqOp::Scan(with) => {
            let mut sum = neutral(with, result.element().unwrap(), precision);
            let mut values = Vec::new();
            for x in list(0) {
                values.push(sum.clone());
                sum = combine(with, &sum, &x, precision);
            }
            values
        }
        SeqOp::Histogram(with) => {
            let (places, rows) = (list(1), list(2));
            if places.len() != rows.len() {
                return Err(FaultCode::NestLength);
            }
            let size = int(0).max(0) as usize;
            if size > max_length {
                return Err(FaultCode::OutOfMemory);
            }
            let mut sums = vec![neutral(with, result.element().unwrap(), precision); size];
            for (place, row) in places.iter().zip(rows) {
                let row = match row.as_sequence() {
                    Some(row) => row.iter().collect(),
                    None => vec![row],
                };
                let places: Vec<i64> = (0..row.len() as i64)
                    .filter_map(|j| place.as_int().unwrap().checked_add(j))
                    .filter(|place| (0..size as i64).contains(place))
                    .collect();
                if places.len() == row.len() {
                    for (place, x) in places.into_iter().zip(row) {
                        let sum = &mut sums[place as usize];
                        *sum = combine(with, sum, &x, precision);
                    }
                }
            }
            sums
        }
        SeqOp::RankUp | SeqOp::RankDown => {
            let a = list(0);
            // The rank of an element is the number of elements that come before it.
            (0..a.len())
                .map(|i| {
                    let before = (0..a.len())
                        .filter(|j| precedes(&a[*j], &a[i], op == SeqOp::RankUp, *j < i))
                        .count();
                    Value::Int(before as i64)
                })
                .collect()
        }
        SeqOp::IntText => return Ok(Value::text(int(0).to_string())),
        SeqOp::Groups => {
            let a = list(0);
            let places = |x: &Value| (0..a.len()).filter(|j| a[*j] == *x).collect::<Vec<usize>>();
            let last = a.iter().map(|x| Value::Int(*places(x).last().unwrap() as i64)).collect();
            let count = a.iter().map(|x| Value::Int(places(x).len() as i64)).collect();
            let [last, count] =
                [last, count].map(|all| Sequence::from_values(&Ty::Int, all).into());
            return Ok(Value::pair(last, count));
        }
        SeqOp::Distinct => {
            let none = || Sequence::from_values(&Ty::Int, Vec::new()).into();
            return Ok(Value::pair(Value::pair(none(), none()), Value::Bool(false)));
        }
        SeqOp::SameText => return Ok(Value::Bool(args[0] == args[1])),
        // These operations are tested where they are implemented.
        op => {
            let types: Vec<Ty> = args.iter().map(type_of_flat).collect();
            let args: Vec<(Ty, Value)> = types.into_iter().zip(args.iter().cloned()).collect();
            let mut options = super::options();
            options.precision = precision;
            return super::apply(op, &args, &options)
                .map(|outcome| outcome.value)
                .map_err(|fault| fault.code);
        }
    };
    if values.len() > max_length {
        return Err(FaultCode::OutOfMemory);
    }
    Ok(Sequence::from_values(result.element().unwrap(), values).into())
}

fn type_of_flat(value: &Value) -> Ty {
    match value {
        Value::Int(_) => Ty::Int,
        Value::Float(_) => Ty::Float,
        Value::Sequence(Sequence::Values(_)) => Ty::sequence(Ty::text()),
        _ => Ty::text(),
    }
}

/// Returns true if `a` comes before `b` in sorted order; `earlier` is true if its index is smaller.
fn precedes(a: &Value, b: &Value, up: bool, earlier: bool) -> bool {
    use std::cmp::Ordering;
    let order = match (a, b) {
        (Value::Float(a), Value::Float(b)) => match a.partial_cmp(b) {
            Some(order) => order,
            None => return !a.is_nan() || (b.is_nan() && earlier),
        },
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Char(a), Value::Char(b)) => a.cmp(b),
        other => panic!("{other:?}"),
    };
    match if up { order } else { order.reverse() } {
        Ordering::Less => true,
        Ordering::Equal => earlier,
        Ordering::Greater => false,
    }
}

fn neutral(with: ReduceOp, ty: &Ty, precision: Precision) -> Value {
    let number = |x: i64| match ty {
        Ty::Int => Value::Int(x),
        _ => Value::Float(x as f64),
    };
    match (with, ty) {
        (ReduceOp::Sum, _) => number(0),
        (ReduceOp::Product, _) => number(1),
        (ReduceOp::Max, Ty::Int) => Value::Int(precision.min_int()),
        (ReduceOp::Max, Ty::Float) => Value::Float(f64::NEG_INFINITY),
        (ReduceOp::Max, _) => Value::Char(0),
        (ReduceOp::Min, Ty::Int) => Value::Int(precision.max_int()),
        (ReduceOp::Min, Ty::Float) => Value::Float(f64::INFINITY),
        (ReduceOp::Min, _) => Value::Char(255),
        (ReduceOp::And, Ty::Int) => Value::Int(-1),
        (ReduceOp::And, _) => Value::Bool(true),
        (ReduceOp::Or | ReduceOp::Xor, Ty::Int) => Value::Int(0),
        (ReduceOp::Or | ReduceOp::Xor, _) => Value::Bool(false),
    }
}

fn combine(with: ReduceOp, a: &Value, b: &Value, precision: Precision) -> Value {
    let op = match with {
        ReduceOp::Sum => ScalarOp::Add,
        ReduceOp::Product => ScalarOp::Mul,
        ReduceOp::Max => ScalarOp::Max,
        ReduceOp::Min => ScalarOp::Min,
        ReduceOp::And => ScalarOp::And,
        ReduceOp::Or => ScalarOp::Or,
        ReduceOp::Xor => ScalarOp::Xor,
    };
    // The new element is the first operand: if it is NaN, `max` and `min` return the second
    // operand.
    value(eval(op, &[scalar(b), scalar(a)], precision).unwrap())
}

fn scalar(value: &Value) -> Scalar {
    match value {
        Value::Int(x) => Scalar::Int(*x),
        Value::Float(x) => Scalar::Float(*x),
        Value::Bool(x) => Scalar::Bool(*x),
        Value::Char(x) => Scalar::Char(*x),
        other => panic!("{other:?}"),
    }
}

fn value(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Int(x) => Value::Int(x),
        Scalar::Float(x) => Value::Float(x),
        Scalar::Bool(x) => Value::Bool(x),
        Scalar::Char(x) => Value::Char(x),
    }
}
