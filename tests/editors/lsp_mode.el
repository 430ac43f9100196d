;;; lsp_mode.el --- Emacs with lsp-mode as a client, in batch, with code lenses drawn  -*- lexical-binding: t -*-
;; Takes from the environment PYTHON and FILE.
(require 'package)
(setq package-user-dir (expand-file-name "elpa" (getenv "HOME")))
(package-initialize)
(setq lsp-keymap-prefix "C-c l" lsp-auto-guess-root t lsp-restart 'ignore lsp-enable-file-watchers nil
      lsp-diagnostics-provider :flymake lsp-lens-enable t lsp-headerline-breadcrumb-enable nil
      lsp-modeline-code-actions-enable nil lsp-modeline-diagnostics-enable nil lsp-log-io nil
      lsp-session-file (expand-file-name "lsp-session" (getenv "HOME"))
      lsp-client-packages nil lsp-idle-delay 0.05 lsp-response-timeout 120
      make-backup-files nil create-lockfiles nil)
(require 'cl-lib) (require 'python) (require 'flymake) (require 'lsp-mode) (require 'lsp-lens) (require 'lsp-diagnostics)
(defvar passed 0) (defvar failed 0)
(defun check (name ok &optional extra)
  (if ok (cl-incf passed) (cl-incf failed))
  (princ (format "%s %s  %s\n" (if ok "ok  " "FAIL") name (or extra ""))))
(defun wait-for (holds)
  (let ((end (+ (float-time) 120)) found)
    (while (and (not (setq found (funcall holds))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))
(lsp-register-client
 (make-lsp-client :new-connection (lsp-stdio-connection (list (getenv "PYTHON") "-m" "llm_lsp" "server"))
                  :activation-fn (lsp-activate-on "python") :major-modes '(python-mode) :add-on? t :server-id 'llm-lint))
(condition-case err
    (with-current-buffer (find-file-noselect (getenv "FILE"))
      (set-window-buffer (selected-window) (current-buffer))
      (lsp-workspace-folders-add (file-name-directory (getenv "FILE")))
      (lsp)
      (check "the server is initialized"
             (wait-for (lambda () (let ((w (car (lsp-workspaces)))) (and w (eq 'initialized (lsp--workspace-status w)))))))
      (let ((workspace (car (lsp-workspaces))))
        (check "a diagnostic" (wait-for (lambda () (gethash (lsp--fix-path-casing (getenv "FILE")) (lsp-diagnostics)))))
        (check "the right diagnostic"
               (wait-for (lambda () (flymake-start)
                           (let ((d (car (flymake-diagnostics)))) (and d (string-match-p "bert-base-cased" (flymake-diagnostic-text d)))))))
        (lsp-lens-mode 1)
        (lsp-lens-refresh t)
        (cl-flet ((lens-with (words)            ; what a click on the last such lens runs
                    (cl-loop with found = nil
                             for o in (sort (overlays-in (point-min) (point-max))
                                            (lambda (a b) (< (overlay-start a) (overlay-start b))))
                             for str = (and (overlay-get o 'lsp-lens)
                                            (concat (overlay-get o 'before-string) (overlay-get o 'after-string)))
                             for i = (and str (string-match words str))
                             when i do (setq found (get-text-property i 'action str))
                             finally return found)))
          (let (action)
            (check "a code lens" (wait-for (lambda () (setq action (lens-with "Check shapes")))))
            (goto-char (point-min))
            (call-interactively action))
          (check "the lens is run, and shows what came of it"
                 (wait-for (lambda ()
                             (lsp-lens-refresh t)
                             (accept-process-output nil 0.3)
                             (lens-with "10 parameters")))))
        (goto-char (point-min)) (search-forward "bert-base-cased") (goto-char (match-beginning 0))
        (let* ((actions (lsp-code-actions-at-point))
               (fix (and actions (elt actions 0))))
          (check "a quick fix" (and fix (string-match-p "LLM101.*unsafe" (lsp:code-action-title fix))))
          (lsp-execute-code-action fix))
        (check "the quick fix is applied" (not (string-match-p "base-cased" (buffer-string))))
        (check "the diagnostic is gone"
               (wait-for (lambda () (null (gethash (lsp--fix-path-casing (getenv "FILE")) (lsp-diagnostics))))))
        (save-buffer)
        (lsp-workspace-shutdown workspace)
        (check "the server has stopped" (wait-for (lambda () (null (lsp-workspaces)))))))
  (error (cl-incf failed) (princ (format "ERROR %S\n" err))))
(princ (format "%d passed, %d failed\n" passed failed))
(kill-emacs (if (= failed 0) 0 1))
