-- A split with what the compiler makes of the form under the cursor. It follows the cursor, marks
-- the lines that come from the cursor's line, and is grey while the text is broken.

local M = {}

-- The names of the stages of the compiler that the server of a buffer can show.
function M.stages(buffer)
  local client = require("nesl").client(buffer)
  local experimental = client and client.server_capabilities.experimental or {}
  local names = {}
  for _, stage in ipairs(experimental.stages or {}) do
    table.insert(names, stage.id)
  end
  return names
end

local namespace = vim.api.nvim_create_namespace("nesl.ir")
-- The one split: its buffer, the buffer it is about, the stage, and the last answer.
local view = nil
-- Counts requests, so that a late answer does not replace a newer one.
local asked = 0

vim.api.nvim_set_hl(0, "NeslIrLine", { link = "Visual", default = true })
vim.api.nvim_set_hl(0, "NeslIrStale", { link = "Comment", default = true })

local function window()
  if view and vim.api.nvim_buf_is_valid(view.buffer) then
    local id = vim.fn.bufwinid(view.buffer)
    return id ~= -1 and id or nil
  end
end

-- Marks the lines whose source is on the cursor's line.
local function mark()
  if not view or not view.result or not window() then
    return
  end
  vim.api.nvim_buf_clear_namespace(view.buffer, namespace, 0, -1)
  local source = vim.fn.bufwinid(view.source)
  if source == -1 then
    return
  end
  local row = vim.api.nvim_win_get_cursor(source)[1] - 1
  local count = vim.api.nvim_buf_line_count(view.buffer)
  for _, line in ipairs(view.result.lines or {}) do
    local range = line.source
    if range.start.line <= row and row <= range["end"].line and line.line < count then
      vim.api.nvim_buf_add_highlight(view.buffer, namespace, "NeslIrLine", line.line, 0, -1)
    end
  end
end

local function title(result)
  local parts = { result.title }
  for _, part in ipairs({ result.subject, result.summary, result.message }) do
    if part and part ~= "" and part ~= vim.NIL then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, " · ")
end

local function show(result)
  local win = window()
  if not win or not result then
    return
  end
  view.result = result
  vim.bo[view.buffer].modifiable = true
  vim.api.nvim_buf_set_lines(view.buffer, 0, -1, false, vim.split(result.text or "", "\n"))
  vim.bo[view.buffer].modifiable = false
  vim.bo[view.buffer].modified = false
  vim.b[view.buffer].nesl_stale = result.stale and true or false
  local grey = "Normal:NeslIrStale,NormalNC:NeslIrStale"
  vim.api.nvim_win_set_option(win, "winhighlight", result.stale and grey or "")
  vim.api.nvim_win_set_option(win, "statusline", (title(result):gsub("%%", "%%%%")))
  mark()
end

-- Asks for what belongs to the cursor's place.
function M.refresh()
  if not window() or not vim.api.nvim_buf_is_loaded(view.source) then
    return
  end
  if vim.fn.bufwinid(view.source) == -1 then
    return
  end
  local params = require("nesl.commands").here(view.source)
  params.stage = view.stage
  asked = asked + 1
  local mine = asked
  require("nesl").request(view.source, "nesl/ir", params, function(result)
    if mine == asked then
      show(result)
    end
  end)
end

local timer = nil

-- Refreshes when the cursor has rested for a moment.
local function soon()
  mark()
  timer = timer or vim.loop.new_timer()
  timer:stop()
  timer:start(120, 0, vim.schedule_wrap(M.refresh))
end

-- Opens the split for the current buffer, or turns it to another stage. `target` may name a
-- `stage` and a `position`.
function M.open(target)
  target = type(target) == "table" and target or {}
  local source = vim.api.nvim_get_current_buf()
  if view and source == view.buffer then
    source = view.source
  end
  if target.position then
    local line = math.min(target.position.line + 1, vim.api.nvim_buf_line_count(source))
    local win = vim.fn.bufwinid(source)
    if win ~= -1 then
      vim.api.nvim_win_set_cursor(win, { line, 0 })
    end
  end
  local stage = target.stage or (view and view.stage) or "fused"
  if not window() then
    local back = vim.api.nvim_get_current_win()
    vim.cmd("botright vnew")
    view = { buffer = vim.api.nvim_get_current_buf() }
    vim.bo[view.buffer].buftype = "nofile"
    vim.bo[view.buffer].bufhidden = "wipe"
    vim.bo[view.buffer].swapfile = false
    vim.bo[view.buffer].filetype = "nesl-ir"
    vim.wo.wrap = false
    vim.api.nvim_set_current_win(back)
  end
  view.source, view.stage = source, stage
  local group = vim.api.nvim_create_augroup("nesl.ir", { clear = true })
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "TextChanged", "TextChangedI" }, {
    group = group,
    buffer = source,
    callback = soon,
  })
  M.refresh()
end

-- The buffer of the split, if it is open.
function M.buffer()
  return window() and view.buffer or nil
end

return M
