import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataPaths } from './all-in-one.config.js';
import { prepareDataFolder } from './data-folder.js';

describe('the data folder', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'data-folder-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('is made where there is none, with what is missing above it', () => {
    expect(() => prepareDataFolder(dataPaths(join(dir, 'new', 'deep')))).not.toThrow();
    expect(existsSync(join(dir, 'new', 'deep', 'logs'))).toBe(true);
  });

  it.each(['/proc/foo', '/proc/foo/bar', '/proc'])('says so where %s takes no folder', (folder) => {
    expect(() => prepareDataFolder(dataPaths(folder))).toThrow(/cannot be written by this user: give it/);
  });

  it('says what to do where the secrets of an earlier run are gone', () => {
    writeFileSync(join(dir, 'first-run.json'), '{}');
    expect(() => prepareDataFolder(dataPaths(dir))).toThrow(
      /secrets\.json is gone: restore it from a backup/,
    );
  });

  it('says what to do where the secrets are broken', () => {
    writeFileSync(join(dir, 'secrets.json'), '{"peppers": [');
    expect(() => prepareDataFolder(dataPaths(dir))).toThrow(/secrets\.json is broken: restore it/);
  });

  it('says what to do where a file stands in its place', () => {
    writeFileSync(join(dir, 'file'), '');
    expect(() => prepareDataFolder(dataPaths(join(dir, 'file')))).toThrow(/is not a folder: move it away/);
  });
});
