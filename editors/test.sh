#!/bin/sh
# Tests of what is in this folder, without a screen:
#
#   NESL_BINARY=target/debug/nesl editors/test.sh [nvim] [emacs] [grammar] [settings]
#
# nvim     the plugin against the real server (NVIM says which Neovim), and the grammar in it
# emacs    the mode by itself, and against the real server through Eglot (EMACS says which)
# grammar  the corpus, and the grammar against the real parser; with `tree-sitter` (or `npm ci` in
#          tree-sitter-nesl) also whether the generated parser is up to date, and the queries.
#          Needs the package `tree-sitter` in the PYTHON that is used
#
# settings the files for Helix, Kakoune and Sublime Text can be read and start the server; Helix
#          itself, if it is there (HELIX says which), finds nothing wrong
#
# Without arguments, all of them. Ends with an error if one fails.

set -u
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
binary=${NESL_BINARY:-nesl}
case $binary in
  */*) binary=$(CDPATH= cd -- "$(dirname -- "$binary")" && pwd)/$(basename -- "$binary") ;;
esac
command -v "$binary" >/dev/null || { echo "there is no $binary; set NESL_BINARY"; exit 2; }
NESL_BINARY=$binary
export NESL_BINARY
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=

# Nothing of the user's configuration takes part.
XDG_CONFIG_HOME=$scratch/config
XDG_DATA_HOME=$scratch/data
XDG_STATE_HOME=$scratch/state
export XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME

step() {
  echo "== $1"
  shift
  "$@" || failed=1
}

bounded() {
  timeout --kill-after=10 300 "$@"
}

nvim_tests() {
  nvim=${NVIM:-nvim}
  step "nvim: server" bounded "$nvim" --headless -u NONE -i NONE \
    -c "luafile $here/nvim/test/lsp.lua"
  mkdir -p "$scratch/parser"
  step "nvim: compile the grammar" "${CC:-cc}" -O1 -shared -fPIC -I "$here/tree-sitter-nesl/src" \
    "$here/tree-sitter-nesl/src/parser.c" "$here/tree-sitter-nesl/src/scanner.c" \
    -o "$scratch/parser/nesl.so"
  NESL_PARSERS=$scratch step "nvim: grammar" bounded "$nvim" --headless -u NONE -i NONE \
    -c "luafile $here/nvim/test/treesitter.lua"
}

emacs_tests() {
  emacs=${EMACS:-emacs}
  cp "$here"/emacs/*.el "$scratch/"
  step "emacs: compile without warnings" bounded "$emacs" --batch -q --eval \
    "(progn (package-initialize) (require 'eglot) (setq byte-compile-error-on-warn t)
            (add-to-list 'load-path \"$scratch\")
            (dolist (file '(\"nesl-server\" \"nesl-mode\"))
              (or (byte-compile-file (format \"$scratch/%s.el\" file)) (kill-emacs 1))))"
  # For `nesl-ts-mode', where Emacs has tree-sitter.
  mkdir -p "$scratch/grammars"
  step "emacs: compile the grammar" "${CC:-cc}" -O1 -shared -fPIC -I "$here/tree-sitter-nesl/src" \
    "$here/tree-sitter-nesl/src/parser.c" "$here/tree-sitter-nesl/src/scanner.c" \
    -o "$scratch/grammars/libtree-sitter-nesl.so"
  NESL_GRAMMARS=$scratch/grammars step "emacs: mode and server" bounded "$emacs" --batch -q \
    -l "$here/emacs/test/nesl-mode-test.el" -f ert-run-tests-batch-and-exit
}

# Whether the parser that is committed is the one that the grammar makes.
up_to_date() {
  cp -R "$here/tree-sitter-nesl" "$scratch/grammar"
  (cd "$scratch/grammar" && "$tree_sitter" generate --abi 14) || return 1
  for file in parser.c grammar.json node-types.json; do
    if ! cmp -s "$scratch/grammar/src/$file" "$here/tree-sitter-nesl/src/$file"; then
      echo "src/$file is not what grammar.js makes; run \`npm run generate\`"
      return 1
    fi
  done
}

corpus() {
  cd "$here/tree-sitter-nesl" && "$tree_sitter" test --overview-only
}

queries() {
  cd "$here/tree-sitter-nesl" || return 1
  for file in queries/*.scm ../helix/queries/nesl/*.scm; do
    "$tree_sitter" query "$file" ../../examples/quicksort.nesl >"$scratch/captures" \
      2>"$scratch/problem" || { echo "$file:"; cat "$scratch/problem"; return 1; }
    grep -q capture "$scratch/captures" || { echo "$file finds nothing"; return 1; }
  done
}

grammar_tests() {
  python=${PYTHON:-python3}
  tree_sitter=$here/tree-sitter-nesl/node_modules/.bin/tree-sitter
  [ -x "$tree_sitter" ] || tree_sitter=$(command -v tree-sitter)
  step "grammar: corpus" "$python" "$here/tree-sitter-nesl/corpus.py"
  if [ -n "$tree_sitter" ]; then
    step "grammar: parser up to date" up_to_date
    (corpus) || failed=1
    step "grammar: queries" queries
  else
    echo "== grammar: no \`tree-sitter\` here: whether the parser is up to date is not looked at"
  fi
  step "grammar: against the real parser" "$python" "$here/tree-sitter-nesl/check.py"
}

# Whether Helix finds server, grammar and queries.
helix_health() {
  mkdir -p "$XDG_CONFIG_HOME/helix/runtime/queries" "$XDG_CONFIG_HOME/helix/runtime/grammars"
  # As the readme says, but for the path of the server.
  sed "s|/path/to/nesl|$(dirname "$here")|; s|^command = .*|command = \"$NESL_BINARY\"|" \
    "$here/helix/languages.toml" >"$XDG_CONFIG_HOME/helix/languages.toml"
  cp -R "$here/helix/queries/nesl" "$XDG_CONFIG_HOME/helix/runtime/queries/"
  "${CC:-cc}" -O1 -shared -fPIC -I "$here/tree-sitter-nesl/src" \
    "$here/tree-sitter-nesl/src/parser.c" "$here/tree-sitter-nesl/src/scanner.c" \
    -o "$XDG_CONFIG_HOME/helix/runtime/grammars/nesl.so" || return 1
  bounded "$helix" --health nesl >"$scratch/health" 2>&1 || { cat "$scratch/health"; return 1; }
  # A server, the parser, three sorts of queries.
  if [ "$(grep -c '✓' "$scratch/health")" -lt 5 ] || grep -q '✘' "$scratch/health"; then
    cat "$scratch/health"
    return 1
  fi
}

settings_tests() {
  step "settings: can be read" "${PYTHON:-python3}" "$here/settings.py"
  helix=${HELIX:-$(command -v hx || command -v helix)}
  if [ -n "$helix" ]; then
    step "settings: helix" helix_health
  else
    echo "== settings: no Helix here"
  fi
}

[ $# -gt 0 ] || set -- nvim emacs grammar settings
for part in "$@"; do
  case $part in
    nvim) nvim_tests ;;
    emacs) emacs_tests ;;
    grammar) grammar_tests ;;
    settings) settings_tests ;;
    *) echo "there is no test of $part"; exit 2 ;;
  esac
done
[ -z "$failed" ]
