" Colours by regular expressions, for where the tree-sitter grammar is not installed.
if exists('b:current_syntax')
  finish
endif

syntax case ignore
syntax region neslComment start=/%/ end=/%/ contains=@Spell
syntax region neslString start=/"/ skip=/\\\_./ end=/"/ contains=@Spell
syntax match neslCharacter /`\_./
syntax match neslNumber /\<\d\+\>/
syntax match neslFloat /\<\d\+\.\d*\%(e[+-]\?\d\+\)\?\|\.\d\+\%(e[+-]\?\d\+\)\?\>\|\<\d\+e[+-]\?\d\+\>/
syntax keyword neslBoolean t f
syntax keyword neslConditional if then else
syntax keyword neslKeyword let in time
syntax keyword neslOperatorWord and or nand nor xor
syntax keyword neslDefine function datatype nextgroup=neslDefined skipwhite skipempty
syntax match neslDefined /\h\w*/ contained
syntax keyword neslType int float bool char any number ordinal logical
syntax match neslOperator /[-+*\/^#@=<>|:]\+/
syntax match neslCommand /^\s*\%(load\|set\|show\|describe\|apropos\|dump\|edit\|get\|defconfig\)\ze\s\+["[:alpha:]_]/
syntax match neslCommand /^\s*\%(help\|exit\|shell\)\ze\s*[;$]/
syntax sync minlines=200

highlight default link neslComment Comment
highlight default link neslString String
highlight default link neslCharacter Character
highlight default link neslNumber Number
highlight default link neslFloat Float
highlight default link neslBoolean Boolean
highlight default link neslConditional Conditional
highlight default link neslKeyword Keyword
highlight default link neslOperatorWord Operator
highlight default link neslDefine Keyword
highlight default link neslDefined Function
highlight default link neslType Type
highlight default link neslOperator Operator
highlight default link neslCommand PreProc

let b:current_syntax = 'nesl'
