(function_definition
  name: (identifier) @name
  documentation: (string)? @doc) @definition.function

(datatype_definition
  name: (identifier) @name) @definition.class

(source_file
  (binding
    pattern: (identifier) @name) @definition.constant)

(call
  function: (identifier) @name) @reference.call

(type_identifier) @name @reference.type
