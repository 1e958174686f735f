//! Suggestions for undefined names: similar names, and the words of NESL for those of other languages.

use crate::base::Name;

/// Words that are written between two operands: no name that stands elsewhere was meant to be one.
const INFIX: [&str; 5] = ["and", "or", "xor", "nand", "nor"];

/// Returns the known name most similar to `name`, if it is similar enough for a typing error. Of names that
/// are equally similar it is the one with the longest common beginning: few people get the first letters wrong.
pub fn closest(name: &Name, known: impl Iterator<Item = Name>) -> Option<Name> {
    let wanted = name.folded();
    // Between two names of one or two letters, one edit is no slip but another name.
    let limit = match wanted.len() {
        0..=2 => return None,
        3..=4 => 1,
        5..=7 => 2,
        _ => 3,
    };
    let is_word = |n: &Name| n.folded().starts_with(|c: char| c.is_ascii_alphabetic());
    let near = |n: Name| {
        let other = n.folded();
        let edits = distance(wanted.as_bytes(), other.as_bytes(), limit)?;
        let common = common_beginning(wanted, other);
        // With another beginning, more of the rest has to agree; of three letters all of it, in another order.
        let enough = match common {
            0 if same_letters(wanted, other) => edits == 1,
            0 => edits == 1 && wanted.len().min(other.len()) > 3,
            _ => 3 * edits <= wanted.len().max(other.len()),
        };
        enough.then_some((edits, std::cmp::Reverse(common), n))
    };
    known
        .filter(|n| is_word(n) && n.folded() != wanted && !INFIX.contains(&n.folded()))
        .filter(|n| n.folded().len() > 2 && n.folded().len().abs_diff(wanted.len()) <= limit)
        .filter_map(near)
        .min()
        .map(|(_, _, n)| n)
}

/// Returns the number of bytes at the beginning that two names share.
fn common_beginning(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Returns true if two names have the same letters, in whatever order.
fn same_letters(a: &str, b: &str) -> bool {
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    sorted(a) == sorted(b)
}

/// The names in NESL's library of functions and constants of other languages: the name here, and those
/// elsewhere.
const FOREIGN: &[(&str, &[&str])] = &[
    ("t", &["true"]),
    ("f", &["false"]),
    ("length", &["len", "size", "strlen", "count_elements", "numel"]),
    ("flatten", &["concat"]),
    ("index", &["iota", "range"]),
    ("max_val", &["maximum", "maximumby", "reducemax"]),
    ("min_val", &["minimum"]),
    ("max_index", &["argmax"]),
    ("min_index", &["argmin"]),
    ("remove_duplicates", &["unique", "distinct", "nub", "set"]),
    ("char_code", &["ord"]),
    ("code_char", &["chr", "char"]),
    ("print", &["disp", "display"]),
    ("digitp", &["isdigit", "is_digit"]),
    (
        "string",
        &["str", "to_string", "tostring", "string_of_int", "string_of_float", "show", "repr"],
    ),
    ("uppercase", &["toupper", "upper", "to_upper", "upcase", "ucase"]),
    ("lowercase", &["tolower", "lower", "to_lower", "downcase", "lcase"]),
    ("mod", &["modulo"]),
    ("rem", &["remainder"]),
    ("abs", &["fabs"]),
    ("rand", &["random", "randint", "rnd"]),
    ("product", &["prod"]),
    ("unzip", &["unzip2"]),
    ("sort", &["sorted"]),
    ("reverse", &["reversed", "rev", "flip"]),
    ("wordify", &["split_whitespace", "words"]),
    ("linify", &["lines"]),
    ("parse_int", &["atoi", "parseint", "int_of_string", "string_to_int", "stoi"]),
    ("parse_float", &["atof", "parsefloat", "float_of_string", "string_to_float", "stof"]),
    ("ceil", &["ceiling"]),
    ("trunc", &["truncate"]),
    ("negate", &["neg", "uminus"]),
    ("count", &["cnt", "countif", "count_if"]),
    ("evenp", &["even", "iseven", "is_even"]),
    ("oddp", &["odd", "isodd", "is_odd"]),
    ("write", &["scatter"]),
    ("get", &["gather"]),
    ("atan", &["arctan"]),
    ("asin", &["arcsin"]),
    ("acos", &["arccos"]),
    ("infinity", &["infty", "inf"]),
    ("pack_index", &["where", "findall"]),
    ("histogram", &["bincount"]),
    ("transpose", &["transp"]),
    ("read_string_from_file", &["read_file", "readfile", "read_text", "slurp", "fileread"]),
    ("create_table", &["dict", "hashmap", "map_of"]),
];

/// Returns the name in NESL's library of a function or constant of other languages.
pub(super) fn foreign(name: &Name) -> Option<&'static str> {
    let wanted = name.folded();
    FOREIGN.iter().find(|(_, others)| others.contains(&wanted)).map(|(here, _)| *here)
}

