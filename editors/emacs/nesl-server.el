;;; nesl-server.el --- What the language server of NESL says -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Starts `nesl lsp' for Eglot, and shows what it says beyond LSP: values of runs behind their
;; lines, and what the compiler makes of the form at point.

;;; Code:

(require 'cl-lib)
(require 'compile)
(require 'subr-x)

(defvar eglot-server-programs)
(declare-function eglot-current-server "eglot" ())
(declare-function jsonrpc-async-request "jsonrpc")
(declare-function jsonrpc-notify "jsonrpc")
(declare-function jsonrpc-name "jsonrpc")

(defgroup nesl nil
  "Editing NESL."
  :group 'languages)

(defcustom nesl-program "nesl"
  "The program that runs NESL and serves editors."
  :type 'string)

(defcustom nesl-options nil
  "Options sent to the server, a plist such as (:runtime \"reference\").
The book lists them under \"What the language server speaks\"."
  :type 'plist)

(defcustom nesl-ir-delay 0.2
  "For how many seconds point rests before `nesl-ir' follows it."
  :type 'number)

(defface nesl-value '((t :inherit shadow))
  "Values behind the lines of a run.")

(defface nesl-value-error '((t :inherit error))
  "Errors behind the lines of a run.")

(defface nesl-ir-line '((t :inherit highlight))
  "Lines of the compiler's output that come from the line of point.")

;;;; The server

(defun nesl--settings ()
  "What the server is told."
  (append nesl-options '(:values "notification")))

(defun nesl--contact (&optional _interactive)
  "How Eglot starts the server."
  (list nesl-program "lsp" :initializationOptions (nesl--settings)))

(defun nesl--send-settings (server)
  "Tell the SERVER its settings again.
Eglot sends those of the project as soon as it is connected, which
are mostly none."
  (when (string-match-p "nesl-\\(?:ts-\\)?mode" (jsonrpc-name server))
    (jsonrpc-notify server :workspace/didChangeConfiguration
                    (list :settings (list :nesl (nesl--settings))))))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((nesl-mode nesl-ts-mode) . nesl--contact))
  (add-hook 'eglot-connect-hook #'nesl--send-settings 90))

