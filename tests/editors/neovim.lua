-- Neovim as a client, without plugins: diagnostics, a code lens that is run, a quick fix that is applied and saved.
-- For 0.7 and for what has changed since. Takes from the environment PYTHON and FILE.
local passed, failed = 0, 0
local function check(name, ok, extra)
  if ok then passed = passed + 1 else failed = failed + 1 end
  io.stdout:write((ok and 'ok   ' or 'FAIL ') .. name .. (extra and ('  ' .. tostring(extra)) or '') .. '\n')
end
local function wait(holds) return (vim.wait(120000, holds, 20)) end

local function main()
  local file = vim.env.FILE
  vim.o.swapfile = false
  vim.cmd('edit ' .. vim.fn.fnameescape(file))
  local buffer = vim.api.nvim_get_current_buf()
  local shown = {}
  local handlers = { ['window/showMessage'] = function(_, result) table.insert(shown, result.message) end }
  local command = { vim.env.PYTHON, '-m', 'llm_lsp', 'server' }
  if vim.lsp.config then
    vim.lsp.config('llm_lint', {
      cmd = command,
      filetypes = { 'python' },
      root_markers = { 'setup.cfg' },
      handlers = handlers,
    })
    vim.lsp.enable('llm_lint')
    vim.bo[buffer].filetype = 'python'
  else
    vim.bo[buffer].filetype = 'python'
    local id = vim.lsp.start_client({
      name = 'llm-lint',
      cmd = command,
      root_dir = vim.fn.fnamemodify(file, ':h'),
      handlers = handlers,
    })
    vim.lsp.buf_attach_client(buffer, id)
  end
  local client
  check('the server is initialized', wait(function()
    client = (vim.lsp.get_clients or vim.lsp.get_active_clients)()[1]
    return client and client.initialized
  end))
  check('a diagnostic', wait(function() return #vim.diagnostic.get(buffer) == 1 end))
  local diagnostic = vim.diagnostic.get(buffer)[1]
  check('the right diagnostic', diagnostic and diagnostic.lnum == 5 and diagnostic.col == 16 and diagnostic.code == 'LLM101'
    and diagnostic.source == 'llm-lint', diagnostic and diagnostic.message)
  vim.lsp.codelens.refresh()
  check('two code lenses', wait(function() return #vim.lsp.codelens.get(buffer) == 2 end))
  local function lenses(line)
    local titles = {}
    for _, lens in ipairs(vim.lsp.codelens.get(buffer)) do
      if lens.range.start.line == line then table.insert(titles, lens.command.title) end
    end
    table.sort(titles)
    return table.concat(titles, ' | ')
  end
  check('the right code lenses', lenses(4) == 'Check shapes' and lenses(11) == 'Check shapes', lenses(4))
  vim.api.nvim_win_set_cursor(0, { 12, 0 })
  vim.lsp.codelens.run()
  check('the lens is run, and shows what came of it', wait(function()
    vim.lsp.codelens.refresh()
    vim.wait(200)
    return lenses(11):match('10 parameters')
  end), lenses(11) .. ' ' .. table.concat(shown, ' '))
  vim.api.nvim_win_set_cursor(0, { 6, 18 })
  local offered = {}
  vim.ui.select = function(items, _, choose)
    for _, item in ipairs(items) do
      table.insert(offered, (item.action or item[2]).title)
    end
    choose(items[1], 1)
  end
  vim.lsp.buf.code_action()
  check('the quick fix is applied', wait(function()
    return vim.api.nvim_buf_get_lines(buffer, 5, 6, false)[1]:match('"bert%-base%-uncased"') ~= nil
  end), table.concat(offered, ' | '))
  check('the diagnostic is gone', wait(function() return #vim.diagnostic.get(buffer) == 0 end))
  vim.cmd('silent write')
  client.stop(client)
  check('the server has stopped', wait(function() return client.is_stopped(client) end))
end

local ok, failure = xpcall(main, debug.traceback)
if not ok then
  failed = failed + 1
  io.stdout:write('ERROR ' .. failure .. '\n')
end
io.stdout:write(('%d passed, %d failed\n'):format(passed, failed))
vim.cmd(failed == 0 and 'qall!' or 'cquit! 1')
