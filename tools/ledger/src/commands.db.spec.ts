import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPIC } from '@gateway/contracts';
import { InProcessLimitStore } from '@gateway/limits';
import { applyMigrations } from '@gateway/database';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import { LedgerOperator, USAGE_SCHEMA, USAGE_SCHEMA_DIR } from '@gateway/usage';
import pg from 'pg';
import { pino } from 'pino';
import { runCommand } from './commands.js';
import { replay } from './replay-topic.js';

const [clock, random] = [new SystemClock(), new SystemRandom()];

let place: TestDatabase;
let database: pg.Client;
let operator: LedgerOperator;
let lines: string[];

beforeAll(async () => {
  const migrate = (url: string): Promise<unknown> =>
    applyMigrations({ url, schemaDir: USAGE_SCHEMA_DIR, schema: USAGE_SCHEMA });
  place = await testDatabase({ schemaDir: USAGE_SCHEMA_DIR, migrate });
  database = new pg.Client({ connectionString: place.url, options: `-c search_path=${USAGE_SCHEMA}` });
  await database.connect();
  const limits = new InProcessLimitStore({ clock, random });
  operator = new LedgerOperator({
    databaseUrl: place.url,
    catalogue: null,
    limits,
    clock,
    random,
    logger: pino({ level: 'silent' }),
  });
});
beforeEach(() => (lines = []));
afterAll(async () => {
  await operator?.close();
  await database?.end();
  await place?.drop();
});

const run = (...words: string[]): Promise<number> => runCommand(words, operator, (line) => lines.push(line));

