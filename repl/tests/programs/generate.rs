//! Generates random programs: data, functions and forms.
//!
//! Every program terminates and is small enough to be interpreted: recursion consumes fuel, and
//! expensive expressions are not put inside nests. Operations that may fail are kept apart: a form
//! contains at most one, so that every order of evaluation finds the same failure.

use super::data;
use super::recursion;
use super::rows::{Bound, RISKY, Row, SAFE, admits};
use super::tree::{Expr, Form, Function, Pattern, Program, Shape, Ty};
use std::collections::HashMap;

/// The largest number of iterations of all nested apply-to-each expressions together.
const INSTANCES: usize = 3_000;

/// A source of random choices (xorshift).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn percent(&mut self, of_hundred: usize) -> bool {
        self.below(100) < of_hundred
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A variable in scope.
#[derive(Clone)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    /// The name of the sequence for which the variable is a valid index, if any.
    place_of: Option<String>,
    /// The variable that holds the side of the square. The variable described is an index of such
    /// squares or a square itself.
    side: Option<String>,
}

/// The approximate maximum side of a square.
const SIDE: usize = 8;

/// The indices of the rows, or of the columns, of a square.
const INDICES: &str = "[0:$0]";

/// A function that can be called.
#[derive(Clone)]
pub struct Callable {
    pub name: String,
    pub params: Vec<Ty>,
    pub result: Ty,
    /// True if its first parameter limits the depth of recursion.
    pub recursive: bool,
    pub risky: bool,
}

/// The permission to generate an operation that may fail.
#[derive(Clone, Copy, PartialEq)]
pub enum Risk {
    Never,
    Possible,
    /// The expression itself contains the operation that may fail.
    Taken,
    /// A called function contains the operation that may fail.
    Called,
}

pub struct Generator {
    pub rng: Rng,
    names: usize,
    pub scope: Vec<Variable>,
    /// The approximate maximum number of scalars that each variable holds.
    sizes: HashMap<String, usize>,
    pub callable: Vec<Callable>,
    pub risk: Risk,
    /// The number of iterations of the enclosing nests together.
    instances: usize,
    nests: usize,
}

/// Generates the program for a seed.
pub fn program(seed: u64) -> Program {
    let mut g = Generator {
        rng: Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        names: 0,
        scope: Vec::new(),
        sizes: HashMap::new(),
        callable: Vec::new(),
        risk: Risk::Never,
        instances: 1,
        nests: 0,
    };
    let mut program = Program { data: Vec::new(), functions: Vec::new(), forms: Vec::new() };
    for _ in 0..2 + g.rng.below(3) {
        let body = data::value(&mut g);
        g.global(&mut program, body);
    }
    if g.rng.percent(30) {
        let body = data::wide(&mut g);
        g.global(&mut program, body);
    }
    if g.rng.percent(30) {
        g.squares(&mut program);
    }
    if g.rng.percent(40) {
        let ty = g.result_ty();
        let body = g.expr(&ty, 8);
        g.global(&mut program, body);
    }
    for _ in 0..g.rng.below(3) {
        g.plain_function(&mut program.functions);
    }
    if g.rng.percent(60) {
        recursion::functions(&mut g, &mut program.functions);
    }
    for _ in 0..2 + g.rng.below(2) {
        g.risk = if g.rng.percent(30) { Risk::Possible } else { Risk::Never };
        let ty = g.result_ty();
        let budget = 6 + g.rng.below(40);
        let body = match g.side() {
            Some(side) if g.rng.percent(60) => {
                let levels = 1 + g.rng.below(2);
                g.table(&side, levels)
            }
            _ => g.expr(&ty, budget),
        };
        let risky = matches!(g.risk, Risk::Taken | Risk::Called);
        program.forms.push(Form { name: None, body, risky, loose: g.risk == Risk::Called });
    }
    program.without_unused()
}

