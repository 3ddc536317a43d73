import { parseSpelled, writeJson } from '@gateway/json-body';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import pg from 'pg';
import { IdempotencyTable } from './idempotency-table.js';
import { poolStatements } from './pool-statements.js';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-11-24T00:00:00.000Z');
const claim = {
  ...{ scope: 'user_1 POST /v1/orgs', key: 'k1', bodyDigest: 'd1', owner: 'req_1' },
  createdAt: new Date(START),
};
const other = { ...claim, owner: 'req_2' };
const answer = { status: 201, body: { id: 'org_1', nested: { list: [1, 'two'] } } };
const none = new Date(0);

describe('the table of answers to creates', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let table: IdempotencyTable;

  beforeEach(async () => {
    database = await testPostgres();
    pool = new pg.Pool({ connectionString: database.url });
    // The server may end what pg has not closed yet, when the database is dropped.
    pool.on('error', () => undefined);
    await pool.query(`CREATE TABLE idempotency (scope text, key text, body_digest text NOT NULL,
      created_at timestamptz(3) NOT NULL, status int, body jsonb, PRIMARY KEY (scope, key))`);
    table = new IdempotencyTable(poolStatements(pool));
  });
  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  it('gives a key to one of many claims at once; the others see that it is under way', async () => {
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, n) => table.claim({ ...claim, owner: `req_${n}` }, none, none)),
    );
    expect(claims.filter((held) => held === null)).toHaveLength(1);
    expect(claims.filter((held) => held !== null)).toEqual(Array(7).fill({ bodyDigest: 'd1', answer: null }));
  });

  it('keeps the first answer as it was, whatever comes later under the key', async () => {
    await table.claim(claim, none, none);
    await table.complete(claim, answer);
    const later = { ...other, bodyDigest: 'd2', createdAt: new Date(START + HOUR_MS) };
    expect(await table.claim(later, none, later.createdAt)).toEqual({ bodyDigest: 'd1', answer });
    await table.release(later);
    expect(await table.claim(later, none, none)).toEqual({ bodyDigest: 'd1', answer });
  });

  it('EDGE-08 keeps what callers wrote and jsonb refuses: a NUL, half of a surrogate pair', async () => {
    const odd = { status: 200, body: { metadata: { '\0': 'a\0b', half: '\ud83d', text: '\\u0000' } } };
    await table.claim(claim, none, none);
    for (const _again of [1, 2]) expect(await table.complete(claim, odd)).toBe(true);
    expect(await table.claim(other, none, none)).toEqual({ bodyDigest: 'd1', answer: odd });
  });

  it('F1 EDGE-08 keeps numbers and names as they were written, which jsonb changes', async () => {
    const odd = '{"metadata":{"id":1234567890123456789,"b":1,"10":2,"rate":1.0,"e":1e400,"z":-0,"b":3}}';
    const body = parseSpelled(odd) as Record<string, unknown>;
    await table.claim(claim, none, none);
    expect(await table.complete(claim, { status: 200, body })).toBe(true);
    const found = await table.claim(other, none, none);
    expect(writeJson(found?.answer?.body)).toBe(odd);
  });

  it('gives a key again that is old, abandoned or released', async () => {
    await table.claim(claim, none, none);
    expect(await table.claim(other, none, new Date(START + 1))).toBeNull();
    await table.complete(other, answer);
    expect(await table.claim(claim, new Date(START + 1), none)).toBeNull();
    expect(await table.claim(other, none, none)).toEqual({ bodyDigest: 'd1', answer: null });
    await table.release(claim);
    expect(await table.claim(other, none, none)).toBeNull();
  });

  it('gives a key again that is not renewed, and no other', async () => {
    await table.claim(claim, none, none);
    await table.renew({ ...claim, createdAt: new Date(START + 60_000) });
    expect(await table.claim(other, none, new Date(START + 60_000))).toEqual({
      bodyDigest: 'd1',
      answer: null,
    });
    expect(await table.claim(other, none, new Date(START + 60_001))).toBeNull();
  });

  it('repeated by their request, a claim and an end have one effect; of a request that has lost the key they have none', async () => {
    await table.claim(claim, none, none);
    expect(await table.claim(claim, none, none)).toBeNull();
    await table.claim(other, none, new Date(START + 1));
    await table.renew({ ...claim, createdAt: new Date(START + HOUR_MS) });
    await table.release(claim);
    expect(await table.complete(claim, answer)).toBe(false);
    expect(await table.claim(claim, none, none)).toEqual({ bodyDigest: 'd1', answer: null });
    for (const _again of [1, 2]) expect(await table.complete(other, answer)).toBe(true);
    expect(await table.complete(other, { ...answer, status: 200 })).toBe(false);
  });

  it('EDGE-08 what a request had begun is the answer once it has died, under way until then, and never begun again', async () => {
    const odd = { status: 200, body: { id: 'vid_1', prompt: 'a\0b' } };
    const dead = new Date(START + 1);
    await table.claim(claim, none, none);
    expect(await table.begun(claim, odd)).toBe(true);
    expect(await table.begun(other, answer)).toBe(false);
    await table.release(claim);
    expect(await table.claim(other, none, none)).toEqual({ bodyDigest: 'd1', answer: null });
    expect(await table.claim(other, none, dead)).toEqual({ bodyDigest: 'd1', answer: odd });
    // It lives after all.
    expect(await table.complete(claim, answer)).toBe(true);
    expect(await table.claim(other, none, dead)).toEqual({ bodyDigest: 'd1', answer });
    expect(await table.claim(other, dead, none)).toBeNull();
  });

  it('EDGE-08 a request that has begun nothing after all gives its key back', async () => {
    await table.claim(claim, none, none);
    await table.begun(claim, answer);
    expect(await table.begun(claim, null)).toBe(true);
    await table.release(claim);
    expect(await table.claim(other, none, none)).toBeNull();
  });

  it('forgets answers from before a time, and no later one', async () => {
    const later = { ...claim, key: 'k2', createdAt: new Date(START + HOUR_MS) };
    for (const made of [claim, later]) {
      await table.claim(made, none, none);
      await table.complete(made, answer);
    }
    await table.forgetBefore(later.createdAt);
    const { rows } = await pool.query('SELECT key FROM idempotency');
    expect(rows).toEqual([{ key: 'k2' }]);
  });

  it('within a transaction: a create that failed in the database rolls back with its claim, and says its own failure', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    const store = IdempotencyTable.within(poolStatements(client));
    expect(await store.claim(claim, none, none)).toBeNull();
    await expect(client.query('SELECT 1 / 0')).rejects.toThrow('division by zero');
    await store.release(claim);
    await client.query('ROLLBACK');
    client.release();
    expect(await table.claim(other, none, none)).toBeNull();
  });
});
