// Packages the extension.
//   npm run package                                       nesl-VERSION.vsix, which looks for `nesl`
//   npm run package -- --target linux-x64 --binary PATH   with the program in bin/, for one platform
//   … --out FILE

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = join(root, '..', '..');
const { values: given } = parseArgs({
  options: { target: { type: 'string' }, binary: { type: 'string' }, out: { type: 'string' } },
});
if ((given.target === undefined) !== (given.binary === undefined)) {
  fail('--target and --binary belong together: a package with a program is for one platform');
}
/** Without the program; what people download is small. */
const MOST = 200 * 1024;

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const suffix = given.target === undefined ? '' : `-${given.target}`;
const out = resolve(given.out ?? join(root, `nesl${suffix}-${version}.vsix`));

copyExamples();
for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(join(project, name), join(root, name));
rmSync(join(root, 'bin'), { recursive: true, force: true });
if (given.binary !== undefined) copyBinary(given.binary);
execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--release'], { stdio: 'inherit' });
const vsce = join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
const target = given.target === undefined ? [] : ['--target', given.target];
execFileSync(process.execPath, [vsce, 'package', '--no-dependencies', '--no-git-tag-version', '--skip-license', '--allow-missing-repository', ...target, '--out', out], {
  cwd: root,
  stdio: 'inherit',
});

const size = statSync(out).size;
console.log(`${out}: ${(size / 1024).toFixed(0)} KB`);
if (given.binary === undefined && size > MOST) fail(`more than ${MOST / 1024} KB`);

/** The example programs that need no data files: they are opened as texts without a place. */
function copyExamples() {
  const [from, to] = [join(project, 'examples'), join(root, 'examples')];
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  for (const name of readdirSync(from).filter((name) => name.endsWith('.nesl'))) {
    if (!readFileSync(join(from, name), 'utf8').includes('examples/data/')) cpSync(join(from, name), join(to, name));
  }
}

function copyBinary(binary) {
  const windows = given.target.startsWith('win32');
  const to = join(root, 'bin', windows ? 'nesl.exe' : 'nesl');
  if (!basename(binary).startsWith('nesl')) console.warn(`note: ${binary} is packaged as ${basename(to)}`);
  mkdirSync(join(root, 'bin'));
  copyFileSync(resolve(binary), to);
  // The packager keeps the bits of files; the installer, what the package says.
  chmodSync(to, 0o755);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
