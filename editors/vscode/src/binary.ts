/**
 * Where the program `nesl` is. Knows the order of the places and nothing of VS Code, so it is
 * tested on folders made for the purpose.
 */

import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

export interface Places {
  /** The setting; empty if there is none. */
  setting: string;
  /** The extension's own folder. */
  extension: string;
  /** The first folder of the workspace, for `${workspaceFolder}` in the setting. */
  workspace?: string | undefined;
  env: NodeJS.ProcessEnv;
  home: string;
  platform: NodeJS.Platform;
}

export type Found =
  | { path: string; from: 'setting' | 'extension' | 'PATH' | 'cargo' }
  | { path: undefined; problem: string };

/** The first program there is: setting, `bin/` beside the extension, `PATH`, `~/.cargo/bin`. */
export function findBinary(places: Places): Found {
  const name = places.platform === 'win32' ? 'nesl.exe' : 'nesl';
  if (places.setting.trim() !== '') {
    // What a person set is not passed over in silence for something else.
    const file = expand(places.setting.trim(), places);
    return isProgram(file, places.platform)
      ? { path: file, from: 'setting' }
      : { path: undefined, problem: `There is no program at ${file} (setting nesl.server.path).` };
  }
  const beside = path.join(places.extension, 'bin', name);
  if (isProgram(beside, places.platform)) return { path: beside, from: 'extension' };
  for (const folder of searchPath(places)) {
    const file = path.join(folder, name);
    if (isProgram(file, places.platform)) return { path: file, from: 'PATH' };
  }
  const cargo = path.join(places.env['CARGO_HOME'] ?? path.join(places.home, '.cargo'), 'bin', name);
  if (isProgram(cargo, places.platform)) return { path: cargo, from: 'cargo' };
  return {
    path: undefined,
    problem: 'The program nesl is not beside the extension, on the PATH or in ~/.cargo/bin.',
  };
}

/** The places of this machine. */
export function placesHere(setting: string, extension: string, workspace?: string): Places {
  const { env, platform } = process;
  return { setting, extension, workspace, env, home: os.homedir(), platform };
}

function expand(setting: string, places: Places): string {
  const text = setting
    .replace(/^~(?=$|[\\/])/, () => places.home)
    .replace(/\$\{workspaceFolder\}/g, () => places.workspace ?? '')
    .replace(/\$\{env:(\w+)\}/g, (_, name: string) => places.env[name] ?? '')
    .replace(/\$\{userHome\}/g, () => places.home);
  return path.isAbsolute(text) ? text : path.resolve(places.workspace ?? places.home, text);
}

function searchPath(places: Places): string[] {
  const key = Object.keys(places.env).find((key) => key.toUpperCase() === 'PATH');
  const separator = places.platform === 'win32' ? ';' : ':';
  return ((key && places.env[key]) ?? '').split(separator).filter((folder) => folder !== '');
}

function isProgram(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (!fs.statSync(file).isFile()) return false;
    if (platform !== 'win32') fs.accessSync(file, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
