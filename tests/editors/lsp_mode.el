;;; lsp_mode.el --- Emacs with lsp-mode as a client, in batch, with code lenses drawn  -*- lexical-binding: t -*-
;; Takes from the environment PYTHON and FILE.
(require 'package)
(setq package-user-dir (expand-file-name "elpa" (getenv "HOME")))
(package-initialize)
(setq lsp-keymap-prefix "C-c l" lsp-auto-guess-root t lsp-restart 'ignore lsp-enable-file-watchers nil
      lsp-diagnostics-provider :flymake lsp-lens-enable t lsp-headerline-breadcrumb-enable nil
      lsp-modeline-code-actions-enable nil lsp-modeline-diagnostics-enable nil lsp-log-io nil
      lsp-session-file (expand-file-name "lsp-session" (getenv "HOME"))
      lsp-client-packages nil lsp-idle-delay 0.05
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
(defvar shown nil)
(advice-add 'message :before
            (lambda (fmt &rest a) (when (stringp fmt) (push (apply #'format fmt a) shown))))
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
        (let (action)
          (check "a code lens"
                 (wait-for (lambda ()
                             (cl-loop for o in (overlays-in (point-min) (point-max))
                                      for str = (and (overlay-get o 'lsp-lens)
                                                     (concat (overlay-get o 'before-string) (overlay-get o 'after-string)))
                                      for i = (and str (string-match "Check shapes" str))
                                      when i return (setq action (get-text-property i 'action str))))))
          (goto-char (point-min))
          (call-interactively action))          ; what a click on the lens runs
        (check "the lens is run"
               (wait-for (lambda () (cl-some (lambda (m) (string-match-p "check shapes" m)) shown))))
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
