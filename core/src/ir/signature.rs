//! The types of operations: what each takes and gives.
//!
//! The verifier checks programs against it and the builder looks result types up in it. All
//! functions say in words what is wrong when the operands do not fit.

use super::Ty;
use crate::prim::{HostOp, ReduceOp, SeqOp};
use nesl_runtime::scalar::ScalarOp;

/// The type of a scalar operation's result.
pub fn scalar(op: ScalarOp, args: &[Ty]) -> Result<Ty, String> {
    use ScalarOp::*;
    let wrong = || Err(format!("{op:?} does not take {}", list(args)));
    match op {
        Add | Sub | Mul | Div => match args {
            [Ty::Int, Ty::Int] => Ok(Ty::Int),
            [Ty::Float, Ty::Float] => Ok(Ty::Float),
            _ => wrong(),
        },
        Rem | Mod | Shl | Shr | Mix | Split => match args {
            [Ty::Int, Ty::Int] => Ok(Ty::Int),
            _ => wrong(),
        },
        Neg | Abs => match args {
            [Ty::Int] => Ok(Ty::Int),
            [Ty::Float] => Ok(Ty::Float),
            _ => wrong(),
        },
        Max | Min => match args {
            [a, b] if a == b && ordinal(a) => Ok(a.clone()),
            _ => wrong(),
        },
        Eq | Ne => match args {
            [a, b] if a == b && (ordinal(a) || *a == Ty::Bool) => Ok(Ty::Bool),
            _ => wrong(),
        },
        Lt | Le | Gt | Ge => match args {
            [a, b] if a == b && ordinal(a) => Ok(Ty::Bool),
            _ => wrong(),
        },
        Not => match args {
            [a] if logical(a) => Ok(a.clone()),
            _ => wrong(),
        },
        And | Or | Xor => match args {
            [a, b] if a == b && logical(a) => Ok(a.clone()),
            _ => wrong(),
        },
        Sqrt | Ln | Exp | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh => match args {
            [Ty::Float] => Ok(Ty::Float),
            _ => wrong(),
        },
        Floor | Ceil | Trunc | Round | FloatBits => match args {
            [Ty::Float] => Ok(Ty::Int),
            _ => wrong(),
        },
        ToFloat => match args {
            [Ty::Int] => Ok(Ty::Float),
            _ => wrong(),
        },
        BoolToInt => match args {
            [Ty::Bool] => Ok(Ty::Int),
            _ => wrong(),
        },
        CharToInt => match args {
            [Ty::Char] => Ok(Ty::Int),
            _ => wrong(),
        },
        IntToChar => match args {
            [Ty::Int] => Ok(Ty::Char),
            _ => wrong(),
        },
        Rand => match args {
            [Ty::Int, bound @ (Ty::Int | Ty::Float)] => Ok(bound.clone()),
            _ => wrong(),
        },
    }
}

/// The type of a sequence operation's result.
pub fn sequence(op: SeqOp, args: &[Ty]) -> Result<Ty, String> {
    use SeqOp::*;
    let result = match (op, args) {
        (Length, [Ty::Sequence(_)]) => Some(Ty::Int),
        (Index, [Ty::Sequence(a), Ty::Int]) => Some((**a).clone()),
        (Range, [Ty::Int, Ty::Int, Ty::Int]) => Some(Ty::sequence(Ty::Int)),
        (Dist, [a, Ty::Int]) => Some(Ty::sequence(a.clone())),
        (Gather | Permute, [a @ Ty::Sequence(_), i]) if is_sequence_of(i, &Ty::Int) => {
            Some(a.clone())
        }
        (Scatter, [d @ Ty::Sequence(a), Ty::Sequence(writes)]) => match &**writes {
            Ty::Pair(place, value) if **place == Ty::Int && value == a => Some(d.clone()),
            _ => None,
        },
        (Replace, [d @ Ty::Sequence(a), v, Ty::Int]) if **a == *v => Some(d.clone()),
        (Pack, [a @ Ty::Sequence(_), flags]) if is_sequence_of(flags, &Ty::Bool) => Some(a.clone()),
        (Append, [a @ Ty::Sequence(_), b]) if a == b => Some(a.clone()),
        (Flatten, [Ty::Sequence(a)]) if a.element().is_some() => Some((**a).clone()),
        (Partition, [a @ Ty::Sequence(_), counts]) if is_sequence_of(counts, &Ty::Int) => {
            Some(Ty::sequence(a.clone()))
        }
        (Subseq, [a @ Ty::Sequence(_), Ty::Int, Ty::Int]) => Some(a.clone()),
        (Reduce(with), [Ty::Sequence(a)]) if reducible(with, a) => Some((**a).clone()),
        (Scan(with), [a @ Ty::Sequence(element)]) if reducible(with, element) => Some(a.clone()),
        (Histogram(with), [Ty::Int, places, Ty::Sequence(values)])
            if is_sequence_of(places, &Ty::Int) && reducible(with, scalar_of(values)) =>
        {
            Some(Ty::sequence(scalar_of(values).clone()))
        }
        (RankUp | RankDown, [Ty::Sequence(a)]) if ordinal(a) => Some(Ty::sequence(Ty::Int)),
        (Groups, [a]) if is_sequence_of(a, &Ty::Int) || is_sequence_of(a, &Ty::text()) => {
            Some(Ty::pair(Ty::sequence(Ty::Int), Ty::sequence(Ty::Int)))
        }
        (HashText, [text, Ty::Int]) if *text == Ty::text() => Some(Ty::Int),
        (SameText, [a, b]) if *a == Ty::text() && a == b => Some(Ty::Bool),
        (IntText, [Ty::Int]) => Some(Ty::text()),
        (FloatText, [Ty::Float]) => Some(Ty::text()),
        (ExpText, [Ty::Float, Ty::Int]) => Some(Ty::text()),
        (ParseFloat, [text]) if *text == Ty::text() => Some(Ty::pair(Ty::Float, Ty::Bool)),
        (
            Length | Index | Range | Dist | Gather | Scatter | Replace | Permute | Pack | Append
            | Flatten | Partition | Subseq | Reduce(_) | Scan(_) | Histogram(_) | RankUp | RankDown
            | Groups | HashText | SameText | IntText | FloatText | ExpText | ParseFloat,
            _,
        ) => None,
    };
    result.ok_or_else(|| format!("{op:?} does not take {}", list(args)))
}

