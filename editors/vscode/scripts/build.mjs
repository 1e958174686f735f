// Bundles the extension and the preview's page into dist/; with --tests, the tests and the double
// of the server into dist/test/; with --watch, again whenever something changes.

import { build, context } from 'esbuild';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const flags = new Set(process.argv.slice(2));
/** With `--out FOLDER` the double is made there, and nothing else is. */
const out = flags.has('--out') ? process.argv[process.argv.indexOf('--out') + 1] : undefined;
const release = flags.has('--release');

const common = {
  absWorkingDir: root,
  bundle: true,
  logLevel: 'warning',
  minify: release,
  sourcemap: release ? false : 'linked',
  legalComments: 'none',
  target: 'node20',
};
const extension = {
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  platform: 'node',
  format: 'cjs',
  external: ['vscode'],
  // The packages of LSP are given as modules, of which what is not used falls away.
  mainFields: ['module', 'main'],
};
const page = {
  ...common,
  entryPoints: ['src/webview/main.ts'],
  outfile: 'dist/preview.js',
  platform: 'browser',
  format: 'iife',
  target: 'es2022',
};
const tests = {
  ...common,
  entryPoints: [
    ...readdirSync(join(root, 'test')).filter((name) => name.endsWith('.test.ts')).map((name) => `test/${name}`),
    'test/fake/server.ts',
  ],
  outdir: 'dist/test',
  outbase: 'test',
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  format: 'cjs',
};

if (flags.has('--watch')) {
  for (const options of [extension, page]) await (await context(options)).watch();
} else if (out !== undefined) {
  await build({ ...tests, entryPoints: ['test/fake/server.ts'], outdir: out, outbase: 'test/fake' });
  makeFake(out);
} else {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  await Promise.all([extension, page, ...(flags.has('--tests') ? [tests] : [])].map((options) => build(options)));
  if (flags.has('--tests')) makeFake(join(root, 'dist', 'test', 'fake'));
}

/** A program `nesl` that is the double: `nesl lsp` speaks, anything else says that it cannot. */
function makeFake(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'nesl'), `#!/bin/sh\nexec node "$(dirname "$0")/server.cjs" "$@"\n`);
  chmodSync(join(folder, 'nesl'), 0o755);
}
