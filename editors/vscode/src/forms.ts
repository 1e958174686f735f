/**
 * A text as top-level forms, by its tokens alone: enough to send "the form at the cursor"
 * somewhere without asking the server, which may be away.
 *
 * `;` ends a form unless it stands in brackets or between `let` and its `in`; `$` always does.
 */

export interface Form {
  /** Offsets into the text: from the first token to behind the terminator. */
  start: number;
  end: number;
  /** Whether a terminator ended it. */
  closed: boolean;
  /** Whether others may use what it says: a function, a datatype, a variable, a text to load. */
  defines: boolean;
}

const DEFINES = new Set(['function', 'datatype', 'load']);

/** A comment, character, string, name or number, or any other single character. */
const TOKEN =
  /%[^%]*(?:%|$)|\/\/[^\n]*|`[\s\S]|"(?:[^"\\]|\\[\s\S])*(?:"|$)|[A-Za-z_][A-Za-z0-9_]*|[0-9.]+|\s+|[\s\S]/g;

/** `=` as a part of an operator, with a character on either side. */
const COMPARES = /^[=<>/]|=$/;

const CLOSES: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/** All forms of a text, in order. */
export function forms(text: string): Form[] {
  const found: Form[] = [];
  const open: string[] = [];
  let start = -1;
  let end = 0;
  let defines = false;
  const finish = (closed: boolean) => {
    if (start >= 0) found.push({ start, end, closed, defines });
    start = -1;
    defines = false;
    open.length = 0;
  };
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0];
    if (token.startsWith('%') || token.startsWith('//') || token.trim() === '') continue;
    // A keyword that can only begin a form means that the one before was not ended.
    const word = token.toLowerCase();
    if ((word === 'function' || word === 'datatype') && start >= 0) finish(false);
    if (start < 0) {
      start = match.index;
      defines = DEFINES.has(word);
    }
    // `=` by itself, outside of everything: a variable. `==` and the like are two tokens.
    else if (token === '=' && open.length === 0) defines ||= !COMPARES.test(text.slice(match.index - 1, match.index + 2));
    end = match.index + token.length;
    const closing = CLOSES[token];
    if (closing !== undefined) open.push(closing);
    else if (word === 'let') open.push('in');
    else if (open.length > 0 && open[open.length - 1] === word) open.pop();
    else if (token === '$' || (token === ';' && open.length === 0)) finish(true);
  }
  finish(false);
  return found;
}

/** What a text defines: the texts of its definitions. */
export function definitions(text: string): string[] {
  return forms(text)
    .filter(({ defines }) => defines)
    .map(({ start, end }) => text.slice(start, end));
}

/** The form that an offset is in or at the end of, else the one before it. */
export function formAt(text: string, offset: number): Form | undefined {
  let last: Form | undefined;
  for (const form of forms(text)) {
    const line = text.lastIndexOf('\n', offset - 1) + 1;
    if (form.start > offset) {
      // On an empty stretch of a line that a form begins on, that one is meant.
      const lineEnd = text.indexOf('\n', offset);
      return form.start < (lineEnd < 0 ? text.length : lineEnd) && (last?.end ?? 0) <= line
        ? form
        : last;
    }
    if (offset <= form.end) return form;
    last = form;
  }
  return last;
}

/** A text that the REPL evaluates when it gets it: its last form is ended, no line is empty. */
export function terminated(text: string): string {
  const trimmed = text.trim().replace(/\r\n?/g, '\n');
  const all = forms(trimmed);
  const last = all[all.length - 1];
  return last === undefined || last.closed ? trimmed : `${trimmed.slice(0, last.end)};${trimmed.slice(last.end)}`;
}
