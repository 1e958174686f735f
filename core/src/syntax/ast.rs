//! The abstract syntax of one top-level form: plain data, no trivia, no byte offsets.
//!
//! Equal ASTs mean equal programs: places are token [`Span`]s, so two texts that differ only in
//! comments and blanks give equal [`Item`]s. Anything the parser could not make sense of is
//! `Missing`, about which a diagnostic has been issued already; later stages stay silent on it.

use crate::base::{Name, Span};
pub use la_arena::{Arena, ArenaMap, Idx};

/// An expression of an item.
pub type ExprId = Idx<Expr>;
/// A pattern of an item.
pub type PatId = Idx<Pat>;

/// An identifier at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Its token.
    pub span: Span,
}

/// One top-level form.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// All its tokens.
    pub span: Span,
    /// The expressions, children before parents.
    pub exprs: Arena<Expr>,
    /// Where each expression is.
    pub expr_spans: ArenaMap<ExprId, Span>,
    /// The patterns.
    pub pats: Arena<Pat>,
    /// Where each pattern is.
    pub pat_spans: ArenaMap<PatId, Span>,
}

/// The sorts of top-level forms.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum ItemKind {
    /// `function name pattern [: type] ["doc"] = body` or a forward declaration.
    Function(Function),
    /// `datatype name type`.
    Datatype(Datatype),
    /// `pattern = exp` or `pattern |= exp`.
    Binding {
        /// What is bound.
        pattern: PatId,
        /// To what.
        value: ExprId,
        /// `|=`: also kept in a file.
        stored: bool,
    },
    /// `exp`; its value is named `it`.
    Expr(ExprId),
    /// `load "file"`, `set arg_check off`, …
    Command(Command),
    /// Nothing could be made of it; already reported.
    #[default]
    Missing,
}

/// A function definition, or only its declaration when `body` is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Its one parameter (usually a tuple), without the optional ones.
    pub param: PatId,
    /// `n := 5`: optional parameters, in order, with their defaults.
    pub optional: Vec<(Ident, ExprId)>,
    /// `: type`.
    pub annotation: Option<TypeScheme>,
    /// The doc string.
    pub doc: Option<String>,
    /// The body; `None` for a forward declaration (which has an annotation).
    pub body: Option<ExprId>,
}

/// `datatype name type :: context`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datatype {
    /// Its name, of the type and of the constructor.
    pub name: Ident,
    /// The contents (a tuple when there are several slots), and the type parameters in order.
    pub content: TypeScheme,
}

/// A top-level command (LANGUAGE section 8): its words and its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The first word, folded: `load`, `set`, `describe`, …
    pub verb: Ident,
    /// The rest.
    pub args: Vec<CommandArg>,
}

/// An operand of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandArg {
    /// A word or operator, as written.
    Word(Ident),
    /// A string.
    Text(String, Span),
    /// An integer, possibly negative.
    Int(i64, Span),
    /// `print := t`.
    Option(Ident, ExprId),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// Not there; already reported.
    Missing,
    /// An integer literal (out of range of i64: already reported, `Missing`).
    Int(i64),
    /// A float literal.
    Float(FloatBits),
    /// `t` or `f`.
    Bool(bool),
    /// `` `a ``.
    Char(u8),
    /// `"…"`, unescaped; its bytes.
    Text(Box<[u8]>),
    /// A variable, function or constructor.
    Name(Name),
    /// `'+`, `'max`: an operator or function as a value. Names as in [`BinaryOp::name`].
    Quote(Name),
    /// `a, b`.
    Pair(ExprId, ExprId),
    /// `[a, b, c]`, at least one element.
    Sequence(Vec<ExprId>),
    /// `[] type`.
    Empty(TypeExpr),
    /// `[start : end]` or `[start : end : stride]`.
    Range {
        /// The first element.
        start: ExprId,
        /// One bound, not included.
        end: ExprId,
        /// The step, 1 when not given.
        stride: Option<ExprId>,
    },
    /// `sequence[index]`.
    Index {
        /// The sequence.
        sequence: ExprId,
        /// The place.
        index: ExprId,
    },
    /// `fun(arg)` or `fun arg`.
    Call {
        /// What is called.
        fun: ExprId,
        /// Its one argument, without the optional ones.
        arg: ExprId,
        /// `n := 7` inside the parentheses.
        optional: Vec<(Ident, ExprId)>,
    },
    /// `#a`, `@a`, `-a`.
    Unary {
        /// Which.
        op: UnaryOp,
        /// The operator's token.
        op_span: Span,
        /// The operand.
        arg: ExprId,
    },
    /// `a + b`.
    Binary {
        /// Which.
        op: BinaryOp,
        /// The operator's token.
        op_span: Span,
        /// Left operand.
        left: ExprId,
        /// Right operand.
        right: ExprId,
    },
    /// `if c then a else b`.
    If {
        /// The condition.
        cond: ExprId,
        /// When true.
        then: ExprId,
        /// When false.
        otherwise: ExprId,
    },
    /// `let p = e; … in body`.
    Let {
        /// The bindings, each seeing those before it.
        bindings: Vec<(PatId, ExprId)>,
        /// The body.
        body: ExprId,
    },
    /// `{ body : p in e ; … | sieve }`, an apply-to-each.
    Each {
        /// `{* … }`: one instance after the other.
        serial: bool,
        /// The body; when left out, the first binding doubles as it and the parser makes it.
        body: ExprId,
        /// The bindings; a bare `a` is `a in a`.
        bindings: Vec<(PatId, ExprId)>,
        /// The condition.
        sieve: Option<ExprId>,
    },
    /// `pattern => exp`.
    Lambda {
        /// The parameter.
        param: PatId,
        /// The body.
        body: ExprId,
    },
    /// `time(e)`.
    Time(ExprId),
}

