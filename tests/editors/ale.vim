" Vim with ALE as a client, headless. Takes from the environment PYTHON, FILE and RESULT. ALE has no code lenses.
set nocompatible nobackup noswapfile nomore hidden
filetype on
syntax on
let s:log = [] | let s:passed = 0 | let s:failed = 0
function! s:Check(name, ok, ...) abort
  if a:ok | let s:passed += 1 | else | let s:failed += 1 | endif
  call add(s:log, (a:ok ? 'ok   ' : 'FAIL ') . a:name . '  ' . join(a:000, ' '))
endfunction
function! s:Wait(F) abort
  let l:begun = reltime()
  while reltimefloat(reltime(l:begun)) < 120
    if a:F() | return 1 | endif
    sleep 50m
  endwhile
  return 0
endfunction
let g:ale_linters = {'python': ['llm_lint']}
let g:ale_linters_explicit = 1
let g:ale_lint_delay = 50
packadd ale
call ale#linter#Define('python', {'name': 'llm_lint', 'lsp': 'stdio', 'language': 'python',
      \ 'executable': $PYTHON, 'command': '%e -m llm_lsp server',
      \ 'project_root': {b -> fnamemodify(bufname(b), ':p:h')}})
try
  execute 'edit' fnameescape($FILE)
  set filetype=python
  let s:buf = bufnr('')
  call ale#Queue(0, 'lint_file')
  call s:Check('a diagnostic', s:Wait({-> len(ale#engine#GetLoclist(s:buf)) == 1}))
  let s:d = get(ale#engine#GetLoclist(s:buf), 0, {})
  call s:Check('the right diagnostic', get(s:d, 'lnum') == 6 && get(s:d, 'col') == 17 && get(s:d, 'code') ==# 'LLM101', get(s:d, 'text'))
  call s:Check('a sign in the gutter', s:Wait({-> !empty(sign_getplaced(s:buf, {'group': '*'})[0].signs)}))
  call cursor(6, 20)
  let s:menu = ''
  runtime autoload/ale/util.vim
  function! ale#util#Input(message, value, ...) abort
    let s:menu = a:message
    return '1'
  endfunction
  ALECodeAction
  call s:Check('the quick fix is applied', s:Wait({-> getline(6) =~# '"bert-base-uncased"'}), substitute(s:menu, "\n", ' / ', 'g'))
  silent write
  call s:Check('the diagnostic is gone', s:Wait({-> empty(ale#engine#GetLoclist(s:buf))}))
  ALEStopAllLSPs
catch
  let s:failed += 1
  call add(s:log, 'ERROR ' . v:exception . ' ' . v:throwpoint)
endtry
call add(s:log, s:passed . ' passed, ' . s:failed . ' failed')
call writefile(s:log, $RESULT)
if s:failed | cquit 1 | endif
qall!
