;;; nesl-mode-test.el --- Tests of nesl-mode -*- lexical-binding: t -*-

;;; Commentary:

;; Colours, indentation and movement, without a server; and the real server through Eglot.
;; `editors/test.sh emacs' runs them.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'imenu)
(package-initialize)
(defconst nesl-test-folder (file-name-directory (or load-file-name buffer-file-name)))
(add-to-list 'load-path (expand-file-name ".." nesl-test-folder))
(require 'nesl-mode)
(when (getenv "NESL_GRAMMARS")
  (defvar treesit-extra-load-path)
  (setq treesit-extra-load-path (list (getenv "NESL_GRAMMARS"))))

(defconst nesl-test-patience (string-to-number (or (getenv "NESL_PATIENCE") "20"))
  "For how many seconds an answer may take.")

(defvar nesl-test-mode #'nesl-mode
  "The mode that is looked at.")

(defmacro nesl-test-with-grammar (&rest body)
  "Evaluate BODY, for `nesl-ts-mode'; skip the test where the grammar is not there."
  `(progn
     (skip-unless (and (require 'treesit nil t) (treesit-ready-p 'nesl t)))
     (let ((nesl-test-mode #'nesl-ts-mode)) ,@body)))

(defmacro nesl-test-with (text &rest body)
  "Evaluate BODY in a buffer of `nesl-test-mode' with TEXT."
  (declare (indent 1))
  `(with-temp-buffer
     (insert ,text)
     (funcall nesl-test-mode)
     (font-lock-ensure)
     (goto-char (point-min))
     ,@body))

(defun nesl-test-face (text)
  "The face of the first character of TEXT."
  (save-excursion
    (goto-char (point-min))
    (search-forward text)
    (let ((face (get-text-property (match-beginning 0) 'face)))
      (if (consp face) (car face) face))))

(defun nesl-test-colours ()
  (nesl-test-with "% what; \"it\" does %
FUNCTION double(x) : a -> a :: (a in number) \"Twice `x`.\" = let y = t in x + 2.5;
v = [`%, `\", `a, `;]; % behind %
load \"file\";"
    (should (eq (nesl-test-face "what") 'font-lock-comment-face))
    (should (eq (nesl-test-face "it\" does") 'font-lock-comment-face))
    (should (eq (nesl-test-face "FUNCTION") 'font-lock-keyword-face))
    (should (eq (nesl-test-face "double") 'font-lock-function-name-face))
    (should (eq (nesl-test-face "number") 'font-lock-type-face))
    (should (memq (nesl-test-face "Twice") '(font-lock-string-face font-lock-doc-face)))
    (should (eq (nesl-test-face "let") 'font-lock-keyword-face))
    (should (eq (nesl-test-face "t in") 'font-lock-constant-face))
    (should (eq (nesl-test-face "2.5") 'font-lock-constant-face))
    (should (eq (nesl-test-face "`%") 'font-lock-string-face))
    (should-not (eq (nesl-test-face "]; %") 'font-lock-comment-face))
    (should (eq (nesl-test-face "behind") 'font-lock-comment-face))
    (should (eq (nesl-test-face "load") 'font-lock-preprocessor-face))))

(ert-deftest nesl-colours ()
  (nesl-test-colours))

(ert-deftest nesl-ts-colours ()
  (nesl-test-with-grammar (nesl-test-colours)))

(ert-deftest nesl-syntax-follows-edits ()
  "What is typed later is coloured as what was there before."
  (nesl-test-with "x = 1;\ny = `a;\n"
    (search-forward "`a")
    (delete-char -1)
    (insert "%")
    (font-lock-ensure)
    (should-not (nth 8 (syntax-ppss (point-max))))
    (goto-char (point-min))
    (insert "% ")
    (syntax-ppss-flush-cache (point-min))
    (font-lock-ensure)
    (should (nth 4 (syntax-ppss (line-end-position))))))

(ert-deftest nesl-comments ()
  (nesl-test-with "x + 1;\n"
    (comment-region (point-min) (line-end-position))
    (should (equal (buffer-string) "% x + 1; %\n"))
    (uncomment-region (point-min) (point-max))
    (should (equal (buffer-string) "x + 1;\n"))))

(defun nesl-test-indented (text)
  "TEXT, with its own indentation taken away and made again."
  (nesl-test-with (replace-regexp-in-string "^[ \t]+" "" text)
    (let ((inhibit-message t))
      (indent-region (point-min) (point-max)))
    (buffer-string)))

(defun nesl-test-indentation ()
  (dolist (text '("function quicksort(a) =
  if #a < 2 then a
  else let pivot = a[#a / 2];
           less = {e in a | e < pivot};
           sorted = {quicksort(v) :
                     v in [less, less]}
       in sorted[0] ++ sorted[1];

quicksort([8, 14,
           -8]);
"
                  "function g(x) =
  if x then 1
  else if not x then 2
  else 3;
"
                  "let
  a = 1;
  b = 2
in a + b;
"
                  "v = [
  1,
  2
];
% a comment
  over lines %
w = v;
"))
    (should (equal (nesl-test-indented (replace-regexp-in-string "^  over" "over" text))
                   (replace-regexp-in-string "^  over" "over" text)))))

(defun nesl-test-examples ()
  "Code as people wrote it is hardly moved."
  (let ((lines 0) (moved 0)
        (examples (expand-file-name "../../../examples" nesl-test-folder)))
    (dolist (file (directory-files examples t "\\.nesl\\'"))
      (with-temp-buffer
        (insert-file-contents file)
        (funcall nesl-test-mode)
        (let ((before (split-string (buffer-string) "\n")) (inhibit-message t))
          (indent-region (point-min) (point-max))
          (cl-mapc (lambda (old new)
                     (setq lines (1+ lines))
                     (unless (equal old new) (setq moved (1+ moved))))
                   before (split-string (buffer-string) "\n")))))
    (should (> lines 0))
    (should (< (* 100 moved) lines))))

(defun nesl-test-movement ()
  (nesl-test-with "x = 1;\n\nfunction g(x) =\n  let y = 2;\n  in y;\n\nfunction h(x) = x;\n"
    (search-forward "in y")
    (beginning-of-defun)
    (should (looking-at-p "function g"))
    (end-of-defun)
    (should (looking-back "in y;\n?" (point-min)))))

(ert-deftest nesl-indentation ()
  (nesl-test-indentation))

(ert-deftest nesl-ts-indentation ()
  (nesl-test-with-grammar (nesl-test-indentation)))

(ert-deftest nesl-indentation-of-the-examples ()
  (nesl-test-examples))

(ert-deftest nesl-ts-indentation-of-the-examples ()
  (nesl-test-with-grammar (nesl-test-examples)))

(ert-deftest nesl-movement ()
  (nesl-test-movement))

(ert-deftest nesl-ts-movement ()
  (nesl-test-with-grammar (nesl-test-movement)))

(ert-deftest nesl-ts-imenu ()
  (nesl-test-with-grammar
   (nesl-test-with "datatype p(int, int);\nfunction g(x) = x;\n"
     (let ((index (funcall imenu-create-index-function)))
       (should (assoc "g" (cdr (assoc "Functions" index))))
       (should (assoc "p" (cdr (assoc "Datatypes" index))))))))

(ert-deftest nesl-imenu ()
  (nesl-test-with "datatype p(int, int);\nfunction g(x) = x;\nv = 3;\n"
    (let ((index (funcall imenu-create-index-function)))
      (should (assoc "g" (cdr (assoc "Functions" index))))
      (should (assoc "p" (cdr (assoc "Datatypes" index))))
      (should (assoc "v" (cdr (assoc "Variables" index)))))))

;;;; With the server

(defun nesl-test-wait (what condition)
  "Wait until CONDITION holds; WHAT is missing if it does not."
  (let ((end (+ (float-time) nesl-test-patience)) result)
    (while (not (or (setq result (funcall condition)) (> (float-time) end)))
      (accept-process-output nil 0.05))
    (or result (ert-fail (format "%s: not within %s s" what nesl-test-patience)))))

(defun nesl-test-go-to (word &optional nth)
  "Put point on the NTH place of WORD."
  (goto-char (point-min))
  (re-search-forward (format "\\_<%s\\_>" word) nil nil (or nth 1))
  (goto-char (match-beginning 0)))

(defun nesl-test-diagnostics ()
  "What Flymake shows."
  (flymake-start)
  (flymake-diagnostics))

(ert-deftest nesl-server ()
  "Open, look up, complete, rename, format, run: as a user does, in one session."
  (skip-unless (getenv "NESL_BINARY"))
  (require 'eglot)
  (let* ((folder (make-temp-file "nesl" t))
         (file (expand-file-name "demo.nesl" folder))
         (nesl-program (getenv "NESL_BINARY"))
         (eglot-sync-connect nesl-test-patience)
         (eglot-connect-timeout nesl-test-patience)
         (eglot-autoshutdown t)
         (inhibit-message t)
         (make-backup-files nil))
    (copy-file (expand-file-name "demo.nesl" nesl-test-folder) file)
    (with-current-buffer (find-file-noselect file)
      (switch-to-buffer (current-buffer))
      (should (eq major-mode 'nesl-mode))
      (flymake-mode 1)
      (apply #'eglot (eglot--guess-contact))
      (should (eglot-current-server))
      (unwind-protect
          (let ((text (buffer-string)))
            ;; Diagnostics.
            (let ((all (nesl-test-wait "a diagnostic" #'nesl-test-diagnostics)))
              (should (= 1 (length all)))
              (should (string-match-p "oops" (flymake-diagnostic-text (car all))))
              (should (= 6 (line-number-at-pos (flymake-diagnostic-beg (car all))))))
            ;; Hover.
            (nesl-test-go-to "sumsq" 2)
            (let* ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover
                                           (eglot--TextDocumentPositionParams)))
                   (contents (plist-get hover :contents)))
              (should (string-match-p (regexp-quote "[int] -> int")
                                      (plist-get contents :value))))
            ;; Definition.
            (let ((found (xref-backend-definitions 'eglot "sumsq")))
              (should found)
              (should (= 2 (xref-location-line (xref-item-location (car found))))))
            ;; Completion.
            (goto-char (point-max))
            (insert "parti")
            (let* ((completion (eglot-completion-at-point))
                   (table (nth 2 completion)))
              (should (cl-some (lambda (label) (string-prefix-p "partition" label))
                               (all-completions "parti" table))))
            (delete-char -5)
            ;; Rename.
            (nesl-test-go-to "sumsq")
            (let ((eglot-confirm-server-initiated-edits nil))
              (eglot-rename "squared"))
            (goto-char (point-min))
            (should (search-forward "function squared(" nil t))
            (should (search-forward "\nsquared([1" nil t))
            (erase-buffer)
            (insert text)
            ;; An edit that takes the problem away, and formatting.
            (goto-char (point-min))
            (search-forward "oops(v) + 1")
            (replace-match "  v")
            (eglot--signal-textDocument/didChange)
            (nesl-test-wait "no diagnostic" (lambda () (null (nesl-test-diagnostics))))
            (eglot-format-buffer)
            (goto-char (point-min))
            (should (search-forward "\nfunction broken(v) = v;\n" nil t))
            ;; Values.
            (nesl-run)
            (let ((value (nesl-test-wait
                          "a value"
                          (lambda ()
                            (cl-find-if (lambda (overlay)
                                          (and (overlay-get overlay 'nesl-value)
                                               (string-match-p
                                                "14" (overlay-get overlay 'after-string))))
                                        (overlays-in (point-min) (point-max)))))))
              (goto-char (overlay-start value))
              (beginning-of-line)
              (should (looking-at-p "sumsq(\\[1")))
            (nesl-stop)
            (nesl-clear)
            (should-not (cl-some (lambda (overlay) (overlay-get overlay 'nesl-value))
                                 (overlays-in (point-min) (point-max))))
            ;; What the compiler makes of it, and what it made while the text is broken.
            (nesl-test-go-to "squares" 2)
            (nesl-ir "fused")
            (nesl-test-wait "a form of the compiler"
                            (lambda ()
                              (with-current-buffer "*NESL IR*"
                                (> (buffer-size) 0))))
            (should-not (buffer-local-value 'nesl-ir-stale (get-buffer "*NESL IR*")))
            (nesl-test-go-to "sum" 2)
            (delete-region (point) (+ 3 (point)))
            (insert "oops")
            (nesl-test-wait "what was made before, in grey"
                            (lambda ()
                              (nesl--ir-refresh)
                              (accept-process-output nil 0.2)
                              (buffer-local-value 'nesl-ir-stale (get-buffer "*NESL IR*")))))
        (nesl--ir-stop)
        (set-buffer-modified-p nil)
        (eglot-shutdown (eglot-current-server))
        (delete-directory folder t)))))

;;; nesl-mode-test.el ends here
