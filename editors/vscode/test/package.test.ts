/** What `package.json` and the files it names promise: held together, and tried on the program. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { match, type Pattern } from './problems';
import { binary, noBinary, root } from './here';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'nesl-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('every command that something names is contributed or the extension’s own', () => {
  const source = readFileSync(join(root, 'src', 'extension.ts'), 'utf8');
  const registered = new Set([...source.matchAll(/^ {4}'(nesl\.\w+)'/gm)].map((found) => found[1]));
  const contributed: string[] = manifest.contributes.commands.map((one: { command: string }) => one.command);
  for (const command of contributed) assert.ok(registered.has(command), `${command} does nothing`);
  const { commands, ...rest } = manifest.contributes;
  const named = [...JSON.stringify(rest).matchAll(/"command":"(nesl\.\w+)"|command:(nesl\.\w+)/g)];
  for (const [, menu, link] of named) assert.ok(registered.has(menu ?? link), `${menu ?? link} is not there`);
});

test('every setting that the sources read is contributed', () => {
  const properties = manifest.contributes.configuration.properties;
  for (const file of ['server', 'run', 'repl', 'status', 'preview']) {
    const source = readFileSync(join(root, 'src', `${file}.ts`), 'utf8');
    for (const [, key] of source.matchAll(/\.get(?:<\w+>)?\('([\w.]+)'/g)) {
      assert.ok(`nesl.${key}` in properties, `${file}.ts reads nesl.${key}`);
    }
  }
});

test('point 22: what is drawn in the text can be read', () => {
  const backgrounds: Record<string, string> = { dark: '#1f1f1f', light: '#ffffff', highContrast: '#000000', highContrastLight: '#ffffff' };
  for (const { id, defaults } of manifest.contributes.colors) {
    for (const [theme, color] of Object.entries<string>(defaults)) {
      if (!id.endsWith('Foreground') || !color.startsWith('#')) continue;
      assert.equal(color.length, 7, `${id} is transparent in ${theme}`);
      const ratio = contrast(color, backgrounds[theme]!);
      assert.ok(ratio >= 4.5, `${id} has a contrast of ${ratio.toFixed(1)} in ${theme}`);
    }
  }
});

/** The contrast of two colours as WCAG defines it. */
function contrast(a: string, b: string): number {
  const luminance = (color: string) => {
    const part = (at: number) => {
      const value = parseInt(color.slice(at, at + 2), 16) / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  };
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test('every file that is named is there', () => {
  const files = [...JSON.stringify(manifest.contributes).matchAll(/"(?:\.\/)?((?:images|syntaxes|snippets|walkthrough)\/[\w./-]+|language-configuration\.json)"/g)];
  assert.ok(files.length > 8);
  for (const [, file] of files) assert.ok(existsSync(join(root, file!)), `${file} is missing`);
});

test('every step of the walkthrough is ticked by something that happens', () => {
  const { commands, walkthroughs } = manifest.contributes;
  const names = new Set(commands.map(({ command }: { command: string }) => command));
  const sources = readdirSync(join(root, 'src')).filter((name) => name.endsWith('.ts'));
  const source = sources.map((name) => readFileSync(join(root, 'src', name), 'utf8')).join('\n');
  const { steps } = walkthroughs[0];
  for (const { id, description, completionEvents } of steps) {
    assert.ok(completionEvents.length > 0, id);
    for (const event of completionEvents) {
      const [, kind, what] = /^(\w+):(.+)$/.exec(event)!;
      if (kind === 'onContext') assert.ok(source.includes(`'setContext', '${what}'`), event);
      else {
        assert.equal(kind, 'onCommand');
        assert.ok(names.has(what), event);
        assert.ok(source.includes(`'${what}': (`), event);
      }
    }
    // What its buttons do is declared, too.
    for (const [, command] of description.matchAll(/\(command:([\w.]+)/g)) assert.ok(names.has(command), command);
  }
});

test('nothing of the lock file names a registry', () => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  for (const [, url] of lock.matchAll(/"resolved": "([^"]+)"/g)) {
    assert.match(url!, /^https:\/\/registry\.npmjs\.org\//);
  }
});

test('the grammar knows the names of the library', async (context) => {
  const { libraryNames, alternation } = await import(join(root, 'scripts', 'names.mjs'));
  const names = libraryNames();
  if (names === undefined) return context.skip('the compiler’s sources are not beside this');
  const grammar = JSON.parse(readFileSync(join(root, 'syntaxes', 'nesl.tmLanguage.json'), 'utf8'));
  assert.equal(grammar.repository.library.match, alternation(names), 'node scripts/names.mjs --update');
});

test('the matcher finds the problems that `nesl check` prints', (context) => {
  if (binary === undefined) return context.skip(noBinary);
  const file = join(folder, 'bad file.nesl');
  writeFileSync(file, 'function g(x) = x + "a";\nfunction h(y) =\n  let a = 1;\n      b = a + 2.0\n  in b;\n  foo(3);\n3 + ;\n');
  const patterns: Pattern[] = manifest.contributes.problemMatchers[0].pattern;
  for (const color of ['never', 'always']) {
    const { stderr, stdout } = spawnSync(binary, ['check', '--color', color, file], { encoding: 'utf8' });
    const found = match(patterns, stdout + stderr);
    assert.deepEqual(found.map(({ file, line, column }) => [file, line, column]), [
      [file, 1, 19],
      [file, 4, 13],
      [file, 6, 3],
      [file, 7, 5],
    ]);
    assert.ok(found.every(({ severity, message }) => severity === 'error' && /^\w+ error: ./.test(message)));
  }
});

test('and the ones of `nesl run`', (context) => {
  if (binary === undefined) return context.skip(noBinary);
  const file = join(folder, 'fails.nesl');
  writeFileSync(file, '1 + 2;\n[1, 2][5];\n');
  const { stderr, stdout } = spawnSync(binary, ['run', file], { encoding: 'utf8' });
  const found = match(manifest.contributes.problemMatchers[0].pattern, stdout + stderr);
  assert.deepEqual(found.map(({ file, line }) => [file, line]), [[file, 2]]);
  assert.match(found[0]!.message, /^Runtime error: Sequence reference/);
});

test('every snippet, filled in, is a program without errors', (context) => {
  const snippets: Record<string, { body: string | string[] }> = JSON.parse(
    readFileSync(join(root, 'snippets', 'nesl.json'), 'utf8'),
  );
  const texts = Object.entries(snippets).map(([name, { body }]) => [name, filled([body].flat().join('\n'))] as const);
  for (const [name, text] of texts) assert.doesNotMatch(text.replace(/`\$|\$$/, ''), /\$[{\d]/, name);
  const program = binary;
  if (program === undefined) return context.skip(noBinary);
  for (const [name, text] of texts) {
    const file = join(folder, 'snippet.nesl');
    writeFileSync(file, /[;%]$/.test(text) ? `${text}\n` : `${text};\n`);
    assert.doesNotThrow(() => execFileSync(program, ['check', file], { stdio: 'pipe' }), `${name}:\n${text}`);
  }
});

test('a snippet is filled in as the editor does it', () => {
  assert.equal(filled('{${3:${2:x} * 2} : ${2:x} in ${1:[1]}}$0 $2'), '{x * 2 : x in [1]} x');
});

/** A snippet's text with its placeholders as they stand, and the same for their other places. */
function filled(body: string): string {
  const values = new Map<string, string>();
  let text = body;
  // From the innermost placeholder outwards.
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/\$\{(\d+):((?:[^${}]|\$\d)*(?:\{[^${}]*\}[^${}]*)*)\}/, (_, n: string, value: string) => {
      if (!values.has(n)) values.set(n, value);
      return values.get(n)!;
    });
  }
  for (let i = 0; i < 5; i++) text = text.replace(/\$(\d+)/g, (_, n: string) => values.get(n) ?? '');
  return text;
}
