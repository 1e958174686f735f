// End to end: the packaged extension in a real VS Code, as a person sees it. Leaves pictures of what
// it does and fails if something that should be seen is not.
//
//   npm run e2e [-- --vsix FILE] [--only SCENE] [--theme "Default Light Modern"] [--shots FOLDER]
//
// NESL_BINARY      the program to serve; without it, the double from the tests does
// NESL_E2E_CACHE   where VS Code is kept (target/e2e)
// CHROMIUM         the browser, if it is not in its usual place

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import * as editor from './editor.mjs';
import * as first from './scenes.mjs';
import { setUp } from './setup.mjs';
import { Workbench } from './workbench.mjs';

const scenes = [...first.scenes, ...editor.scenes];
const files = { ...first.files, ...editor.files };

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: given } = parseArgs({
  options: {
    vsix: { type: 'string' },
    only: { type: 'string', multiple: true },
    theme: { type: 'string', default: 'Default Dark Modern' },
    shots: { type: 'string' },
  },
});
const cache = resolve(process.env.NESL_E2E_CACHE ?? join(root, '..', '..', 'target', 'e2e'));
const shots = resolve(given.shots ?? join(cache, 'shots'));
mkdirSync(shots, { recursive: true });

const program = process.env.NESL_BINARY ? resolve(process.env.NESL_BINARY) : double();
const vsix = given.vsix ? resolve(given.vsix) : packaged();
const tools = setUp(cache);
const settings = { 'nesl.server.path': program, 'workbench.colorTheme': given.theme };
const bench = await Workbench.start({ tools, cache, vsix, files, settings, shots });
let [passed, failed] = [0, 0];
process.once('SIGTERM', () => bench.stop().then(() => process.exit(1)));
try {
  for (const { name, file, see, says, real, sidebar = false } of scenes) {
    if (given.only && !given.only.includes(name)) continue;
    if (real && !process.env.NESL_BINARY) {
      console.log(`skip ${name}: it needs the real program`);
      continue;
    }
    const begin = Date.now();
    try {
      await bench.open(name, file, sidebar);
      await see(bench);
      const said = (await bench.notifications()).filter((text) => !says?.test(text));
      if (said.length > 0) throw new Error(`it says: ${said.join(' | ')}`);
      passed++;
      console.log(`ok   ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      await bench.shot(`fail-${name}`).catch(() => {});
      console.log(`FAIL ${name}: ${error.message}`);
    }
  }
} finally {
  await bench.stop();
}
console.log(`pictures are in ${shots}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function packaged() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const file = join(root, `nesl-${version}.vsix`);
  execFileSync(process.execPath, [join(root, 'scripts', 'package.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  return file;
}

function double() {
  console.log('NESL_BINARY is not set: the double of the server stands in');
  const folder = join(cache, 'double');
  const file = join(folder, 'nesl');
  execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--out', folder], { stdio: 'inherit' });
  if (!existsSync(file)) throw new Error(`the build made no ${file}`);
  return file;
}
