// The browser that scenes are looked at in: playwright-core from npm, in a cache folder, and a Chromium
// that the machine has.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PLAYWRIGHT = 'playwright-core@1.65.1';
const SYSTEM = 'apt-get install chromium fonts-dejavu-core';
const OPTIONS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Starts the browser, after installing what drives it if that is missing. */
export async function launch(cache) {
  const folder = join(cache, 'browser');
  if (!existsSync(join(folder, 'node_modules', 'playwright-core'))) install(folder, process.execPath, [PLAYWRIGHT]);
  const require = createRequire(join(folder, 'package.json'));
  const { chromium } = await import(pathToFileURL(require.resolve('playwright-core')).href).then((m) => m.default ?? m);
  return chromium.launch({ executablePath: found(), headless: true, args: OPTIONS });
}

/** Installs packages of npm's registry into a folder by a Node, which their native modules are built for. */
export function install(folder, node, packages, env = {}) {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private": true}\n');
  const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim());
  // What an npm around this one (`npm run e2e`) says of itself would be believed of the one inside:
  // the version of its Node, among others.
  const outside = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  execFileSync(node, [npm, 'install', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    stdio: 'inherit',
    env: { ...Object.fromEntries(outside), PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1', ...env },
  });
}

/** A port that nobody listens at. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function found() {
  const known = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const file = known.find((file) => file && existsSync(file));
  if (file === undefined) throw new Error(`no browser: ${SYSTEM}, or set CHROMIUM`);
  return file;
}