/// How many operands a host operation has.
pub fn host_arity(op: HostOp) -> usize {
    use HostOp::*;
    match op {
        PrintText | Seed | OpenIn | OpenOut | OpenAppend | Close | ReadChar | ReadLine
        | ReadWord | ReadFile | ReadInts | ReadFloats | Spawn | GetEnv | Prompt
        | ReadMatrixMarket => 1,
        WriteText | WriteFile | AppendFile | ReadObject | WriteObject | Shell | ReadCsv
        | ReadNpy | WriteNpy | WriteMatrixMarket => 2,
        ReadText | WriteCsv => 3,
        MakeWindow => 4,
        Draw => 6,
    }
}

/// Whether a host operation on operands of types `args` can give a `result`.
///
/// Operands may come one by one ([`host_arity`] of them) or paired up as the language pairs
/// arguments: what counts is the tuple they form.
pub fn host(op: HostOp, args: &[Ty], result: &Ty) -> Result<(), String> {
    use HostOp::*;
    let text = Ty::text;
    let status = || Ty::pair(Ty::Bool, Ty::text());
    let with_status = |value: Ty| Ty::pair(value, status());
    let matrix = || {
        Ty::pair(Ty::pair(Ty::Int, Ty::Int), Ty::sequence(Ty::tuple([Ty::Int, Ty::Int, Ty::Float])))
    };
    let given = Ty::tuple(args.iter().cloned());
    // The part whose type is up to the caller.
    let free = match &given {
        Ty::Pair(first, _) => (**first).clone(),
        _ => Ty::Unit,
    };
    let (takes, gives) = match op {
        PrintText => (text(), Ty::Bool),
        WriteText => (Ty::pair(text(), Ty::Int), status()),
        Seed => (Ty::Int, Ty::Bool),
        OpenIn | OpenOut | OpenAppend => (text(), with_status_of_stream()),
        Close => (Ty::Int, status()),
        ReadChar => (Ty::Int, with_status(Ty::pair(Ty::Char, Ty::Bool))),
        ReadLine => (Ty::Int, with_status(Ty::pair(text(), Ty::Bool))),
        ReadWord => (Ty::Int, with_status(Ty::tuple([text(), Ty::Char, Ty::Bool]))),
        ReadText => (Ty::tuple([text(), Ty::Int, Ty::Int]), with_status(Ty::pair(text(), Ty::Int))),
        ReadFile => (text(), with_status(text())),
        WriteFile | AppendFile => (Ty::pair(text(), text()), status()),
        ReadObject => (Ty::pair(free.clone(), text()), with_status(free)),
        WriteObject => (Ty::pair(free, text()), status()),
        ReadInts => (text(), Ty::sequence(Ty::Int)),
        ReadFloats => (text(), Ty::sequence(Ty::Float)),
        Shell => (Ty::pair(text(), text()), text()),
        Spawn => (text(), Ty::tuple([Ty::Int, Ty::Int, Ty::Int, Ty::Bool])),
        GetEnv | Prompt => (text(), text()),
        ReadCsv => (Ty::pair(free.clone(), text()), Ty::sequence(free)),
        WriteCsv => (Ty::tuple([Ty::sequence(row_of(&free)), text(), text()]), Ty::Bool),
        ReadNpy => (Ty::pair(free.clone(), text()), free),
        WriteNpy => (Ty::pair(free, text()), Ty::Bool),
        ReadMatrixMarket => (text(), matrix()),
        WriteMatrixMarket => (Ty::pair(matrix(), text()), Ty::Bool),
        MakeWindow => (Ty::tuple([text(), Ty::Int, Ty::Int, Ty::Int]), Ty::Int),
        Draw => {
            let numbers = Ty::sequence(Ty::Float);
            (Ty::tuple([Ty::Int, Ty::Int, Ty::Int, Ty::Int, numbers, text()]), Ty::Bool)
        }
    };
    if given != takes {
        return Err(format!("{op:?} takes {takes}, not {given}"));
    }
    if *result != gives {
        return Err(format!("{op:?} gives {gives}, not {result}"));
    }
    Ok(())
}

