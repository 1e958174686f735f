;;; nesl-mode.el --- Major mode for NESL -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages
;; URL: https://www.cs.cmu.edu/~scandal/nesl.html
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Editing NESL, the nested data-parallel language: colours, indentation, comments, and what the
;; language server `nesl lsp' says beyond LSP: values of runs behind the lines, and what the
;; compiler makes of the form at point.
;;
;;   (add-to-list 'load-path ".../editors/emacs")
;;   (require 'nesl-mode)
;;   (add-hook 'nesl-mode-hook #'eglot-ensure)
;;
;; On Emacs 29 and later with the grammar installed, `nesl-ts-mode' takes colours and indentation
;; from tree-sitter.

;;; Code:

(require 'cl-lib)
(require 'compile)

(defvar eglot-server-programs)
(defvar treesit-simple-indent-rules)
(defvar treesit-font-lock-settings)
(defvar treesit-font-lock-feature-list)
(defvar treesit-defun-type-regexp)
(defvar treesit-simple-imenu-settings)
(declare-function eglot-current-server "eglot" ())
(declare-function jsonrpc-async-request "jsonrpc")
(declare-function jsonrpc-notify "jsonrpc")
(declare-function jsonrpc-name "jsonrpc")
(declare-function treesit-ready-p "treesit" (language &optional quiet))
(declare-function treesit-parser-create "treesit.c")
(declare-function treesit-font-lock-rules "treesit")
(declare-function treesit-major-mode-setup "treesit" ())

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

(defcustom nesl-indent-offset 2
  "By how many columns a line is indented more than what it belongs to."
  :type 'integer
  :safe #'integerp)

(defcustom nesl-ir-delay 0.2
  "For how many seconds point rests before `nesl-ir' follows it."
  :type 'number)

(defface nesl-value '((t :inherit shadow))
  "Values behind the lines of a run.")

(defface nesl-value-error '((t :inherit error))
  "Errors behind the lines of a run.")

(defface nesl-ir-line '((t :inherit highlight))
  "Lines of the compiler's output that come from the line of point.")

;;;; Syntax

(defvar nesl-base-mode-syntax-table
  (let ((table (make-syntax-table)))
    ;; A comment runs from one `%' to the next.
    (modify-syntax-entry ?% "!" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "." table)
    (modify-syntax-entry ?' "." table)
    (modify-syntax-entry ?` "." table)
    (dolist (sign '(?+ ?- ?* ?/ ?^ ?# ?@ ?= ?< ?> ?: ?\; ?, ?| ?$ ?& ?!))
      (modify-syntax-entry sign "." table))
    table)
  "Syntax of NESL, but for what `nesl--propertize' adds.")

(defun nesl--propertize (start end)
  "Mark between START and END what the syntax table cannot say.
A comment begins and ends with the same sign; a back-quote makes the
next character a constant, even a quote or a percent sign; and a
backslash is special in strings only."
  (goto-char start)
  (let ((state (syntax-ppss)))
    ;; Inside a comment or string that began before: go on behind it.
    (when (nth 8 state)
      (goto-char (nth 8 state))
      (nesl--skip end)))
  (while (and (< (point) end) (re-search-forward "[\"%`]" end t))
    (goto-char (match-beginning 0))
    (nesl--skip end)))

(defun nesl--skip (end)
  "Go over the comment, string or character at point, and mark it.
Remember if it reaches beyond END."
  (let ((start (point)))
    (pcase (char-after)
      (?` (forward-char 1)
          (when (< (point) (point-max))
            (forward-char 1)
            (nesl--mark (1- (point)) "w")))
      (?% (nesl--mark start "!")
          (forward-char 1)
          (when (search-forward "%" nil 'move)
            (nesl--mark (1- (point)) "!")))
      (?\" (forward-char 1)
           (while (and (re-search-forward "[\"\\]" nil 'move)
                       (eq (char-before) ?\\))
             (nesl--mark (1- (point)) "\\")
             (unless (eobp) (forward-char 1)))))
    (when (> (point) end)
      (put-text-property start (point) 'syntax-multiline t))))

(defun nesl--mark (at syntax)
  "Give the character AT the SYNTAX."
  (put-text-property at (1+ at) 'syntax-table (string-to-syntax syntax)))

;;;; Colours

(defconst nesl--keywords
  '("function" "datatype" "let" "in" "if" "then" "else" "and" "or" "nand" "nor" "xor" "time"))

(defconst nesl--types '("int" "float" "bool" "char" "any" "number" "ordinal" "logical"))

(defconst nesl--commands
  '("load" "set" "show" "describe" "apropos" "dump" "edit" "get" "defconfig" "help" "exit"))

(defconst nesl-font-lock-keywords
  `(("\\_<function\\_>[ \t\n]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1 font-lock-function-name-face)
    ("\\_<datatype\\_>[ \t\n]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1 font-lock-type-face)
    (,(concat "^\\(" (regexp-opt nesl--commands) "\\)\\(?:[ \t]+[\"[:alpha:]]\\|[ \t]*[;$]\\)")
     1 font-lock-preprocessor-face)
    (,(regexp-opt nesl--keywords 'symbols) . font-lock-keyword-face)
    (,(regexp-opt nesl--types 'symbols) . font-lock-type-face)
    ("\\_<[tf]\\_>" . font-lock-constant-face)
    ("`\\(?:.\\|\n\\)" . font-lock-string-face)
    ("\\_<[0-9]+\\(?:\\.[0-9]*\\)?\\(?:e[+-]?[0-9]+\\)?" . font-lock-constant-face)
    ("^\\([[:alpha:]_][[:alnum:]_]*\\)[ \t]*|?=[^=>]" 1 font-lock-variable-name-face)
    ("\\_<\\([[:alpha:]_][[:alnum:]_]*\\)[ \t]*=[^=>]" 1 font-lock-variable-name-face))
  "What to colour in NESL.")

;;;; Indentation

(defun nesl--previous-line ()
  "Go to the indentation of the last line with code before this one.
The value is nil if there is none."
  (let (found)
    (while (and (not found) (zerop (forward-line -1)))
      (back-to-indentation)
      (setq found (not (or (eolp) (nth 8 (syntax-ppss)) (looking-at-p "%")))))
    found))

(defun nesl--before ()
  "The last character of code before point, or nil."
  (save-excursion
    (forward-comment (- (point)))
    (char-before)))

(defun nesl--form-start ()
  "Where the form begins that the line before point belongs to."
  (save-excursion
    (let (found)
      (while (not (or found (bobp)))
        (forward-line -1)
        (setq found (and (looking-at-p "[^] \t\n%)}]")
                         (not (nth 8 (syntax-ppss)))
                         (memq (nesl--before) '(nil ?\; ?$)))))
      (point))))

(defun nesl--open (end)
  "What is open at END, innermost first: places of brackets and of `let'."
  (save-excursion
    (goto-char end)
    (goto-char (nesl--form-start))
    (let ((case-fold-search t) open)
      (while (re-search-forward "[][(){}]\\|\\_<\\(?:let\\|in\\)\\_>" end t)
        (let ((at (match-beginning 0)))
          (unless (save-excursion (nth 8 (syntax-ppss at)))
            (pcase (char-after at)
              ((or ?\( ?\[ ?\{ ?l ?L) (push at open))
              ((or ?i ?I) (when (and open (memq (char-after (car open)) '(?l ?L)))
                            (pop open)))
              ;; A bracket closes what was left open inside it.
              (_ (while (and open (memq (char-after (car open)) '(?l ?L)))
                   (pop open))
                 (pop open))))))
      open)))

(defun nesl--column (at)
  "The column of the place AT."
  (save-excursion (goto-char at) (current-column)))

(defun nesl--column-behind (at length)
  "The column of what follows the LENGTH characters AT, if it is on that line."
  (save-excursion
    (goto-char (+ at length))
    (skip-chars-forward " \t")
    (if (or (eolp) (looking-at-p "%"))
        (+ nesl-indent-offset
           (if (= length 1) (current-indentation) (nesl--column at)))
      (current-column))))

(defun nesl--indentation ()
  "The column for the line of point, or nil to leave it as it is."
  (save-excursion
    (back-to-indentation)
    (let* ((case-fold-search t)
           (text (nth 8 (syntax-ppss)))
           (open (and (not text) (nesl--open (point))))
           (let-p (and open (memq (char-after (car open)) '(?l ?L))))
           (before (nesl--before)))
      (cond
       ;; Texts are as they were written.
       (text nil)
       ((looking-at-p "\\(?:function\\|datatype\\)\\_>") 0)
       ;; `in' stands below its `let', bindings below each other.
       ((and let-p (looking-at-p "in\\_>")) (nesl--column (car open)))
       ((and let-p (or (eq before ?\;) (= (nesl--end-of-code) (+ 3 (car open)))))
        (nesl--column-behind (car open) 3))
       ((looking-at-p "then\\_>") (nesl--branch-column "then"))
       ((looking-at-p "else\\_>") (nesl--branch-column "else"))
       ;; What closes stands below what opened, or below its line.
       ((and open (not let-p) (looking-at-p "[])}]"))
        (goto-char (car open))
        (if (looking-at-p ".[ \t]*$") (current-indentation) (current-column)))
       ((and open (not let-p)) (nesl--column-behind (car open) 1))
       ((and (not open) (memq before '(nil ?\; ?$))) 0)
       (t (nesl--continuation))))))

(defun nesl--end-of-code ()
  "Where the code before point ends."
  (save-excursion (forward-comment (- (point))) (point)))

(defun nesl--continuation ()
  "The column of a line that goes on with an expression."
  (let* ((sign "[-+*/^<>=|:#@]")
         (first (looking-at-p sign))
         (type (looking-at-p ":[^=]"))
         ;; Documentation, and the `=' behind it, are not indented.
         (documentation (or (and (looking-at-p "\"") (not (eq (nesl--before) ?=)))
                            (and (looking-at-p "=[^=>]") (eq (nesl--before) ?\"))))
         (function (save-excursion (goto-char (nesl--form-start))
                                   (looking-at-p "function\\_>"))))
    (nesl--previous-line)
    (cond
     ((and documentation function) 0)
     ((and type (looking-at-p "function\\_>")) (* 2 nesl-indent-offset))
     ((looking-at-p "=[^=>]")
      (+ (current-column) (* (if first 2 1) nesl-indent-offset)))
     ((zerop (current-column)) nesl-indent-offset)
     ((looking-at-p ":") nesl-indent-offset)
     ((and first (not (looking-at-p sign))) (+ (current-column) nesl-indent-offset))
     ((save-excursion (end-of-line)
                      (memq (nesl--before) '(?= ?> ?+ ?- ?*)))
      (+ (current-column) nesl-indent-offset))
     (t (current-column)))))

(defun nesl--branch-column (word)
  "The column for WORD, a `then' or `else' at point: that of its `if'."
  (save-excursion
    (let ((depth 0) (case-fold-search t) (limit (nesl--form-start)) column)
      (while (and (not column)
                  (re-search-backward (format "\\_<\\(if\\|%s\\)\\_>" word) limit t))
        (unless (nth 8 (syntax-ppss))
          (cond ((not (looking-at-p "if\\_>")) (setq depth (1+ depth)))
                ((> depth 0) (setq depth (1- depth)))
                (t (setq column (nesl--if-column))))))
      (or column nesl-indent-offset))))

(defun nesl--if-column ()
  "The column for the branches of the `if' at point.
An `else if' goes on in the column of the first `if'."
  (let ((here (current-column)))
    (back-to-indentation)
    (if (looking-at-p "else[ \t]+if\\_>") (current-column) here)))

(defun nesl-indent-line ()
  "Indent the line of point."
  (interactive)
  (let ((column (nesl--indentation))
        (behind (> (current-column) (current-indentation))))
    (when column
      (if behind
          (save-excursion (indent-line-to column))
        (indent-line-to column)))))

(defun nesl-beginning-of-defun (&optional count)
  "Go to the beginning of the COUNT-th form before point."
  (let ((case-fold-search t) (found nil))
    (re-search-backward "^[^ \t\n%)}]" nil 'move (or count 1))
    (setq found (not (bobp)))
    (or found (looking-at-p "[^ \t\n%]"))))

(defun nesl-end-of-defun ()
  "Go behind the terminator of the form at point."
  (let (done)
    (while (and (not done) (re-search-forward "[;$]" nil 'move))
      (let ((state (syntax-ppss)))
        (setq done (and (not (nth 8 state)) (zerop (nth 0 state))
                        (looking-at-p "[ \t]*\\(?:%[^%]*%[ \t]*\\)?$")
                        (save-excursion (skip-chars-forward " \t\n")
                                        (or (eobp) (bolp)))))))))

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
  (find-buffer-visiting (if (fboundp 'eglot-uri-to-path)
                            (eglot-uri-to-path uri)
                          (eglot--uri-to-path uri))))

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

(defconst nesl--stages '("types" "ir" "simple" "flat" "fused" "kir"))

(defvar nesl--ir-source nil
  "The buffer that the buffer of `nesl-ir' is about.")
(defvar nesl--ir-stage "fused")
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
   (list (completing-read "Stage: " nesl--stages nil t nil nil nesl--ir-stage)))
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

;;;; The modes

(defvar nesl-base-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'nesl-run)
    (define-key map (kbd "C-c C-k") #'nesl-stop)
    (define-key map (kbd "C-c C-l") #'nesl-clear)
    (define-key map (kbd "C-c C-o") #'nesl-show-output)
    (define-key map (kbd "C-c C-v") #'nesl-ir)
    (define-key map (kbd "C-c C-w") #'nesl-cost)
    map)
  "Keys of NESL files.")

(defvar nesl-imenu-generic-expression
  '(("Functions" "^function[ \t]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1)
    ("Datatypes" "^datatype[ \t]+\\([[:alpha:]_][[:alnum:]_]*\\)" 1)
    ("Variables" "^\\([[:alpha:]_][[:alnum:]_]*\\)[ \t]*=[^=>]" 1))
  "What `imenu' finds in NESL.")

(define-derived-mode nesl-base-mode prog-mode "NESL"
  "What the modes for NESL share."
  (setq-local comment-start "% ")
  (setq-local comment-end " %")
  (setq-local comment-start-skip "%[ \t]*")
  (setq-local comment-end-skip "[ \t]*%")
  (setq-local comment-use-syntax t)
  (setq-local parse-sexp-lookup-properties t)
  (setq-local indent-tabs-mode nil)
  (setq-local syntax-propertize-function #'nesl--propertize)
  (add-hook 'syntax-propertize-extend-region-functions
            #'syntax-propertize-multiline 'append t)
  (setq-local beginning-of-defun-function #'nesl-beginning-of-defun)
  (setq-local end-of-defun-function #'nesl-end-of-defun)
  (setq-local imenu-generic-expression nesl-imenu-generic-expression)
  (setq-local imenu-case-fold-search t))

;;;###autoload
(define-derived-mode nesl-mode nesl-base-mode "NESL"
  "Major mode for NESL, the nested data-parallel language.

\\{nesl-mode-map}"
  (setq-local font-lock-defaults '(nesl-font-lock-keywords nil t))
  (setq-local font-lock-multiline t)
  (setq-local indent-line-function #'nesl-indent-line))

(defun nesl--ts-font-lock ()
  "What to colour in NESL, by its grammar."
  (treesit-font-lock-rules
   :language 'nesl :feature 'comment
   '((comment) @font-lock-comment-face)
   :language 'nesl :feature 'string
   '((function_definition documentation: (string) @font-lock-doc-face)
     (string) @font-lock-string-face
     (character) @font-lock-string-face)
   :language 'nesl :feature 'definition
   '((function_definition name: (identifier) @font-lock-function-name-face)
     (datatype_definition name: (identifier) @font-lock-type-face)
     (binding pattern: (identifier) @font-lock-variable-name-face)
     (let_binding pattern: (identifier) @font-lock-variable-name-face)
     (each_binding pattern: (identifier) @font-lock-variable-name-face)
     (parameters (identifier) @font-lock-variable-name-face)
     (tuple_pattern (identifier) @font-lock-variable-name-face))
   :language 'nesl :feature 'keyword
   '(["function" "datatype" "let" "in" "if" "then" "else" "and" "or" "nand" "nor" "xor" "time"]
     @font-lock-keyword-face
     (command_name) @font-lock-preprocessor-face)
   :language 'nesl :feature 'type
   '((type_identifier) @font-lock-type-face
     (class_constraint class: (identifier) @font-lock-type-face))
   :language 'nesl :feature 'constant
   '([(integer) (float) (boolean)] @font-lock-constant-face)))

(defun nesl--ts-indent ()
  "How to indent NESL, by its grammar."
  `((nesl
     ((parent-is "source_file") column-0 0)
     ((node-is "^in$") parent 0)
     ((node-is "^\\(then\\|else\\)$") parent 0)
     ((node-is "^[])}]$") parent 0)
     ((node-is "let_binding") (nth-sibling 1) 0)
     ((parent-is "string\\|comment") no-indent 0)
     ((parent-is "^\\(if\\|let\\)_expression$") parent 0)
     ((parent-is "tuple\\|list\\|arguments\\|parenthesized\\|apply_to_each\\|range")
      (nth-sibling 1) 0)
     ((parent-is "binding\\|function_definition\\|datatype_definition\\|command\\|_expression")
      parent-bol nesl-indent-offset)
     (catch-all parent-bol 0))))

;;;###autoload
(define-derived-mode nesl-ts-mode nesl-base-mode "NESL"
  "Major mode for NESL, with colours and indentation by tree-sitter.

\\{nesl-mode-map}"
  (unless (and (fboundp 'treesit-ready-p) (treesit-ready-p 'nesl))
    (user-error "The grammar of NESL is not installed; use `nesl-mode'"))
  (treesit-parser-create 'nesl)
  (setq-local treesit-font-lock-settings (nesl--ts-font-lock))
  (setq-local treesit-font-lock-feature-list
              '((comment definition) (keyword string) (type constant)))
  (setq-local treesit-simple-indent-rules (nesl--ts-indent))
  (setq-local treesit-defun-type-regexp "_definition\\'")
  (setq-local treesit-simple-imenu-settings
              '(("Functions" "\\`function_definition\\'" nil nil)
                ("Datatypes" "\\`datatype_definition\\'" nil nil)))
  (treesit-major-mode-setup))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.nesl\\'" . nesl-mode))

(provide 'nesl-mode)
;;; nesl-mode.el ends here
