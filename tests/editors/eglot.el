;;; eglot.el --- Emacs with eglot as a client, in batch  -*- lexical-binding: t -*-
;; Takes from the environment PYTHON and FILE. Eglot 1.9 draws no code lenses, so they are asked for.
(require 'package)
(setq package-user-dir (expand-file-name "elpa" (getenv "HOME")))
(package-initialize)
(require 'cl-lib) (require 'python) (require 'flymake) (require 'eglot) (require 'jsonrpc)
(defvar passed 0) (defvar failed 0)
(defun check (name ok &optional extra)
  (if ok (cl-incf passed) (cl-incf failed))
  (princ (format "%s %s  %s\n" (if ok "ok  " "FAIL") name (or extra ""))))
(defun wait-for (holds)
  (let ((end (+ (float-time) 120)) found)
    (while (and (not (setq found (funcall holds))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))
(add-to-list 'eglot-server-programs (list 'python-mode (getenv "PYTHON") "-m" "llm_lsp" "server"))
(setq eglot-sync-connect 120 eglot-connect-timeout 120 eglot-autoshutdown nil
      eglot-confirm-server-initiated-edits nil make-backup-files nil create-lockfiles nil
      flymake-no-changes-timeout nil)
(defvar shown nil)
(advice-add 'message :before
            (lambda (fmt &rest a) (when (stringp fmt) (push (apply #'format fmt a) shown))))
(condition-case err
    (with-current-buffer (find-file-noselect (getenv "FILE"))
      (setq last-nonmenu-event ?x)      ; so eglot asks by completing-read, not by a popup menu
      (apply #'eglot (eglot--guess-contact))
      (let ((server (eglot-current-server)))
        (check "the server is initialized" server)
        (check "a diagnostic" (wait-for (lambda () (flymake-start) (flymake-diagnostics))))
        (let ((d (car (flymake-diagnostics))))
          (check "the right diagnostic"
                 (and d (string-match-p "LLM101" (flymake-diagnostic-text d))
                      (equal "AutoTokenizer.from_pretrained(\"bert-base-cased\")"
                             (buffer-substring (flymake-diagnostic-beg d) (flymake-diagnostic-end d))))
                 (and d (flymake-diagnostic-text d))))
        (let* ((lenses (jsonrpc-request server :textDocument/codeLens
                                        (list :textDocument (eglot--TextDocumentIdentifier))))
               (command (plist-get (aref lenses 0) :command)))
          (check "a code lens" (equal "Check shapes" (plist-get command :title)))
          (eglot-execute-command server (intern (plist-get command :command)) (plist-get command :arguments)))
        (check "the lens is run"
               (wait-for (lambda () (cl-some (lambda (m) (string-match-p "check shapes" m)) shown))))
        (goto-char (point-min)) (search-forward "bert-base-cased") (goto-char (match-beginning 0))
        (let (offered)
          (cl-letf (((symbol-function 'completing-read)
                     (lambda (_p coll &rest _) (setq offered (mapcar #'car coll)) (car offered))))
            (call-interactively #'eglot-code-actions))
          (check "a quick fix" (string-match-p "LLM101.*unsafe" (car offered)) offered))
        (check "the quick fix is applied" (not (string-match-p "base-cased" (buffer-string))))
        (eglot--signal-textDocument/didChange)
        (check "the diagnostic is gone" (wait-for (lambda () (flymake-start) (null (flymake-diagnostics)))))
        (save-buffer)
        (eglot-shutdown server)
        (check "the server has stopped" (wait-for (lambda () (not (jsonrpc-running-p server)))))))
  (error (cl-incf failed) (princ (format "ERROR %S\n" err))))
(princ (format "%d passed, %d failed\n" passed failed))
(kill-emacs (if (= failed 0) 0 1))
