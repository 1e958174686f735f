; For nvim-treesitter-textobjects.

(function_definition) @function.outer

(function_definition
  body: (_) @function.inner)

(lambda) @function.outer

(lambda
  body: (_) @function.inner)

(datatype_definition) @class.outer

(datatype_definition
  type: (_) @class.inner)

(parameters
  (_) @parameter.inner)

(arguments
  (_) @parameter.inner)

(call) @call.outer

(call
  argument: (_) @call.inner)

(if_expression) @conditional.outer

(if_expression
  consequence: (_) @conditional.inner)

(if_expression
  alternative: (_) @conditional.inner)

(apply_to_each) @loop.outer

(apply_to_each
  body: (_) @loop.inner)

(let_expression) @block.outer

(let_binding) @assignment.outer

(let_binding
  pattern: (_) @assignment.lhs
  value: (_) @assignment.rhs)

(binding) @assignment.outer

(binding
  pattern: (_) @assignment.lhs
  value: (_) @assignment.rhs)

(comment) @comment.outer

[
  (integer)
  (float)
] @number.inner
