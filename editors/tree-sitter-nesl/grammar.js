/**
 * NESL for tree-sitter.
 *
 * The parser that decides what a program means is another one (`core/src/syntax`); this one is for
 * editors, and is held to that one by `check.py`: what the real parser accepts has no error here,
 * and the shapes agree.
 *
 * What is odd about the language, and where it is dealt with:
 *
 * - Names and keywords are the same in either case: `keyword` below.
 * - Keywords are reserved everywhere, so that an open bracket cannot swallow the next `function`;
 *   and `load`, `set` and the like are commands only by what follows them. The scanner in
 *   `src/scanner.c` tells names, keywords and commands apart.
 * - A `(` that touches what it is applied to binds tighter than one that does not:
 *   `f g(x)` is `f (g(x))`, and `f g (x)` is `(f g) (x)`. See `_tight` and `_postfix`.
 * - `a[i]` is an element, but `a[i, j]` is the application of `a` to a list of two.
 * - Patterns look like expressions until `=`, `in` or `=>` comes: the conflicts.
 * - `if`, `let` and `=>` reach as far as they can; `if` and `let` take commas with them:
 *   `_expression` is with commas, `_operand` without.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// Binding powers, those of the parser of NESL 3.1 (which differ from its manual).
const PREC = {
  comma: 4,
  lambda: 10,
  or: 14,
  and: 16,
  compare: 20,
  add: 40,
  multiply: 42,
  power: 44,
  write: 46,
  read: 48,
  unary: 50,
  apply: 60,
  tight: 61,
};

/** A word that is the same in either case, known to queries in lower case. */
function keyword(word) {
  const letters = [...word].map((c) => `[${c}${c.toUpperCase()}]`).join("");
  return alias(token(new RegExp(letters)), word);
}

/** One or more, separated by commas. */
function commas(rule) {
  return seq(rule, repeat(seq(",", rule)));
}

/**
 * What closes a bracket. Where it is forgotten, the next definition closes it, so that one mistake
 * damages one form; the `;` in between was meant to end that form.
 */
function close($, bracket) {
  return choice(bracket, seq(optional(";"), $.unclosed));
}

