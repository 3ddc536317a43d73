import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ObjectKey } from '@gateway/contracts';
import { fixedClock, seededRandom, type FixedClock } from '@gateway/testing/plain';
import { FolderLinks } from './folder-links.js';

const key = 'org/file.png' as ObjectKey;
let parent: string;
let folder: string;
let clock: FixedClock;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'links-'));
  folder = join(parent, 'objects');
  clock = fixedClock('2026-11-23T00:00:00.400Z');
});
afterEach(() => rmSync(parent, { recursive: true }));

function links(seed = 1, publicUrl = 'https://g.example//'): FolderLinks {
  return new FolderLinks({ folder, publicUrl, clock, random: seededRandom(seed) });
}

async function made(forMs: number): Promise<{ expires: string; signature: string; url: URL }> {
  const url = new URL(await links().make(key, forMs));
  const { expires, signature } = Object.fromEntries(url.searchParams) as Record<string, string>;
  return { expires, signature, url };
}

describe('links into a folder', () => {
  it('name object, end and signature under the public address', async () => {
    const { url, expires, signature } = await made(60_000);
    expect(`${url.origin}${url.pathname}`).toBe('https://g.example/objects/org/file.png');
    expect(expires).toBe(String(Math.ceil((clock.now() + 60_000) / 1_000)));
    const secret = readFileSync(join(folder, '.link-secret'));
    const expected = createHmac('sha256', secret).update(`${key}\n${expires}`).digest('base64url');
    expect(signature).toBe(expected);
  });

  it('are good for their object and time alone', async () => {
    const { expires, signature } = await made(60_000);
    expect(await links().isGood(key, expires, signature)).toBe(true);
    expect(await links().isGood('org/other.png' as ObjectKey, expires, signature)).toBe(false);
    expect(await links().isGood(key, String(Number(expires) + 1), signature)).toBe(false);
    for (const forged of ['', 'A', `${signature}AA`, signature.slice(0, -2), `A${signature.slice(1)}B`])
      expect(await links().isGood(key, expires, forged)).toBe(false);
    const now = clock.now();
    await clock.advance(Number(expires) * 1_000 - now - 1);
    expect(await links().isGood(key, expires, signature)).toBe(true);
    await clock.advance(1);
    expect(await links().isGood(key, expires, signature)).toBe(false);
  });

  it('rest on one secret of 32 bytes that only its owner reads, whoever begins', async () => {
    await Promise.all([links(1).make(key, 1), links(2).make(key, 1), links(3).make(key, 1)]);
    expect(readdirSync(folder)).toEqual(['.link-secret']);
    const { size, mode } = statSync(join(folder, '.link-secret'));
    expect([size, mode & 0o777, statSync(folder).mode & 0o777]).toEqual([32, 0o600, 0o700]);
    const { expires, signature } = await made(1_000);
    expect(await links(9).isGood(key, expires, signature)).toBe(true);
  });

  it('are tried again after the folder could not be made', async () => {
    writeFileSync(folder, 'in the way');
    const one = links();
    await expect(one.make(key, 1)).rejects.toThrow();
    rmSync(folder);
    expect(await one.make(key, 1)).toContain('/objects/org/file.png');
  });
});