describe('npm run ledger', () => {
  it('gives a gap up only when asked to, keeps the reason, and lets the watermark pass', async () => {
    await database.query(
      `INSERT INTO producer (producer, epoch, applied) VALUES ('edge-9', 'e', '{[1,3),[5,6),[9,10)}')`,
    );
    expect(await run('give-up', 'edge-9', 'e')).toBe(0);
    expect(lines.slice(0, 2)).toEqual(['3 to 4', '6 to 8']);
    expect(await applied()).toBe('{[1,3),[5,6),[9,10)}');
    expect(await run('give-up', 'edge-9', 'e', '--yes')).toBe(2);
    expect(await run('give-up', 'edge-9', 'e', '--yes', '--reason', 'its disk burnt')).toBe(0);
    expect(await applied()).toBe('{[1,10)}');
    const { rows } = await database.query(
      'SELECT first_seq, last_seq, reason FROM lost_range ORDER BY first_seq',
    );
    expect(rows).toEqual([
      { first_seq: '3', last_seq: '4', reason: 'its disk burnt' },
      { first_seq: '6', last_seq: '8', reason: 'its disk burnt' },
    ]);
    lines = [];
    await run('give-up', 'edge-9', 'e');
    expect(lines).toEqual(['nothing is missing']);
  });

  it('gives up the numbers of a producer that is gone before anything of it came', async () => {
    await run('give-up', 'edge-gone', 'e', '--through', '40', '--yes', '--reason', 'volume lost');
    expect(lines).toEqual(['1 to 40', 'given up']);
  });

  it('applies a dead letter as it is corrected, once, and keeps the row', async () => {
    const value = JSON.stringify({ data: { request_id: 'req_d', producer: 'edge-1', epoch: 'd', seq: 1 } });
    await database.query(
      `INSERT INTO dead_letter (digest, topic, partition, "offset", account_id, request_id, unit, reason, value, created_at)
       VALUES ('d1', $1, 0, '7', 'acct_1', 'req_d', 0, 'the field id is not what the contract says', $2, now())`,
      [TOPIC.rejections, value],
    );
    expect(await run('dead-letters')).toBe(0);
    expect(lines).toEqual([expect.stringMatching(/^d1 .* open {2}the field id/)]);
    await expect(run('apply', 'd1')).rejects.toThrow('It cannot be applied');
    await expect(run('apply', 'unknown')).rejects.toThrow('There is no dead letter');
    const rejection = {
      ...{
        request_id: 'req_d',
        created_at: '2026-11-20T10:00:00.000Z',
        account_id: 'acct_1',
        member_id: 'usr_1',
      },
      ...{
        key_id: 'key_1',
        endpoint: '/v1/chat/completions',
        model: null,
        requested_model: null,
        http_status: 429,
      },
      ...{ code: 'rate_limit_exceeded', message: 'Too many.', count: 1, request_tags: {} },
      ...{ producer: 'edge-1', epoch: 'd', seq: 1 },
    };
    expect(await operator.applyDeadLetter('d1', asEvent(rejection))).toEqual({
      isNew: true,
    });
    await operator.applyDeadLetter('d1', asEvent(rejection));
    const { rows } = await database.query('SELECT count(*)::int AS n FROM rejection');
    expect(rows).toEqual([{ n: 1 }]);
    await run('dead-letters');
    expect(lines.at(-1)).toContain('applied 2');
  });

  it('closes a dead letter that is no record, with the reason: the books name it no more', async () => {
    await database.query(
      `INSERT INTO dead_letter (digest, topic, partition, "offset", reason, value, created_at)
       VALUES ('d2', $1, 0, '8', 'not a CloudEvent of its topic', 'by hand', now())`,
      [TOPIC.usage],
    );
    const open = async (): Promise<string[]> =>
      (await operator.reconcile({ journals: [], isRepair: false })).findings
        .filter(({ kind }) => kind === 'dead_letter_open')
        .map(({ scope }) => String(scope));
    expect(await open()).toContain('d2');
    expect(await run('close', 'd2')).toBe(2);
    expect(await open()).toContain('d2');
    expect(await run('close', 'd2', '--reason', 'sent by hand')).toBe(0);
    expect(await open()).not.toContain('d2');
    await expect(run('close', 'd2', '--reason', 'again')).rejects.toThrow('There is no open dead letter d2');
    lines = [];
    await run('dead-letters');
    expect(lines).toEqual(
      expect.arrayContaining([expect.stringMatching(/^d2 .* closed .* \(sent by hand\)/)]),
    );
  });

  it('B17 replays a topic from a file, and goes on at its cursor after it was killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'replay-'));
    const [file, cursor] = [join(folder, 'topic'), join(folder, 'cursor')];
    writeFileSync(file, ['no event', 'nor this', 'nor that'].join('\n'));
    writeFileSync(cursor, '1');
    const applied: string[] = [];
    const log = {
      apply: async (batch: readonly { value: string }[]) =>
        void applied.push(...batch.map(({ value }) => value)),
    };
    await replay(file, cursor, log, (line) => lines.push(line));
    await replay(file, cursor, log, (line) => lines.push(line));
    expect([applied, lines]).toEqual([
      ['nor this', 'nor that'],
      ['applied 3', 'done', 'done'],
    ]);
    expect(await run('replay', file)).toBe(0);
    const { rows } = await database.query(
      "SELECT count(*)::int AS n FROM dead_letter WHERE value IN ('no event', 'nor this', 'nor that')",
    );
    expect(rows).toEqual([{ n: 3 }]);
    rmSync(folder, { recursive: true });
  });

  it('explains itself for words that are no command', async () => {
    expect([await run('give'), await run('give-up', 'only-a-producer')]).toEqual([2, 2]);
  });
});

function asEvent(data: object): string {
  return JSON.stringify({ specversion: '1.0', type: TOPIC.rejections, data });
}

async function applied(): Promise<string> {
  const { rows } = await database.query("SELECT applied::text FROM producer WHERE producer = 'edge-9'");
  return rows[0].applied;
}

it('partition says what it would do, and does it with --yes', async () => {
  const kind = async (): Promise<unknown> =>
    (await database.query(`SELECT relkind FROM pg_class WHERE oid = 'usage_event'::regclass`)).rows;
  expect([await run('partition'), lines.at(-1)]).toEqual([0, 'nothing was changed: add --yes']);
  expect(await kind()).toEqual([{ relkind: 'r' }]);
  expect(await run('partition', '--yes')).toBe(0);
  expect(await kind()).toEqual([{ relkind: 'p' }]);
});

it('narrow says what it would do, and does it once with --yes', async () => {
  expect([await run('narrow'), lines.at(-1)]).toEqual([0, 'nothing was changed: add --yes']);
  expect([await run('narrow', '--yes'), lines.at(-1)]).toEqual([0, 'done: restart the usage processes']);
  expect([await run('narrow', '--yes'), lines.at(-1)]).toEqual([0, 'events are narrow already']);
});
