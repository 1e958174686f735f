; For Neovim.

[
  (function_definition)
  (binding)
  (let_expression)
  (apply_to_each)
  (list)
  (range)
  (tuple)
  (arguments)
  (parameters)
  (parenthesized_expression)
] @indent.begin

(if_expression
  "then" @indent.branch)

(if_expression
  "else" @indent.branch)

(let_expression
  "in" @indent.branch)

[
  ")"
  "]"
  "}"
] @indent.branch

[
  (comment)
  (string)
] @indent.ignore