impl Generator {
    pub fn fresh(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn global(&mut self, program: &mut Program, body: Expr) {
        let name = self.fresh('d');
        let size = self.size(&body);
        self.declare(&name, &body.ty, size);
        program.data.push(Form { name: Some(name), body, risky: false, loose: false });
    }

    /// A length, and one or two sequences of as many rows, each as long.
    fn squares(&mut self, program: &mut Program) {
        let body = data::side(self);
        self.global(program, body);
        let side = self.scope[self.scope.len() - 1].name.clone();
        for _ in 0..1 + self.rng.below(2) {
            let body = data::square(self, &side);
            self.global(program, body);
            let at = self.scope.len() - 1;
            self.scope[at].side = Some(side.clone());
        }
    }

    /// Puts a variable in scope.
    pub fn declare(&mut self, name: &str, ty: &Ty, size: usize) {
        self.sizes.insert(name.to_owned(), size);
        self.scope.push(Variable {
            name: name.to_owned(),
            ty: ty.clone(),
            place_of: None,
            side: None,
        });
    }

    /// Generates an expression with additional variables in scope.
    pub fn within<T>(
        &mut self,
        declare: impl FnOnce(&mut Self),
        make: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outside = self.scope.len();
        declare(self);
        let made = make(self);
        self.scope.truncate(outside);
        made
    }

    /// Generates a function without recursion.
    fn plain_function(&mut self, functions: &mut Vec<Function>) {
        let params: Vec<(String, Ty)> =
            (0..1 + self.rng.below(3)).map(|_| (self.fresh('v'), self.some_ty(2))).collect();
        self.risk = if self.rng.percent(15) { Risk::Possible } else { Risk::Never };
        let result = self.some_ty(2);
        let budget = 3 + self.rng.below(8);
        let body = self.function_body(&params, |g| g.expr(&result, budget));
        let name = self.fresh('g');
        self.callable.push(Callable {
            name: name.clone(),
            params: params.iter().map(|(_, ty)| ty.clone()).collect(),
            result,
            recursive: false,
            risky: matches!(self.risk, Risk::Taken | Risk::Called),
        });
        self.risk = Risk::Never;
        functions.push(Function { name, params, body });
    }

    /// Generates the body of a function, which may be executed many times.
    pub fn function_body(
        &mut self,
        params: &[(String, Ty)],
        make: impl FnOnce(&mut Self) -> Expr,
    ) -> Expr {
        let instances = std::mem::replace(&mut self.instances, 30);
        let declare = |g: &mut Self| {
            for (name, ty) in params {
                g.declare(name, ty, if ty.is_scalar() { 1 } else { 12 });
            }
        };
        let body = self.within(declare, make);
        self.instances = instances;
        body
    }

    /// Returns an approximate upper bound of the number of scalars in a value.
    pub fn size(&self, expr: &Expr) -> usize {
        if expr.ty.is_scalar() {
            return 1;
        }
        let all = |g: &Self| expr.args.iter().map(|arg| g.size(arg)).sum::<usize>();
        let size = match &expr.shape {
            Shape::Literal(text) => text.len().min(10),
            Shape::Var(name) => self.sizes.get(name).copied().unwrap_or(8),
            Shape::Op(INDICES) => SIDE,
            Shape::Op(template) if template.contains("[0:$0]") => 300,
            Shape::Op(_) => 6 + 2 * all(self),
            Shape::List => all(self),
            Shape::Call(_) => 30 + 4 * all(self),
            Shape::Let(_) => self.size(&expr.args[1]),
            Shape::If => self.size(&expr.args[1]).max(self.size(&expr.args[2])),
            Shape::Each(patterns) => {
                self.size(&expr.args[0]).saturating_mul(self.size(&expr.args[patterns.len()]))
            }
        };
        size.clamp(1, 1 << 20)
    }

    /// Chooses a type with at most the given levels of nesting.
    pub fn some_ty(&mut self, levels: usize) -> Ty {
        match self.rng.below(if levels == 0 { 11 } else { 22 }) {
            0..=3 => Ty::Int,
            4..=6 => Ty::Float,
            7 => Ty::Bool,
            8 => Ty::Char,
            9 => Ty::Near,
            10 => Ty::pair(self.some_ty(levels), self.some_ty(levels.min(1))),
            11 => Ty::Duo,
            12 => Ty::seq(Ty::pair(Ty::Int, self.some_ty(levels - 1))),
            13 => Ty::seq(Ty::Char),
            _ => Ty::seq(self.some_ty(levels - 1)),
        }
    }

    /// Chooses the result type of a form, preferably a sequence type that occurs in the data.
    fn result_ty(&mut self) -> Ty {
        match self.rng.below(6) {
            0 => self.some_ty(3),
            1 => self.ty_in('a'),
            2 | 3 => Ty::seq(self.ty_in('a')),
            4 => Ty::seq(Ty::seq(self.some_ty(0))),
            _ => Ty::seq(self.some_ty(1)),
        }
    }

    /// Chooses a type in a type class, preferably that of a variable in scope.
    fn ty_in(&mut self, class: char) -> Ty {
        let mut known: Vec<Ty> = Vec::new();
        for variable in &self.scope {
            let mut ty = Some(&variable.ty);
            while let Some(here) = ty {
                if admits(class, here) {
                    known.push(here.clone());
                }
                ty = here.element();
            }
        }
        if !known.is_empty() && self.rng.percent(70) {
            return self.rng.pick(&known).clone();
        }
        loop {
            let ty = self.some_ty(1);
            if admits(class, &ty) {
                return ty;
            }
        }
    }

    /// Generates an expression of a type with about as many operations as the budget allows.
    pub fn expr(&mut self, ty: &Ty, budget: usize) -> Expr {
        if budget == 0 || self.rng.percent(8) {
            return self.leaf(ty);
        }
        if self.risk == Risk::Possible
            && self.rng.percent(25)
            && let Some(made) = self.row(&RISKY, ty, budget, true)
        {
            return made;
        }
        match self.rng.below(100) {
            0..12 if budget > 2 => self.bind(ty, budget),
            12..22 if budget > 2 => {
                let cond = self.expr(&Ty::Bool, budget / 4);
                let then = self.expr(ty, budget / 2);
                Expr::choice(cond, then, self.expr(ty, budget / 2))
            }
            22..34 => match self.call(ty, budget) {
                Some(call) => call,
                None => self.operation(ty, budget),
            },
            34..70 if budget > 1 && self.nests < 4 => match ty {
                Ty::Seq(element) => self.each(&element.clone(), budget),
                _ => self.reduced(ty, budget),
            },
            70..76 => match ty {
                Ty::Seq(element) => {
                    let share = budget / 3;
                    let args = (0..1 + self.rng.below(3)).map(|_| self.expr(element, share));
                    Expr::new(ty.clone(), Shape::List, args.collect())
                }
                _ => self.operation(ty, budget),
            },
            _ => self.operation(ty, budget),
        }
    }

    /// Generates a variable or a constant.
    fn leaf(&mut self, ty: &Ty) -> Expr {
        let fit = |v: &&Variable| v.ty == *ty;
        let known: Vec<Variable> = self.scope.iter().filter(fit).cloned().collect();
        // An index variable can be used to take an element of the sequence it belongs to.
        let places: Vec<Variable> =
            self.scope.iter().filter(|v| v.place_of.is_some()).cloned().collect();
        for place in places {
            let of = place.place_of.as_deref().unwrap_or_default();
            let Some(of) = self.scope.iter().find(|v| v.name == of) else { continue };
            if of.ty.element() == Some(ty) && self.rng.percent(60) {
                let of = Expr::var(of.ty.clone(), &of.name).fixed();
                let place = Expr::var(Ty::Int, &place.name).fixed();
                let before = self.rng.percent(25);
                let template = if before { "$0[max($1 - 1, 0)]" } else { "$0[$1]" };
                return Expr::op(ty.clone(), template, vec![of, place]);
            }
        }
        if self.rng.percent(70)
            && let Some(element) = self.element_of_square(ty)
        {
            return element;
        }
        if !known.is_empty() && self.rng.percent(85) {
            // The maximum of two draws prefers variables that were bound later, which are nested
            // more deeply.
            let at = self.rng.below(known.len()).max(self.rng.below(known.len()));
            return Expr::var(ty.clone(), &known[at].name);
        }
        if let Some(part) = self.part_of_variable(ty) {
            return part;
        }
        if let Ty::Pair(first, second) = ty {
            let both = vec![self.leaf(first), self.leaf(second)];
            return Expr::op(ty.clone(), "($0, $1)", both);
        }
        data::literal(self, ty)
    }

    /// Generates an element or a row of a square, at indices in scope.
    fn element_of_square(&mut self, ty: &Ty) -> Option<Expr> {
        let mut found: Vec<(Expr, Vec<Expr>)> = Vec::new();
        for square in &self.scope {
            let (Some(row), Some(side)) = (square.ty.element(), &square.side) else { continue };
            if ty != row && Some(ty) != row.element() {
                continue;
            }
            let is_index = |v: &&Variable| v.ty == Ty::Int && v.side.as_ref() == Some(side);
            let indices = self.scope.iter().filter(is_index);
            let indices: Vec<Expr> = indices.map(|v| Expr::var(Ty::Int, &v.name).fixed()).collect();
            if !indices.is_empty() {
                found.push((Expr::var(square.ty.clone(), &square.name).fixed(), indices));
            }
        }
        if found.is_empty() {
            return None;
        }
        let (square, indices) = self.rng.pick(&found).clone();
        let mut args = vec![square, self.rng.pick(&indices).clone()];
        if args[0].ty.element() == Some(ty) {
            return Some(Expr::op(ty.clone(), "$0[$1]", args));
        }
        args.push(self.rng.pick(&indices).clone());
        Some(Expr::op(ty.clone(), "$0[$1][$2]", args))
    }

    /// Chooses the side of one of the squares in scope.
    fn side(&mut self) -> Option<String> {
        let is_square = |v: &&Variable| v.side.is_some() && v.ty != Ty::Int;
        let sides: Vec<String> =
            self.scope.iter().filter(is_square).filter_map(|v| v.side.clone()).collect();
        if sides.is_empty() { None } else { Some(self.rng.pick(&sides).clone()) }
    }

    /// Generates an apply-to-each over the indices of squares with a common side.
    fn over_indices(&mut self, side: &str, body: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let over = Expr::op(Ty::seq(Ty::Int), INDICES, vec![Expr::var(Ty::Int, side).fixed()]);
        let name = self.fresh('v');
        let before = (self.instances, self.nests);
        self.instances *= SIDE;
        self.nests += 1;
        let outside = self.scope.len();
        self.declare(&name, &Ty::Int, 1);
        self.scope[outside].side = Some(side.to_owned());
        let body = body(self);
        self.scope.truncate(outside);
        (self.instances, self.nests) = before;
        let (ty, patterns) = (Ty::seq(body.ty.clone()), vec![Pattern::Name(name)]);
        Expr::new(ty, Shape::Each(patterns), vec![over.fixed(), body])
    }

    /// A nest over indices, some levels deep, that reduces elements found by them.
    fn table(&mut self, side: &str, levels: usize) -> Expr {
        if levels > 0 {
            return self.over_indices(side, |g| g.table(side, levels - 1));
        }
        let (ty, both, all): (_, &[_], &[_]) = match self.rng.below(3) {
            0 => (Ty::Near, &["(min($0, 1.0e6) * min($1, 1.0e6))"], &["sum($0)", "max_val($0)"]),
            _ => (Ty::Int, &["($0 * $1)", "max($0, $1)"], &["sum($0)", "min_val($0)"]),
        };
        let (both, all) = (*self.rng.pick(both), *self.rng.pick(all));
        let elements = self.over_indices(side, |g| {
            let args = vec![g.expr(&ty, 2), g.expr(&ty, 0)];
            Expr::op(ty.clone(), both, args)
        });
        Expr::op(ty, all, vec![elements])
    }

    /// Something of a type that a variable in scope has in it.
    fn part_of_variable(&mut self, ty: &Ty) -> Option<Expr> {
        let mut found: Vec<(&Variable, &'static str)> = Vec::new();
        for variable in &self.scope {
            match &variable.ty {
                Ty::Seq(element) if **element == *ty => found.push((variable, "last_or($0, $1)")),
                Ty::Seq(element) if element.element() == Some(ty) => {
                    found.push((variable, "last_or(flatten($0), $1)"));
                }
                Ty::Pair(first, _) if **first == *ty => {
                    found.push((variable, "(let (q, p) = $0 in q)"));
                }
                Ty::Pair(_, second) if **second == *ty => {
                    found.push((variable, "(let (q, p) = $0 in p)"));
                }
                Ty::Seq(_) if *ty == Ty::Int => found.push((variable, "(#$0)")),
                Ty::Float if *ty == Ty::Int => found.push((variable, "btoi($0 > 0.5)")),
                Ty::Int if *ty == Ty::Float => found.push((variable, "float($0)")),
                Ty::Int if *ty == Ty::Bool => found.push((variable, "oddp($0)")),
                Ty::Seq(_) if *ty == Ty::Bool => found.push((variable, "(#$0 > 2)")),
                _ => {}
            }
        }
        if found.is_empty() || self.rng.percent(25) {
            return None;
        }
        let at = self.rng.below(found.len()).max(self.rng.below(found.len()));
        let (variable, template) = found[at];
        let mut args = vec![Expr::var(variable.ty.clone(), &variable.name)];
        if template.contains("$1") {
            args.push(data::literal(self, ty));
        }
        Some(Expr::op(ty.clone(), template, args))
    }

    /// Generates an operation from the table.
    fn operation(&mut self, ty: &Ty, budget: usize) -> Expr {
        match self.row(&SAFE, ty, budget, false) {
            Some(made) => made,
            None => self.leaf(ty),
        }
    }

    fn row(&mut self, rows: &'static [Row], ty: &Ty, budget: usize, risky: bool) -> Option<Expr> {
        let mut fit: Vec<(&Row, Bound)> = Vec::new();
        for row in rows {
            let mut bound = Bound::new();
            if row.result.matches(ty, &mut bound) {
                fit.push((row, bound));
            }
        }
        if fit.is_empty() {
            return None;
        }
        let (row, bound) = self.rng.pick(&fit);
        let (row, mut bound) = (*row, bound.clone());
        if risky {
            self.risk = Risk::Taken;
        }
        let types: Vec<Ty> = row
            .args
            .iter()
            .map(|code| code.ty(&mut bound, &mut |class| self.ty_in(class)))
            .collect();
        let share = (budget - 1) / types.len().max(1);
        let args: Vec<Expr> = types.iter().map(|ty| self.expr(ty, share)).collect();
        Some(Expr::op(ty.clone(), row.template, args))
    }

    /// Generates a `let`.
    fn bind(&mut self, ty: &Ty, budget: usize) -> Expr {
        let of = self.ty_in('a');
        let value = self.expr(&of, budget / 2);
        let size = self.size(&value);
        let outside = self.scope.len();
        let pattern = self.pattern(&of, size);
        let body = self.expr(ty, budget - budget / 2 - 1);
        self.scope.truncate(outside);
        Expr::new(ty.clone(), Shape::Let(pattern), vec![value, body])
    }

    /// Generates a pattern for a type and declares its variables.
    fn pattern(&mut self, ty: &Ty, size: usize) -> Pattern {
        match ty {
            Ty::Pair(first, second) if self.rng.percent(65) => {
                let first = self.pattern(first, size);
                Pattern::Pair(Box::new((first, self.pattern(second, size))))
            }
            Ty::Duo if self.rng.percent(65) => {
                let first = self.pattern(&Ty::Int, 1);
                Pattern::Duo(Box::new((first, self.pattern(&Ty::seq(Ty::Int), size))))
            }
            _ => {
                let name = self.fresh('v');
                self.declare(&name, ty, if ty.is_scalar() { 1 } else { size });
                Pattern::Name(name)
            }
        }
    }

    /// Generates a call of one of the functions of the program.
    fn call(&mut self, ty: &Ty, budget: usize) -> Option<Expr> {
        let room = INSTANCES / self.instances;
        let risk = self.risk;
        let fits = |f: &&Callable| {
            f.result == *ty
                && (!f.recursive || room >= 100)
                && (!f.risky || matches!(risk, Risk::Possible | Risk::Called))
        };
        let fit: Vec<Callable> = self.callable.iter().filter(fits).cloned().collect();
        if fit.is_empty() {
            return None;
        }
        let callable = self.rng.pick(&fit).clone();
        if callable.risky {
            self.risk = Risk::Called;
        }
        let share = budget / callable.params.len().max(1);
        let mut args = Vec::new();
        for (place, param) in callable.params.iter().enumerate() {
            let arg = self.expr(param, share);
            args.push(if place == 0 && callable.recursive {
                Expr::op(Ty::Int, "mod($0, 4)", vec![arg]).fixed()
            } else if callable.recursive && self.size(&arg) > 60 {
                self.leaf(param)
            } else {
                arg
            });
        }
        Some(Expr::new(ty.clone(), Shape::Call(callable.name), args))
    }

    /// Generates an apply-to-each whose result is reduced or indexed, so that it is not a sequence.
    fn reduced(&mut self, ty: &Ty, budget: usize) -> Expr {
        let template: &[&str] = match ty {
            Ty::Int => &["sum($0)", "max_val($0)", "parity($0)", "product($0)", "min_val($0)"],
            Ty::Float => &["max_val($0)", "min_val($0)"],
            Ty::Near => &["sum($0)", "max_val($0)"],
            Ty::Bool => &["any($0)", "all($0)"],
            Ty::Char => &["max_val($0)"],
            Ty::Duo | Ty::Pair(..) | Ty::Seq(_) => return self.operation(ty, budget),
        };
        let template = *self.rng.pick(template);
        let of = self.each(ty, budget - 1);
        Expr::op(ty.clone(), template, vec![of])
    }

    /// Generates an apply-to-each whose body has the given type.
    pub fn each(&mut self, element: &Ty, budget: usize) -> Expr {
        if self.instances * SIDE <= INSTANCES
            && self.rng.percent(50)
            && let Some(side) = self.side()
        {
            return self.over_indices(&side, |g| g.expr(element, budget.saturating_sub(2)));
        }
        let room = INSTANCES / self.instances;
        let count = if budget < 4 { 1 } else { [1, 1, 1, 1, 2, 2, 3][self.rng.below(7)] };
        let fits = |v: &&Variable| v.ty.levels() > 0 && self.sizes[&v.name] <= room;
        let known: Vec<Variable> =
            self.scope.iter().filter(fits).filter(|v| v.ty.element().is_some()).cloned().collect();
        // First, the sequence it goes over is chosen.
        let mut value = None;
        let of = if !known.is_empty() && self.rng.percent(75) {
            let at = self.rng.below(known.len()).max(self.rng.below(known.len()));
            Expr::var(known[at].ty.clone(), &known[at].name)
        } else {
            let ty = Ty::seq(self.ty_in('a'));
            let mut of = self.expr(&ty, budget / 3);
            if self.size(&of) > room {
                of = data::literal(self, &ty);
            }
            if count > 1 || self.rng.percent(30) {
                let name = self.fresh('v');
                self.sizes.insert(name.clone(), self.size(&of));
                value = Some((name.clone(), of.clone()));
                of = Expr::var(ty, &name);
            }
            of
        };
        let size = self.size(&of);
        let over = of.ty.element().expect("it is a sequence").clone();
        let outside = self.scope.len();
        if let Some((name, value)) = &value {
            self.declare(name, &value.ty, size);
        }
        let mut sources = Vec::new();
        let mut places = false;
        if let Shape::Var(_) = of.shape {
            // The other sequences must have the same length.
            places = self.rng.percent(15);
            sources.push(if places {
                Expr::op(Ty::seq(Ty::Int), "index(#$0)", vec![of.clone().fixed()]).fixed()
            } else if count > 1 {
                of.clone().fixed()
            } else {
                of.clone()
            });
            for _ in 1..count {
                sources.push(self.as_long_as(&of, budget / 4));
            }
        } else {
            sources.push(of.clone());
        }
        let mut patterns = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            let element =
                if at == 0 && !places { &over } else { source.ty.element().expect("one") };
            let before = self.scope.len();
            patterns.push(self.pattern(&element.clone(), size));
            if at == 0
                && places
                && let Shape::Var(name) = &of.shape
            {
                self.scope[before].place_of = Some(name.clone());
            }
        }
        let before = (self.instances, self.nests);
        self.instances = (self.instances * size.clamp(1, 64)).min(INSTANCES);
        self.nests += 1;
        let budget = if size > 100 { budget.min(9) } else { budget };
        let sieve = (self.rng.percent(25)).then(|| self.expr(&Ty::Bool, budget / 4));
        let body = self.expr(element, budget - budget / 3 - 1);
        (self.instances, self.nests) = before;
        self.scope.truncate(outside);
        let mut args = sources;
        args.push(body);
        args.extend(sieve);
        let each = Expr::new(Ty::seq(element.clone()), Shape::Each(patterns), args);
        match value {
            Some((name, value)) => Expr::bind(&name, value, each),
            None => each,
        }
    }

    /// Generates a sequence with the same length as the one in a variable.
    fn as_long_as(&mut self, of: &Expr, budget: usize) -> Expr {
        let whole = of.clone().fixed();
        let ints = Ty::seq(Ty::Int);
        let made = match self.rng.below(9) {
            0 | 1 => whole,
            2 => Expr::op(ints, "index(#$0)", vec![whole]),
            3 => Expr::op(of.ty.clone(), "reverse($0)", vec![whole]),
            4 => {
                let by = self.expr(&Ty::Int, budget.min(1));
                Expr::op(of.ty.clone(), "rotate($0, $1)", vec![whole, by])
            }
            5 => {
                let ty = self.ty_in('a');
                let value = self.expr(&ty, budget);
                Expr::op(Ty::seq(ty), "dist($1, #$0)", vec![whole, value])
            }
            6 => {
                let ty = self.ty_in('a');
                let (fill, other) = (self.leaf(&ty), self.expr(&Ty::seq(ty.clone()), budget));
                let template = "take($1 ++ dist($2, #$0), #$0)";
                Expr::op(Ty::seq(ty), template, vec![whole, other, fill])
            }
            7 if of.ty == ints => Expr::op(ints, "plus_scan($0)", vec![whole]),
            _ => {
                let ty = self.ty_in('a');
                let element = of.ty.element().expect("it is a sequence").clone();
                let name = self.fresh('v');
                let before = self.instances;
                let size = self.size(of);
                self.instances = (self.instances * size.clamp(1, 64)).min(INSTANCES);
                let body =
                    self.within(|g| g.declare(&name, &element, size), |g| g.expr(&ty, budget));
                self.instances = before;
                let patterns = vec![Pattern::Name(name)];
                Expr::new(Ty::seq(ty), Shape::Each(patterns), vec![whole, body])
            }
        };
        made.fixed()
    }
}
