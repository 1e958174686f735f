// End to end: the kernel in a real JupyterLab, as a person sees it. Leaves pictures of what it does and
// fails if something that should be seen is not.
//
//   node kernel/tests/e2e/e2e.mjs [--only SCENE] [--theme "JupyterLab Dark"] [--shots FOLDER] [--keep]
//
// JUPYTER          the program `jupyter`, of an environment with JupyterLab
// JUPYTER_PATH     where the kernel is installed
// NESL_E2E_CACHE   where the browser's driver is kept (target/e2e)
// CHROMIUM         the browser, if it is not in its usual place
//
// `--keep` puts the pictures that the book and the README show into docs/book/src/images.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { scenes, kept } from './scenes.mjs';
import { Lab } from './lab.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = resolve(here, '..', '..', '..');
const { values: given } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    theme: { type: 'string', default: 'JupyterLab Light' },
    shots: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const cache = resolve(process.env.NESL_E2E_CACHE ?? join(root, 'target', 'e2e'));
const shots = resolve(given.shots ?? join(cache, 'shots-jupyter'));
mkdirSync(shots, { recursive: true });
const jupyter = process.env.JUPYTER ?? 'jupyter';

const lab = await Lab.start({ jupyter, cache, shots, theme: given.theme });
let [passed, failed] = [0, 0];
process.once('SIGTERM', () => lab.stop().then(() => process.exit(1)));
try {
  for (const { name, cells, see } of scenes) {
    if (given.only && !given.only.includes(name)) continue;
    const begin = Date.now();
    try {
      await lab.open(name, cells);
      await see(lab);
      if (lab.strange.length > 0) throw new Error(lab.strange.join(' | '));
      passed++;
      console.log(`ok   ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      await lab.shot(`fail-${name}`).catch(() => {});
      console.log(`FAIL ${name}: ${error.message}`);
    }
    await lab.endKernels();
  }
} finally {
  await lab.stop();
}
console.log(`pictures are in ${shots}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
if (given.keep && failed === 0) keep();

/** Copies pictures to the book, as small as they can be: by the Python that JupyterLab runs in. */
function keep() {
  const images = join(root, 'docs', 'book', 'src', 'images');
  for (const name of kept) {
    const from = join(shots, `${name}.png`);
    if (!existsSync(from)) continue;
    const python = join(dirname(jupyter), 'python');
    const made = spawnSync(python, [join(here, 'shrink.py'), from, join(images, `notebook-${name}.png`)], { stdio: 'inherit' });
    if (made.status !== 0) throw new Error(`${name}.png could not be made smaller`);
  }
}
