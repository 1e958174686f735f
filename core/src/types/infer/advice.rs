//! Suggestions for calls whose argument does not fit.
//!
//! Each function below covers one family of mistakes and returns `None` if the call is none of them; the
//! first that applies gives the suggestion.

mod miscounted;

use super::{Infer, MemberTypes, brief};
use crate::base::{Diagnostic, Loc, Name};
use crate::syntax::ast::{Expr, ExprId};
use crate::types::Ty;

pub(super) use miscounted::miscounted;

/// The comparisons, which are defined only on ordinals.
const COMPARISONS: [&str; 8] = ["==", "/=", "<", ">", "<=", ">=", "max", "min"];

/// A call whose argument does not fit.
struct Misfit<'a, 'b> {
    infer: &'a Infer<'b>,
    body: &'a MemberTypes<'a>,
    /// The location of the function or operator.
    at: Loc,
    /// The name of the function, in lower case.
    name: &'a str,
    /// The name as it is written.
    written: &'a Name,
    operands: &'a [ExprId],
    /// The types of the operands, their outermost variables resolved.
    types: Vec<Ty>,
    /// The types that the function takes, resolved; none for operators.
    wanted: Vec<Ty>,
    /// True if the function is not one of the library.
    of_user: bool,
}

/// A suggestion: its text, and the edit that follows it.
struct Advice {
    text: String,
    edit: Option<(Loc, String)>,
}

impl Advice {
    fn hint(text: impl Into<String>) -> Option<Advice> {
        Some(Advice { text: text.into(), edit: None })
    }

    fn fix(text: &str, at: Loc, replacement: impl Into<String>) -> Option<Advice> {
        Some(Advice { text: text.to_owned(), edit: Some((at, replacement.into())) })
    }
}

impl Infer<'_> {
    /// Adds a suggestion of what the author of the call probably meant.
    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    pub(super) fn call_hint(
        &self,
        body: &MemberTypes<'_>,
        report: Diagnostic<Loc>,
        at: Loc,
        name: &Name,
        operands: &[ExprId],
        types: &[Ty],
        fun: Option<ExprId>,
    ) -> Diagnostic<Loc> {
        let types: Vec<Ty> = types.iter().map(|ty| self.unifier.resolved(ty)).collect();
        let wanted = match fun.and_then(|fun| self.wanted(body, fun)) {
            Some((_, _, param)) => parts(&param, operands.len()),
            None => Vec::new(),
        };
        let name_of = name.folded();
        let of_user = fun.is_some_and(|fun| self.defined_at(body, fun).is_some());
        let call = Misfit {
            infer: self,
            body,
            at,
            name: name_of,
            written: name,
            operands,
            types,
            wanted,
            of_user,
        };
        let advice = if call.types.iter().any(|ty| matches!(ty, Ty::Function(_))) {
            match &call.types[..] {
                [Ty::Function(_), _] if call.name == "-" => {
                    Advice::hint("read as a subtraction; to call the function write `g(-x)`")
                }
                [_, Ty::Function(_)] if matches!(call.name, "+" | "-" | "*" | "/") => {
                    let function = call.called(1, "g");
                    Advice::hint(format!(
                        "`{function}` alone is the function; it is called as `{function}(x)`, and with a negative number as `{function}(-3)`"
                    ))
                }
                _ => call.mapped(),
            }
        } else {
            call.indexed()
                .or_else(|| call.comparison())
                .or_else(|| call.number())
                .or_else(|| call.append())
                .or_else(|| call.tables())
                .or_else(|| call.elementwise())
                .or_else(|| call.argument())
                .or_else(|| call.sequences_of_numbers())
        };
        match advice {
            Some(Advice { text, edit: Some((at, replacement)) }) => {
                report.fix(text, at, replacement)
            }
            Some(Advice { text, edit: None }) => report.hint(text),
            None => report,
        }
    }
}

impl Misfit<'_, '_> {
    fn has(&self, ty: &Ty) -> bool {
        self.types.contains(ty)
    }

