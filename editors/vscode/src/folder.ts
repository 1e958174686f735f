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

/** What a task runs: the argument that names the file, and the folder; without one it is that of the workspace. */
export interface TaskPlace {
  file: string;
  cwd: string | undefined;
}

/** A text in an editor, or on the disk. */
export interface Source {
  file: string;
  text: string;
}

/**
 * The file of a task and the folder in which it runs: the one in which the program runs elsewhere, too. `named` is the
 * file of its definition, seen from `base`; without one the task is about the file in the editor when it begins.
 */
export function taskPlace(
  named: string | undefined,
  base: string | undefined,
  active: Source | undefined,
  open: readonly string[],
  read: (file: string) => string,
  exists: (path: string) => boolean,
): TaskPlace {
  if (named === undefined || named === '${file}') {
    // The editor's own words for the folder hold if another file is in the editor by then.
    const folder = active === undefined ? undefined : runFolder(active.file, active.text, open, exists);
    const own = folder === undefined || active === undefined || folder === path.dirname(active.file);
    return { file: '${file}', cwd: own ? '${fileDirname}' : folder };
  }
  const plain = base === undefined ? named : named.replaceAll('${workspaceFolder}', base);
  if (plain.includes('${') || (base === undefined && !path.isAbsolute(plain))) return { file: named, cwd: undefined };
  const file = path.resolve(base ?? '', plain);
  return { file, cwd: runFolder(file, read(file), open, exists) };
}

/** The strings of a program that may be relative names of files, without those that it loads. */
function namedFiles(text: string): string[] {
  return [...text.matchAll(TOKEN)].flatMap(([, load, name]) =>
    load === undefined && name !== undefined && name.length <= MAX_NAME && /[./]/.test(name) && !/^[/~]/.test(name) ? [name] : [],
  );
}
