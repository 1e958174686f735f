-- The plugin against the real server, as a user meets it:
--
--   NESL_BINARY=… nvim --headless -u NONE -i NONE -c 'luafile editors/nvim/test/lsp.lua'
--
-- The exit code tells; ../../test.sh runs it.

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local patience = tonumber(vim.env.NESL_PATIENCE) or 20000

vim.opt.runtimepath:prepend(vim.fn.fnamemodify(here, ":h"))
vim.opt.swapfile = false
vim.cmd("filetype plugin on | syntax on")

local function check(condition, message)
  if not condition then
    error(message, 2)
  end
end

local function wait(condition, message)
  check(vim.wait(patience, condition, 20), message .. " within " .. patience / 1000 .. " s")
end

local function same(mine, expected, what)
  local text = what .. ": " .. vim.inspect(mine) .. " is not " .. vim.inspect(expected)
  check(vim.deep_equal(mine, expected), text)
end

local nesl = require("nesl")
local buffer

-- Puts the cursor on the `nth` place of a word.
local function go_to(word, nth)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  for _ = 1, nth or 1 do
    check(vim.fn.search("\\<" .. word .. "\\>", "W") > 0, "there is no " .. word)
  end
end

local function ask(method, extra)
  local params = require("nesl.commands").here(buffer)
  local done, result
  nesl.request(buffer, method, vim.tbl_extend("force", params, extra or {}), function(answer)
    done, result = true, answer
  end)
  wait(function()
    return done
  end, method .. " was not answered")
  return result
end

local function lines()
  return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
end

local tests = {}

function tests.filetype_and_colours()
  same(vim.bo.filetype, "nesl", "filetype")
  same(vim.bo.commentstring, "% %s %", "commentstring")
  local group = vim.fn.synIDattr(vim.fn.synID(1, 1, 1), "name")
  local tree = vim.treesitter.highlighter and vim.treesitter.highlighter.active
  check(group == "neslComment" or tree and tree[buffer], "no colours: " .. group)
end

function tests.diagnostics()
  wait(function()
    return #vim.diagnostic.get(buffer) > 0
  end, "no diagnostic came")
  local all = vim.diagnostic.get(buffer)
  same(#all, 1, "diagnostics")
  check(all[1].message:find("oops", 1, true), all[1].message)
  same({ all[1].lnum, all[1].col }, { 5, 21 }, "place")
end

function tests.hover()
  go_to("sumsq", 2)
  local result = ask("textDocument/hover")
  check(result, "no hover")
  local contents = result.contents
  local text = type(contents) == "table" and contents.value or contents
  check(text:find("[int] -> int", 1, true), vim.inspect(contents))
  vim.lsp.buf.hover()
  local float
  wait(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then
        float = window
      end
    end
    return float
  end, "no floating window")
  vim.api.nvim_win_close(float, true)
end

function tests.definition()
  go_to("sumsq", 2)
  vim.lsp.buf.definition()
  wait(function()
    return vim.api.nvim_win_get_cursor(0)[1] == 2
  end, "the cursor did not go to the definition")
end

function tests.definition_in_the_library()
  go_to("sum", 2)
  vim.lsp.buf.definition()
  wait(function()
    return vim.api.nvim_get_current_buf() ~= buffer
  end, "no other buffer opened")
  local name = vim.api.nvim_buf_get_name(0)
  check(name:find("nesl-library:", 1, true), name)
  local line = vim.api.nvim_get_current_line()
  check(line:find("function sum", 1, true), line)
  check(not vim.bo.modifiable, "the library can be edited")
  vim.api.nvim_set_current_buf(buffer)
end

function tests.completion()
  local last = vim.api.nvim_buf_line_count(buffer)
  vim.api.nvim_buf_set_lines(buffer, last, last, false, { "parti" })
  vim.api.nvim_win_set_cursor(0, { last + 1, 5 })
  local result = ask("textDocument/completion", {
    position = { line = last, character = 5 },
  })
  local found = false
  for _, item in ipairs(result.items or result) do
    found = found or item.label:find("^partition") ~= nil
  end
  vim.api.nvim_buf_set_lines(buffer, last, last + 1, false, {})
  check(found, "`partition` was not offered")
end

function tests.rename()
  local before = lines()
  go_to("sumsq")
  vim.lsp.buf.rename("squared")
  wait(function()
    return lines()[2]:find("function squared(", 1, true) and lines()[8]:find("squared(", 1, true)
  end, "not renamed")
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, before)
end

function tests.edits_clear_diagnostics()
  vim.api.nvim_buf_set_lines(buffer, 5, 6, false, { "function broken(v)  =  v;" })
  wait(function()
    return #vim.diagnostic.get(buffer) == 0
  end, "the diagnostic did not go")
end

