//! The abstract syntax of one top-level form: plain data, no trivia, no byte offsets.
//!
//! Equal ASTs mean equal programs: locations are token [`Span`]s, so two texts that differ only in
//! comments and blanks have equal [`Item`]s. A part that could not be parsed is `Missing`; the parser
//! has reported it, and later stages report nothing about it.

pub use crate::base::FloatBits;
use crate::base::{Constants, Name, Span};
pub use la_arena::{Arena, ArenaMap, Idx};
use std::sync::Arc;

/// The id of an expression of an item.
pub type ExprId = Idx<Expr>;
/// The id of a pattern of an item.
pub type PatId = Idx<Pat>;

/// An identifier and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The identifier itself.
    pub name: Name,
    /// The span of its token.
    pub span: Span,
}

/// One top-level form.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Item {
    /// The sort of form and its contents.
    pub kind: ItemKind,
    /// The span of all its tokens.
    pub span: Span,
    /// The expressions, children before parents.
    pub exprs: Arena<Expr>,
    /// The span of each expression.
    pub expr_spans: ArenaMap<ExprId, Span>,
    /// The patterns of the item.
    pub pats: Arena<Pat>,
    /// The span of each pattern.
    pub pat_spans: ArenaMap<PatId, Span>,
}

/// The sorts of top-level forms.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum ItemKind {
    /// A function definition `function name pattern [: type] ["doc"] = body`, or a forward declaration.
    Function(Function),
    /// A datatype definition `datatype name type`.
    Datatype(Datatype),
    /// A top-level binding `pattern = exp` or `pattern |= exp`.
    Binding {
        /// The pattern that is bound.
        pattern: PatId,
        /// The value it is bound to.
        value: ExprId,
        /// True for `|=`: the value is also stored in a file.
        stored: bool,
    },
    /// An expression; its value is named `it`.
    Expr(ExprId),
    /// A top-level command: `load "file"`, `set arg_check off`, …
    Command(Command),
    /// A form that could not be parsed; the error has been reported.
    #[default]
    Missing,
}

/// A function definition, or only its declaration when `body` is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name of the function.
    pub name: Ident,
    /// Its one parameter (usually a tuple), without the optional ones.
    pub param: PatId,
    /// The optional parameters `n := 5` in order, with their defaults.
    pub optional: Vec<(Ident, ExprId)>,
    /// The type annotation after `:`.
    pub annotation: Option<TypeScheme>,
    /// The text of the doc string.
    pub doc: Option<String>,
    /// The body; `None` for a forward declaration (which has an annotation).
    pub body: Option<ExprId>,
}

/// A datatype definition, `datatype name type :: context`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datatype {
    /// Its name, of the type and of the constructor.
    pub name: Ident,
    /// The contents (a tuple when there are several slots), and the type parameters in order.
    pub content: TypeScheme,
}

/// A top-level command: its words and its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The first word, folded: `load`, `set`, `describe`, …
    pub verb: Ident,
    /// The operands after the first word.
    pub args: Vec<CommandArg>,
}

/// An operand of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandArg {
    /// A word or operator, as written.
    Word(Ident),
    /// A string literal.
    Text(String, Span),
    /// An integer, possibly negative.
    Int(i64, Span),
    /// An option `print := t`.
    Option(Ident, ExprId),
    /// The text of an expression whose value is the operand: `dir ++ "file"` of `load`.
    Code(String, Span),
}