impl Expr {
    /// Visits the expressions directly inside, in order of evaluation.
    pub fn children(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Expr::Missing
            | Expr::Int(_)
            | Expr::Float(_)
            | Expr::Bool(_)
            | Expr::Char(_)
            | Expr::Text(_)
            | Expr::Name(_)
            | Expr::Quote(_)
            | Expr::Empty(_) => {}
            Expr::Pair(a, b) | Expr::Binary { left: a, right: b, .. } => {
                visit(*a);
                visit(*b);
            }
            Expr::Sequence(items) => items.iter().copied().for_each(visit),
            Expr::Range { start, end, stride } => {
                visit(*start);
                visit(*end);
                stride.iter().copied().for_each(visit);
            }
            Expr::Index { sequence, index } => {
                visit(*sequence);
                visit(*index);
            }
            Expr::Call { fun, arg, optional } => {
                visit(*fun);
                visit(*arg);
                optional.iter().for_each(|(_, value)| visit(*value));
            }
            Expr::Unary { arg, .. } | Expr::Time(arg) => visit(*arg),
            Expr::If { cond, then, otherwise } => {
                visit(*cond);
                visit(*then);
                visit(*otherwise);
            }
            Expr::Let { bindings, body } => {
                bindings.iter().for_each(|(_, value)| visit(*value));
                visit(*body);
            }
            Expr::Each { body, bindings, sieve, .. } => {
                bindings.iter().for_each(|(_, sequence)| visit(*sequence));
                sieve.iter().copied().for_each(&mut visit);
                visit(*body);
            }
            Expr::Lambda { body, .. } => visit(*body),
        }
    }
}

/// A float by its bits, so that syntax can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatBits(pub u64);

impl FloatBits {
    /// The float.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl std::fmt::Debug for FloatBits {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}", self.get())
    }
}

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pat {
    /// Not there; already reported.
    Missing,
    /// A variable.
    Name(Name),
    /// `a, b`.
    Pair(PatId, PatId),
    /// `record(pattern)`.
    Record {
        /// The record's name.
        name: Ident,
        /// What it holds.
        content: PatId,
    },
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `#`
    Length,
    /// `@`
    String,
    /// `-`
    Negate,
}

impl UnaryOp {
    /// The name of the function it stands for.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Length => "#",
            UnaryOp::String => "@",
            UnaryOp::Negate => "negate",
        }
    }
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names in `name` say it")]
pub enum BinaryOp {
    Or,
    Nor,
    Xor,
    And,
    Nand,
    Eq,
    Ne,
    Lt,
    Gt,
    Le,
    Ge,
    Add,
    Sub,
    Append,
    Mul,
    Div,
    Pad,
    Power,
    Write,
    Read,
}

impl BinaryOp {
    /// Every operator.
    pub const ALL: [BinaryOp; 20] = [
        BinaryOp::Or,
        BinaryOp::Nor,
        BinaryOp::Xor,
        BinaryOp::And,
        BinaryOp::Nand,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::Lt,
        BinaryOp::Gt,
        BinaryOp::Le,
        BinaryOp::Ge,
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Append,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Pad,
        BinaryOp::Power,
        BinaryOp::Write,
        BinaryOp::Read,
    ];

    /// The operator as written, which is also the name of the function it stands for.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Or => "or",
            BinaryOp::Nor => "nor",
            BinaryOp::Xor => "xor",
            BinaryOp::And => "and",
            BinaryOp::Nand => "nand",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "/=",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Append => "++",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Pad => "||",
            BinaryOp::Power => "^",
            BinaryOp::Write => "<-",
            BinaryOp::Read => "->",
        }
    }
}

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeExpr {
    /// What.
    pub kind: TypeExprKind,
    /// Where.
    pub span: Span,
}

/// The sorts of types one can write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeExprKind {
    /// Not there; already reported.
    Missing,
    /// `int`, a record without parameters, or a type variable.
    Name(Name),
    /// `name(t, …)`.
    Apply(Ident, Vec<TypeExpr>),
    /// `[t]`.
    Sequence(Box<TypeExpr>),
    /// `a, b`.
    Pair(Box<TypeExpr>, Box<TypeExpr>),
    /// `a -> b`.
    Arrow(Box<TypeExpr>, Box<TypeExpr>),
}

/// A type and its context: `[a] -> a :: (a in number)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeScheme {
    /// The type.
    pub ty: TypeExpr,
    /// The declared variables with their classes, in order.
    pub context: Vec<(Ident, Ident)>,
}
