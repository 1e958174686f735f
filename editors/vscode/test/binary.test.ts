import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { findBinary, type Places } from '../src/binary';

const root = mkdtempSync(join(tmpdir(), 'nesl-binary-'));
after(() => rmSync(root, { recursive: true, force: true }));

let places: Places;
beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  places = {
    setting: '',
    extension: join(root, 'extension'),
    workspace: join(root, 'work'),
    env: { PATH: `${join(root, 'usr')}:${join(root, 'local')}` },
    home: join(root, 'home'),
    platform: 'linux',
  };
});

function program(...parts: string[]): string {
  const file = join(root, ...parts);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  return file;
}

test('each place is looked at after the one before it', () => {
  assert.equal(findBinary(places).path, undefined);
  const cargo = program('home', '.cargo', 'bin', 'nesl');
  assert.deepEqual(findBinary(places), { path: cargo, from: 'cargo' });
  const local = program('local', 'nesl');
  assert.deepEqual(findBinary(places), { path: local, from: 'PATH' });
  const beside = program('extension', 'bin', 'nesl');
  assert.deepEqual(findBinary(places), { path: beside, from: 'extension' });
  const set = program('set', 'nesl-dev');
  assert.deepEqual(findBinary({ ...places, setting: set }), { path: set, from: 'setting' });
});

test('a setting that is wrong is said, not passed over', () => {
  program('extension', 'bin', 'nesl');
  const found = findBinary({ ...places, setting: '/nowhere/nesl' });
  assert.equal(found.path, undefined);
  assert.match(found.path === undefined ? found.problem : '', /\/nowhere\/nesl/);
});

test('a setting may name the workspace, the home and the environment', () => {
  const built = program('work', 'target', 'nesl');
  const mine = program('home', 'bin', 'nesl');
  const env = { ...places.env, TARGET: join(root, 'work', 'target') };
  const at = (setting: string) => findBinary({ ...places, setting, env }).path;
  assert.equal(at('${workspaceFolder}/target/nesl'), built);
  assert.equal(at('target/nesl'), built);
  assert.equal(at('${env:TARGET}/nesl'), built);
  assert.equal(at('~/bin/nesl'), mine);
  assert.equal(at('${userHome}/bin/nesl'), mine);
});

test('folders and files that cannot be run are no programs', () => {
  mkdirSync(join(root, 'usr', 'nesl'), { recursive: true });
  chmodSync(program('local', 'nesl'), 0o644);
  assert.equal(findBinary(places).path, undefined);
});

test('on Windows the program ends in .exe and the path variable in any case', () => {
  const file = program('usr', 'nesl.exe');
  const env = { Path: join(root, 'usr') };
  assert.equal(findBinary({ ...places, env, platform: 'win32' }).path, file);
});
