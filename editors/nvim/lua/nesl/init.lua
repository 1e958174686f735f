-- NESL in Neovim: starts the language server, and shows what it says beyond LSP: values of runs
-- behind the lines, and what the compiler makes of the form under the cursor.
--
--   require("nesl").setup({})
--
-- Works from Neovim 0.10 on; on older ones (to 0.7) without what they lack. No keys are mapped:
-- see `:help nesl` for those one might want.

local M = {}

M.defaults = {
  -- How the server is started.
  cmd = { "nesl", "lsp" },
  -- Files that mark the folder of a project.
  root_markers = { ".git" },
  -- Sent to the server as they are; the book lists them under "What the language server speaks".
  options = {},
  -- Values of runs behind their lines; without it they come as inlay hints.
  values = true,
  -- Given every client that starts.
  on_attach = nil,
  capabilities = nil,
}

M.config = vim.deepcopy(M.defaults)

local function root(file)
  local found = vim.fs
    and vim.fs.find
    and vim.fs.find(M.config.root_markers, { path = vim.fn.fnamemodify(file, ":h"), upward = true })[1]
  return vim.fn.fnamemodify(found or file, ":p:h")
end

local function on_attach(client, buffer)
  require("nesl.commands").define(buffer)
  if M.config.on_attach then
    M.config.on_attach(client, buffer)
  end
end

-- What the server is told, and how its own messages are taken.
local function client_config(file)
  local options = {
    values = M.config.values and "notification" or "hints",
    preview = true,
    askArguments = true,
    library = true,
  }
  return {
    name = "nesl",
    cmd = M.config.cmd,
    root_dir = root(file),
    capabilities = M.config.capabilities,
    init_options = vim.tbl_deep_extend("force", options, M.config.options),
    on_attach = on_attach,
    handlers = {
      ["nesl/values"] = function(_, values)
        require("nesl.values").show(values)
      end,
      ["nesl/status"] = function(_, status)
        M.status = status
      end,
    },
    commands = {
      ["nesl.showIr"] = function(command)
        require("nesl.ir").open((command.arguments or {})[1])
      end,
      ["nesl.runFunction"] = function(command)
        require("nesl.commands").run_function((command.arguments or {})[1])
      end,
    },
  }
end

-- Starts the server for a buffer, or joins the one that runs for its project.
function M.start(buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  local file = vim.api.nvim_buf_get_name(buffer)
  local config = client_config(file ~= "" and file or vim.fn.getcwd() .. "/x")
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  for _, client in ipairs(vim.lsp.get_active_clients()) do
    if client.name == config.name and client.config.root_dir == config.root_dir then
      vim.lsp.buf_attach_client(buffer, client.id)
      return client.id
    end
  end
  local id = vim.lsp.start_client(config)
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
  return id
end

-- The server of a buffer, if one runs.
function M.client(buffer)
  local filter = { bufnr = buffer or vim.api.nvim_get_current_buf(), name = "nesl" }
  if vim.lsp.get_clients then
    return vim.lsp.get_clients(filter)[1]
  end
  for _, client in pairs(vim.lsp.buf_get_clients(filter.bufnr)) do
    if client.name == "nesl" then
      return client
    end
  end
end

-- Asks the server of a buffer; `answer` gets the result, failures are shown.
function M.request(buffer, method, params, answer)
  local client = M.client(buffer)
  if not client then
    vim.notify("no NESL server runs for this buffer", vim.log.levels.WARN)
    return
  end
  local function handler(err, result)
    if err then
      vim.notify(method .. ": " .. (err.message or vim.inspect(err)), vim.log.levels.ERROR)
    elseif answer then
      answer(result)
    end
  end
  if vim.fn.has("nvim-0.11") == 1 then
    return client:request(method, params, handler, buffer)
  end
  return client.request(method, params, handler, buffer)
end

-- For a status line: what programs run on.
function M.statusline()
  local status = M.status
  if not status then
    return ""
  end
  return string.format("NESL %s · %s", status.device or status.runtime, status.precision)
end

function M.setup(config)
  M.config = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), config or {})
  local group = vim.api.nvim_create_augroup("nesl", { clear = true })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = "nesl",
    callback = function(event)
      -- A buffer of another scheme, such as the library's, belongs to the server already.
      local name = vim.api.nvim_buf_get_name(event.buf)
      if not name:find("nesl-library:/", 1, true) and not name:find("^%a[%w+.-]+://") then
        M.start(event.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufReadCmd", {
    group = group,
    -- With a `/`, or it would be compared to the end of the name only.
    pattern = "*nesl-library:/*",
    callback = function(event)
      require("nesl.library").read(event.buf)
    end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype == "nesl" then
      M.start(buffer)
    end
  end
end

return M