    /// Returns the literal of an operand.
    fn literal(&self, operand: usize) -> Option<(&Expr, Loc)> {
        let id = *self.operands.get(operand)?;
        Some((&self.body.member.item.exprs[id], self.body.at(id)))
    }

    /// Returns what an operand is replaced by: an argument alone takes its parentheses along.
    fn in_place(&self, text: String) -> String {
        let alone = self.operands.len() == 1 && !self.wanted.is_empty();
        if alone { format!("({text})") } else { text }
    }

    /// Returns the char of an operand that is a string of one char.
    fn one_char(&self, operand: usize) -> Option<(char, Loc)> {
        match self.literal(operand)? {
            (Expr::Text(text), at) => match &text[..] {
                [byte] if byte.is_ascii_graphic() => Some((char::from(*byte), at)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the advice to write a string of one char as a char.
    fn as_char(&self, c: char, at: Loc) -> Option<Advice> {
        let text = format!("a char is written with a back-quote: `` `{c} ``");
        Advice::fix(&text, at, self.in_place(format!("`{c}")))
    }

    /// Returns how an operand is written in advice: as it is if it is short.
    fn called(&self, operand: usize, otherwise: &str) -> String {
        let id = self.operands.get(operand);
        id.and_then(|id| brief::operand(self.body, *id)).unwrap_or_else(|| otherwise.to_owned())
    }

    /// Returns how an operand is called in advice: by its name if it is a variable.
    fn named(&self, operand: usize, otherwise: &str) -> String {
        match self.literal(operand) {
            Some((Expr::Name(name), _)) => name.to_string(),
            _ => otherwise.to_owned(),
        }
    }

    /// Returns advice on a function applied to a sequence where it is meant to be applied to an element, `not seen[v]`.
    fn indexed(&self) -> Option<Advice> {
        let ([operand], [Ty::Sequence(_)]) = (self.operands, &self.types[..]) else { return None };
        let exprs = || self.body.member.item.exprs.iter();
        let is_call = |expr: &Expr| matches!(expr, Expr::Call { arg, .. } if arg == operand);
        let (call, _) = exprs().find(|(_, expr)| is_call(expr))?;
        let is_index =
            |expr: &Expr| matches!(expr, Expr::Index { sequence, .. } if *sequence == call);
        exprs().find(|(_, expr)| is_index(expr))?;
        let (name, of) = (self.written, self.called(0, "a"));
        Advice::hint(format!(
            "`{name} {of}[i]` is `({name} {of})[i]`, since functions are applied first: write `{name}({of}[i])`"
        ))
    }

    /// Returns advice on chained comparisons, comparisons of other types than ordinals, and operators on bools or strings
    /// that have another meaning in NESL.
    fn comparison(&self) -> Option<Advice> {
        let compares = COMPARISONS.contains(&self.name);
        // `(a > y) == (b > y)` compares two bools.
        if compares
            && self.types.get(1) != Some(&Ty::Bool)
            && let Expr::Binary { op, .. } = &self.body.member.item.exprs[self.operands[0]]
            && COMPARISONS.contains(&op.name())
        {
            return Advice::hint("comparisons do not chain: write `a < b and b < c`");
        }
        if self.name == "||" && self.types.first() != Some(&Ty::Char.sequence()) {
            return Advice::fix(
                "`||` pads a string with blanks; `or` joins whole comparisons: `c == a or c == b`",
                self.at,
                "or",
            );
        }
        if self.name == "||" {
            return Advice::hint("`s || n` pads a string with blanks until it has n chars");
        }
        if matches!(self.name, "or" | "and")
            && self.has(&Ty::Bool)
            && !self.types.iter().any(|ty| matches!(ty, Ty::Sequence(_)))
        {
            let name = self.name;
            return Advice::hint(format!(
                "`{name}` joins whole comparisons: `x == a {name} x == b`"
            ));
        }
        let string = Ty::Char.sequence();
        if self.name == "+" && self.types.iter().all(|ty| *ty == string) {
            return Advice::fix("`++` joins strings", self.at, "++");
        }
        if self.name == "+" && self.has(&string) {
            return Advice::hint(
                "`++` joins strings, and `@` makes one of any value: `\"x = \" ++ @x`",
            );
        }
        if compares && self.has(&Ty::Char) && self.has(&string) {
            return match (0..self.types.len()).find_map(|at| self.one_char(at)) {
                Some((c, at)) => self.as_char(c, at),
                None => Advice::hint("`[c]` is the string of one char `c`; `eql` compares strings"),
            };
        }
        let no_ordinal = self.types.iter().all(|ty| !matches!(ty, Ty::Int | Ty::Float | Ty::Char));
        if compares && no_ordinal && self.types.len() == 2 {
            return Advice::hint(match self.name {
                "==" => "compare with `eql(a, b)`, which works for every type",
                "/=" => "compare with `not(eql(a, b))`, which works for every type",
                _ if self.types.iter().all(|ty| *ty == string) => {
                    "only int, float and char have an order; `string_sort(a)` sorts strings, and `string_rank([a, b])` ranks two"
                }
                _ => "only int, float and char have an order",
            });
        }
        None
    }

    /// Returns advice on ints where floats are required, and the reverse.
    fn number(&self) -> Option<Advice> {
        if self.name == "dist" && self.types.get(1).is_some_and(|n| *n != Ty::Int) {
            let turned = self.types.first() == Some(&Ty::Int);
            return Advice::hint(match &self.types[1] {
                Ty::Sequence(of) if turned && **of == Ty::Int => {
                    "`dist(x, n)` has n times `x`; for each of several numbers: `{dist(x, n) : n in ns}`"
                }
                Ty::Float | Ty::Sequence(_) if turned => {
                    "`dist(x, n)` has n times `x`: the value comes first"
                }
                _ => return None,
            });
        }
        if self.name == "^" && self.types.get(1) == Some(&Ty::Float) {
            return Advice::hint("`^` takes an int power; for floats use `expt(v, p)`");
        }
        if self.has(&Ty::Int) && self.has(&Ty::Float) {
            // An int where the function takes no other is in its place.
            let ints: Vec<usize> = (0..self.types.len())
                .filter(|at| self.types[*at] == Ty::Int && self.wanted.get(*at) != Some(&Ty::Int))
                .collect();
            let literals: Vec<(i64, Loc)> = ints
                .iter()
                .filter_map(|at| match self.literal(*at)? {
                    (Expr::Int(value), at) => Some((*value, at)),
                    _ => None,
                })
                .collect();
            // A function of ints says itself that the float is wrong.
            if ints.is_empty() {
                return None;
            }
            return match literals[..] {
                [(value, at)] if ints.len() == 1 => {
                    Advice::fix("int and float never mix; write a float", at, format!("{value}.0"))
                }
                [_, _, ..] if ints.len() == literals.len() => {
                    let floats: Vec<String> =
                        literals.iter().map(|(value, _)| format!("`{value}.0`")).collect();
                    Advice::hint(format!(
                        "int and float never mix; write floats: {}",
                        floats.join(", ")
                    ))
                }
                [(value, at)] if self.types.len() == 2 => {
                    Advice::fix("int and float never mix; write a float", at, format!("{value}.0"))
                }
                _ => Advice::hint(
                    "int and float are never converted implicitly: convert with `float(…)`, `round(…)`, `trunc(…)`",
                ),
            };
        }
        None
    }

    /// Returns advice on `++` of values that are not sequences, and on chars with ints.
    fn append(&self) -> Option<Advice> {
        let not_sequence = |ty: &Ty| !matches!(ty, Ty::Sequence(_) | Ty::Var(_) | Ty::Error);
        if self.name == "++" && self.types.iter().any(not_sequence) {
            let first = self.operands.first().map(|e| &self.body.member.item.exprs[*e]);
            return Advice::hint(match first {
                Some(Expr::Call { .. }) if self.types.first() == Some(&Ty::Bool) => {
                    "a call comes before `++`: write `g(a ++ b)`"
                }
                Some(Expr::Unary { .. }) => {
                    "unary operators bind tighter than `++`: write `#(a ++ b)`"
                }
                _ if self.has(&Ty::Char.sequence()) && !self.has(&Ty::Char) => {
                    let string = Ty::Char.sequence();
                    let other = self.types.iter().position(|ty| *ty != string).unwrap_or(0);
                    return Some(self.as_text(other));
                }
                _ => "`++` joins sequences: write `[x]` for one element",
            });
        }
        // An element of the type of the others, whose class alone is known.
        if let ("++", [a, b]) = (self.name, &self.types[..])
            && (matches!((a, b), (Ty::Sequence(_), Ty::Var(_)) | (Ty::Var(_), Ty::Sequence(_))))
        {
            let one = usize::from(matches!(b, Ty::Var(_)));
            return Advice::hint(format!(
                "`++` joins sequences: write `[{}]` for one element",
                self.called(one, "x")
            ));
        }
        if matches!(self.name, "+" | "-") && self.has(&Ty::Char) {
            return Advice::hint(
                "`char_code(c)` is the code of a char, an int; `code_char(i)` is the char of a code",
            );
        }
        if self.name == "dist" && self.types.first() == Some(&Ty::Int) && self.has(&Ty::Char) {
            return Advice::hint("the arguments fit the other way round");
        }
        if self.has(&Ty::Char) && self.has(&Ty::Int) {
            return Advice::hint("convert with `char_code(c)` and `code_char(i)`");
        }
        None
    }

    /// Returns the advice to make a string of an operand.
    fn as_text(&self, operand: usize) -> Advice {
        let text = "`@` makes a string of any value";
        match self.literal(operand) {
            Some((Expr::Name(name), at)) => Advice {
                text: text.to_owned(),
                edit: Some((at, self.in_place(format!("@{name}")))),
            },
            Some((Expr::Int(value), at)) => Advice {
                text: text.to_owned(),
                edit: Some((at, self.in_place(format!("@{value}")))),
            },
            _ => Advice { text: format!("{text}: `\"x = \" ++ @x`"), edit: None },
        }
    }

    /// Returns advice on reading and writing several elements, on tuples as numbers, and on the number
    /// of arguments.
    fn tables(&self) -> Option<Advice> {
        let compound = |ty: &Ty| matches!(ty, Ty::Pair(..) | Ty::Record(..));
        match (self.name, &self.types[..]) {
            ("<-" | "write", _) => Advice::hint(format!(
                "`{a} <- [(i, x)]` is `{a}` with `x` at index `i`",
                a = self.named(0, "a")
            )),
            ("->" | "get", [_, Ty::Sequence(_)]) => Advice::hint("the indices are ints"),
            ("->" | "get", _) => Advice::hint(format!(
                "the elements at several indices are `{a} -> [i, j]`, one is `{a}[i]`",
                a = self.named(0, "a")
            )),
            ("int_collect", [Ty::Sequence(of)]) if matches!(&**of, Ty::Pair(key, _) if **key != Ty::Int) => {
                Advice::hint("`collect` groups by keys of any type, `int_collect` by ints")
            }
            ("search_table", _) => Advice::hint(
                "the keys are a sequence, and come first: `search_table([key], table)`",
            ),
            ("#" | "length", [ty]) if !compound(ty) => Advice::hint("only a sequence has a length"),
            ("+" | "-" | "*" | "/", types) if let Some(at) = types.iter().position(compound) => {
                let tuple = self.named(at, "p");
                match &types[at] {
                    Ty::Record(record, _) => Advice::hint(format!(
                        "a record is taken apart by a pattern: `let {}(…) = {tuple} in …`",
                        record.name
                    )),
                    _ => Advice::hint(format!(
                        "a tuple is taken apart by a pattern: `let (a, b) = {tuple} in …`; or `first({tuple})`"
                    )),
                }
            }
            ("split", [Ty::Sequence(_), other]) if *other != Ty::Bool.sequence() => Advice::hint(
                "`split` divides by flags; `wordify(s)` divides a text into words, `linify(s)` into lines",
            ),
            _ => None,
        }
    }

    /// Returns advice on a function that is given to another with a sequence of other elements.
    fn mapped(&self) -> Option<Advice> {
        let wanted = self.types.iter().find_map(|ty| match ty {
            Ty::Function(f) => Some(&f.param),
            _ => None,
        })?;
        let element = self.types.iter().find_map(|ty| match ty {
            Ty::Sequence(element) => Some(&**element),
            _ => None,
        })?;
        if matches!(wanted, Ty::Pair(..)) && self.name == "map" {
            return Advice::hint("`map` calls a function of one argument, with each element");
        }
        let zero = self.types.iter().position(|ty| *ty == Ty::Int).and_then(|at| self.literal(at));
        if let (Ty::Float, Some((Expr::Int(value), at))) = (element, zero) {
            return Advice::fix(
                "a float is written with a point",
                at,
                self.in_place(format!("{value}.0")),
            );
        }
        conversion(wanted, element)
    }

    /// Returns advice on a sequence of ints beside one of floats.
    fn sequences_of_numbers(&self) -> Option<Advice> {
        let find = |wanted: Ty| self.types.iter().position(|ty| *ty == wanted.clone().sequence());
        let (ints, _) = (find(Ty::Int)?, find(Ty::Float)?);
        Advice::hint(match self.literal(ints) {
            Some((Expr::Sequence(_), _)) => {
                "int and float never mix; write the ints as floats, with a point".to_owned()
            }
            _ => format!(
                "int and float never mix: `{{float(x) : x in {}}}` has the ints as floats",
                self.called(ints, "xs")
            ),
        })
    }

    /// Returns advice on an argument of another type than the function takes.
    fn argument(&self) -> Option<Advice> {
        if let ([a, b], [x, y]) = (&self.wanted[..], &self.types[..])
            && !(agrees(a, x) && agrees(b, y))
            && agrees(a, y)
            && agrees(b, x)
            && !(matches!(a, Ty::Var(_)) && matches!(b, Ty::Var(_)))
        {
            return Advice::hint("the arguments fit the other way round");
        }
        let (at, (wanted, found)) = (self.wanted.iter().zip(&self.types))
            .enumerate()
            .find(|(_, (wanted, found))| !agrees(wanted, found))?;
        let literal = self.literal(at);
        let name = self.written;
        let string = Ty::Char.sequence();
        match (wanted, found) {
            (Ty::Int, Ty::Float) if self.name == "float" => {
                Advice::fix("it is a float already: leave out `float`", self.at, "")
            }
            (Ty::Float, Ty::Int) if matches!(self.name, "round" | "trunc" | "floor" | "ceil") => {
                let text = format!("it is an int already: leave out `{name}`");
                Advice::fix(&text, self.at, "")
            }
            (Ty::Int | Ty::Float, text) if *text == string && self.types.len() == 1 => {
                Advice::hint(
                    "`parse_int(s)` and `parse_float(s)` give the number that a string spells, and whether it is one",
                )
            }
            (Ty::Float, Ty::Int) => match literal {
                Some((Expr::Int(value), at)) => Advice::fix(
                    "a float is written with a point",
                    at,
                    self.in_place(format!("{value}.0")),
                ),
                _ => Advice::hint("convert with `float(…)`"),
            },
            (Ty::Int, Ty::Float) => {
                Advice::hint("convert with `round(…)`, `floor(…)`, `ceil(…)` or `trunc(…)`")
            }
            (stream, text)
                if self.name == "read_line" && *text == string && !agrees(stream, text) =>
            {
                Advice::hint(
                    "`linify(read_string_from_file(name))` has the lines of a file; `open_in_file(name)` opens a stream",
                )
            }
            (Ty::Sequence(texts), text) if **texts == string && *text == string => Advice::hint(
                format!("a sequence of one element is written `[{}]`", self.called(at, "s")),
            ),
            (Ty::Sequence(ints), Ty::Sequence(floats))
                if **ints == Ty::Int && **floats == Ty::Float && self.of_user =>
            {
                Advice::hint(format!(
                    "if `{name}` is to take floats, the ints in its body are converted by `float(…)`, such as `float(#xs)`; `{{round(x) : x in xs}}` converts the floats"
                ))
            }
            (Ty::Char, Ty::Sequence(_)) if let Some((c, at)) = self.one_char(at) => {
                self.as_char(c, at)
            }
            (Ty::Sequence(_), Ty::Sequence(_)) if self.name == "flatten" => Advice::hint(
                "it is flat already: `flatten` joins the elements of a sequence of sequences",
            ),
            (Ty::Sequence(element), found @ Ty::Sequence(_)) if agrees(element, found) => {
                Advice::hint(format!(
                    "it takes a sequence of sequences: `{name}([{}])` has one",
                    self.called(at, "xs")
                ))
            }
            (Ty::Sequence(element), found) if agrees(element, found) => {
                Advice::hint("a sequence of one element is written `[x]`")
            }
            (Ty::Sequence(text), found)
                if **text == Ty::Char && !matches!(found, Ty::Sequence(_)) =>
            {
                Some(self.as_text(at))
            }
            (Ty::Sequence(from), Ty::Sequence(to)) if conversion(from, to).is_some() => {
                conversion(from, to)
            }
            (_, Ty::Sequence(element)) if self.types.len() == 1 && agrees(wanted, element) => {
                Advice::hint(format!(
                    "for each element: `{{{name}(x) : x in {}}}`",
                    self.called(0, "xs")
                ))
            }
            _ => None,
        }
    }

    /// Returns the advice to apply an arithmetic operator to each element, of the elements too where
    /// they are sequences.
    fn each_element(&self, written: &str) -> Advice {
        let one = |operand| matches!(self.literal(operand), Some((Expr::Sequence(items), _)) if items.len() == 1);
        if written == "+" && self.types.len() == 2 && (one(0) || one(1)) {
            return Advice {
                text: "`++` joins sequences".to_owned(),
                edit: Some((self.at, "++".to_owned())),
            };
        }
        let levels = |operand: usize| {
            let mut ty = self.types.get(operand);
            let mut count = 0usize;
            while let Some(Ty::Sequence(element)) = ty {
                count += 1;
                ty = Some(element);
            }
            count
        };
        let depth = levels(0).max(levels(1));
        let names = [["x", "y"], ["xs", "ys"], ["rows", "others"]];
        // An operand that is the same for all elements must not be hidden by one of them.
        let same = match (levels(0), levels(1)) {
            (0, _) => self.called(0, "a"),
            (_, 0) => self.called(1, "a"),
            _ => String::new(),
        };
        let names = names.map(|pair| pair.map(|name| not_in(&same, name)));
        // The expression for elements at each level, from the innermost outwards.
        let applied = |a: &str, b: &str| match written.starts_with(char::is_alphabetic) {
            true if !matches!(written, "and" | "or" | "xor" | "nand" | "nor") => {
                format!("{written}({a}, {b})")
            }
            _ => format!("{a} {written} {b}"),
        };
        let mut text = String::new();
        for level in 0..depth.min(names.len()) {
            let [a, b] = &names[level];
            if level == 0 {
                text = match &self.types[..] {
                    [_] if written.starts_with(char::is_alphabetic) => format!("{written}({a})"),
                    [_] => format!("-{a}"),
                    _ if levels(0) == 0 => applied(&same, a),
                    _ if levels(1) == 0 => applied(a, &same),
                    _ => applied(a, b),
                };
            }
            let outermost = level + 1 == depth;
            let [c, d] = match names.get(level + 1) {
                Some([c, d]) => [c.as_str(), d.as_str()],
                None => ["as", "bs"],
            };
            let (c, d) = match outermost {
                true => (self.called(0, c), self.called(1, d)),
                false => (c.to_owned(), d.to_owned()),
            };
            text = match &self.types[..] {
                [_] => format!("{{{text} : {a} in {c}}}"),
                _ if levels(0) == 0 => {
                    let c = if outermost { self.called(1, "xs") } else { c };
                    format!("{{{text} : {a} in {c}}}")
                }
                _ if levels(1) == 0 => format!("{{{text} : {a} in {c}}}"),
                _ => format!("{{{text} : {a} in {c}; {b} in {d}}}"),
            };
        }
        let mut text = format!("for each element: `{text}`");
        if written == "+" && self.types.len() == 2 && levels(0) == levels(1) {
            text.push_str("; `++` joins sequences");
        }
        // One element and a sequence of its type may be joined, too.
        if let ("+", [one, many]) = (written, &self.types[..]) {
            let joins = |one: &Ty, many: &Ty| matches!(many, Ty::Sequence(of) if agrees(of, one));
            let join = match () {
                _ if joins(one, many) => Some(format!("[{same}] ++ {}", self.called(1, "xs"))),
                _ if joins(many, one) => Some(format!("{} ++ [{same}]", self.called(0, "xs"))),
                _ => None,
            };
            if let Some(join) = join {
                text.push_str(&format!("; to put it beside them: `{join}`"));
            }
        }
        Advice { text, edit: None }
    }

    /// Returns advice on an arithmetic operation on a string.
    fn no_number(&self) -> Option<Advice> {
        match (self.name, &self.types[..]) {
            ("*", [text, Ty::Int]) if *text == Ty::Char.sequence() => Advice::hint(format!(
                "{} times in a row: `flatten(dist({}, {}))`",
                self.called(1, "n"),
                self.called(0, "s"),
                self.called(1, "n")
            )),
            ("*", [Ty::Int, text]) if *text == Ty::Char.sequence() => Advice::hint(format!(
                "{} times in a row: `flatten(dist({}, {}))`",
                self.called(0, "n"),
                self.called(1, "s"),
                self.called(0, "n")
            )),
            ("-", [_]) => Advice::hint("`reverse(s)` has the chars of a string in the other order"),
            _ => Advice::hint("`parse_int` and `parse_float` read a number from a string"),
        }
    }

    /// Returns advice on operations on sequences that are defined on elements.
    fn elementwise(&self) -> Option<Advice> {
        let (name, written) = (self.name, self.written);
        let any_sequence = self.types.iter().any(|ty| matches!(ty, Ty::Sequence(_)));
        let string = Ty::Char.sequence();
        let of_elements =
            COMPARISONS.contains(&name) || matches!(name, "abs" | "mod" | "rem" | "^" | "negate");
        let of_numbers = |ty: &Ty| match ty {
            Ty::Sequence(element) => {
                matches!(**element, Ty::Int | Ty::Float | Ty::Sequence(_)) && *ty != string
            }
            Ty::Int | Ty::Float => true,
            _ => false,
        };
        if of_elements && any_sequence && self.types.iter().all(of_numbers) {
            return Some(self.each_element(&written.to_string()));
        }
        let flags = [Ty::Bool.sequence(), Ty::Int.sequence()];
        let logical = matches!(name, "and" | "or" | "xor" | "nand" | "nor" | "not")
            && self.types.iter().any(|ty| flags.contains(ty));
        if matches!(name, "-" | "*" | "/") && self.types.contains(&Ty::Char.sequence()) {
            return self.no_number();
        }
        if (logical || matches!(name, "+" | "-" | "*" | "/")) && any_sequence {
            return Some(self.each_element(&written.to_string()));
        }
        let constant = self
            .operands
            .iter()
            .any(|operand| matches!(self.body.member.item.exprs[*operand], Expr::Bool(_)));
        if matches!(name, "+" | "-" | "*" | "/") && constant {
            return Advice::hint(
                "`t` and `f` mean true and false and cannot be names of variables",
            );
        }
        if name == "sum" && self.types[..] == [Ty::Bool.sequence()] {
            return Advice::fix("`count` counts the true ones", self.at, "count");
        }
        if name == "enumerate" && any_sequence {
            return Advice::hint(
                "`enumerate` numbers flags; elements and their indices are `{(i, x) : x in xs; i in index(#xs)}`",
            );
        }
        if let [Ty::Sequence(element)] = &self.types[..]
            && matches!(name, "sum" | "product" | "plus_scan" | "max_val" | "min_val")
            && matches!(self.infer.unifier.shallow(element), Ty::Sequence(_))
        {
            return Advice::hint(format!("for each row: `{{{written}(row) : row in …}}`"));
        }
        if matches!(name, "string_sort" | "string_rank") && self.has(&Ty::Char.sequence()) {
            return Advice::hint(
                "chars are ranked by `char_rank(s)`: `permute(s, char_rank(s))` sorts them",
            );
        }
        let sorts = matches!(
            name,
            "sort"
                | "rank"
                | "rank_down"
                | "max_val"
                | "min_val"
                | "max_index"
                | "min_index"
                | "median"
        );
        if sorts && let [Ty::Sequence(element)] = &self.types[..] {
            match self.infer.unifier.shallow(element) {
                Ty::Sequence(inner) if self.infer.unifier.shallow(&inner) == Ty::Char => {
                    return Advice::hint(
                        "strings are sorted by `string_sort(a)`, and ranked by `string_rank(a)`",
                    );
                }
                Ty::Char => {
                    return Advice::hint(
                        "chars are ranked by `char_rank(s)`: `permute(s, char_rank(s))` sorts them",
                    );
                }
                Ty::Pair(..) => {
                    return Advice::hint(match name {
                        "max_index" | "min_index" => {
                            format!("by a key: `{name}({{key : (key, x) in a}})`")
                        }
                        "max_val" | "min_val" => {
                            let index = name.replace("val", "index");
                            format!("by a key: `a[{index}({{key : (key, x) in a}})]`")
                        }
                        _ => "sort by a key: `permute(a, rank({key : (key, x) in a}))`".to_owned(),
                    });
                }
                Ty::Record(record, _) => {
                    return Advice::hint(format!(
                        "sort by a key, a number: `permute(a, rank({{key : {}(…, key, …) in a}}))`",
                        record.name
                    ));
                }
                _ => {}
            }
        }
        if name == "count" && self.types.len() == 1 {
            return Advice::hint("`count` counts the true ones: `count({x > 0 : x in xs})`");
        }
        None
    }
}

/// Returns a name like the given one that is not in a text.
fn not_in(text: &str, name: &str) -> String {
    let mut name = name.to_owned();
    while brief::mentions(text, &name) {
        name.push('1');
    }
    name
}

/// Splits the type of a parameter into that of `count` arguments.
fn parts(param: &Ty, count: usize) -> Vec<Ty> {
    let mut all = Vec::new();
    let mut rest = param.clone();
    while all.len() + 1 < count
        && let Ty::Pair(first, second) = rest
    {
        all.push((*first).clone());
        rest = (*second).clone();
    }
    all.push(rest);
    all
}

/// Returns true if two resolved types may be the same, as far as their constructors say.
fn agrees(wanted: &Ty, found: &Ty) -> bool {
    match (wanted, found) {
        (Ty::Var(_) | Ty::Error, _) | (_, Ty::Var(_) | Ty::Error) => true,
        (Ty::Sequence(a), Ty::Sequence(b)) => agrees(a, b),
        (Ty::Pair(a, b), Ty::Pair(c, d)) => agrees(a, c) && agrees(b, d),
        (Ty::Record(a, _), Ty::Record(b, _)) => a.item == b.item,
        (Ty::Function(_), Ty::Function(_)) => true,
        (a, b) => a == b,
    }
}

/// Returns advice on converting the elements of a sequence.
fn conversion(wanted: &Ty, found: &Ty) -> Option<Advice> {
    match (wanted, found) {
        (Ty::Float, Ty::Int) => {
            Advice::hint("floats are written with a point; `{float(x) : x in xs}` converts ints")
        }
        (Ty::Int, Ty::Float) => Advice::hint("`{round(x) : x in xs}` converts floats to ints"),
        _ => None,
    }
}
