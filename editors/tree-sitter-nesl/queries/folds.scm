[
  (function_definition)
  (datatype_definition)
  (let_expression)
  (if_expression)
  (apply_to_each)
  (list)
  (tuple)
  (arguments)
  (comment)
] @fold
