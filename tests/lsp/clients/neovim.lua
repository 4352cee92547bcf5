-- Opens the first argument, waits for findings, asks for hover, and prints both as JSON.
local command, file = vim.env.EQUIPAGE, vim.env.FILE
vim.cmd("edit " .. file)
local id = vim.lsp.start_client({ cmd = { command, "lsp" }, name = "equipage", root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, id)
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 50)
local found = {}
for _, each in ipairs(vim.diagnostic.get(0)) do
  table.insert(found, { line = each.lnum, column = each.col, code = each.code })
end
local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 10000) or {}
  local answer = answers[id] or {}
  return answer.result
end
local line, column = tonumber(vim.env.LINE), tonumber(vim.env.COLUMN)
local where = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = line, character = column } }
local out = { diagnostics = found, hover = ask("textDocument/hover", where), completion = ask("textDocument/completion", where),
  definition = ask("textDocument/definition", where) }
where.range = { start = where.position, ["end"] = where.position }
where.context = { diagnostics = {} }
out.actions = ask("textDocument/codeAction", where)
io.stdout:write(vim.fn.json_encode(out))
vim.cmd("qall!")
