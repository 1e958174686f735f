//! The kinds of tokens and tree nodes, shared by the lexer, the grammar and the tree.
//!
//! Token kinds come first (up to [`SyntaxKind::LAST_TOKEN`]), then nodes. Trivia are blanks and
//! comments: everything the grammar never sees.

use logos::Logos;

/// A kind of token or node.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(
    missing_docs,
    reason = "a token kind is named after its text, a node kind after its form"
)]
#[repr(u16)]
pub enum SyntaxKind {
    // Trivia.
    #[regex(r"[ \t\r\n\x0c\x0b]+")]
    Whitespace,
    #[token("%", super::lexer::comment)]
    Comment,
    /// A comment that is not closed; it ends with its first line.
    UnclosedComment,
    /// `// …`, a comment of other languages.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    ForeignComment,

    // Words and literals.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Ident,
    #[regex(r"[0-9]+")]
    Int,
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
    Float,
    Bool,
    #[token("`", super::lexer::character)]
    Char,
    /// A back-quote followed by nothing, or by a character that is not ASCII.
    BadChar,
    #[token("\"", super::lexer::string)]
    Text,
    /// A string that is not closed; it ends with its first line.
    UnclosedText,

    // Keywords.
    FunctionKw,
    DatatypeKw,
    LetKw,
    InKw,
    IfKw,
    ThenKw,
    ElseKw,
    AndKw,
    OrKw,
    NandKw,
    NorKw,
    XorKw,
    PairKw,
    ClosureKw,

    // Brackets and separators.
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBrack,
    #[token("]")]
    RBrack,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token("$")]
    Dollar,
    #[token(":")]
    Colon,
    #[token("::")]
    Colon2,
    #[token(":=")]
    ColonEq,
    #[token("|")]
    Pipe,
    #[token("|=")]
    PipeEq,
    #[token("=")]
    Eq,
    #[token("'")]
    Quote,

    // Operators.
    #[token("=>")]
    FatArrow,
    #[token("#")]
    Hash,
    #[token("@")]
    At,
    #[token("->")]
    Arrow,
    #[token("<-")]
    LArrow,
    #[token("++")]
    Plus2,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("||")]
    Pipe2,
    #[token("^")]
    Caret,
    #[token("==")]
    Eq2,
    #[token("/=")]
    Ne,
    #[token("<")]
    Lt,
    #[token(">")]
    Gt,
    #[token("<=")]
    Le,
    #[token(">=")]
    Ge,

    // Not NESL, but what people write.
    /// `!=` and `<>`.
    #[token("!=")]
    #[token("<>")]
    ForeignNe,
    /// `&&`.
    #[token("&&")]
    ForeignAnd,
    /// `**`.
    #[token("**")]
    ForeignPower,
    /// Characters and operators that mean nothing: `?`, `!`, `>>`, `&=`.
    #[token(">>")]
    #[token("&=")]
    Unknown,

    // Only in the grammar's view of the tokens.
    /// A `(` right after a name.
    CallParen,
    /// The `;` or `$` that ends the form.
    End,
    /// After the last token.
    Eof,
    HeadFunction,
    HeadDatatype,
    HeadBinding,
    HeadExpr,
    /// Keep last of the tokens.
    HeadCommand,

    // Nodes.
    Item,
    Function,
    Datatype,
    Binding,
    ExprItem,
    Command,
    Name,
    Literal,
    QuoteExpr,
    Tuple,
    Paren,
    Optional,
    Call,
    Apply,
    Index,
    Sequence,
    Empty,
    Unary,
    Binary,
    If,
    Let,
    LetBinding,
    Each,
    EachBinding,
    Lambda,
    TypeName,
    TypeApply,
    TypeSequence,
    TypeParen,
    TypeTuple,
    TypeArrow,
    Scheme,
    Context,
    ContextEntry,
    /// An expression, pattern or name that should stand here.
    Missing,
    /// A type that should stand here.
    MissingType,
    /// Tokens that fit nowhere.
    Error,
}

impl SyntaxKind {
    /// The last kind of token.
    pub const LAST_TOKEN: SyntaxKind = SyntaxKind::HeadCommand;

    /// Whether it is a blank or a comment.
    pub fn is_trivia(self) -> bool {
        self <= SyntaxKind::ForeignComment
    }