/// Returns what stands in NESL for a word of other languages.
pub fn elsewhere(name: &str) -> Option<String> {
    let name = Name::new(name);
    let here = foreign(&name).map(|here| format!("in NESL it is `{here}`"));
    here.or_else(|| instead(&name).map(str::to_owned))
}

/// Returns the name of a function of other languages in which the given one is a slip: another word is none, and
/// neither is a name that is only shorter or too short.
pub(super) fn foreign_slip(name: &Name) -> Option<Name> {
    let wanted = name.folded();
    let all = FOREIGN.iter().flat_map(|(_, others)| others.iter());
    let near = all.filter(|other| {
        wanted.len() > 3
            && !other.starts_with(wanted)
            && !wanted.starts_with(**other)
            && distance(wanted.as_bytes(), other.as_bytes(), 1) == Some(1)
    });
    closest(name, near.map(|other| Name::new(other)))
}

/// Returns advice for a function of other languages that is called with several arguments, and whose name here
/// takes one.
pub(super) fn instead_of_call(name: &Name) -> Option<&'static str> {
    Some(match name.folded() {
        "range" => {
            "`[s:e]` has the ints from s up to, not including, e; `[s:e:d]` every d-th of them"
        }
        "concat" => "`xs ++ ys` joins two sequences",
        _ => return None,
    })
}

