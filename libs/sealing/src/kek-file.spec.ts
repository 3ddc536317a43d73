import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '@gateway/testing/plain';
import { kekFromFile } from './kek-file.js';

const KEK = Buffer.alloc(32, 7).toString('base64');

describe('a file with a key-encryption key', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kek-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const read = (path: string, mayCreate = false): string =>
    kekFromFile(path, { mayCreate, random: seededRandom(1) });

  it('S02 is made once, for this user alone, with 32 random bytes', () => {
    const path = join(folder, 'deep', 'kek.json');
    const made = read(path, true);
    expect(Buffer.from(made, 'base64')).toHaveLength(32);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ kek: made });
    expect([statSync(path).mode & 0o777, statSync(join(folder, 'deep')).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect([read(path), read(path, true)]).toEqual([made, made]);
  });

  it('is not made where it may not be', () => {
    const path = join(folder, 'kek.json');
    expect(() => read(path)).toThrow(`${path} does not exist`);
    expect(() => statSync(path)).toThrow('ENOENT');
  });

  it.each([
    ['{"kek":', 'holds no JSON'],
    ['', 'holds no JSON'],
    ['null', 'holds no kek'],
    ['{}', 'holds no kek'],
    ['{"kek":7}', 'holds no kek'],
    [JSON.stringify({ kek: KEK.slice(0, 40) }), 'holds no kek'],
    [JSON.stringify({ kek: `${KEK}A` }), 'holds no kek'],
    [JSON.stringify({ kek: `A${KEK}` }), 'holds no kek'],
  ])('S02 is refused with a sentence that shows nothing of it: %j', (text, says) => {
    const path = join(folder, 'kek.json');
    writeFileSync(path, text);
    let message = '';
    try {
      read(path, true);
    } catch (failure) {
      message = String(failure);
    }
    expect(message).toContain(says);
    expect(message).not.toContain(KEK.slice(0, 8));
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});
