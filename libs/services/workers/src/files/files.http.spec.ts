import { jest } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { BODY_LIMIT_BYTES } from '@gateway/contracts';
import { Pressure } from '@gateway/platform';
import { eventually, NO_PRESSURE, testPostgres, type TestDatabase } from '@gateway/testing';
import { Expiry } from '../background/expiry.js';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';
import { FileStore } from './files.store.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

let database: TestDatabase;
let app: WorkersApp;
let key: string;
let openai: OpenAI;

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  app = await startWorkersApp(database.url);
  key = app.keyOf('key_a');
  openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

function form(parts: Record<string, string | Blob>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(parts)) made.append(name, value);
  return made;
}

function twice(name: string, again: string | Blob): FormData {
  const made = form({ purpose: 'batch', file: new Blob(['x']) });
  made.append(name, again);
  return made;
}

async function send(body: FormData | string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${app.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
  });
}

describe('/v1/files', () => {
  it('BAT-02 BAT-06 the openai SDK uploads, lists, reads, downloads and deletes a file', async () => {
    const content = Array.from({ length: 20_000 }, (_, n) => `{"n":${n}}`).join('\n');
    const made = await openai.files.create({
      file: await toFile(Buffer.from(content), 'lines é.jsonl'),
      purpose: 'batch',
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^file-[\w-]+$/),
      object: 'file',
      bytes: Buffer.byteLength(content),
      created_at: expect.any(Number),
      filename: 'lines é.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    expect(await openai.files.retrieve(made.id)).toEqual(made);
    expect(await (await openai.files.content(made.id)).text()).toBe(content);
    expect((await openai.files.list()).data).toEqual([made]);
    expect(await openai.files.delete(made.id)).toEqual({ id: made.id, object: 'file', deleted: true });
    await expect(openai.files.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    await expect(openai.files.content(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('ERR-32 an edge looks up the files that a request of their key names, and no others', async () => {
    const [kept, due] = await Promise.all(
      ['a.pdf', 'b.pdf'].map(async (name) =>
        openai.files.create({ file: await toFile(Buffer.from('page'), name), purpose: 'user_data' }),
      ),
    );
    const lookUp = async (key_id: string): Promise<Json> => {
      const answer = await fetch(`${app.url}/internal/responses/files`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-fleet-token': 'fleet-token-of-the-spec' },
        body: JSON.stringify({ key_id, ids: [kept.id, due.id, 'file-none'] }),
      });
      return ((await answer.json()) as Json).files as Json;
    };
    const account_id = expect.any(String) as string;
    expect(await lookUp('key_a')).toEqual({
      [kept.id]: { account_id, filename: 'a.pdf', bytes: 4 },
      [due.id]: { account_id, filename: 'b.pdf', bytes: 4 },
    });
    expect(await lookUp('key_b')).toEqual({});
    const { pool } = app.app.get(WorkersDatabase);
    await pool.query('UPDATE files SET expires_at = created_at WHERE id = $1', [due.id]);
    expect(Object.keys(await lookUp('key_a'))).toEqual([kept.id]);
    await openai.files.delete(kept.id);
    await openai.files.delete(due.id).catch(() => undefined);
  });

  it('BAT-06 pages through a list, by purpose, in either order', async () => {
    const ids: string[] = [];
    for (const purpose of ['evals', 'vision', 'vision', 'vision'] as const)
      ids.push((await openai.files.create({ file: await toFile(Buffer.from('x'), 'x'), purpose })).id);
    const vision = ids.slice(1);
    const all: string[] = [];
    for await (const { id } of openai.files.list({ purpose: 'vision', limit: 2, order: 'asc' })) all.push(id);
    expect(all).toEqual(vision);
    const newest = await openai.files.list({ limit: 1 });
    expect([newest.data[0].id, newest.has_more]).toEqual([ids[3], true]);
    // As clients clear a list: page by page, each page's files deleted before the next is asked for.
    const cleared: string[] = [];
    for await (const { id } of openai.files.list({ purpose: 'vision', limit: 1 })) {
      cleared.push(id);
      await openai.files.delete(id);
    }
    expect(cleared).toEqual(vision.toReversed());
    for (const after of ['file-ffffffff-ffff-7fff-bfff-ffffffffffff', 'file-x', 'x'])
      expect((await openai.files.list({ limit: 1, order: 'asc', after })).data).toEqual([]);
  });

  it('BAT-06 422 for a list by a purpose that no file has', async () => {
    const answer = await fetch(`${app.url}/v1/files?purpose=zz`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { error } = (await answer.json()) as Json;
    expect([answer.status, error.code, error.details[0].loc]).toEqual([422, 'validation_error', ['purpose']]);
  });

  it('BAT-06 ERR-32 another key’s file answers like an unknown one', async () => {
    const { id } = await openai.files.create({
      file: await toFile(Buffer.from('mine'), 'x'),
      purpose: 'batch',
    });
    const thief = app.keyOf('key_thief');
    for (const [method, path] of [
      ['GET', `/v1/files/${id}`],
      ['GET', `/v1/files/${id}/content`],
      ['DELETE', `/v1/files/${id}`],
      ['GET', '/v1/files/file-unknown'],
    ]) {
      const { status, body } = await app.call(method, path, thief);
      expect([path, status, body.error.code]).toEqual([path, 404, 'resource_not_found']);
    }
    expect((await app.call('GET', '/v1/files', thief)).body.data).toEqual([]);
  });

  it('BAT-06 keeps a file for as long as was asked', async () => {
    const life = { anchor: 'created_at', seconds: 3_600 } as const;
    const file = await toFile(Buffer.from('x'), 'x');
    const made = await openai.files.create({ file, purpose: 'batch', expires_after: life });
    expect(Number(made.expires_at) - made.created_at).toBe(3_600);
    const short = form({ file: new Blob(['x']), purpose: 'batch', 'expires_after[anchor]': 'created_at' });
    short.append('expires_after[seconds]', '5');
    expect((await send(short)).status).toBe(422);
  });

  it('BAT-06 422 for what is no such form, and keeps nothing of it', async () => {
    const before = (await openai.files.list()).data.length;
    const bad = [
      form({ purpose: 'batch' }),
      form({ file: new Blob(['x']) }),
      form({ file: new Blob(['x']), purpose: 'theft' }),
      '{"file":1}',
      twice('file', new Blob(['y'])),
      twice('purpose', 'evals'),
    ];
    for (const body of bad) {
      const answer = await send(body);
      expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([422, 'validation_error']);
    }
    const cut = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhalf';
    const answer = await send(cut, { 'content-type': 'multipart/form-data; boundary=b' });
    expect(answer.status).toBe(422);
    expect((await openai.files.list()).data).toHaveLength(before);
  });

  it('BAT-06 422 at the 65th field of a form, whatever follows', async () => {
    const boundary = 'b'.repeat(20);
    const field = (n: number): string =>
      `--${boundary}\r\ncontent-disposition: form-data; name="f${n}"\r\n\r\nx\r\n`;
    const body = Array.from({ length: 20_000 }, (_, n) => field(n)).join('') + `--${boundary}--\r\n`;
    const answer = await send(body, { 'content-type': `multipart/form-data; boundary=${boundary}` });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { message: /at most 64 fields/ } });
  });

  it('BAT-06 409 for a key that has 10,000 files, until it deletes one', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    await pool.query(
      `INSERT INTO files (id, key_id, account_id, created_at, bytes, filename, purpose)
       SELECT 'file-full-' || n, 'key_full', 'acct_full', now(), 1, 'x', 'batch' FROM generate_series(1, 10000) n`,
    );
    const full = { authorization: `Bearer ${app.keyOf('key_full')}` };
    const made = (): FormData => form({ file: new Blob([Buffer.alloc(1_000_000)]), purpose: 'batch' });
    const refused = await send(made(), full);
    expect([refused.status, ((await refused.json()) as Json).error.code]).toEqual([409, 'conflict']);
    expect((await app.call('DELETE', '/v1/files/file-full-7', app.keyOf('key_full'))).status).toBe(200);
    expect((await send(made(), full)).status).toBe(200);
    expect((await send(made(), full)).status).toBe(409);
  });

  it('BAT-06 409 past 10,000 files of a key, however many uploads come at once; nothing of those refused is kept', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    await pool.query(
      `INSERT INTO files (id, key_id, account_id, created_at, bytes, filename, purpose)
       SELECT 'file-brim-' || n, 'key_brim', 'acct_key_brim', now(), 1, 'x', 'batch' FROM generate_series(1, 9997) n`,
    );
    const brim = { authorization: `Bearer ${app.keyOf('key_brim')}` };
    // All are counted while none is kept yet: the last byte of each comes once every other one has begun.
    let begun = 0;
    let go: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (go = resolve));
    const put = app.objects.put.bind(app.objects);
    const kept: string[] = [];
    app.objects.put = async (key, ...rest) => {
      kept.push(key);
      begun += 1;
      if (begun === 8) go();
      await all;
      return put(key, ...rest);
    };
    try {
      const made = Array.from({ length: 8 }, () =>
        send(form({ file: new Blob(['x']), purpose: 'batch' }), brim),
      );
      const statuses = (await Promise.all(made)).map(({ status }) => status).sort((a, b) => a - b);
      expect(statuses).toEqual([200, 200, 200, 409, 409, 409, 409, 409]);
    } finally {
      app.objects.put = put;
    }
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM files WHERE key_id = 'key_brim'`,
    );
    expect(rows[0].count).toBe(10_000);
    const found = await Promise.all(kept.map((key) => app.objects.get(key as Parameters<typeof put>[0])));
    for (const one of found) one?.content.destroy();
    expect(found.filter((one) => one !== null)).toHaveLength(3);
  });

  it('BAT-06 an upload whose process dies before its file is there leaves nothing for good', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    const [files, expiry] = [app.app.get(FileStore), app.app.get(Expiry)];
    const put = jest.spyOn(app.objects, 'put');
    const add = jest.spyOn(files, 'addUploaded').mockRejectedValueOnce(new Error('killed'));
    expect((await send(form({ file: new Blob(['left behind']), purpose: 'batch' }))).status).toBe(500);
    add.mockRestore();
    const [[left]] = put.mock.calls;
    put.mockRestore();
    const isThere = async (): Promise<boolean> => {
      const found = await app.objects.get(left);
      found?.content.destroy();
      return found !== null;
    };
    await expiry.round();
    expect(await isThere()).toBe(true);
    await pool.query(`UPDATE files SET expires_at = now() - interval '1 s' WHERE key_id = ''`);
    await expiry.round();
    expect(await isThere()).toBe(false);
    const kept = form({ file: new Blob(['x']), purpose: 'batch' });
    const bad = form({ file: new Blob(['x']), purpose: 'theft' });
    expect([(await send(kept)).status, (await send(bad)).status]).toEqual([200, 422]);
    expect((await pool.query(`SELECT FROM files WHERE key_id = ''`)).rowCount).toBe(0);
  });

  it('401 without a key, before the body', async () => {
    const answer = await fetch(`${app.url}/v1/files`, { method: 'POST', body: form({ purpose: 'batch' }) });
    expect(answer.status).toBe(401);
  });

  it('takes a file up to the limit of bodies, and 413 past it', async () => {
    const large = Buffer.alloc(BODY_LIMIT_BYTES - 1_000, 'x');
    const answer = await send(form({ file: new Blob([large]), purpose: 'batch' }));
    const body = (await answer.json()) as Json;
    expect([answer.status, body.bytes]).toEqual([200, large.length]);
    const over = await send(form({ file: new Blob([Buffer.alloc(BODY_LIMIT_BYTES + 1)]), purpose: 'batch' }));
    expect(over.status).toBe(413);
    await over.body?.cancel();
  });
});

describe('uploads that arrive at once', () => {
  const MIB = 1_048_576;
  let small: WorkersApp;
  beforeAll(async () => {
    const bodyBytes = { some: 6 * MIB, all: 8 * MIB };
    small = await startWorkersApp(database.url, { pressure: { ...NO_PRESSURE, bodyBytes } });
  });
  afterAll(() => small.close());

  it('503 for the one that passes the memory of the process; the other is kept', async () => {
    const pressure = small.app.get(Pressure, { strict: false });
    const headers = { authorization: `Bearer ${small.keyOf('key_of_uploads')}` };
    const large = (): FormData => form({ purpose: 'batch', file: new Blob(['x'.repeat(5 * MIB)]) });
    const whole = new Request(`${small.url}/v1/files`, { method: 'POST', headers, body: large() });
    const bytes = Buffer.from(await whole.arrayBuffer());
    let end = (): void => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(sent) {
        sent.enqueue(bytes.subarray(0, -100));
        end = () => {
          sent.enqueue(bytes.subarray(-100));
          sent.close();
        };
      },
    });
    const first = fetch(
      new Request(whole.url, { method: 'POST', headers: whole.headers, body, duplex: 'half' }),
    );
    await eventually(() => pressure.bodyBytesInFlight >= 5 * MIB);
    const second = await fetch(whole.url, { method: 'POST', headers, body: large() });
    expect(second.status).toBe(503);
    end();
    expect((await first).status).toBe(200);
    await eventually(() => pressure.bodyBytesInFlight === 0);
  });
});
