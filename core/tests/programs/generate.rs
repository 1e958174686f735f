//! Generates programs of every construct from a tape of choices. They are syntactically valid, not well
//! typed.

use super::Tape;

/// A program of several forms.
pub fn program(tape: &mut Tape<'_>) -> String {
    (0..=tape.below(3)).map(|_| form(tape) + "\n").collect()
}

/// Generates one form with its terminator.
pub fn form(tape: &mut Tape<'_>) -> String {
    let end = tape.of(&[";", " ;", "$"]);
    let form = match tape.below(9) {
        0..=2 => expr(tape, 6),
        3 => format!("{} = {}", pattern(tape, 3), expr(tape, 5)),
        4 => format!("{} |= {}", pattern(tape, 2), expr(tape, 3)),
        5 | 6 => function(tape),
        7 => format!("function g(x) : {}", scheme(tape)),
        _ => datatype(tape),
    };
    form + end
}

fn function(tape: &mut Tape<'_>) -> String {
    let name = tape.of(&["g", "Sum_up2", "_", "tf", "helpful"]);
    let optional = match tape.below(4) {
        0 => format!(", n := {}", operand(tape, 2)),
        1 => format!(", n := {}, m_2 := {}", left(tape, 2), operand(tape, 1)),
        _ => String::new(),
    };
    let params = match tape.below(4) {
        0 => " v".to_owned(),
        1 => format!(" ({}{optional})", pattern(tape, 2)),
        _ => format!("({}{optional})", pattern(tape, 2)),
    };
    let annotation = if tape.below(2) == 0 { format!(" : {}", scheme(tape)) } else { "".into() };
    let doc = tape.of(&["", " \"What it does.\"", " \"a \\\"b\\\" % \\\\ \n  c\""]);
    format!("function {name}{params}{annotation}{doc} = {}", expr(tape, 5))
}

fn datatype(tape: &mut Tape<'_>) -> String {
    let content = match tape.below(2) {
        0 => ty(tape, 3),
        _ => format!("{}, {}", ty(tape, 2), ty(tape, 2)),
    };
    format!("datatype {}({content}){}", tape.of(&["rec", "Bag"]), context(tape))
}

fn scheme(tape: &mut Tape<'_>) -> String {
    let (from, to) = (ty(tape, 3), ty(tape, 3));
    let from = if tape.below(2) == 0 { format!("{}, {from}", ty(tape, 1)) } else { from };
    format!("{from} -> {to}{}", context(tape))
}

