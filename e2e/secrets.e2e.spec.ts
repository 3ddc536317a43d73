import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { KafkaEventLog } from '@gateway/event-log';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  eventually,
  FLEET_APPS,
  startUpstreamDouble,
  type ScriptedAnswer,
  type SeenRequest,
  type UpstreamDouble,
} from '@gateway/testing';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask, type Answered, type Body } from './harness/requests.js';
import { scanForSecrets, scanHeaps } from './harness/secret-scan.js';
import { logIn, type PersonSession } from './harness/session.js';

const providerKey = `sk-${randomBytes(24).toString('hex')}`;
const ownProviderKey = `sk-own-${randomBytes(24).toString('hex')}`;
/** Credentials that super admins bring: three that serve in turn, and one that the provider refuses at once. */
const POOLED = {
  pooled: `sk-pooled-${randomBytes(24).toString('hex')}`,
  pooledRotated: `sk-rotated-${randomBytes(24).toString('hex')}`,
  pooledRemoved: `sk-removed-${randomBytes(24).toString('hex')}`,
  pooledRefused: `sk-refused-${randomBytes(24).toString('hex')}`,
};
const kek = randomBytes(32).toString('base64');
const pepper = randomBytes(32).toString('base64');
const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };

/** A request for which the provider refuses the gateway's key. */
const REFUSED = [{ role: 'user', content: 'refuse' }];

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
  return body.includes('refuse') || headers.authorization === `Bearer ${POOLED.pooledRefused}`
    ? { status: 401, json: { error: { message, type: 'invalid_request_error' } } }
    : { json: completion };
}

