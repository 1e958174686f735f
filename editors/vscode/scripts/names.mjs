// The names of the library, from the compiler's own sources: what the grammar colours as built in.
//   node scripts/names.mjs            prints the alternation that belongs into the grammar
//   node scripts/names.mjs --update   puts it there

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** All names that programs may use, sorted; undefined outside the project. */
export function libraryNames(core = join(root, '..', '..', 'core')) {
  if (!existsSync(core)) return undefined;
  const names = new Set();
  const collect = (folder, ending, patterns) => {
    for (const file of readdirSync(folder).filter((name) => name.endsWith(ending))) {
      const text = readFileSync(join(folder, file), 'utf8');
      for (const pattern of patterns) for (const match of text.matchAll(pattern)) names.add(match[1].toLowerCase());
    }
  };
  collect(join(core, 'prelude'), '.nesl', [/^function\s+([A-Za-z]\w*)/gim, /^datatype\s+([A-Za-z]\w*)/gim, /^([A-Za-z]\w*)\s*=[^=]/gm]);
  for (const folder of [join(core, 'src', 'prim'), join(core, 'src', 'prim', 'ops')]) {
    collect(folder, '.rs', [/^    \w+\(\s*"([a-z]\w*)",/gm]);
  }
  for (const keyword of ['and', 'or', 'nand', 'nor', 'xor', 'time']) names.delete(keyword);
  return [...names].sort();
}

/** The pattern in the grammar. */
export function alternation(names) {
  return `\\b(?i:${names.join('|')})\\b`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pattern = alternation(libraryNames());
  if (process.argv.includes('--update')) {
    const file = join(root, 'syntaxes', 'nesl.tmLanguage.json');
    const grammar = JSON.parse(readFileSync(file, 'utf8'));
    grammar.repository.library.match = pattern;
    writeFileSync(file, `${JSON.stringify(grammar, null, 2)}\n`);
  } else console.log(pattern);
}