/// Returns advice for a word of other languages that has no single equivalent in NESL.
pub(super) fn instead(name: &Name) -> Option<&'static str> {
    Some(match name.folded() {
        "return" => "the value of a function is its body: leave out `return`",
        "while" | "for" | "loop" => {
            "there are no loops: write `{… : x in xs}`, or a function that calls itself"
        }
        "filter" => "write `{x in xs | x > 0}`",
        "println" | "puts" | "echo" | "putstrln" | "writeln" => {
            "`printl(x)` prints a value of any type and ends the line, `print_line(s)` does so with a string"
        }
        "pow" | "power" => "write `x ^ n` for an int `n`, `expt(x, y)` for floats",
        "cumsum" | "prefix_sum" | "running_sum" | "accumulate" | "inclusive_scan" => {
            "`plus_scan(xs)` has for each element the sum of those before it; with it: `{s + x : s in plus_scan(xs); x in xs}`"
        }
        "cummax" | "running_max" => {
            "`max_scan(xs)` has for each element the greatest before it; with it: `{max(m, x) : m in max_scan(xs); x in xs}`"
        }
        "cummin" | "running_min" => {
            "`min_scan(xs)` has for each element the least before it; with it: `{min(m, x) : m in min_scan(xs); x in xs}`"
        }
        "scanl" | "scanl1" | "scanr" => {
            "`scan(g, identity, xs)` scans with a function of two arguments"
        }
        "repeat" | "replicate" | "fill" => "`dist(x, n)` has n times `x`: the value comes first",
        "insert" => "write `take(xs, i) ++ [x] ++ drop(xs, i)`",
        "strip" | "trim" => {
            "`wordify(s)` has the words of a string, without the blanks around them"
        }
        "srand" | "seed" | "set_seed" => {
            "`nesl run --seed 5`, and `:set seed 5` at the prompt, determine the random numbers"
        }
        "itoa" => "`@x` makes a string of any value",
        "sort_by" | "sortby" | "sort_on" | "sorton" | "sortwith" | "argsort" | "order_by" => {
            "`rank` gives the place of each key in order: `permute(xs, rank({key(x) : x in xs}))`"
        }
        "argv" | "args" | "sys" => "`arguments(0)` has the arguments of the program, as strings",
        "span" | "takewhile" | "take_while" | "dropwhile" => {
            "the index of the first element that fails is `find(f, {p(x) : x in xs})`; `take` and `drop` divide there"
        }
        "reduce" | "fold" | "foldl" | "foldr" => {
            "`sum`, `product`, `max_val`, `min_val`, `any` and `all` reduce; \
             `scan(g, identity, xs)` gives the total of another function, too"
        }
        "int" | "integer" | "toint" | "to_int" | "fromintegral" => {
            "`trunc`, `round`, `floor` and `ceil` make an int of a float; `parse_int` reads one from a string"
        }
        "double" | "tofloat" | "to_float" | "real" => "`float` makes a float of an int",
        "module" | "package" | "namespace" | "import" | "include" | "require" | "using" => {
            "`load \"file\"` reads another file"
        }
        "div" | "quot" | "quotient" | "floordiv" => {
            "`/` on ints truncates; `rem` and `mod` are the remainders"
        }
        "array" | "list" | "vector" => {
            "a sequence is written `[1, 2, 3]`; `dist(0, n)` has n zeros, `[0:n]` the ints below n"
        }
        "zeros" => "`dist(0, n)` has n zeros; `dist(dist(0.0, m), n)` is an n × m matrix of zeros",
        "ones" => "`dist(1, n)` has n ones",
        "linspace" | "arange" => {
            "`[0:n]` has the ints below n: `{float(i) / float(n) : i in [0:n]}`"
        }
        "readlines" | "read_lines" | "getlines" => {
            "`linify(read_string_from_file(name))` has the lines of a file"
        }
        "printf" | "sprintf" | "format" => {
            "join strings with `++` and make them of values with `@`: `\"x = \" ++ @x`"
        }
        "map2" | "zipwith" | "zip_with" | "mapi" | "foreach" => {
            "write `{x + y : x in xs; y in ys}`"
        }
        "open" | "fopen" => {
            "`read_string_from_file(name)` reads a file at once; `open_in_file(name)` opens a stream"
        }
        "writefile" | "write_file" => "`write_string_to_file(text, name)` writes a file",
        "try" | "catch" | "except" => {
            "an error ends the form; what can fail without one, such as `parse_int`, returns a flag"
        }
        "raise" | "throw" | "fail" | "failwith" | "stop" => "`error(\"…\")` stops the program",
        "eye" | "identity_matrix" => {
            "write `{{if i == j then 1.0 else 0.0 : j in [0:n]} : i in [0:n]}`"
        }
        "shape" | "nrow" | "ncol" | "ndim" => "a matrix `m` has `#m` rows and `#m[0]` columns",
        "input" | "readline" | "gets" | "scanf" => "`prompt(\"…\")` asks for a line",
        "lambda" | "fun" | "fn" => "a function value is written `x => x + 1`",
        "indexof" => "`find(x, xs)` is the index of `x`, or -1",
        "contains" | "elem" | "member" | "includes" | "isin" => {
            "write `find(x, xs) >= 0`, or `any({eql(x, y) : y in xs})`"
        }
        "slice" | "substring" | "substr" => {
            "`subseq(a, s, e)` has the elements from index s up to, not including, e"
        }
        "append_to" | "push" | "add" => "`snoc(xs, x)` has one element more; `xs ++ ys` joins two",
        "inc" | "incr" | "increment" | "succ" => "write `x + 1`",
        "dec" | "decr" | "decrement" | "pred" => "write `x - 1`",
        "sqr" | "square" => "write `x * x`",
        "log10" => "`log(x, 10.0)` is the logarithm to base 10, `ln(x)` to base e",
        "log2" => "`log(x, 2.0)` is the logarithm to base 2, `ln(x)` to base e",
        "sign" | "sgn" | "signum" => "write `if x > 0 then 1 else if x < 0 then -1 else 0`",
        "isnan" | "is_nan" => "only a NaN differs from itself: write `x /= x`",
        "id" | "identity" => "a function that gives back its argument is written `x => x`",
        "empty" | "isempty" | "is_empty" => "write `#xs == 0`",
        "nth" | "at" | "elt" | "getitem" => "the element of `a` at index `i` is `a[i]`",
        "init" => "all but the last element of `a` are `take(a, #a - 1)`",
        "flatmap" | "flat_map" | "concatmap" | "concat_map" => {
            "write `flatten({f(x) : x in xs})`, where `f` gives a sequence"
        }
        "partition" => "write `{x in xs | p(x)}` and `{x in xs | not(p(x))}`",
        "groupby" | "group" => {
            "`int_collect({(key(x), x) : x in xs})` has the elements of each int key, `collect` those of any other"
        }
        "dot" | "dotproduct" | "dot_product" | "inner" => "write `sum({x * y : x in a; y in b})`",
        "matmul" | "mm" | "dgemm" => {
            "write `{{sum({x * y : x in row; y in col}) : col in transpose(b)} : row in a}`, which is recognised"
        }
        "average" | "mean" | "avg" => "write `sum(xs) / float(#xs)`",
        "then" | "begin" | "end" | "endif" | "fi" | "do" | "done" | "pass" => {
            "an expression needs no such word"
        }
        "switch" | "case" | "match" => "write `if … then … else if … then … else …`",
        "print_int" | "print_float" => "`print(x)` prints a value of any type",
        "new" => "a record is made by its name, as in `point(1.0, 2.0)`",
        "class" | "struct" | "record" | "enum" => {
            "a record type is defined with `datatype point(float, float);`"
        }
        "assert" | "assume" | "ensure" => {
            "write `if … then … else error(\"…\")`, which stops the program"
        }
        "exit" | "quit" => "the command is `exit;`",
        "null" | "nil" | "none" => {
            "there is no such value; a pair with a bool can say whether there is one"
        }
        "head" | "hd" => "the first element of `a` is `a[0]`",
        "last" => "the last element of `a` is `a[#a - 1]`",
        "tail" | "tl" => "all but the first element of `a` are `drop(a, 1)`",
        "fst" | "snd" => "to take a pair apart, write `let (a, b) = … in …`",
        _ => return None,
    })
}

