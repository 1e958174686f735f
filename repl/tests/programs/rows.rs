//! The table of operations that random programs consist of; the generator looks them up by result
//! type.
//!
//! Types are abbreviated: `i` int, `f` float, `~` a float that is compared approximately, `b` bool,
//! `c` char, `r` the record `duo`; `a` and `d` stand for any type, `e` and `h` for any type that
//! can be compared, `n` for a number, `o` for an ordinal, `l` for a logical type.

use super::tree::Ty;
use std::sync::LazyLock;

/// An operation with its types and its template.
pub struct Row {
    pub result: Code,
    pub template: &'static str,
    pub args: Vec<Code>,
}

/// A type that may contain type variables.
pub enum Code {
    Known(Ty),
    Var(char),
    Pair(Box<(Code, Code)>),
    Seq(Box<Code>),
}

/// The operations that never fail.
pub static SAFE: LazyLock<Vec<Row>> = LazyLock::new(|| rows(SAFE_ROWS));

/// The operations that may fail.
pub static RISKY: LazyLock<Vec<Row>> = LazyLock::new(|| rows(RISKY_ROWS));

fn rows(rows: &[(&str, &'static str, &str)]) -> Vec<Row> {
    let row = |(result, template, args): &(&str, &'static str, &str)| Row {
        result: code(result),
        template,
        args: args.split_whitespace().map(code).collect(),
    };
    rows.iter().map(row).collect()
}

fn code(text: &str) -> Code {
    let mut chars = text.chars();
    let code = next_code(&mut chars);
    assert!(chars.next().is_none(), "{text}");
    code
}

fn next_code(chars: &mut std::str::Chars<'_>) -> Code {
    match chars.next().expect("a type") {
        'i' => Code::Known(Ty::Int),
        'f' => Code::Known(Ty::Float),
        '~' => Code::Known(Ty::Near),
        'b' => Code::Known(Ty::Bool),
        'c' => Code::Known(Ty::Char),
        'r' => Code::Known(Ty::Duo),
        '[' => {
            let element = next_code(chars);
            assert_eq!(chars.next(), Some(']'));
            Code::Seq(Box::new(element))
        }
        '(' => {
            let first = next_code(chars);
            assert_eq!(chars.next(), Some(','));
            let second = next_code(chars);
            assert_eq!(chars.next(), Some(')'));
            Code::Pair(Box::new((first, second)))
        }
        var => Code::Var(var),
    }
}

/// Returns true if a type is in the class that a type variable stands for.
pub fn admits(var: char, ty: &Ty) -> bool {
    match var {
        'a' | 'd' => true,
        'e' | 'h' => ty.is_exact(),
        'n' => matches!(ty, Ty::Int | Ty::Float),
        'o' => matches!(ty, Ty::Int | Ty::Float | Ty::Char),
        'l' => matches!(ty, Ty::Int | Ty::Bool),
        _ => unreachable!("no class {var}"),
    }
}

/// The types bound to type variables.
pub type Bound = Vec<(char, Ty)>;

impl Code {
    /// Returns true if a type has this form, and binds the variables in it.
    pub fn matches(&self, ty: &Ty, bound: &mut Bound) -> bool {
        match (self, ty) {
            (Code::Known(own), ty) => own == ty,
            (Code::Var(var), ty) => match bound.iter().find(|(other, _)| other == var) {
                Some((_, known)) => known == ty,
                None => {
                    bound.push((*var, ty.clone()));
                    admits(*var, ty)
                }
            },
            (Code::Pair(both), Ty::Pair(first, second)) => {
                both.0.matches(first, bound) && both.1.matches(second, bound)
            }
            (Code::Seq(code), Ty::Seq(element)) => code.matches(element, bound),
            (Code::Pair(_) | Code::Seq(_), _) => false,
        }
    }

    /// Returns the type; `choose` selects a type for each unbound variable.
    pub fn ty(&self, bound: &mut Bound, choose: &mut dyn FnMut(char) -> Ty) -> Ty {
        match self {
            Code::Known(ty) => ty.clone(),
            Code::Var(var) => {
                if let Some((_, ty)) = bound.iter().find(|(other, _)| other == var) {
                    return ty.clone();
                }
                let ty = choose(*var);
                bound.push((*var, ty.clone()));
                ty
            }
            Code::Pair(both) => {
                let first = both.0.ty(bound, choose);
                Ty::pair(first, both.1.ty(bound, choose))
            }
            Code::Seq(code) => Ty::seq(code.ty(bound, choose)),
        }
    }
}

#[rustfmt::skip]
const SAFE_ROWS: &[(&str, &str, &str)] = &[
    // Operations on scalars.
    ("n", "($0 + $1)", "n n"),
    ("n", "($0 - $1)", "n n"),
    ("n", "($0 * $1)", "n n"),
    ("n", "(-$0)", "n"),
    ("n", "abs($0)", "n"),
    ("n", "diff($0, $1)", "n n"),
    ("n", "($0 ^ mod($1, 4))", "n i"),
    ("o", "max($0, $1)", "o o"),
    ("o", "min($0, $1)", "o o"),
    ("i", "($0 / 3)", "i"),
    ("i", "rem($0, 7)", "i"),
    ("i", "mod($0, 5)", "i"),
    ("i", "mod($0, -4)", "i"),
    ("i", "(let q = $1 in if q == 0 or q == -1 then 1 else $0 / q)", "i i"),
    ("i", "lshift($0, mod($1, 30))", "i i"),
    ("i", "rshift($0, 3)", "i"),
    ("l", "($0 and $1)", "l l"),
    ("l", "($0 or $1)", "l l"),
    ("l", "($0 xor $1)", "l l"),
    ("l", "($0 nand $1)", "l l"),
    ("l", "not($0)", "l"),
    ("i", "btoi($0)", "b"),
    ("i", "char_code($0)", "c"),
    ("i", "gcd(mod($0, 100), 1 + mod($1, 30))", "i i"),
    ("i", "hash($0, 13)", "e"),
    ("i", "isqrt(mod($0, 1000))", "i"),
    ("i", "(let q = $0 in if q < 1.0e6 and q > -1.0e6 then trunc(q) else 7)", "f"),
    ("i", "(let q = $0 in if q < 1.0e6 and q > -1.0e6 then round(q) else 7)", "f"),
    ("i", "(let q = $0 in if abs(q) < 1.0e6 then floor(q) - ceil(q * 0.5) else 7)", "f"),
    ("i", "rand(1 + mod($0, 9))", "i"),
    ("b", "($0 == $1)", "o o"),
    ("b", "($0 < $1)", "o o"),
    ("b", "($0 >= $1)", "o o"),
    ("b", "($0 /= $1)", "o o"),
    ("b", "eql($0, $1)", "e e"),
    ("b", "oddp($0)", "i"),
    ("b", "plusp($0)", "n"),
    ("f", "($0 / $1)", "f f"),
    ("f", "float($0)", "i"),
    ("f", "sqrt(abs($0))", "f"),
    ("f", "ln(abs($0))", "f"),
    ("f", "exp($0)", "f"),
    ("f", "sin($0)", "f"),
    ("f", "atan($0)", "f"),
    ("f", "tanh($0)", "f"),
    ("f", "rand(2.0)", ""),
    ("c", "code_char(97 + mod($0, 26))", "i"),
    ("c", "uppercase($0)", "c"),
    ("a", "select($0, $1, $2)", "b a a"),
    // Reductions of floats, whose results depend on the order of evaluation.
    ("~", "sum({abs(j) : j in $0})", "[f]"),
    ("~", "product({(if j > 0.5 and j < 2.0 then j else 1.25) : j in $0})", "[f]"),
    ("~", "sum($0)", "[~]"),
    ("~", "max_val($0)", "[~]"),
    ("~", "($0 + $1)", "~ ~"),
    ("~", "max($0, $1)", "~ ~"),
    ("~", "($0 * 0.75)", "~"),
    ("~", "(min($0, 1.0e6) * min($1, 1.0e6))", "~ ~"),
    ("[~]", "plus_scan({abs(j) : j in $0})", "[f]"),
    ("[~]", "plus_scan($0)", "[~]"),
    // Reductions with exact results.
    ("i", "(#$0)", "[a]"),
    ("i", "sum($0)", "[i]"),
    ("i", "product($0)", "[i]"),
    ("o", "max_val($0)", "[o]"),
    ("o", "min_val($0)", "[o]"),
    ("l", "any($0)", "[l]"),
    ("l", "all($0)", "[l]"),
    ("l", "parity($0)", "[l]"),
    ("i", "count($0)", "[b]"),
    ("i", "find($0, $1)", "e [e]"),
    ("i", "(let q = $0 in if #q == 0 then -1 else max_index(q))", "[o]"),
    ("i", "(let q = $0 in if #q == 0 then $1 else median(q))", "[i] i"),
    ("c", "(let q = $0 in if #q == 0 then $1 else kth_smallest(q, 0))", "[c] c"),
    // Scans and ranks.
    ("[i]", "plus_scan($0)", "[i]"),
    ("[i]", "mult_scan($0)", "[i]"),
    ("[o]", "max_scan($0)", "[o]"),
    ("[o]", "min_scan($0)", "[o]"),
    ("[l]", "or_scan($0)", "[l]"),
    ("[l]", "and_scan($0)", "[l]"),
    ("[l]", "xor_scan($0)", "[l]"),
    ("[i]", "enumerate($0)", "[b]"),
    ("[i]", "pack_index($0)", "[b]"),
    ("[i]", "length_from_flags($0)", "[b]"),
    ("[i]", "rank($0)", "[i]"),
    ("[i]", "rank_down($0)", "[i]"),
    ("[i]", "rank({(if j == j then j else 0.0) : j in $0})", "[f]"),
    ("[i]", "char_rank($0)", "[c]"),
    ("[i]", "sort($0)", "[i]"),
    ("[f]", "sort({(if j == j then j + 0.5 else 0.5) : j in $0})", "[f]"),
    // Ranges and sequences of ints.
    ("[i]", "[0:mod($0, 6)]", "i"),
    ("[i]", "(let q = mod($0, 20) in [q:q + mod($1, 5)])", "i i"),
    ("[i]", "(let q = mod($0, 9) - 4 in [q:q + 7:1 + mod($1, 3)])", "i i"),
    ("[i]", "index(mod($0, 5))", "i"),
    ("[i]", "search_for_subseqs($0, $1)", "[e] [e]"),
    // Operations on sequences of any element type.
    ("a", "(let q = $0 in if #q == 0 then $2 else q[mod($1, #q)])", "[a] i a"),
    ("a", "last_or($0, $1)", "[a] a"),
    ("[a]", "($0 ++ $1)", "[a] [a]"),
    ("[a]", "flatten($0)", "[[a]]"),
    ("[a]", "flatten({reverse(j) : j in $0})", "[[a]]"),
    ("[a]", "reverse($0)", "[a]"),
    ("[a]", "rotate($0, $1)", "[a] i"),
    ("[a]", "(let q = $0 in take(q, mod($1, #q + 1)))", "[a] i"),
    ("[a]", "(let q = $0 in drop(q, mod($1, #q + 1)))", "[a] i"),
    ("[a]", "(let q = $0 in take(q, -min(#q, 2)))", "[a]"),
    ("[a]", "(let q = $0 in subseq(q, mod($1, #q + 1) / 2, #q))", "[a] i"),
    ("[a]", "(let q = $0 in q -> {mod(j, #q) : j in (if #q == 0 then ([] int) else $1)})", "[a] [i]"),
    ("[a]", "(let q = $0 in {q[j] : j in index(#q)})", "[a]"),
    ("[a]", "(let q = $0 in {q[#q - 1 - j] : j in index(#q)})", "[a]"),
    // Neighbours at borders, of sequences of any length and of long ones.
    ("[a]", "(let q = $0 in {q[max(j - 1, 0)] : j in index(#q)})", "[a]"),
    ("[a]", "(let q = $0 in {q[rem(j + 1, #q)] : j in index(#q)})", "[a]"),
    ("[a]", "(let q = $0; p = $1 in {(if j == 0 or j >= #q - 1 then p else q[j + 1]) : j in index(#q)})", "[a] a"),
    ("i", "(let q = cons($1, $0); k = mod($2, 99) in sum({q[max(0, min(j - k, #q - 1))] * j : j in index(200)}))", "[i] i i"),
    ("i", "(let q = cons($1, $0); k = mod($2, 40) in sum({(if j < k or j - k >= #q then j else q[j - k]) : j in index(170)}))", "[i] i i"),
    ("i", "(let q = $0 ++ index(100); k = #q in max_val({q[rem(j + k - 1, k)] - q[rem(j + 1, k)] : j in index(k)}))", "[i]"),
    ("i", "(let q = $0 ++ index(90); k = mod($1, 100) in sum({(if k - j > 0 and k - j < #q then q[k - j] else 1) : j in index(130)}))", "[i] i"),
    ("[a]", "(let q = $0 in permute(q, rank({mod(j * 7, 5) : j in index(#q)})))", "[a]"),
    ("[a]", "(let q = $0; p = $1 in permute(q, rank(take(p ++ dist(0, #q), #q))))", "[a] [i]"),
    ("[a]", "(let q = $0; p = $1 in if #q == 0 then q else q <- {(mod(j, #q), k) : (j, k) in p})", "[a] [(i,a)]"),
    ("[a]", "(let q = $0 in if #q == 0 then q else rep(q, $2, mod($1, #q)))", "[a] i a"),
    ("[a]", "dist($0, mod($1, 4))", "a i"),
    ("[a]", "dist($0, 2)", "a"),
    ("[a]", "even_elts($0)", "[a]"),
    ("[a]", "odd_elts($0)", "[a]"),
    ("[a]", "(let q = $0 in interleave(q, reverse(q)))", "[a]"),
    ("[a]", "previous($0, $1)", "[a] a"),
    ("[a]", "next($0, $1)", "[a] a"),
    ("[a]", "cons($0, $1)", "a [a]"),
    ("[a]", "snoc($0, $1)", "[a] a"),
    ("[a]", "(let q = $0 in pack({(j, oddp(k)) : j in q; k in rotate(index(#q), 1)}))", "[a]"),
    ("[a]", "(let q = $0 in flag_merge({oddp(j) : j in index(2 * #q)}, q, reverse(q)))", "[a]"),
    ("[a]", "twice($0)", "[a]"),
    ("[a]", "backwards($0)", "[a]"),
    ("[e]", "remove_duplicates($0)", "[e]"),
    ("[e]", "union(remove_duplicates($0), remove_duplicates($1))", "[e] [e]"),
    ("[e]", "set_difference($0, $1)", "[e] [e]"),
    ("[n]", "{* (j + $1) : j in $0}", "[n] n"),
    ("[n]", "each_of(j => j * $1, $0)", "[n] n"),
    ("n", "repeated(mod($2, 4), j => j + $1, $0)", "n n i"),
    ("[i]", "(let (q, p) = scan((j, k) => max(j, k), min_int, cons($1, $0)) in snoc(q, p))", "[i] i"),
    // Operations that change the nesting.
    ("[[a]]", "(let q = $0 in partition(q, [#q / 2, 0, #q - #q / 2]))", "[a]"),
    ("[[a]]", "(let q = $0 in partition(q, {1 : j in q}))", "[a]"),
    ("[[a]]", "(let q = $0; p = {mod(j, 3) : j in $1}; k = sum(p) in if k <= #q then partition(q, p ++ [#q - k]) else [q])", "[a] [i]"),
    ("[[a]]", "group_by($0, 1 + mod($1, 4))", "[a] i"),
    ("[[a]]", "bottop($0)", "[a]"),
    ("[[a]]", "(let q = $0 in split(q, {evenp(j) : j in index(#q)}))", "[a]"),
    ("[[a]]", "transpose(dist($0, 2))", "[a]"),
    ("[[a]]", "heads($0, 2)", "[[a]]"),
    ("[[a]]", "(let q = $0 in {take(q, j) : j in index(#q)})", "[a]"),
    ("[[a]]", "(let q = $0 in {drop(q, j) : j in index(#q)})", "[a]"),
    ("[[a]]", "(let q = $0 in {dist(k, j) : k in q; j in index(#q)})", "[a]"),
    ("[[c]]", "wordify($0)", "[c]"),
    ("[[c]]", "linify($0)", "[c]"),
    // Pairs and records.
    ("(a,d)", "($0, $1)", "a d"),
    ("(a,d)", "($0, $1)", "a d"),
    ("(a,d)", "flip($0, $1)", "d a"),
    ("a", "(let (q, p) = $0 in q)", "(a,d)"),
    ("a", "(let (q, p) = $0 in p)", "(d,a)"),
    ("r", "duo($0, $1)", "i [i]"),
    ("i", "(let duo(q, p) = $0 in q + #p)", "r"),
    ("[i]", "(let duo(q, p) = $0 in snoc(p, q))", "r"),
    ("[(a,d)]", "(let q = $0; p = $1; m = min(#q, #p) in zip(take(q, m), take(p, m)))", "[a] [d]"),
    ("([a],[d])", "unzip($0)", "[(a,d)]"),
    ("([a],[a])", "(let q = bottop($0) in (q[0], q[1]))", "[a]"),
    ("(a,[a])", "head_rest(cons($0, $1))", "a [a]"),
    ("[(e,[a])]", "collect($0)", "[(e,a)]"),
    ("[(i,[a])]", "int_collect($0)", "[(i,a)]"),
    ("[(e,i)]", "histogram($0)", "[e]"),
    // Operations on strings.
    ("[c]", "(@$0)", "e"),
    ("[c]", "($0 || mod($1, 6))", "[c] i"),
    ("[c]", "{uppercase(j) : j in $0}", "[c]"),
    ("(i,b)", "parse_int($0)", "[c]"),
    ("(f,b)", "parse_float($0)", "[c]"),
    ("b", "string_eql($0, $1)", "[c] [c]"),
];

#[rustfmt::skip]
const RISKY_ROWS: &[(&str, &str, &str)] = &[
    ("i", "($0 / $1)", "i i"),
    ("i", "rem($0, $1)", "i i"),
    ("i", "mod($0, $1)", "i i"),
    ("i", "trunc($0)", "f"),
    ("i", "lshift($0, $1)", "i i"),
    ("i", "rand($0)", "i"),
    ("i", "max_index($0)", "[o]"),
    ("f", "sqrt($0)", "f"),
    ("f", "ln($0)", "f"),
    ("c", "code_char($0)", "i"),
    ("n", "($0 ^ $1)", "n i"),
    ("a", "$0[$1]", "[a] i"),
    ("a", "$0[mod($1, 3)]", "[a] i"),
    ("a", "(if $0 then error(\"no \" ++ @$2) else $1)", "b a e"),
    ("[a]", "($0 -> $1)", "[a] [i]"),
    ("[a]", "($0 -> {mod(j, 4) : j in $1})", "[a] [i]"),
    ("[a]", "($0 <- $1)", "[a] [(i,a)]"),
    ("[a]", "($0 <- {(mod(j, 4), $2) : j in $1})", "[a] [i] a"),
    ("[a]", "rep($0, $1, $2)", "[a] a i"),
    ("[a]", "permute($0, $1)", "[a] [i]"),
    ("[a]", "(let q = $0 in permute(q, {mod(j * 2, #q + 1) : j in index(#q)}))", "[a]"),
    ("[a]", "take($0, $1)", "[a] i"),
    ("[a]", "take($0, mod($1, 4))", "[a] i"),
    ("[a]", "drop($0, mod($1, 4))", "[a] i"),
    ("[a]", "subseq($0, mod($1, 4), mod($2, 4))", "[a] i i"),
    ("[a]", "dist($0, mod($1, 5) - 1)", "a i"),
    ("[i]", "[mod($0, 10):mod($1, 10)]", "i i"),
    ("[i]", "[mod($0, 10):12:mod($1, 5)]", "i i"),
    ("[a]", "interleave($0, $1)", "[a] [a]"),
    ("[[a]]", "partition($0, $1)", "[a] [i]"),
    ("[[a]]", "transpose($0)", "[[a]]"),
    ("[[a]]", "group_by($0, mod($1, 4))", "[a] i"),
    ("[(a,d)]", "{(j, k) : j in $0; k in $1}", "[a] [d]"),
    ("[(a,d)]", "zip($0, $1)", "[a] [d]"),
    ("(a,[a])", "head_rest($0)", "[a]"),
    ("[c]", "exp_string($0, $1)", "f i"),
];
