; Later patterns win over earlier ones.

(identifier) @variable

; Constants

(comment) @comment @spell
(string) @string
(character) @character
(integer) @number
(float) @number.float
(boolean) @boolean

; Functions

(call
  function: (identifier) @function.call)

(quoted_function
  "'" @operator
  (identifier) @function)

(lambda
  "=>" @keyword.function)

(function_definition
  name: (identifier) @function)

(function_definition
  documentation: (string) @string.documentation @spell)

; Parameters

(function_definition
  parameters: (identifier) @variable.parameter)

(parameters
  (identifier) @variable.parameter)

(optional_parameter
  name: (identifier) @variable.parameter)

(optional_argument
  name: (identifier) @variable.parameter)

(lambda
  parameter: (identifier) @variable.parameter)

; Records

(datatype_definition
  name: (identifier) @type.definition)

(record_pattern
  name: (identifier) @constructor)

; Types

(type_identifier) @type

((type_identifier) @type.builtin
  (#any-of? @type.builtin "int" "float" "bool" "char"))

(class_constraint
  variable: (identifier) @type)

(class_constraint
  class: (identifier) @type.builtin)

; Words

[
  "function"
  "datatype"
] @keyword.function

[
  "let"
  "in"
  "time"
] @keyword

[
  "if"
  "then"
  "else"
] @keyword.conditional

[
  "and"
  "or"
  "nand"
  "nor"
  "xor"
] @keyword.operator

(command_name) @keyword.directive

; Signs

[
  "+"
  "-"
  "*"
  "/"
  "^"
  "#"
  "@"
  "++"
  "||"
  "->"
  "<-"
  "=="
  "/="
  "<"
  "<="
  ">"
  ">="
  "="
  ":="
  "|="
] @operator

[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket

[
  ","
  ";"
  "$"
  ":"
  "::"
] @punctuation.delimiter

(sieve
  "|" @punctuation.delimiter)