/// Returns true for a word that is syntax in other languages: what is around it is not NESL either.
pub(super) fn is_syntax(name: &Name) -> bool {
    matches!(
        name.folded(),
        "fun"
            | "fn"
            | "lambda"
            | "case"
            | "match"
            | "switch"
            | "from"
            | "import"
            | "begin"
            | "do"
            | "while"
            | "for"
            | "loop"
            | "until"
            | "module"
            | "class"
            | "new"
    )
}

/// The words of which [`instead`] knows what to write, and that make a statement of what stands beside them in other
/// languages: `assert x > 3`.
const STATEMENT_WORDS: &[&str] = &[
    "assert", "assume", "begin", "class", "do", "done", "end", "endif", "ensure", "enum", "fi",
    "pass", "raise", "record", "return", "struct", "then", "throw",
];

/// Other such words, which mean something else where they stand alone, if anything: `x is None`, `open List`.
const STATEMENTS: &[(&[&str], &str)] = &[
    (
        &["as"],
        "`float(x)` makes a float of an int; `trunc`, `round`, `floor` and `ceil` make an int of a float",
    ),
    (&["goto"], "there are no jumps: a function calls itself"),
    (
        &["is", "isa", "instanceof"],
        "values are compared by `==` and `/=`; types are found before the program runs",
    ),
    (
        &["abstract", "alias", "trait", "impl", "interface", "instance", "signature"],
        "a record type is defined with `datatype point(float, float);`; functions work for all types that their operations allow",
    ),
    (
        &["define", "typedef", "newtype"],
        "a name is defined with `=`, as in `n = 10;`, a record type with `datatype point(float, float);`",
    ),
    (
        &["del", "delete", "clear", "free", "unset"],
        "there is nothing to remove: memory is freed by itself, and a name may be defined again",
    ),
    (
        &[
            "everywhere",
            "macro",
            "inline",
            "unsafe",
            "async",
            "await",
            "static",
            "public",
            "private",
            "export",
            "local",
            "nonlocal",
            "global",
        ],
        "leave the word out",
    ),
    (&["figure", "hold", "close"], "`:plot e` draws a sequence at the prompt and in notebooks"),
    (&["format"], "`:set digits n` shows n digits of floats at the prompt and in notebooks"),
    (
        &["open", "use", "using", "include"],
        "`load \"file\"` reads another file; the library is always there",
    ),
    (&["yield"], "the value of a function is its body: leave the word out"),
    (
        &["where"],
        "bind before use: `let y = x * 2 in y + 1`; the elements that satisfy a condition are `{x in xs | x > 0}`",
    ),
];

