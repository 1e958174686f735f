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
;; On Emacs 29 and later with the grammar installed, `nesl-ts-mode' takes colours from tree-sitter.

;;; Code:

(require 'nesl-server)

(defvar treesit-font-lock-settings)
(defvar treesit-font-lock-feature-list)
(declare-function treesit-ready-p "treesit" (language &optional quiet))
(declare-function treesit-parser-create "treesit.c")
(declare-function treesit-font-lock-rules "treesit")
(declare-function treesit-major-mode-setup "treesit" ())

(defcustom nesl-indent-offset 2
  "By how many columns a line is indented more than what it belongs to."
  :type 'integer
  :safe #'integerp
  :group 'nesl)

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

;;;###autoload
(define-derived-mode nesl-ts-mode nesl-base-mode "NESL"
  "Major mode for NESL, with colours by tree-sitter.

Indentation and movement are those of `nesl-mode': they go by tokens,
since what is being written is no tree yet.

\\{nesl-mode-map}"
  (unless (and (require 'treesit nil t) (treesit-ready-p 'nesl))
    (user-error "The grammar of NESL is not installed; use `nesl-mode'"))
  (treesit-parser-create 'nesl)
  (setq-local treesit-font-lock-settings (nesl--ts-font-lock))
  (setq-local treesit-font-lock-feature-list
              '((comment definition) (keyword string) (type constant)))
  (setq-local indent-line-function #'nesl-indent-line)
  (treesit-major-mode-setup))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.nesl\\'" . nesl-mode))

(provide 'nesl-mode)
;;; nesl-mode.el ends here
