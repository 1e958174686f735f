-- The commands of a NESL buffer.

local M = {}

local function nesl()
  return require("nesl")
end

-- `textDocument`, and `position` of the cursor in the encoding that the server chose.
function M.here(buffer)
  local client = nesl().client(buffer)
  local window = vim.fn.bufwinid(buffer)
  window = window == -1 and 0 or window
  return vim.lsp.util.make_position_params(window, client and client.offset_encoding or "utf-16")
end

function M.run(buffer, first, last)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  if first then
    params.range = {
      start = { line = first - 1, character = 0 },
      ["end"] = { line = last, character = 0 },
    }
  end
  nesl().request(buffer, "nesl/run", params)
end

function M.stop(buffer)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  nesl().request(buffer, "nesl/stop", params)
end

-- The lens above a function: asks for arguments and shows the call's value beside it.
function M.run_function(target)
  local buffer = vim.api.nvim_get_current_buf()
  target = type(target) == "table" and target or {}
  local name = target.name or vim.fn.expand("<cword>")
  local start = name .. "("
  local prompt = name .. (target.parameters or "") .. ": "
  vim.ui.input({ prompt = prompt, default = start }, function(expression)
    if not expression or expression == "" or expression == start then
      return
    end
    local params = M.here(buffer)
    params.textDocument = target.textDocument or params.textDocument
    params.position = target.position or params.position
    params.expression = expression
    nesl().request(buffer, "nesl/run", params)
  end)
end

function M.cost(buffer)
  nesl().request(buffer, "nesl/cost", M.here(buffer), function(result)
    if result then
      vim.notify(result.subject .. ": " .. result.text)
    end
  end)
end

function M.define(buffer)
  local function command(name, action, options)
    vim.api.nvim_buf_create_user_command(buffer, name, action, options or {})
  end
  command("NeslRun", function(event)
    if event.range > 0 then
      M.run(buffer, event.line1, event.line2)
    else
      M.run(buffer)
    end
  end, { range = true, desc = "Run the file, or the forms of a range" })
  command("NeslStop", function()
    M.stop(buffer)
  end, { desc = "Stop the run" })
  command("NeslClear", function()
    require("nesl.values").clear(buffer)
  end, { desc = "Take the values away" })
  command("NeslOutput", function()
    require("nesl.values").open_output(buffer)
  end, { desc = "What the run printed" })
  command("NeslCost", function()
    M.cost(buffer)
  end, { desc = "Work and depth of the form under the cursor" })
  command("NeslIR", function(event)
    require("nesl.ir").open({ stage = event.args ~= "" and event.args or nil })
  end, {
    nargs = "?",
    complete = function()
      return require("nesl.ir").stages(buffer)
    end,
    desc = "What the compiler makes of the form under the cursor",
  })
end

return M