fn with_status_of_stream() -> Ty {
    Ty::tuple([Ty::Int, Ty::Bool, Ty::text()])
}

fn row_of(rows: &Ty) -> Ty {
    rows.element().cloned().unwrap_or(Ty::Unit)
}

/// The type of a value, or of the elements of a row.
fn scalar_of(values: &Ty) -> &Ty {
    values.element().unwrap_or(values)
}

fn is_sequence_of(ty: &Ty, element: &Ty) -> bool {
    ty.element() == Some(element)
}

fn ordinal(ty: &Ty) -> bool {
    matches!(ty, Ty::Int | Ty::Float | Ty::Char)
}

fn logical(ty: &Ty) -> bool {
    matches!(ty, Ty::Int | Ty::Bool)
}

/// Whether sequences of `element` can be reduced with an operation.
fn reducible(with: ReduceOp, element: &Ty) -> bool {
    match with {
        ReduceOp::Sum | ReduceOp::Product => matches!(element, Ty::Int | Ty::Float),
        ReduceOp::Max | ReduceOp::Min => ordinal(element),
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => logical(element),
    }
}

fn list(args: &[Ty]) -> String {
    if args.is_empty() {
        return "nothing".to_string();
    }
    let args: Vec<String> = args.iter().map(Ty::to_string).collect();
    args.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::mnemonic::Mnemonic;
    use super::*;
    use nesl_runtime::scalar::{Precision, Scalar, eval};

    fn sample(ty: &Ty) -> Scalar {
        match ty {
            Ty::Int => Scalar::Int(1),
            Ty::Float => Scalar::Float(1.0),
            Ty::Bool => Scalar::Bool(true),
            Ty::Char => Scalar::Char(1),
            Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => panic!("{ty} is not scalar"),
        }
    }

    fn type_of(value: Scalar) -> Ty {
        match value {
            Scalar::Int(_) => Ty::Int,
            Scalar::Float(_) => Ty::Float,
            Scalar::Bool(_) => Ty::Bool,
            Scalar::Char(_) => Ty::Char,
        }
    }

    /// What has a signature has a meaning, and of the type it says.
    #[test]
    fn scalar_operations_give_what_they_say() {
        let types = [Ty::Int, Ty::Float, Ty::Bool, Ty::Char];
        for op in ScalarOp::all() {
            let mut defined = 0;
            let singles = types.iter().map(|a| vec![a.clone()]);
            let pairs = types.iter().flat_map(|a| types.iter().map(|b| vec![a.clone(), b.clone()]));
            for args in singles.chain(pairs) {
                let Ok(result) = scalar(op, &args) else {
                    continue;
                };
                defined += 1;
                let values: Vec<Scalar> = args.iter().map(sample).collect();
                for precision in [Precision::Bits32, Precision::Bits64] {
                    let value = eval(op, &values, precision).unwrap();
                    assert_eq!(type_of(value), result, "{op:?} {args:?}");
                }
            }
            assert!(defined > 0, "{op:?} is defined nowhere");
        }
    }

    #[test]
    fn operands_of_the_world_outside() {
        let text = Ty::text;
        let status = || Ty::pair(Ty::Bool, Ty::text());
        assert_eq!(host(HostOp::PrintText, &[text()], &Ty::Bool), Ok(()));
        assert!(host(HostOp::PrintText, &[Ty::Int], &Ty::Bool).is_err());
        assert!(host(HostOp::PrintText, &[text()], &Ty::Int).is_err());
        assert_eq!(host(HostOp::WriteText, &[text(), Ty::Int], &status()), Ok(()));
        let row = Ty::pair(Ty::Int, Ty::Float);
        let rows = Ty::sequence(row.clone());
        assert_eq!(host(HostOp::ReadCsv, &[row, text()], &rows), Ok(()));
        assert_eq!(host(HostOp::WriteCsv, &[rows.clone(), text(), text()], &Ty::Bool), Ok(()));
        // Paired up as the language pairs arguments.
        let rest = Ty::pair(text(), text());
        assert_eq!(host(HostOp::WriteCsv, &[rows, rest], &Ty::Bool), Ok(()));
    }
}