function tests.format()
  if vim.lsp.buf.format then
    vim.lsp.buf.format({ timeout_ms = patience })
  else
    vim.lsp.buf.formatting_sync({}, patience)
  end
  same(lines()[6], "function broken(v) = v;", "formatted")
end

function tests.run_shows_values()
  vim.cmd("NeslRun")
  local space = vim.api.nvim_create_namespace("nesl.values")
  local mark
  wait(function()
    for _, one in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, { details = true })) do
      if one[4].virt_text[1][1]:find("14", 1, true) then
        mark = one
      end
    end
    return mark
  end, "no value came")
  check(lines()[mark[2] + 1]:find("sumsq([1", 1, true), "the value stands on another line")
  vim.cmd("NeslStop")
  vim.cmd("NeslClear")
  same(#vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, {}), 0, "values left")
end

function tests.ir_follows_and_fades()
  go_to("squares", 2)
  vim.cmd("NeslIR fused")
  local ir = require("nesl.ir")
  wait(function()
    local shown = ir.buffer()
    return shown and #table.concat(vim.api.nvim_buf_get_lines(shown, 0, -1, false)) > 0
  end, "nothing was shown")
  local space = vim.api.nvim_create_namespace("nesl.ir")
  wait(function()
    return #vim.api.nvim_buf_get_extmarks(ir.buffer(), space, 0, -1, {}) > 0
  end, "no line is marked")
  same(vim.b[ir.buffer()].nesl_stale, false, "stale")
  vim.api.nvim_buf_set_lines(buffer, 3, 4, false, {
    "= let squares = {x * x : x in v} in oops(squares);",
  })
  vim.api.nvim_exec_autocmds("TextChanged", { buffer = buffer })
  wait(function()
    return vim.b[ir.buffer()].nesl_stale
  end, "a broken text is not shown in grey")
end

-- Runs the lens whose title begins so, of those of the cursor's line.
local function run_lens(title)
  local select = vim.ui.select
  local seen = {}
  vim.ui.select = function(items, _, choose)
    for index, item in ipairs(items) do
      seen[#seen + 1] = item.lens.command.title
      if vim.startswith(item.lens.command.title, title) then
        choose(item, index)
        seen = nil
        return
      end
    end
  end
  vim.lsp.codelens.run()
  vim.ui.select = select
  check(not seen, "no such lens: " .. vim.inspect(seen))
end

function tests.lenses()
  vim.lsp.codelens.refresh({ bufnr = buffer })
  wait(function()
    local all = vim.lsp.codelens.get(buffer)
    for _, lens in ipairs(all) do
      if not lens.command then
        return false
      end
    end
    return #all > 0
  end, "no lenses")
  go_to("sumsq")
  run_lens("IR")
  wait(require("nesl.ir").buffer, "the lens did not open the compiler's form")
  vim.api.nvim_buf_delete(require("nesl.ir").buffer(), { force = true })
  local asked
  local input = vim.ui.input
  vim.ui.input = function(options, answer)
    asked = options
    answer("sumsq([1, 1])")
  end
  run_lens("▶ Run")
  vim.ui.input = input
  same(asked and asked.default, "sumsq(", "what is asked for")
  wait(function()
    local run = require("nesl.values").runs[buffer]
    for _, value in ipairs(run and run.values or {}) do
      if value.text == "sumsq([1, 1]) = 2" then
        return true
      end
    end
  end, "no value of the call")
end

local order = {
  "filetype_and_colours",
  "diagnostics",
  "hover",
  "definition",
  "definition_in_the_library",
  "completion",
  "rename",
  "edits_clear_diagnostics",
  "format",
  "run_shows_values",
  "lenses",
  "ir_follows_and_fades",
}

local failures = 0
local function report(name, ok, message)
  io.stdout:write((ok and "ok   " or "FAIL ") .. name .. (ok and "" or ": " .. tostring(message)) .. "\n")
  failures = failures + (ok and 0 or 1)
end

local folder = vim.fn.tempname()
vim.fn.mkdir(folder, "p")
vim.fn.writefile(vim.fn.readfile(here .. "/demo.nesl"), folder .. "/demo.nesl")
nesl.setup({ cmd = { vim.env.NESL_BINARY or "nesl", "lsp" } })
vim.cmd("edit " .. vim.fn.fnameescape(folder .. "/demo.nesl"))
buffer = vim.api.nvim_get_current_buf()
report("server starts", vim.wait(patience, function()
  return nesl.client(buffer) ~= nil
end, 20), "no client")
for _, name in ipairs(order) do
  vim.api.nvim_set_current_buf(buffer)
  report(name, xpcall(tests[name], function(problem)
    return tostring(problem)
  end))
end
io.stdout:write(("neovim %d.%d: "):format(vim.version().major, vim.version().minor))
io.stdout:write(failures == 0 and "all is well\n" or failures .. " failed\n")
vim.cmd(failures == 0 and "qall!" or "cquit 1")
