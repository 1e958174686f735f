// Words: which are names, and which begin a command.
//
// The generated lexer would do, but for three things. It takes a keyword for a name wherever that
// keyword cannot stand, so that an open bracket would make one expression of itself and of the
// definitions below it; what is open there must rather be closed by `function`, which begins
// nothing but a form. It takes the beginning of a word for a keyword, where no name can stand. And
// `set x` is a command where `set(x)` and `set = x` are not: that takes a look at the next word.
//
// So every word that is no keyword comes from here, even where it is an error; and so do comments,
// because what may stand anywhere makes that this is always asked. There is no state.

#include "tree_sitter/parser.h"

#include <string.h>

enum Token { IDENTIFIER, BOOLEAN, COMMAND_NAME, UNCLOSED, COMMENT, RECOVERING };

// No keyword or command is longer.
#define LONGEST 9

typedef struct {
  char text[LONGEST + 1];
  // Of the whole word, which may be longer than what is kept of it.
  unsigned length;
} Word;

static bool begins_word(int32_t c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_blank(int32_t c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == 0xFEFF;
}

// Reads a word, in lower case.
static Word read_word(TSLexer *lexer) {
  Word word = {.length = 0};
  while (begins_word(lexer->lookahead) || (lexer->lookahead >= '0' && lexer->lookahead <= '9')) {
    int32_t c = lexer->lookahead;
    if (word.length < LONGEST) {
      word.text[word.length] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    word.length++;
    lexer->advance(lexer, false);
  }
  word.text[word.length < LONGEST ? word.length : LONGEST] = '\0';
  return word;
}

// Reads a comment; whether it is closed.
static bool read_comment(TSLexer *lexer) {
  lexer->advance(lexer, false);
  while (lexer->lookahead != '%' && !lexer->eof(lexer)) lexer->advance(lexer, false);
  if (lexer->eof(lexer)) return false;
  lexer->advance(lexer, false);
  return true;
}

static bool is_one_of(const Word *word, const char *const *list) {
  if (word->length > LONGEST) return false;
  for (; *list; list++) {
    if (strcmp(word->text, *list) == 0) return true;
  }
  return false;
}

static const char *const RESERVED[] = {
  "function", "datatype", "let", "in",   "if", "then", "else", "and",     "or",
  "nand",     "nor",      "xor", "time", "pair", "closure", NULL,
};

static const char *const BOOLEANS[] = {"t", "f", NULL};

static const char *const DEFINITION[] = {"function", "datatype", NULL};

static const char *const ALONE[] = {"help", "exit", "lisp", "shell", "load", NULL};

static const char *const BEFORE_TEXT[] = {"load", NULL};

static const char *const BEFORE_WORD[] = {
  "set", "show", "describe", "apropos", "dump", "edit", "get", "defconfig", NULL,
};

// What a word at the beginning of a form is, by what follows it. The end of the token is marked
// already; this only looks ahead.
static bool begins_command(TSLexer *lexer, const Word *word) {
  bool alone = is_one_of(word, ALONE);
  bool before_text = is_one_of(word, BEFORE_TEXT);
  bool before_word = is_one_of(word, BEFORE_WORD);
  if (!alone && !before_text && !before_word) return false;
  for (;;) {
    if (is_blank(lexer->lookahead)) {
      lexer->advance(lexer, false);
    } else if (lexer->lookahead != '%' || !read_comment(lexer)) {
      break;
    }
  }
  if (lexer->eof(lexer) || lexer->lookahead == ';' || lexer->lookahead == '$') return alone;
  if (lexer->lookahead == '"') return before_text || before_word;
  if (!before_word || !begins_word(lexer->lookahead)) return false;
  Word next = read_word(lexer);
  if (is_one_of(&next, BOOLEANS)) return false;
  return !is_one_of(&next, RESERVED) || strcmp(next.text, "time") == 0;
}

void *tree_sitter_nesl_external_scanner_create(void) { return NULL; }

void tree_sitter_nesl_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_nesl_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}

void tree_sitter_nesl_external_scanner_deserialize(void *payload, const char *buffer,
                                                   unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

bool tree_sitter_nesl_external_scanner_scan(void *payload, TSLexer *lexer,
                                            const bool *valid_symbols) {
  (void)payload;
  bool recovering = valid_symbols[RECOVERING];
  bool unclosed = valid_symbols[UNCLOSED] && !recovering;
  // What is not closed ends here, before the blanks.
  if (unclosed) lexer->mark_end(lexer);
  while (is_blank(lexer->lookahead)) lexer->advance(lexer, true);
  if (unclosed && lexer->eof(lexer)) {
    lexer->result_symbol = UNCLOSED;
    return true;
  }
  if (lexer->lookahead == '%') {
    if (!read_comment(lexer)) return false;
    lexer->mark_end(lexer);
    lexer->result_symbol = COMMENT;
    return true;
  }
  if (!begins_word(lexer->lookahead)) return false;
  Word word = read_word(lexer);
  if (unclosed && is_one_of(&word, DEFINITION)) {
    lexer->result_symbol = UNCLOSED;
    return true;
  }
  if (is_one_of(&word, RESERVED)) return false;
  lexer->mark_end(lexer);
  lexer->result_symbol = is_one_of(&word, BOOLEANS) ? BOOLEAN : IDENTIFIER;
  if (valid_symbols[COMMAND_NAME] && !recovering && begins_command(lexer, &word)) {
    lexer->result_symbol = COMMAND_NAME;
  }
  return true;
}
