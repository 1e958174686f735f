; Where names are bound, and how far they are seen.

[
  (function_definition)
  (lambda)
  (let_expression)
  (apply_to_each)
] @local.scope

(function_definition
  name: (identifier) @local.definition.function
  (#set! definition.function.scope "parent"))

(datatype_definition
  name: (identifier) @local.definition.type
  (#set! definition.type.scope "parent"))

(function_definition
  parameters: (identifier) @local.definition.parameter)

(parameters
  (identifier) @local.definition.parameter)

(optional_parameter
  name: (identifier) @local.definition.parameter)

(lambda
  parameter: (identifier) @local.definition.parameter)

(binding
  pattern: (identifier) @local.definition.var)

(let_binding
  pattern: (identifier) @local.definition.var)

(each_binding
  pattern: (identifier) @local.definition.var)

(tuple_pattern
  (identifier) @local.definition.var)

(parenthesized_pattern
  (identifier) @local.definition.var)

(record_pattern
  name: (identifier)
  (identifier) @local.definition.var)

(identifier) @local.reference
