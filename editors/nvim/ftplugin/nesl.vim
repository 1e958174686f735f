" What editing NESL needs without a server: comments, words, indentation.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=%\ %s\ %
setlocal comments=s:%,m:\ ,e:%
setlocal iskeyword=@,48-57,_
setlocal shiftwidth=2 softtabstop=2 expandtab
setlocal suffixesadd=.nesl
let b:undo_ftplugin = 'setlocal commentstring< comments< iskeyword< shiftwidth< softtabstop< expandtab< suffixesadd<'

" Colours from the grammar, where it is installed; otherwise those of syntax/nesl.vim stay.
lua << EOS
if vim.treesitter and vim.treesitter.start then
  pcall(vim.treesitter.start, 0, "nesl")
end
EOS
