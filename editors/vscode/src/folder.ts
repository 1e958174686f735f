/**
 * The folder in which the program of a file runs, as the server has it (`child.rs`): its own, unless
 * the files that it names are in one of the folders above, up to the one that is open.
 */

import * as path from 'node:path';

/** A comment, a character, or a string with what it is loaded by, if it is. */
const TOKEN = /%[^%]*(?:%|$)|`[\s\S]|(\bload\s*)?"((?:[^"\\]|\\[\s\S])*)"/gi;

/** Names of files are not longer, in characters. */
const MAX_NAME = 255;

export function runFolder(file: string, text: string, open: readonly string[], exists: (path: string) => boolean): string {
  const own = path.dirname(file);
  const inside = (root: string) => own === root || own.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
  const root = open.filter(inside).sort((a, b) => b.length - a.length)[0];
  if (root === undefined) return own;
  const names = namedFiles(text);
  for (let folder = own; ; folder = path.dirname(folder)) {
    if (names.some((name) => exists(path.join(folder, name)))) return folder;
    if (folder === root || folder === path.dirname(folder)) return own;
  }
}

/** The strings of a program that may be relative names of files, without those that it loads. */
function namedFiles(text: string): string[] {
  return [...text.matchAll(TOKEN)].flatMap(([, load, name]) =>
    load === undefined && name !== undefined && name.length <= MAX_NAME && /[./]/.test(name) && !/^[/~]/.test(name) ? [name] : [],
  );
}