    /// Whether it is a token.
    pub fn is_token(self) -> bool {
        self <= SyntaxKind::LAST_TOKEN
    }

    /// Whether it opens a bracket.
    pub fn is_open(self) -> bool {
        use SyntaxKind::*;
        matches!(self, LParen | CallParen | LBrack | LBrace)
    }

    /// Whether it closes a bracket.
    pub fn is_close(self) -> bool {
        use SyntaxKind::*;
        matches!(self, RParen | RBrack | RBrace)
    }

    /// What closes it, for an opening bracket.
    pub fn closer(self) -> SyntaxKind {
        use SyntaxKind::*;
        match self {
            LBrack => RBrack,
            LBrace => RBrace,
            _ => RParen,
        }
    }

    /// Whether it is a literal, well-formed or not.
    pub fn is_literal(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            Int | Float | Bool | Char | BadChar | Text | UnclosedText
        )
    }

    /// Whether it is a reserved word.
    pub fn is_keyword(self) -> bool {
        (SyntaxKind::FunctionKw..=SyntaxKind::ClosureKw).contains(&self)
    }

    /// Whether it is an operator that can be quoted: `'+`.
    pub fn is_operator(self) -> bool {
        use SyntaxKind::*;
        matches!(self, AndKw | OrKw | NandKw | NorKw | XorKw | Eq) || (Hash..=Ge).contains(&self)
    }

    /// The kind with this number.
    pub fn from_u16(raw: u16) -> SyntaxKind {
        TABLE[raw as usize]
    }
}

/// Every kind by number: the inverse of `as u16`.
const TABLE: [SyntaxKind; SyntaxKind::Error as usize + 1] = {
    use SyntaxKind::*;
    [
        Whitespace,
        Comment,
        UnclosedComment,
        ForeignComment,
        Ident,
        Int,
        Float,
        Bool,
        Char,
        BadChar,
        Text,
        UnclosedText,
        FunctionKw,
        DatatypeKw,
        LetKw,
        InKw,
        IfKw,
        ThenKw,
        ElseKw,
        AndKw,
        OrKw,
        NandKw,
        NorKw,
        XorKw,
        PairKw,
        ClosureKw,
        LParen,
        RParen,
        LBrack,
        RBrack,
        LBrace,
        RBrace,
        Comma,
        Semi,
        Dollar,
        Colon,
        Colon2,
        ColonEq,
        Pipe,
        PipeEq,
        Eq,
        Quote,
        FatArrow,
        Hash,
        At,
        Arrow,
        LArrow,
        Plus2,
        Plus,
        Minus,
        Star,
        Slash,
        Pipe2,
        Caret,
        Eq2,
        Ne,
        Lt,
        Gt,
        Le,
        Ge,
        ForeignNe,
        ForeignAnd,
        ForeignPower,
        Unknown,
        CallParen,
        End,
        Eof,
        HeadFunction,
        HeadDatatype,
        HeadBinding,
        HeadExpr,
        HeadCommand,
        Item,
        Function,
        Datatype,
        Binding,
        ExprItem,
        Command,
        Name,
        Literal,
        QuoteExpr,
        Tuple,
        Paren,
        Optional,
        Call,
        Apply,
        Index,
        Sequence,
        Empty,
        Unary,
        Binary,
        If,
        Let,
        LetBinding,
        Each,
        EachBinding,
        Lambda,
        TypeName,
        TypeApply,
        TypeSequence,
        TypeParen,
        TypeTuple,
        TypeArrow,
        Scheme,
        Context,
        ContextEntry,
        Missing,
        MissingType,
        Error,
    ]
};

/// The language of our rowan trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Nesl {}

impl rowan::Language for Nesl {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::from_u16(raw.0)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// A node of a lossless tree.
pub type SyntaxNode = rowan::SyntaxNode<Nesl>;
/// A token of a lossless tree.
pub type SyntaxToken = rowan::SyntaxToken<Nesl>;
/// A node or token of a lossless tree.
pub type SyntaxElement = rowan::SyntaxElement<Nesl>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_numbers() {
        for raw in 0..=SyntaxKind::Error as u16 {
            assert_eq!(SyntaxKind::from_u16(raw) as u16, raw);
        }
    }
}
