# NESL in Kakoune: colours, comments, indentation.
#
# For Kakoune 2022.10 or later. Copy this to ~/.config/kak/autoload/, and the table of kak-lsp.toml
# to ~/.config/kak-lsp/kak-lsp.toml.

hook global BufCreate .*\.nesl %{
    set-option buffer filetype nesl
}

hook global WinSetOption filetype=nesl %{
    require-module nesl
    set-option window static_words %opt{nesl_static_words}
    hook -group nesl-indent window InsertChar \n nesl-indent-on-new-line
    hook -once -always window WinSetOption filetype=.* %{
        remove-hooks window nesl-.+
    }
}

hook -group nesl-highlight global WinSetOption filetype=nesl %{
    add-highlighter window/nesl ref nesl
    hook -once -always window WinSetOption filetype=.* %{
        remove-highlighter window/nesl
    }
}

hook global BufSetOption filetype=nesl %{
    set-option buffer comment_block_begin '% '
    set-option buffer comment_block_end ' %'
    set-option buffer indentwidth 2
}

provide-module nesl %§

declare-option -hidden str-list nesl_static_words function datatype let in if then else and or nand nor xor time int float bool char any number ordinal logical

add-highlighter shared/nesl regions
add-highlighter shared/nesl/code default-region group
# A back-quote makes the next character a constant, even a quote or the sign of a comment.
add-highlighter shared/nesl/character region '`' '(?s).' fill value
add-highlighter shared/nesl/comment region '%' '%' fill comment
add-highlighter shared/nesl/string region '"' (?<!\\)(\\\\)*" fill string

add-highlighter shared/nesl/code/ regex '(?i)\b(?:let|in|if|then|else|and|or|nand|nor|xor|time)\b' 0:keyword
add-highlighter shared/nesl/code/ regex '(?i)\b(function)\b\s+([a-z_]\w*)?' 1:keyword 2:function
add-highlighter shared/nesl/code/ regex '(?i)\b(datatype)\b\s+([a-z_]\w*)?' 1:keyword 2:type
add-highlighter shared/nesl/code/ regex '(?i)\b(?:int|float|bool|char|any|number|ordinal|logical)\b' 0:type
add-highlighter shared/nesl/code/ regex '(?i)\b[tf]\b' 0:value
add-highlighter shared/nesl/code/ regex '(?i)\b\d+(?:\.\d*)?(?:e[+-]?\d+)?|\B\.\d+(?:e[+-]?\d+)?' 0:value
add-highlighter shared/nesl/code/ regex '[-+*/^#@=<>|:]+' 0:operator
add-highlighter shared/nesl/code/ regex '(?i)^(load|set|show|describe|apropos|dump|edit|get|defconfig)\s+["a-z_]' 1:meta

define-command -hidden nesl-indent-on-new-line %{
    evaluate-commands -draft -itersel %{
        # As the line before; more behind what is open.
        try %{ execute-keys -draft <semicolon> K <a-&> }
        try %{ execute-keys -draft k x <a-k> (=|then|else|in|let|[(\[\x7b])\h*$ <ret> j <a-gt> }
        # A form that has ended begins in the first column.
        try %{ execute-keys -draft k x <a-k> ^[^\s].*[\;$]\h*$ <ret> j x s ^\h+ <ret> d }
    }
}

§