/// An expression, with its subexpressions by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A missing part; the error has been reported.
    Missing,
    /// An integer literal. (One beyond 64 bits is `Missing`.)
    Int(i64),
    /// A float literal.
    Float(FloatBits),
    /// A literal `t` or `f`.
    Bool(bool),
    /// A character literal `` `a ``.
    Char(u8),
    /// The bytes of a string literal `"…"`, unescaped.
    Text(Box<[u8]>),
    /// A variable, function or constructor.
    Name(Name),
    /// An operator or function as a value, `'+` or `'max`, by its name as in [`BinaryOp::name`].
    Quote(Name),
    /// A pair `a, b`.
    Pair(ExprId, ExprId),
    /// A sequence `[a, b, c]` of at least one element.
    Sequence(Vec<ExprId>),
    /// A long sequence of constants of one type, at any depth: `[[1, 2], [3, 4], …]`.
    Constants {
        /// The elements of the sequence.
        elements: Arc<Constants>,
        /// The first ints that need more than 32 bits, without their signs, and their tokens.
        wide: Box<[(i64, u32)]>,
    },
    /// An empty sequence, `[] type`.
    Empty(TypeExpr),
    /// A range `[start : end]` or `[start : end : stride]`.
    Range {
        /// The first element.
        start: ExprId,
        /// The end, not included.
        end: ExprId,
        /// The stride, 1 if it is missing.
        stride: Option<ExprId>,
    },
    /// An element, `sequence[index]`.
    Index {
        /// The sequence that is indexed.
        sequence: ExprId,
        /// The index of the element, from 0.
        index: ExprId,
    },
    /// A call, `fun(arg)` or `fun arg`.
    Call {
        /// The function that is called.
        fun: ExprId,
        /// Its one argument, without the optional ones.
        arg: ExprId,
        /// The optional arguments `n := 7` inside the parentheses.
        optional: Vec<(Ident, ExprId)>,
    },
    /// A unary operation: `#a`, `@a`, `-a`.
    Unary {
        /// The unary operator.
        op: UnaryOp,
        /// The span of the operator's token.
        op_span: Span,
        /// The operand of the operator.
        arg: ExprId,
    },
    /// A binary operation: `a + b`.
    Binary {
        /// The binary operator.
        op: BinaryOp,
        /// The span of the operator's token.
        op_span: Span,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// A conditional, `if c then a else b`.
    If {
        /// The condition, a bool.
        cond: ExprId,
        /// The value if the condition is true.
        then: ExprId,
        /// The value if the condition is false.
        otherwise: ExprId,
    },
    /// Local bindings, `let p = e; … in body`.
    Let {
        /// The bindings; the variables of each are visible in those after it.
        bindings: Vec<(PatId, ExprId)>,
        /// The expression in the scope of the bindings.
        body: ExprId,
    },
    /// An apply-to-each, `{ body : p in e ; … | sieve }`.
    Each {
        /// True for `{* … }`: iterations are executed one after the other.
        serial: bool,
        /// The body. If it is left out, the parser makes it from the first binding.
        body: ExprId,
        /// The bindings; `a` alone is short for `a in a`.
        bindings: Vec<(PatId, ExprId)>,
        /// The condition that filters the elements.
        sieve: Option<ExprId>,
    },
    /// A function value, `pattern => exp`.
    Lambda {
        /// The pattern of the parameter.
        param: PatId,
        /// The value of the function.
        body: ExprId,
    },
    /// The value of an expression and the seconds it took, `time(e)`.
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
            | Expr::Constants { .. }
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

/// A pattern: the left side of a binding, or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pat {
    /// A missing part; the error has been reported.
    Missing,
    /// A variable that the pattern binds.
    Name(Name),
    /// A pair `a, b`.
    Pair(PatId, PatId),
    /// A record, `record(pattern)`.
    Record {
        /// The name of the datatype.
        name: Ident,
        /// The pattern of the content.
        content: PatId,
    },
}

/// The unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// The length of a sequence, `#`.
    Length,
    /// The value as a string, `@`.
    String,
    /// The negative of a number, `-`.
    Negate,
}

impl UnaryOp {
    /// Returns the name of the function it stands for.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Length => "#",
            UnaryOp::String => "@",
            UnaryOp::Negate => "negate",
        }
    }
}

/// The binary operators.
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
    /// All binary operators.
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

    /// Returns the operator as written, which is also the name of the function it stands for.
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

/// A type in the source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeExpr {
    /// The sort of type and its parts.
    pub kind: TypeExprKind,
    /// The span of its tokens.
    pub span: Span,
}

/// The sorts of types one can write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeExprKind {
    /// A missing part; the error has been reported.
    Missing,
    /// `int`, a record without parameters, or a type variable.
    Name(Name),
    /// A record with type arguments, `name(t, …)`.
    Apply(Ident, Vec<TypeExpr>),
    /// A sequence type, `[t]`.
    Sequence(Box<TypeExpr>),
    /// A pair type, `a, b`.
    Pair(Box<TypeExpr>, Box<TypeExpr>),
    /// A function type, `a -> b`.
    Arrow(Box<TypeExpr>, Box<TypeExpr>),
}

/// A type and its context: `[a] -> a :: (a in number)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeScheme {
    /// The type without its context.
    pub ty: TypeExpr,
    /// The declared variables with their classes, in order.
    pub context: Vec<(Ident, Ident)>,
}
