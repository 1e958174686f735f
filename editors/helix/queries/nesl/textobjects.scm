(function_definition
  body: (_) @function.inside) @function.around

(lambda
  body: (_) @function.inside) @function.around

(datatype_definition
  type: (_) @class.inside) @class.around

(parameters
  (_) @parameter.inside)

(arguments
  (_) @parameter.inside)

(comment) @comment.around

(let_binding
  value: (_) @entry.inside) @entry.around
