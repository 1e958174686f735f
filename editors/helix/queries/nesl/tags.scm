(function_definition
  name: (identifier) @definition.function)

(datatype_definition
  name: (identifier) @definition.type)

(source_file
  (binding
    pattern: (identifier) @definition.constant))
