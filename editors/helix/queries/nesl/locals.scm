[
  (function_definition)
  (lambda)
  (let_expression)
  (apply_to_each)
] @local.scope

(function_definition
  parameters: (identifier) @local.definition.variable.parameter)

(parameters
  (identifier) @local.definition.variable.parameter)

(optional_parameter
  name: (identifier) @local.definition.variable.parameter)

(lambda
  parameter: (identifier) @local.definition.variable.parameter)

(let_binding
  pattern: (identifier) @local.definition.variable)

(each_binding
  pattern: (identifier) @local.definition.variable)

(identifier) @local.reference