describe('the secrets of a fleet', () => {
  let upstream: UpstreamDouble;
  let fleet: Fleet;
  let database: Client;
  const mail = mkdtempSync(join(tmpdir(), 'secrets-mail-'));
  const heaps = mkdtempSync(join(tmpdir(), 'secrets-heaps-'));
  const secrets: Record<string, string> = { providerKey, ownProviderKey, ...POOLED, kek, pepper };
  /** Texts sent to callers where no secret is handed out. */
  const told: string[] = [];

  beforeAll(async () => {
    upstream = await startUpstreamDouble(repeatingAnswer);
    const writesHeaps = [`--heapsnapshot-signal=SIGUSR2`, `--diagnostic-dir=${heaps}`];
    fleet = await startFleet({
      nodeArgs: Object.fromEntries(FLEET_APPS.map((app) => [app, writesHeaps])),
      env: {
        all: {
          LOG_LEVEL: 'debug',
          MAIL_DIR: mail,
          ALERTS_ALLOW_PRIVATE: new URL(upstream.url).host,
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
    for (const folder of [mail, heaps]) rmSync(folder, { recursive: true, force: true });
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
    await useSecretsOfPeople(person);
    await useSecretsOfServices(person);
    for (const [name, secret] of Object.entries(secrets))
      expect([name, secret.length > 10]).toEqual([name, true]);
  }

  /** Returns the token of the link in the last mail to this person. */
  function mailed(email: string, isUsed: (token: string) => boolean = () => false): Promise<string> {
    return eventually(
      () =>
        readdirSync(mail)
          .filter((name) => name.endsWith(`-${email}.eml`))
          .map((name) => /token=(\S+)/.exec(readFileSync(join(mail, name), 'utf8'))?.[1] ?? '')
          .find((token) => token !== '' && !isUsed(token)),
      { timeoutMs: 30_000 },
    );
  }

  /** An invitation, a password that is chosen, changed and reset, and a wrong one. */
  async function useSecretsOfPeople({ orgId, call }: PersonSession): Promise<void> {
    const email = 'invited@example.com';
    const [first, second, third, wrong] = ['one', 'two', 'three', 'four'].map(
      (name) => `${name} ${randomBytes(12).toString('hex')}`,
    );
    await call('POST', `/v1/orgs/${orgId}/invitations`, { email, role: 'member' });
    const invitation = await mailed(email);
    const accept = { token: invitation, name: 'Invited', password: first };
    await ask(fleet, 'POST', '/auth/invitations/accept', { body: accept });
    const invited = await logIn({ url: fleet.url, admin: { email, password: first } });
    const change = { current_password: first, new_password: second };
    expect((await invited.call('POST', '/auth/password/change', change)).status).toBe(204);
    await ask(fleet, 'POST', '/auth/password/forgot', { body: { email } });
    const reset = await mailed(email, (token) => token === invitation);
    const answer = await ask(fleet, 'POST', '/auth/password/reset', {
      body: { token: reset, password: third },
    });
    expect(answer.status).toBe(204);
    await hear(ask(fleet, 'POST', '/auth/login', { body: { email, password: wrong } }));
    await hear(ask(fleet, 'POST', '/auth/password/reset', { body: { token: reset, password: wrong } }));
    Object.assign(secrets, { invitation, reset, first, second, third, wrong });
  }

  /** An own provider key, an admin key, the secret of a webhook and one for a realtime session. */
  async function useSecretsOfServices({ orgId, call }: PersonSession): Promise<void> {
    const made = async (path: string, body: object): Promise<Body> => {
      const answer = await call('POST', path, body);
      expect([path, answer.status < 300]).toEqual([path, true]);
      return (await answer.json()) as Body;
    };
    const credentials = { api_key: ownProviderKey };
    const { id } = await made('/v1/provider-keys', { org_id: orgId, provider: 'simulated', credentials });
    told.push(await (await call('POST', `/v1/provider-keys/${id}/test`)).text());
    told.push(await (await call('GET', '/v1/provider-keys')).text());
    const { key: adminKey } = await made('/v1/admin-keys', { org_id: orgId, scopes: ['usage:read'] });
    const channel = await made('/alerts/channels', {
      channel_type: 'webhook',
      destination: `${upstream.url}/hook`,
      is_enabled: true,
    });
    const policy = { channel_id: channel.id, alert_type: 'api_key.created', is_enabled: true };
    await made('/alerts/policies', policy);
    const { signing_secret: rotatedSecret } = await made(`/alerts/channels/${channel.id}/rotate-secret`, {});
    const email = { channel_type: 'email', destination: 'alerts@example.com', is_enabled: true };
    await made('/alerts/channels', email);
    const confirmation = await mailed(email.destination);
    const body = { session: { type: 'realtime', model: 'simulator/realtime' } };
    const session = await ask(fleet, 'POST', '/v1/realtime/client_secrets', { body });
    const { signing_secret: signingSecret } = channel;
    const realtime = String(session.body.value);
    Object.assign(secrets, { adminKey, signingSecret, rotatedSecret, confirmation, realtime });
    // The event of this key is signed and delivered.
    await made('/v1/keys', { org_id: orgId, label: 'of the event' });
    await eventually(() => upstream.seen.some(({ path }) => path === '/hook'), { timeoutMs: 60_000 });
  }

  /** Pooled credentials that serve, are rotated, paused, tested, removed and refused: each ends somewhere else. */
  async function usePooledCredentials(): Promise<void> {
    const { call } = await logIn(fleet);
    const path = '/v1/admin/providers/simulated/credentials';
    const sent = async (method: string, at: string, body?: object): Promise<Body> => {
      const answer = await call(method, `${path}${at}`, body);
      const text = await answer.text();
      told.push(text, JSON.stringify([...answer.headers]));
      return { status: answer.status, ...(text === '' ? {} : (JSON.parse(text) as Body)) };
    };
    const withKey = (api_key: string) => ({ label: 'ours', credentials: { api_key } });
    expect(await sent('POST', '', withKey(POOLED.pooledRefused))).toMatchObject({ status: 422 });
    const kept = await sent('POST', '', withKey(POOLED.pooledRotated));
    const removed = await sent('POST', '', withKey(POOLED.pooledRemoved));
    expect([kept.test, removed.test]).toMatchObject([{ status: 'works' }, { status: 'works' }]);
    await untilServedBy(POOLED.pooledRotated, POOLED.pooledRemoved);
    const { credentials } = withKey(POOLED.pooled);
    await sent('POST', `/${String(kept.id)}/rotate`, { credentials });
    await sent('POST', `/${String(kept.id)}/test`);
    await sent('PATCH', `/${String(removed.id)}`, { is_enabled: false });
    expect(await sent('DELETE', `/${String(removed.id)}`)).toMatchObject({ status: 204 });
    await untilServedBy(POOLED.pooled);
    await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: { ...chat, messages: REFUSED } }));
    await eventually(
      async () => {
        const { data } = await sent('GET', '');
        const found = (data as Body[]).find(({ id }) => id === kept.id);
        return found?.status === 'refused' && found.last_error !== null;
      },
      { timeoutMs: 60_000 },
    );
  }

  /** Chats until each of these credentials has served one. */
  async function untilServedBy(...keys: string[]): Promise<void> {
    const served = (key: string): boolean =>
      upstream.seen.some(
        ({ method, headers }) => method === 'POST' && headers.authorization === `Bearer ${key}`,
      );
    await eventually(
      async () => {
        await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: chat }));
        return keys.every(served);
      },
      { timeoutMs: 60_000 },
    );
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
      // First: an organization's own provider key would serve in their place.
      await usePooledCredentials();
      await useEverySecret();
      expect(Object.keys(secrets).length).toBeGreaterThan(20);
      expect((await hear(ask(fleet, 'POST', '/v1/chat/completions', { body: chat }))).status).toBe(200);
      const failed = await hear(
        ask(fleet, 'POST', '/v1/chat/completions', { body: { ...chat, messages: REFUSED } }),
      );
      expect(failed.status).toBeGreaterThanOrEqual(400);
      for (const name of ['firstKey', 'deletedKey', 'session', 'newKey', 'ownProviderKey', 'adminKey'])
        await misplace(secrets[name]);
      await eventually(async () => (await postedEvents()) >= 2, { timeoutMs: 60_000 });
      expect(await scanForSecrets(fleet, secrets, told)).toEqual({});
    },
    START_MS,
  );

  it(
    "S01 pooled credentials are in no heap but the edge's, which forgets them within a minute",
    async () => {
      // The services that have to hold the fleet's own token show that a heap is read at all.
      const wanted = { ...POOLED, fleetToken: fleet.fleetToken };
      const others = FLEET_APPS.filter((app) => app !== 'edge');
      const token = ['fleetToken'];
      expect(await scanHeaps(fleet, heaps, others, wanted)).toEqual(
        Object.fromEntries(others.map((app) => [app, token])),
      );
      const isForgotten = async (): Promise<boolean> => {
        const { edge } = await scanHeaps(fleet, heaps, ['edge'], wanted);
        return edge.every((name) => name === 'fleetToken');
      };
      await eventually(isForgotten, { timeoutMs: 120_000, intervalMs: 15_000 });
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