module.exports = grammar({
  name: "nesl",

  externals: ($) => [
    // Any word that is no keyword.
    $.identifier,
    // `t` and `f`.
    $.boolean,
    // `load`, `set`, …, where they begin a command.
    $.command_name,
    // Stands for what closes a bracket or a `let`, where a definition or the end of the text comes.
    $.unclosed,
    // From one `%` to the next.
    $.comment,
    // Never used: tells the scanner that the parser is recovering from an error.
    $._recovering,
  ],

  // A byte order mark counts as a blank.
  extras: ($) => [/[ \t\r\n\f\uFEFF]/, $.comment],

  conflicts: ($) => [
    // `(a, b` may go on as a pattern or as an expression.
    [$._primary, $._pattern],
    [$._primary, $.record_pattern],
    // `:: a in any; b`: another variable of the context, or the next form.
    [$._constraints],
  ],

  inline: ($) => [$._open],

  rules: {
    // Forms end with `;` or `$`. The last may lack it, and so may one before a definition, whose
    // keyword nothing else begins with.
    source_file: ($) => seq(repeat(seq(optional($._forms), $._end)), optional($._forms)),

    _forms: ($) => seq($._form, repeat($._definition)),

    _form: ($) => choice($._definition, $.binding, $.top_level_expression, $.command),

    _definition: ($) => choice($.function_definition, $.datatype_definition),

    _end: (_) => choice(";", "$"),

    // Top level.

    // Without a body it declares a function that is defined later.
    function_definition: ($) =>
      seq(
        keyword("function"),
        field("name", $.identifier),
        field("parameters", choice($.parameters, $.identifier)),
        choice(
          seq(
            optional($._annotation),
            optional(field("documentation", $.string)),
            "=",
            field("body", $._expression),
          ),
          $._annotation,
        ),
      ),

    parameters: ($) => seq($._open, commas(choice($._pattern, $.optional_parameter)), ")"),

    optional_parameter: ($) =>
      seq(field("name", $.identifier), ":=", field("value", $._operand)),

    _annotation: ($) => seq(":", $._scheme),

    datatype_definition: ($) => seq(keyword("datatype"), field("name", $.identifier), $._scheme),

    binding: ($) =>
      seq(
        field("pattern", $._patterns),
        field("operator", choice("=", "|=")),
        field("value", $._expression),
      ),

    top_level_expression: ($) => $._expression,

    // The words of a command are whatever the command makes of them.
    command: ($) =>
      seq(
        field("name", $.command_name),
        repeat(choice($.command_option, $._constant, $.identifier, $._command_sign)),
      ),

    command_option: ($) => seq(field("name", $.identifier), ":=", field("value", $.boolean)),

    _command_sign: (_) =>
      choice(
        ..."+ - * / ^ ++ || == /= < <= > >= -> <- # @ ' = : , ( ) [ ] { }".split(" "),
        keyword("time"),
      ),

    // Expressions.

    _expression: ($) => prec.right(choice($._operand, alias($.bare_tuple, $.tuple))),

    bare_tuple: ($) => prec.right(PREC.comma, seq($._operand, repeat1(seq(",", $._operand)))),

    _operand: ($) => choice($._operation, $.lambda),

    lambda: ($) =>
      prec.right(
        PREC.lambda,
        seq(field("parameter", $._pattern), "=>", field("body", $._operand)),
      ),

    _operation: ($) =>
      choice(
        $.if_expression,
        $.let_expression,
        $.binary_expression,
        $.unary_expression,
        $._postfix,
      ),

    if_expression: ($) =>
      prec.right(
        seq(
          keyword("if"),
          field("condition", $._expression),
          keyword("then"),
          field("consequence", $._expression),
          keyword("else"),
          field("alternative", $._expression),
        ),
      ),

    let_expression: ($) =>
      prec.right(
        seq(
          keyword("let"),
          $.let_binding,
          repeat(seq(";", $.let_binding)),
          choice(
            seq(optional(";"), keyword("in"), field("body", $._expression)),
            seq(optional(";"), $.unclosed),
          ),
        ),
      ),

    let_binding: ($) => seq(field("pattern", $._patterns), "=", field("value", $._expression)),

    binary_expression: ($) => {
      const table = [
        [prec.left, PREC.or, [keyword("or"), keyword("nor"), keyword("xor")]],
        [prec.left, PREC.and, [keyword("and"), keyword("nand")]],
        [prec.left, PREC.compare, ["==", "/=", "<", "<=", ">", ">="]],
        [prec.left, PREC.add, ["+", "-", "++"]],
        [prec.left, PREC.multiply, ["*", "/", "||"]],
        [prec.left, PREC.power, ["^"]],
        [prec.left, PREC.write, ["<-"]],
        [prec.right, PREC.read, ["->"]],
      ];
      return choice(
        ...table.map(([associative, power, operators]) =>
          associative(
            power,
            seq(
              field("left", $._operation),
              field("operator", operators.length > 1 ? choice(...operators) : operators[0]),
              field("right", $._operation),
            ),
          ),
        ),
      );
    },

    unary_expression: ($) =>
      prec(
        PREC.unary,
        seq(field("operator", choice("#", "@", "-")), field("argument", $._operation)),
      ),

    // Application. Whatever stands beside something is its argument, and a `(` that touches is
    // taken first. An index is as tight as an argument: `f x[i]` is `(f x)[i]`.
    _postfix: ($) =>
      choice(
        $._tight,
        $._list,
        $.index_expression,
        alias($.juxtaposition, $.call),
        alias($.list_call, $.call),
        alias($.loose_call, $.call),
      ),

    // A list of one would be an index where an argument stands, so lists are kept apart.
    _list: ($) => choice($.list, $.empty_list, alias($.tight_list_call, $.call)),

    tight_list_call: ($) =>
      prec.left(
        PREC.tight,
        seq(field("function", $._list), field("argument", $.arguments)),
      ),

    _tight: ($) => choice($._primary, alias($.tight_call, $.call)),

    tight_call: ($) =>
      prec.left(PREC.tight, seq(field("function", $._tight), field("argument", $.arguments))),

    loose_call: ($) =>
      prec.left(
        PREC.apply,
        seq(
          field(
            "function",
            choice(
              $.index_expression,
              alias($.list_call, $.call),
              alias($.loose_call, $.call),
            ),
          ),
          field("argument", $.arguments),
        ),
      ),

    juxtaposition: ($) =>
      prec.left(PREC.apply, seq(field("function", $._postfix), field("argument", $._tight))),

    list_call: ($) =>
      prec.left(
        PREC.apply,
        seq(
          field("function", $._postfix),
          field("argument", choice(alias($.long_list, $.list), $.empty_list)),
        ),
      ),

    long_list: ($) => seq("[", $._operand, repeat1(seq(",", $._operand)), close($, "]")),

    index_expression: ($) =>
      prec.left(
        PREC.apply,
        seq(field("sequence", $._postfix), "[", field("index", $._operand), "]"),
      ),

    arguments: ($) => seq(token.immediate("("), commas($._argument), close($, ")")),

    _argument: ($) => choice($._operand, $.optional_argument),

    optional_argument: ($) =>
      seq(field("name", $.identifier), ":=", field("value", $._operand)),

    _primary: ($) =>
      choice(
        $.identifier,
        $._constant,
        $.quoted_function,
        $.parenthesized_expression,
        $.tuple,
        $.range,
        $.apply_to_each,
        $.time_expression,
      ),

    _constant: ($) => choice($.integer, $.float, $.boolean, $.character, $.string),

    integer: (_) => token(/[0-9]+/),

    float: (_) =>
      token(
        choice(
          /[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?/,
          /\.[0-9]+([eE][+-]?[0-9]+)?/,
          /[0-9]+[eE][+-]?[0-9]+/,
        ),
      ),

    // A back-quote and whatever comes next, even a `%`, a quote or the end of a line.
    character: (_) => token(/`(.|\n)/),

    // A backslash makes the next character ordinary. There may be ends of lines inside.
    string: (_) => token(/"([^"\\]|\\(.|\n))*"/),

    quoted_function: ($) =>
      seq(
        "'",
        choice(
          $.identifier,
          ..."+ - * / ^ == = /= < <= > >= ++ || -> <- # @".split(" "),
          ...["and", "or", "xor", "nor", "nand"].map(keyword),
        ),
      ),

    parenthesized_expression: ($) => seq("(", $._operand, close($, ")")),

    tuple: ($) =>
      seq("(", $._argument, repeat1(seq(",", $._argument)), close($, ")")),

    list: ($) => seq("[", commas($._operand), close($, "]")),

    empty_list: ($) => seq("[", "]", field("type", $._type)),

    range: ($) =>
      seq(
        "[",
        field("start", $._operand),
        ":",
        field("end", $._expression),
        optional(seq(":", field("stride", $._expression))),
        close($, "]"),
      ),

    // Without a body, the first binding is the body, too. With a `*`, one after the other.
    apply_to_each: ($) =>
      seq(
        "{",
        optional("*"),
        optional(seq(field("body", $._expression), ":")),
        $.each_binding,
        repeat(seq(";", $.each_binding)),
        optional($.sieve),
        close($, "}"),
      ),

    // A name alone goes over the sequence of that name.
    each_binding: ($) =>
      choice(
        field("pattern", $.identifier),
        seq(field("pattern", $._patterns), keyword("in"), field("sequence", $._expression)),
      ),

    sieve: ($) => seq("|", field("condition", $._expression)),

    time_expression: ($) =>
      seq(keyword("time"), choice($.parenthesized_expression, $.tuple)),

    // Patterns.

    _patterns: ($) => choice($._pattern, alias($.bare_tuple_pattern, $.tuple_pattern)),

    bare_tuple_pattern: ($) => seq($._pattern, repeat1(seq(",", $._pattern))),

    _pattern: ($) =>
      choice($.identifier, $.record_pattern, $.tuple_pattern, $.parenthesized_pattern),

    record_pattern: ($) =>
      seq(field("name", $.identifier), $._open, commas($._pattern), ")"),

    tuple_pattern: ($) => seq("(", $._pattern, repeat1(seq(",", $._pattern)), ")"),

    parenthesized_pattern: ($) => seq("(", $._pattern, ")"),

    // Where it is of no consequence whether a `(` touches what is before it.
    _open: (_) => choice("(", token.immediate("(")),

    // Types.

    _scheme: ($) => seq(field("type", $._types), optional($.context)),

    _types: ($) => choice($._arrows, alias($.bare_tuple_type, $.tuple_type)),

    bare_tuple_type: ($) => seq($._arrows, repeat1(seq(",", $._arrows))),

    _arrows: ($) => choice($._type, $.function_type),

    function_type: ($) =>
      prec.right(seq(field("parameter", $._type), "->", field("result", $._arrows))),

    _type: ($) =>
      choice(
        $._type_name,
        $.type_application,
        $.sequence_type,
        $.tuple_type,
        $.parenthesized_type,
      ),

    // `t` and `f` are names of types.
    _type_name: ($) =>
      choice(alias($.identifier, $.type_identifier), alias($.boolean, $.type_identifier)),

    type_application: ($) =>
      prec.right(1, seq(field("name", $._type_name), $._open, commas($._arrows), ")")),

    sequence_type: ($) => seq("[", $._types, "]"),

    tuple_type: ($) => seq($._open, $._arrows, repeat1(seq(",", $._arrows)), ")"),

    parenthesized_type: ($) => seq($._open, $._arrows, ")"),

    // Which classes the variables of a type belong to.
    context: ($) => seq("::", choice(seq("(", $._constraints, ")"), $._constraints)),

    _constraints: ($) =>
      seq($.class_constraint, repeat(seq(choice(";", ","), $.class_constraint))),

    class_constraint: ($) =>
      seq(field("variable", $.identifier), keyword("in"), field("class", $.identifier)),
  },
});
