-- The grammar in Neovim: every query can be read, and colours, folds and the rest find something.
--
--   NESL_PARSERS=… nvim --headless -u NONE -i NONE -c 'luafile editors/nvim/test/treesitter.lua'
--
-- NESL_PARSERS is a folder with `parser/nesl.so`; ../../test.sh makes one.

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
vim.opt.runtimepath:prepend(vim.fn.fnamemodify(here, ":h"))
vim.opt.runtimepath:prepend(vim.env.NESL_PARSERS)
vim.opt.swapfile = false
vim.cmd("filetype plugin on | syntax on")

local failures = 0
local function report(name, ok, message)
  local text = (ok and "ok   " or "FAIL ") .. name
  io.stdout:write(text .. (ok and "" or ": " .. tostring(message)) .. "\n")
  failures = failures + (ok and 0 or 1)
end

vim.cmd("edit " .. vim.fn.fnameescape(here .. "/../../../examples/quicksort.nesl"))
local buffer = vim.api.nvim_get_current_buf()
local query = vim.treesitter.query
local parse = query and query.parse or require("vim.treesitter.query").parse_query

local function tree()
  local parser = vim.treesitter.get_parser(buffer, "nesl")
  return parser:parse()[1]:root()
end

local ok, root = pcall(tree)
report("parse", ok and not root:has_error(), ok and "errors in the tree" or root)
for _, name in ipairs({
  "highlights",
  "locals",
  "folds",
  "indents",
  "textobjects",
  "tags",
  "injections",
}) do
  local found = 0
  local fine, problem = pcall(function()
    local file = here .. "/../queries/nesl/" .. name .. ".scm"
    local text = table.concat(vim.fn.readfile(file), "\n")
    for _ in parse("nesl", text):iter_captures(root, buffer, 0, -1) do
      found = found + 1
    end
  end)
  report("query " .. name, fine and found > 0, problem or "it finds nothing")
end

if vim.treesitter.highlighter and vim.treesitter.get_captures_at_pos then
  local function captures(text)
    local line = vim.fn.search(text, "w")
    local column = vim.fn.col(".")
    local names = {}
    for _, capture in ipairs(vim.treesitter.get_captures_at_pos(buffer, line - 1, column - 1)) do
      names[capture.capture] = true
    end
    return names
  end
  report("colours come from the grammar", vim.treesitter.highlighter.active[buffer] ~= nil)
  report("a function is a function", captures("quicksort(a) :")["function"])
  report("a class is a type", captures("ordinal")["type.builtin"])
  report("a comment is a comment", captures("Quicksort, nested")["comment"])
end

io.stdout:write(("neovim %d.%d: "):format(vim.version().major, vim.version().minor))
io.stdout:write(failures == 0 and "all is well\n" or failures .. " failed\n")
vim.cmd(failures == 0 and "qall!" or "cquit 1")
