-- Values of runs, drawn behind the lines they belong to. The server sends all of a document's
-- again whenever one comes or goes, so each message replaces what is there.

local M = {}

local namespace = vim.api.nvim_create_namespace("nesl.values")

-- By buffer: what programs printed, and the state of the run.
M.runs = {}

vim.api.nvim_set_hl(0, "NeslValue", { link = "Comment", default = true })
vim.api.nvim_set_hl(0, "NeslValueError", { link = "DiagnosticError", default = true })

function M.show(values)
  local buffer = vim.uri_to_bufnr(values.textDocument.uri)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  M.runs[buffer] = { state = values.state, output = values.output or "", values = values.values }
  M.clear(buffer)
  local last = vim.api.nvim_buf_line_count(buffer) - 1
  for _, value in ipairs(values.values or {}) do
    local group = value.error and "NeslValueError" or "NeslValue"
    -- The text may be ahead of the server; the next message puts it right.
    local line = math.min(value.position.line, last)
    vim.api.nvim_buf_set_extmark(buffer, namespace, line, 0, {
      virt_text = { { "  " .. value.text, group } },
      virt_text_pos = "eol",
    })
  end
  vim.api.nvim_exec_autocmds("User", { pattern = "NeslValues", modeline = false })
end

function M.clear(buffer)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
end

-- What the last run of a buffer printed, in a split.
function M.open_output(buffer)
  local run = M.runs[buffer]
  if not run or run.output == "" then
    vim.notify("nothing was printed")
    return
  end
  vim.cmd("botright 10new")
  local here = vim.api.nvim_get_current_buf()
  vim.bo[here].buftype = "nofile"
  vim.bo[here].bufhidden = "wipe"
  vim.bo[here].swapfile = false
  vim.api.nvim_buf_set_lines(here, 0, -1, false, vim.split(run.output, "\n"))
end

return M
