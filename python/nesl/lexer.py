"""NESL for Pygments: colours in converted notebooks and in documentation."""

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["NeslLexer"]


class NeslLexer(RegexLexer):
    """The lexer of NESL."""

    name = "NESL"
    aliases = ["nesl"]
    filenames = ["*.nesl"]
    mimetypes = ["text/x-nesl"]
    url = "https://www.cs.cmu.edu/~scandal/nesl.html"

    tokens = {
        "root": [
            (r"^\s*:[a-z_]+", Name.Decorator),
            (r"%[^%]*%", Comment.Multiline),
            (r"\s+", Text),
            (r'"(\\.|[^"\\])*"', String.Double),
            (r"`(\\.|.)", String.Char),
            (r"(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)", Number.Float),
            (r"\d+\.\d*|\.\d+", Number.Float),
            (r"\d+", Number.Integer),
            (
                words(
                    ("function", "datatype", "let", "in", "if", "then", "else", "over"),
                    prefix=r"(?i)",
                    suffix=r"\b",
                ),
                Keyword,
            ),
            (
                words(("int", "float", "bool", "char", "stream"), prefix=r"(?i)", suffix=r"\b"),
                Keyword.Type,
            ),
            (
                words(("and", "or", "nand", "nor", "xor", "not"), prefix=r"(?i)", suffix=r"\b"),
                Operator.Word,
            ),
            (r"(?i)\b[tf]\b", Keyword.Constant),
            (r"(function\s+)([A-Za-z_]\w*)", Name.Function),
            (r"[A-Za-z_]\w*(?=\s*\()", Name.Function),
            (r"[A-Za-z_]\w*", Name),
            (r"=>|->|<-|\+\+|==|/=|<=|>=|\|=|[-+*/^<>=#|@:]", Operator),
            (r"[()\[\]{},;$]", Punctuation),
            (r".", Text),
        ],
    }
