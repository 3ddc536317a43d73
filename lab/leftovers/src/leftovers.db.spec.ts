import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KafkaEventLog } from '@gateway/event-log';
import { mintSecret, SystemClock, SystemRandom } from '@gateway/platform';
import { repository, startProgram, testPostgres, testRedis } from '@gateway/testing';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { scanFolder } from './scan-folder.js';

const START_MS = 120_000;
const sources = { clock: new SystemClock(), random: new SystemRandom() };
const mint = (): string => mintSecret('rsk_', sources.random);

describe('what specs leave', () => {
  const { text, json } = Response.prototype;
  const before = process.env.GATEWAY_LEFTOVERS;
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'leftovers-spec-'));
    process.env.GATEWAY_LEFTOVERS = folder;
  });
  afterAll(() => {
    if (before === undefined) delete process.env.GATEWAY_LEFTOVERS;
    else process.env.GATEWAY_LEFTOVERS = before;
    Object.assign(Response.prototype, { text, json });
    rmSync(folder, { recursive: true });
  });

  /** Secrets, one of its own in each place, so that none is found for another. */
  const planted = Object.fromEntries(
    ['postgres', 'redis', 'servers', 'logs', 'answers'].map((kind) => [kind, mint()]),
  );

  async function plantInDatabase(): Promise<void> {
    const database = await testPostgres();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('create schema keys; create table keys.planted (data bytea)');
    await client.query('insert into keys.planted values ($1)', [Buffer.from(planted.postgres)]);
    await client.end();
    await database.drop();
  }

  async function plantInRedis(): Promise<void> {
    const database = await testRedis();
    const client = new Redis(database.url);
    await client.hset('planted', 'field', `{"key":"${planted.redis}"}`);
    client.disconnect();
    await database.drop();
  }

  /** A guard of its own, because that of the run has another environment; it keeps files at its end. */
  async function plantInTopic(): Promise<void> {
    const cli = join(repository, 'tools/infra/src/cli.ts');
    const guard = await startProgram({
      command: process.execPath,
      args: ['--no-warnings', '--import', join(repository, 'tools/infra/run-ts.mjs'), cli, 'up', 'kafka'],
      env: { KAFKA_BROKERS: '' },
      readyWhen: /^(\{.*\})\n/m,
      timeoutMs: START_MS,
    });
    const { KAFKA_BROKERS: brokers } = JSON.parse(guard.ready[1]) as { KAFKA_BROKERS: string };
    const log = new KafkaEventLog({ brokers: [brokers], clientId: 'planted', ...sources });
    await log.append('gateway.rejections.v1.dlq', [{ key: 'a', value: `{"key":"${planted.servers}"}` }]);
    await log.close();
    guard.endInput();
    await guard.ended;
  }

  async function plantInOutput(): Promise<void> {
    const first = [
      `{"first_login":{"key":"${mint()}"}}`,
      `{"base_url":"http://127.0.0.1","api_key":"${mint()}"}`,
      `API key             ${mint()}`,
      `  -H "Authorization: Bearer ${mint()}" -H 'Content-Type: application/json' \\`,
    ].join('\n');
    const code = `console.log(${JSON.stringify(`${first}\nready ${planted.logs}`)}); process.stdin.resume()`;
    const program = await startProgram({ command: process.execPath, args: ['-e', code], readyWhen: /ready/ });
    program.endInput();
    await program.ended;
  }

  async function plantInAnswer(): Promise<void> {
    await import(join(repository, 'lab/leftovers/error-bodies.mjs'));
    const server = createServer(({ url }, answer) => {
      answer.statusCode = Number(url?.slice(1));
      answer.end(JSON.stringify({ key: url === '/201' ? mint() : planted.answers }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(`${url}/422`)).json()).toEqual({ key: planted.answers });
    expect(await (await fetch(`${url}/201`)).text()).toContain('rsk_');
    await new Promise((resolve) => server.close(resolve));
  }

  it(
    'S01 a secret in a table, Redis, a topic, a log or an error answer is found after the specs, and no other',
    async () => {
      await plantInDatabase();
      await plantInRedis();
      await plantInTopic();
      await plantInOutput();
      await plantInAnswer();
      const { findings, read } = scanFolder(folder);
      expect(findings.map(({ file, start }) => [file.split('/')[0], start]).toSorted()).toEqual(
        Object.entries(planted)
          .map(([kind, secret]) => [kind, `${secret.slice(0, 12)}...`])
          .toSorted(),
      );
      expect(Object.keys(read).toSorted()).toEqual(Object.keys(planted).toSorted());
    },
    START_MS,
  );

  it('S01 a secret over the border of two pieces of a large file is found', () => {
    const large = join(folder, 'large');
    mkdirSync(large);
    const secret = mint();
    writeFileSync(
      join(large, 'rows.txt'),
      `${'.'.repeat(16 * 1024 * 1024 - 20)}${secret}${'.'.repeat(50_000)}`,
    );
    expect(scanFolder(large).findings).toEqual([
      { file: 'rows.txt', form: 'API key', start: `${secret.slice(0, 12)}...` },
    ]);
  });
});