/// Returns advice for a word of other languages that makes a statement of what stands beside it.
pub(super) fn instead_of_statement(name: &Name) -> Option<&'static str> {
    let wanted = name.folded();
    if STATEMENT_WORDS.contains(&wanted) || is_syntax(name) {
        return instead(name);
    }
    STATEMENTS.iter().find(|(words, _)| words.contains(&wanted)).map(|(_, advice)| *advice)
}

/// Returns true for a word that begins the declaration of a variable in C and its kin.
pub(super) fn is_type_elsewhere(name: &Name) -> bool {
    matches!(
        name.folded(),
        "auto"
            | "bool"
            | "char"
            | "const"
            | "double"
            | "extern"
            | "float"
            | "int"
            | "integer"
            | "let"
            | "long"
            | "real"
            | "short"
            | "signed"
            | "size_t"
            | "static"
            | "string"
            | "union"
            | "unsigned"
            | "var"
            | "void"
            | "volatile"
    )
}

/// Returns the edit distance in which a swap of neighbours counts as one edit (Damerau, "A
/// technique for computer detection and correction of spelling errors", 1964), if it is at most
/// `limit`.
fn distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut best =
                (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        let beyond = |row: &[usize]| row.iter().all(|d| *d > limit);
        if beyond(&row) && beyond(&last) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[b.len()]).filter(|d| *d <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips() {
        let known = || ["length", "sum", "take", "flatten", "x"].into_iter().map(Name::new);
        let ask = |n: &str| closest(&Name::new(n), known()).map(|n| n.to_string());
        assert_eq!(ask("lenght").as_deref(), Some("length"));
        assert_eq!(ask("flaten").as_deref(), Some("flatten"));
        assert_eq!(ask("smu").as_deref(), Some("sum"));
        assert_eq!(ask("y"), None);
        assert_eq!(ask("flat"), None);
        assert_eq!(ask("quicksort"), None);
    }

    #[test]
    fn a_slip_may_be_one_in_a_name_of_another_language() {
        let known = || ["user", "uppercase", "sum"].into_iter().map(Name::new);
        let ask = |n: &str| {
            let name = Name::new(n);
            closest(&name, known().chain(foreign_slip(&name))).map(|n| n.to_string())
        };
        assert_eq!(ask("uper").as_deref(), Some("upper"));
        assert_eq!(ask("usr").as_deref(), Some("user"));
        assert_eq!(ask("smu").as_deref(), Some("sum"));
        for other in ["new", "modul", "charm"] {
            assert_eq!(ask(other), None, "{other}");
        }
    }

    #[test]
    fn point_13_what_is_not_similar_is_not_suggested() {
        let known = || {
            let words = ["and", "or", "it", "cos", "sin", "rand", "round", "far", "float"];
            words.into_iter().chain(["x", "xs", "count", "abs"]).map(Name::new)
        };
        let ask = |n: &str| closest(&Name::new(n), known()).map(|n| n.to_string());
        for other in ["inc", "foo", "bar", "ct", "id", "i", "an", "ann", "boat"] {
            assert_eq!(ask(other), None, "{other}");
        }
        // Of two that are equally near, the one that begins in the same way.
        assert_eq!(ask("rond").as_deref(), Some("round"));
        assert_eq!(ask("asb").as_deref(), Some("abs"));
        assert_eq!(ask("loat").as_deref(), Some("float"));
    }

    #[test]
    fn point_13_names_of_other_languages_are_known_once() {
        let other = |n: &str| (foreign(&Name::new(n)), instead(&Name::new(n)).is_some());
        assert_eq!(other("ceiling"), (Some("ceil"), false));
        assert_eq!(other("inc"), (None, true));
        assert_eq!(other("log2"), (None, true));
        // What has another order of arguments, or other elements, is not called the same.
        for word in ["cumsum", "replicate", "scanl", "println"] {
            assert_eq!(other(word), (None, true), "{word}");
        }
    }
}
