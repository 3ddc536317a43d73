import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { KafkaEventLog } from '@gateway/event-log';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  eventually,
  startUpstreamDouble,
  type ScriptedAnswer,
  type SeenRequest,
  type UpstreamDouble,
} from '@gateway/testing';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask, type Answered } from './harness/requests.js';
import { scanForSecrets } from './harness/secret-scan.js';
import { logIn } from './harness/session.js';

const providerKey = `sk-${randomBytes(24).toString('hex')}`;
const kek = randomBytes(32).toString('base64');
const pepper = randomBytes(32).toString('base64');
const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };

const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

/** A provider that answers, or, asked to, refuses the gateway's key and repeats it in its message, as some do. */
function repeatingAnswer({ headers, body }: SeenRequest): ScriptedAnswer {
  const message = `Incorrect API key provided: ${headers.authorization}, ${providerKey}`;
  return body.includes('refuse')
    ? { status: 401, json: { error: { message, type: 'invalid_request_error' } } }
    : { json: completion };
}

describe('the secrets of a fleet', () => {
  let upstream: UpstreamDouble;
  let fleet: Fleet;
  let database: Client;
  const secrets: Record<string, string> = { providerKey, kek, pepper };
  /** What callers were told where no secret is handed out. */
  const told: string[] = [];

  beforeAll(async () => {
    upstream = await startUpstreamDouble(repeatingAnswer);
    fleet = await startFleet({
      env: {
        all: {
          LOG_LEVEL: 'debug',
          KEYS_KEK: kek,
          KEYS_PEPPER: pepper,
          SIMULATED_API_KEY: providerKey,
          SIMULATED_BASE_URL: `${upstream.url}/v1`,
        },
      },
    });
    database = new Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    Object.assign(secrets, {
      fleetToken: fleet.fleetToken,
      password: fleet.admin.password,
      firstKey: fleet.key,
    });
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
    await upstream?.close();
  }, START_MS);

  async function useEverySecret(): Promise<void> {
    const person = await logIn(fleet);
    const login = await person.call('POST', '/auth/login', fleet.admin);
    const cookie = /__Host-refresh=([^;]+)/.exec(login.headers.get('set-cookie') ?? '')?.[1] ?? '';
    const deleted = await person.createKey('deleted');
    const rotated = await person.createKey('rotated');
    const after = (await (await person.call('POST', `/v1/keys/${rotated.id}/rotate`, {})).json()) as {
      key: string;
    };
    await person.call('DELETE', `/v1/keys/${deleted.id}`);
    Object.assign(secrets, {
      session: person.token,
      refresh: decodeURIComponent(cookie),
      deletedKey: deleted.key,
      rotatedKey: rotated.key,
      newKey: after.key,
    });
    for (const [name, secret] of Object.entries(secrets))
      expect([name, secret.length > 10]).toEqual([name, true]);
  }

  async function postedEvents(): Promise<number> {
    const { rows } = await database.query<{ count: string }>('select count(*)::text from usage.usage_event');
    return Number(rows[0].count);
  }

  const hear = async (answer: Promise<Answered>): Promise<Answered> => {
    const heard = await answer;
    told.push(heard.text, JSON.stringify([...heard.headers]));
    return heard;
  };

  /** A secret in every place of a request where somebody has put one by mistake. */
  async function misplace(key: string): Promise<void> {
    const anyone = { ...fleet, key: 'none' };
    await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: chat, key }));
    await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: { ...chat, user: key } }));
    await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: { ...chat, model: key } }));
    await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: { ...chat, [key]: 1, temperature: key } }));
    await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: `{"model": ${key}` }));
    await hear(ask(fleet, 'POST', '/v1/messages', { body: { ...chat, max_tokens: key } }));
    await hear(ask(fleet, 'GET', `/v1/models/${key}`));
    await hear(ask(anyone, 'GET', `/v1/balance?key=${key}`));
    await hear(ask(anyone, 'GET', `/${key}`));
    await hear(
      ask(fleet, 'GET', '/v1/key', {
        headers: { 'x-request-id': key, 'user-agent': key, 'x-service-version': key },
      }),
    );
    await hear(ask(fleet, 'POST', '/v1/usage/events', { body: { filters: { key_id: key } } }));
  }

  it(
    'S01 none is in a log, table, topic, journal, Redis or answer, wherever callers put it and providers repeat it',
    async () => {
      await useEverySecret();
      const refused = [{ role: 'user', content: 'refuse' }];
      expect((await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: chat }))).status).toBe(200);
      const failed = await hear(
        ask(fleet, 'POST', '/v1/chat/completions', { body: { ...chat, messages: refused } }),
      );
      expect(failed.status).toBeGreaterThanOrEqual(400);
      for (const name of ['firstKey', 'deletedKey', 'session', 'newKey']) await misplace(secrets[name]);
      await eventually(async () => (await postedEvents()) >= 2, { timeoutMs: 60_000 });
      expect(await scanForSecrets(fleet, secrets, told)).toEqual({});
    },
    START_MS,
  );

  it(
    'S01 the scan finds a planted one in each of these places',
    async () => {
      const planted = `rsk_${randomBytes(24).toString('hex')}`;
      await database.query('create table keys.planted (data bytea)');
      await database.query('insert into keys.planted values ($1)', [Buffer.from(planted)]);
      const redis = new Redis(fleet.redisUrl);
      await redis.hset('planted', 'field', planted);
      redis.disconnect();
      const sources = { clock: new SystemClock(), random: new SystemRandom() };
      const log = new KafkaEventLog({ brokers: fleet.kafka.brokers, clientId: 'planted', ...sources });
      await log.append('gateway.rejections.v1.dlq', [{ key: planted, value: '{}' }]);
      await log.close();
      writeFileSync(join(fleet.journalFolder, 'planted'), `..${planted}..`);
      const logged = {
        ...fleet,
        outputs: () => ({ ...fleet.outputs(), keys: fleet.process('keys').output() + planted }),
      };
      const found = await scanForSecrets(logged, { planted }, [`{"message":"${planted}"}`]);
      expect(found).toEqual(
        Object.fromEntries(
          [
            'answers',
            'log of keys',
            'table keys.planted',
            'redis',
            'topic gateway.rejections.v1.dlq',
            'journal',
          ].map((place) => [place, ['planted']]),
        ),
      );
    },
    START_MS,
  );
});