(defun nesl--server ()
  "The server of this buffer, or an error."
  (or (and (fboundp 'eglot-current-server) (eglot-current-server))
      (user-error "No language server runs for this buffer; try `M-x eglot'")))

(declare-function eglot--TextDocumentPositionParams "eglot")
(declare-function eglot--uri-to-path "eglot")
(declare-function eglot-uri-to-path "eglot")

(defun nesl--document ()
  "The document of this buffer, as the server names it."
  (plist-get (eglot--TextDocumentPositionParams) :textDocument))

(defun nesl--position (&optional at)
  "The place AT, or point, as the server counts."
  (save-excursion
    (goto-char (or at (point)))
    (plist-get (eglot--TextDocumentPositionParams) :position)))

(defun nesl--flush ()
  "Send the server what was typed."
  (when (fboundp 'eglot--signal-textDocument/didChange)
    (eglot--signal-textDocument/didChange)))

(defun nesl--ask (method parameters &optional answer)
  "Ask the server METHOD with PARAMETERS and give the result to ANSWER.
Nothing waits: a request that does can lose what comes with its
answer in the older versions of jsonrpc."
  (jsonrpc-async-request
   (nesl--server) method parameters
   :success-fn (or answer #'ignore)
   :error-fn (lambda (problem) (message "NESL: %s" (plist-get problem :message)))))

(defun nesl-run (&optional start end)
  "Run the file, and show values behind the lines.
With an active region, from START to END, show only those of the
forms in it."
  (interactive (and (use-region-p) (list (region-beginning) (region-end))))
  (nesl--server)
  (nesl--flush)
  (nesl--ask
   :nesl/run
   (append (list :textDocument (nesl--document))
           (and start (list :range (list :start (nesl--position start)
                                         :end (nesl--position end)))))))

(defun nesl-stop ()
  "Stop the run of this file."
  (interactive)
  (nesl--ask :nesl/stop (list :textDocument (nesl--document))))

(defun nesl-cost ()
  "Show work and depth of the form at point."
  (interactive)
  (nesl--flush)
  (nesl--ask
   :nesl/cost (list :textDocument (nesl--document) :position (nesl--position))
   (lambda (result)
     (message "%s: %s" (plist-get result :subject) (plist-get result :text)))))

(defun nesl-compile ()
  "Run the file with the program `nesl', in a compilation buffer."
  (interactive)
  (save-buffer)
  (compile (format "%s run %s" nesl-program (shell-quote-argument buffer-file-name))))

(add-to-list 'compilation-error-regexp-alist 'nesl)
(add-to-list 'compilation-error-regexp-alist-alist
             '(nesl "╭─\\[ \\([^:\n]+\\):\\([0-9]+\\):\\([0-9]+\\) \\]" 1 2 3))

;;;; Values

(defvar-local nesl-output ""
  "What the last run of this buffer printed.")

(defun nesl-clear ()
  "Take the values away."
  (interactive)
  (remove-overlays (point-min) (point-max) 'nesl-value t))

(defun nesl--buffer (uri)
  "The buffer of the document URI."
  ;; It had another name before Emacs 30.
  (find-buffer-visiting (funcall (if (fboundp 'eglot-uri-to-path)
                                     'eglot-uri-to-path
                                   'eglot--uri-to-path)
                                 uri)))

(defun nesl--show-values (uri values output)
  "Draw VALUES behind the lines of the document URI, and keep its OUTPUT."
  (when-let ((buffer (nesl--buffer uri)))
    (with-current-buffer buffer
      (nesl-clear)
      (setq nesl-output (or output ""))
      (save-excursion
        (save-restriction
          (widen)
          (seq-do
           (lambda (value)
             (goto-char (point-min))
             (forward-line (plist-get (plist-get value :position) :line))
             (end-of-line)
             (let ((overlay (make-overlay (point) (point) nil t))
                   (face (if (eq (plist-get value :error) t) 'nesl-value-error 'nesl-value)))
               (overlay-put overlay 'nesl-value t)
               (overlay-put overlay 'after-string
                            (propertize (concat "  " (plist-get value :text))
                                        'face face 'cursor t
                                        'help-echo (plist-get value :detail)))))
           values))))))

(with-eval-after-load 'eglot
  (cl-defmethod eglot-handle-notification
    (_server (_method (eql nesl/values)) &key textDocument values output &allow-other-keys)
    "Draw the values of a run."
    (nesl--show-values (plist-get textDocument :uri) values output))
  (cl-defmethod eglot-handle-notification
    (_server (_method (eql nesl/status)) &key &allow-other-keys)
    "What programs run on; there is nothing to show it in."))

(defun nesl-show-output ()
  "Show what the last run of this file printed."
  (interactive)
  (let ((output nesl-output))
    (with-current-buffer (get-buffer-create "*NESL output*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert output))
      (special-mode)
      (display-buffer (current-buffer)))))

;;;; What the compiler makes of a form

(declare-function eglot--capabilities "eglot")

(defun nesl--stages ()
  "The stages of the compiler that the server can show, each with what it is."
  (let ((experimental (plist-get (eglot--capabilities (nesl--server)) :experimental)))
    (mapcar (lambda (stage) (cons (plist-get stage :id) (plist-get stage :hint)))
            (plist-get experimental :stages))))

(defvar nesl--ir-stage "fused"
  "The stage of the compiler that was shown last.")

(defun nesl--read-stage ()
  "Ask for a stage of the compiler."
  (let* ((stages (nesl--stages))
         (completion-extra-properties
          (list :annotation-function
                (lambda (id) (concat "  " (cdr (assoc id stages)))))))
    (completing-read "Stage: " stages nil t nil nil nesl--ir-stage)))

(defvar nesl--ir-source nil
  "The buffer that the buffer of `nesl-ir' is about.")
(defvar nesl--ir-timer nil)
(defvar nesl--ir-asked 0
  "Counts requests, so that a late answer does not replace a newer one.")
(defvar-local nesl--ir-lines nil)
(defvar-local nesl-ir-stale nil
  "Whether what is shown is of an earlier state of the text.")

(define-derived-mode nesl-ir-mode special-mode "NESL-IR"
  "What the compiler makes of the form at point of a NESL file."
  (setq truncate-lines t)
  (add-hook 'kill-buffer-hook #'nesl--ir-stop nil t))

(defun nesl--ir-stop ()
  "Follow point no longer."
  (when nesl--ir-timer
    (cancel-timer nesl--ir-timer)
    (setq nesl--ir-timer nil)))

(defun nesl-ir (stage)
  "Show what the compiler makes of the form at point, at a STAGE.
It follows point, and marks the lines that come from the line of
point.  While the text has errors, the last that could be made is
shown in grey."
  (interactive
   (list (nesl--read-stage)))
  (nesl--server)
  (setq nesl--ir-source (current-buffer)
        nesl--ir-stage stage)
  (with-current-buffer (get-buffer-create "*NESL IR*")
    (unless (derived-mode-p 'nesl-ir-mode) (nesl-ir-mode))
    (display-buffer (current-buffer)))
  (unless nesl--ir-timer
    (setq nesl--ir-timer (run-with-idle-timer nesl-ir-delay t #'nesl--ir-follow)))
  (nesl--ir-refresh))

(defun nesl--ir-follow ()
  "Refresh if point is in the file that is shown."
  (when (and (eq (current-buffer) nesl--ir-source) (get-buffer-window "*NESL IR*" t))
    (nesl--ir-refresh)))

(defun nesl--ir-refresh ()
  "Ask the server and show the answer."
  (let ((mine (cl-incf nesl--ir-asked))
        (line (1- (line-number-at-pos nil t))))
    (nesl--flush)
    (nesl--ask
     :nesl/ir
     (list :textDocument (nesl--document) :stage nesl--ir-stage :position (nesl--position))
     (lambda (result)
       (when (= mine nesl--ir-asked) (nesl--ir-show result line))))))

(defun nesl--ir-show (result line)
  "Show the RESULT of a request made from a LINE."
  (when-let ((buffer (and result (get-buffer "*NESL IR*"))))
    (with-current-buffer buffer
      (let ((inhibit-read-only t)
            (stale (eq (plist-get result :stale) t))
            (parts (delq nil (list (plist-get result :title) (plist-get result :subject)
                                   (plist-get result :summary) (plist-get result :message)))))
        (erase-buffer)
        (insert (or (plist-get result :text) ""))
        (setq nesl-ir-stale stale
              nesl--ir-lines (plist-get result :lines)
              header-line-format (replace-regexp-in-string
                                  "%" "%%" (string-join (remove "" parts) " · ")))
        (remove-overlays)
        (if stale
            (overlay-put (make-overlay (point-min) (point-max)) 'face 'shadow)
          (seq-do
           (lambda (entry)
             (let* ((source (plist-get entry :source))
                    (first (plist-get (plist-get source :start) :line))
                    (last (plist-get (plist-get source :end) :line)))
               (when (<= first line last)
                 (goto-char (point-min))
                 (forward-line (plist-get entry :line))
                 (overlay-put (make-overlay (line-beginning-position) (1+ (line-end-position)))
                              'face 'nesl-ir-line))))
           nesl--ir-lines))
        (goto-char (point-min))))))

(provide 'nesl-server)
;;; nesl-server.el ends here
