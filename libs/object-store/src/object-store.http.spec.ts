import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statfsSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiError,
  objectName,
  ObjectTooLarge,
  type ObjectKey,
  type ObjectStore,
  type StoredObject,
} from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { testS3, type TestS3 } from '@gateway/testing';
import { FolderStore } from './folder-store.js';
import { S3Store, type S3Options } from './s3-store.js';

const MIB = 1024 * 1024;
const random = new SystemRandom();
const maxBytes = 100 * MIB;

let folder: string;
let s3: TestS3;
let bucket: S3Store;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'objects-'));
  s3 = await testS3();
  bucket = new S3Store(optionsOf(s3));
});
afterAll(async () => {
  await bucket.close();
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

function optionsOf({ endpoint, bucket: name, credentials }: TestS3): S3Options {
  return { endpoint, bucket: name, credentials, region: 'us-east-1', pathStyle: true, random };
}

function folderStore(): FolderStore {
  return new FolderStore({ folder, publicUrl: 'http://gw.test', clock: new SystemClock(), random });
}

const drivers: [string, () => ObjectStore][] = [
  ['a folder', folderStore],
  ['a bucket', () => bucket],
];

let made = 0;
function newKey(kind = 'files', account = 'acct_a', extension = 'jsonl'): ObjectKey {
  made += 1;
  return objectName(kind, account, `object-${made}.${extension}`);
}

async function* pieces(count: number, size: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n += 1) yield Buffer.alloc(size, n);
}

async function* text(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

async function read(found: StoredObject | null): Promise<string | null> {
  if (found === null) return null;
  const parts: Uint8Array[] = [];
  for await (const part of found.content) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe.each(drivers)('the object store in %s', (_name, open) => {
  it('gives back what was put, with its size and type, and writes over it', async () => {
    const [store, key] = [open(), newKey('files', 'acct_a', 'png')];
    expect(await store.get(key)).toBeNull();
    expect(await store.put(key, text('first'), { maxBytes })).toEqual({ bytes: 5 });
    expect(await store.put(key, text('second'), { maxBytes })).toEqual({ bytes: 6 });
    const found = await store.get(key);
    expect(found).toMatchObject({ bytes: 6, contentType: 'image/png' });
    expect(await read(found)).toBe('second');
    const empty = newKey();
    await store.put(empty, text(''), { maxBytes });
    expect(await read(await store.get(empty))).toBe('');
  });

  it('keeps an object of many pieces without holding it, piece for piece', async () => {
    const [store, key] = [open(), newKey()];
    expect(await store.put(key, pieces(40, MIB), { maxBytes })).toEqual({ bytes: 40 * MIB });
    const found = await store.get(key);
    let at = 0;
    for await (const part of found?.content ?? []) {
      for (const place of [0, part.byteLength - 1])
        expect(part[place]).toBe(Math.floor((at + place) / MIB) % 256);
      at += part.byteLength;
    }
    expect(at).toBe(40 * MIB);
  });

  it('keeps nothing of what is too large, fails on its way or is given up', async () => {
    const [store, key] = [open(), newKey('files', 'acct_partial')];
    await expect(store.put(key, pieces(3, MIB), { maxBytes: 2 * MIB })).rejects.toThrow(ObjectTooLarge);
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(MIB);
      throw new RangeError('cut');
    };
    await expect(store.put(key, failing(), { maxBytes })).rejects.toThrow(RangeError);
    const stop = new AbortController();
    const abandoned = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(MIB);
      stop.abort(new Error('given up'));
      yield Buffer.alloc(MIB);
    };
    await expect(store.put(key, abandoned(), { maxBytes, signal: stop.signal })).rejects.toThrow();
    expect(await store.get(key)).toBeNull();
  });

  it('removes one, those of an account, and those of a time', async () => {
    const store = open();
    const kept = newKey('results', 'acct_b');
    const [one, two, other] = [newKey('results'), newKey('results'), newKey('drafts')];
    for (const key of [kept, one, two, other]) await store.put(key, text(key), { maxBytes });
    await store.remove(one);
    await store.remove(one);
    expect(await store.get(one)).toBeNull();
    expect(await store.removeAll({ kind: 'results', before: new Date(0) })).toBe(0);
    expect(await store.removeAll({ kind: 'results', accountId: 'acct_a' })).toBe(1);
    expect(await store.removeAll({ kind: 'none' })).toBe(0);
    expect([await read(await store.get(kept)), await read(await store.get(other))]).toEqual([kept, other]);
    const soon = new Date(new SystemClock().now() + 3_600_000);
    expect(await store.removeAll({ kind: 'results', before: soon })).toBe(1);
  });

  it('takes no name that is not of our own making', async () => {
    const store = open();
    const names = ['files/acct/../x.png', 'files/../../x.png', '.incoming/a/b.png', 'files/a/b', '/a/b.png'];
    for (const name of names)
      await expect(async () => store.get(name as ObjectKey)).rejects.toThrow(TypeError);
    expect(() => objectName('files', 'acct', '../secret.png')).toThrow(TypeError);
  });
});

describe('links', () => {
  it('of a bucket lead to it, and end', async () => {
    const key = newKey('results', 'acct_a', 'png');
    await bucket.put(key, text('picture'), { maxBytes });
    const link = new URL(await bucket.link(key, 60_000));
    expect(link.searchParams.get('X-Amz-Expires')).toBe('60');
    const answer = await fetch(link);
    expect([answer.status, await answer.text()]).toEqual([200, 'picture']);
    link.searchParams.set('X-Amz-Date', '20200101T000000Z');
    const late = await fetch(link);
    expect([400, 403]).toContain(late.status);
    await late.body?.cancel();
  });

  it('of a folder leaves nothing for good of what a process was writing when it died', async () => {
    const [incoming, store] = [join(folder, '.incoming'), folderStore()];
    await store.put(newKey(), text('x'), { maxBytes });
    const [dead, living] = ['dead', 'living'].map((name) => join(incoming, name));
    for (const path of [dead, living]) writeFileSync(path, 'half');
    const dayAgo = new Date(new SystemClock().now() - 86_400_000);
    utimesSync(dead, dayAgo, dayAgo);
    await store.removeAll({ kind: 'results', before: new Date(0) });
    expect(readdirSync(incoming)).toEqual(['living']);
    rmSync(living);
  });

  it('of a folder are signed with a secret that outlives the process and that its processes share', async () => {
    const key = newKey('results', 'acct_a', 'png');
    await folderStore().put(key, text('picture'), { maxBytes });
    const [first, second] = await Promise.all([
      folderStore().link(key, 60_000),
      folderStore().link(key, 60_000),
    ]);
    for (const link of [first, second]) {
      const { pathname, searchParams } = new URL(link);
      expect(pathname).toBe(`/objects/${key}`);
      const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')];
      const found = await folderStore().follow(key, String(expires), String(signature));
      expect(await read(found)).toBe('picture');
      expect(await folderStore().follow(newKey(), String(expires), String(signature))).toBeNull();
      expect(await folderStore().follow(key, `${expires}0`, String(signature))).toBeNull();
    }
    const past = new URL(await folderStore().link(key, -60_000)).searchParams;
    const late = await folderStore().follow(key, String(past.get('expires')), String(past.get('signature')));
    expect(late).toBeNull();
    expect(readdirSync(folder).filter((name) => name.startsWith('.link-secret'))).toEqual(['.link-secret']);
  });
});

describe('a store that is away', () => {
  it('is 503, whatever was asked', async () => {
    const away = new S3Store({ ...optionsOf(s3), endpoint: 'http://127.0.0.1:1' });
    await expect(away.get(newKey())).rejects.toThrow(ApiError);
    await expect(away.put(newKey(), text('x'), { maxBytes })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    await away.close();
  });
});

/** Suite for root alone, who may mount a file system to fill. */
const describeAsRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

describeAsRoot('a folder on a file system that is full', () => {
  let disk: string;
  beforeEach(() => {
    disk = mkdtempSync(join(tmpdir(), 'full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  });
  afterEach(() => {
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });

  it('C1 is 503, keeps nothing of the object, and takes it once there is room', async () => {
    const store = new FolderStore({
      folder: disk,
      publicUrl: 'http://gw.test',
      clock: new SystemClock(),
      random,
    });
    const key = newKey();
    await expect(store.put(key, pieces(3, MIB), { maxBytes })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    const { bfree, bsize } = statfsSync(disk);
    expect(bfree * bsize).toBe(MIB);
    expect(await store.put(key, pieces(1, MIB / 2), { maxBytes })).toEqual({ bytes: MIB / 2 });
  });
});
