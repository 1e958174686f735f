/** A line of a stage's text as coloured pieces: by token, the same for all stages. */

export type Color = 'keyword' | 'type' | 'number' | 'string' | 'variable' | 'index-space' | 'operation' | 'comment';

export interface Piece {
  text: string;
  color?: Color;
}

const KEYWORDS = new Set(
  ('main fn flat function kernel over in each for if then else let stores after collect from as at ' +
    'call return yield bra ret reduce scan check store load const mark while loop when do and or datatype').split(' '),
);
const TYPES = new Set('int float bool char i64 i32 f64 f32 i8 u8 u32 u64 any number ordinal logical'.split(' '));

// A comment begins with `% `; `%r1` is a register of PTX.
const TOKEN =
  /("(?:[^"\\]|\\.)*"|`.)|(%\s[^%]*%|\/\/.*|;;.*)|(\b\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\b|\b(?:inf|nan|true|false)\b)|(@\d+)|([%.]?[A-Za-z_][A-Za-z0-9_.]*)/g;

/** The pieces, laid end to end, are the line. */
export function highlight(line: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of line.matchAll(TOKEN)) {
    if (match.index > at) pieces.push({ text: line.slice(at, match.index) });
    at = match.index + match[0].length;
    const color = colorOf(match, line.slice(at));
    pieces.push(color === undefined ? { text: match[0] } : { text: match[0], color });
  }
  if (at < line.length) pieces.push({ text: line.slice(at) });
  return pieces;
}

function colorOf(match: RegExpMatchArray, rest: string): Color | undefined {
  const [word, text, comment, number, place] = match;
  if (text !== undefined) return 'string';
  if (comment !== undefined || place !== undefined) return 'comment';
  if (number !== undefined) return 'number';
  if (/^v\d+$/.test(word) || word.startsWith('%')) return 'variable';
  // Of PTX: `.entry`, `add.f64 %fd1, …`.
  if (word.startsWith('.')) return 'keyword';
  if (word.includes('.') && /^\s*[%[{;]/.test(rest)) return 'operation';
  if (/^s\d+$/.test(word)) return 'index-space';
  if (TYPES.has(word)) return 'type';
  if (KEYWORDS.has(word)) return 'keyword';
  return /^\s*\(/.test(rest) || /^\s+[v\d]/.test(rest) ? 'operation' : undefined;
}