fn context(tape: &mut Tape<'_>) -> &'static str {
    tape.of(&[
        "",
        " :: (a in any)",
        " :: (a in number; b in ordinal)",
        " :: a in logical; b in int",
        "::(a in any, b in any)",
        " :: a in any",
    ])
}

fn ty(tape: &mut Tape<'_>, depth: usize) -> String {
    let choice = if depth == 0 { tape.below(6) } else { tape.below(12) };
    match choice {
        0..=5 => tape.of(&["int", "float", "bool", "char", "a", "complex"]).to_owned(),
        6 | 7 => format!("[{}]", ty(tape, depth - 1)),
        8 => format!("({}, {})", ty(tape, depth - 1), ty(tape, depth - 1)),
        9 => format!("bag({}, {})", ty(tape, depth - 1), ty(tape, depth - 1)),
        10 => format!("({})", ty(tape, depth - 1)),
        _ => format!("({} -> {})", ty(tape, depth - 1), ty(tape, depth - 1)),
    }
}

fn pattern(tape: &mut Tape<'_>, depth: usize) -> String {
    let choice = if depth == 0 { 0 } else { tape.below(6) };
    match choice {
        0 | 1 => tape.fresh(),
        2 => format!("{}, {}", atomic_pattern(tape, depth - 1), atomic_pattern(tape, depth - 1)),
        _ => atomic_pattern(tape, depth),
    }
}

fn atomic_pattern(tape: &mut Tape<'_>, depth: usize) -> String {
    let choice = if depth == 0 { 0 } else { tape.below(4) };
    match choice {
        0 | 1 => tape.fresh(),
        2 => format!("({})", pattern(tape, depth - 1)),
        _ => format!("rec({})", pattern(tape, depth - 1)),
    }
}

/// An expression where a tuple or a function value is allowed.
pub fn expr(tape: &mut Tape<'_>, depth: usize) -> String {
    match tape.below(12) {
        1 if depth > 0 => format!("{}, {}", operand(tape, depth - 1), expr(tape, depth - 1)),
        2 if depth > 0 => format!("{} => {}", atomic_pattern(tape, 2), expr(tape, depth - 1)),
        _ => operand(tape, depth),
    }
}

/// An expression that can be the right operand of an operator.
fn operand(tape: &mut Tape<'_>, depth: usize) -> String {
    if depth == 0 {
        return primary(tape, 0);
    }
    let d = depth - 1;
    match tape.below(14) {
        0 | 1 => primary(tape, depth),
        2..=4 => {
            let op = tape.of(&[
                "+", "-", "*", "/", "++", "==", "/=", "<", ">", ">=", "<=", "and", "or", "xor",
                "nor", "nand", "^", "||", "<-", "->", "OR",
            ]);
            format!("{} {op} {}", left(tape, d), operand(tape, d))
        }
        5 => format!("{}{}", tape.of(&["-", "#", "@", "# ", "- "]), left(tape, d)),
        6 => {
            let word = tape.of(&["if", "IF"]);
            let (c, a, b) = (expr(tape, d), expr(tape, d), operand(tape, d));
            format!("{word} {c} then {a} else {b}")
        }
        7 => {
            let mut all: Vec<String> = Vec::new();
            for _ in 0..=tape.below(3) {
                all.push(format!("{} = {}", pattern(tape, 2), expr(tape, d)));
            }
            let trailing = tape.of(&["", ";"]);
            format!("let {}{trailing} in {}", all.join("; "), operand(tape, d))
        }
        8 => format!("({} => {})", pattern(tape, 2), expr(tape, d)),
        9 => format!("{} {}", applied(tape), argument(tape, d)),
        10 => format!("{}[{}]", postfix(tape, d), operand(tape, d)),
        11 => format!("{}({})", applied(tape), expr(tape, d)),
        12 => format!("{}({}, n := {})", applied(tape), left(tape, d), operand(tape, d)),
        _ => primary(tape, depth),
    }
}

/// An expression that can be the left operand of an operator or comma without absorbing it.
fn left(tape: &mut Tape<'_>, depth: usize) -> String {
    match tape.below(3) {
        0 if depth > 0 => format!("({})", expr(tape, depth - 1)),
        1 if depth > 0 => format!("{}[{}]", postfix(tape, depth - 1), operand(tape, depth - 1)),
        2 if depth > 0 => format!("#{}", left(tape, depth - 1)),
        _ => postfix(tape, depth),
    }
}

/// An expression that can be indexed: every primary expression except `[] type`, whose type would
/// continue.
fn postfix(tape: &mut Tape<'_>, depth: usize) -> String {
    match primary(tape, depth) {
        empty if empty.starts_with("[]") => format!("({empty})"),
        other => other,
    }
}

fn applied(tape: &mut Tape<'_>) -> &'static str {
    tape.of(&["g", "Max", "(g)", "'max", "g(1)", "'+"])
}

/// An expression that can be the argument of a juxtaposition.
fn argument(tape: &mut Tape<'_>, depth: usize) -> String {
    match primary(tape, depth) {
        // `a [i]` would be an index, so a list is put in parentheses.
        list if list.starts_with('[') && !list.starts_with("[]") => format!("({list})"),
        other => other,
    }
}

fn primary(tape: &mut Tape<'_>, depth: usize) -> String {
    if depth == 0 {
        return leaf(tape).to_owned();
    }
    let d = depth - 1;
    match tape.below(12) {
        0..=2 => leaf(tape).to_owned(),
        3 => format!("({})", expr(tape, d)),
        4 => {
            let all: Vec<String> = (0..=tape.below(3)).map(|_| operand(tape, d)).collect();
            format!("[{}]", all.join(", "))
        }
        5 => format!("[{}:{}]", operand(tape, d), operand(tape, d)),
        6 => format!("[{} : {} : {}]", operand(tape, d), operand(tape, d), operand(tape, d)),
        7 => format!("[] {}", tape.of(&["int", "(int, [float])", "[bool]", "bag(int, char)"])),
        8 => format!("time({})", expr(tape, d)),
        _ => each(tape, d),
    }
}

fn each(tape: &mut Tape<'_>, depth: usize) -> String {
    let star = tape.of(&["", "", "* "]);
    let mut bindings = Vec::new();
    for _ in 0..=tape.below(3) {
        bindings.push(match tape.below(3) {
            0 => tape.of(&["a", "b", "long_name"]).to_owned(),
            // A tuple is no sequence: `x in xs, x > 1` is taken for a condition.
            _ => format!("{} in {}", pattern(tape, 2), operand(tape, depth)),
        });
    }
    let bindings = bindings.join("; ");
    let body = if tape.below(4) > 0 { format!("{} : ", expr(tape, depth)) } else { "".into() };
    let sieve = if tape.below(3) == 0 { format!(" | {}", expr(tape, depth)) } else { "".into() };
    format!("{{{star}{body}{bindings}{sieve}}}")
}

#[rustfmt::skip]
fn leaf(tape: &mut Tape<'_>) -> &'static str {
    tape.of(&[
        "1", "a", "t", "F", "0", "007", "9223372036854775807", ".5", "5.", "1.5e-3", "1e3",
        "2.E+4", "1e300", "b", "Cc", "x_1", "`a", "` ", "`;", "``", "`%", "`\"", "`\\", "`\n",
        "\"\"", "\"abc\"", "\"a \\\"b\\\" \\\\ \\n % ; $\"", "\"two\nlines\"", "\"é\"", "'+",
        "'max", "'#", "'==", "'++", "'and", "'<", "'-", "'^", "'||", "'/=",
    ])
}
