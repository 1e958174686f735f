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
] @indent

[
  "in"
  ")"
  "]"
  "}"
] @outdent
