import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HEADER } from '@gateway/contracts';
import { eventually, repository, startBuilt } from '@gateway/testing';
import { startBalancer } from './harness/balancer.js';
import { startLoad } from './harness/callers.js';
import { startDoubledFleet, type DoubledFleet } from './harness/doubled-fleet.js';
import type { Fleet } from './harness/fleet.js';
import { expectEvents } from './harness/key-events.js';
import { START_MS } from './harness/modes.js';
import { ask } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const OWN_KEY = 'sk-of-the-customer';
const PASSES = { chat: 'simulator/chat', claude: 'simulator/claude' };
/** Thirty restarts in six waves, each with its own bound. */
const HANG_MS = 1_800_000;

const base64 = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
/** The former ones are those that a fleet of tests has. */
const KEKS = {
  KEYS_KEK: { former: base64(2), next: base64(12) },
  NOTIFICATIONS_KEK: { former: base64(3), next: base64(13) },
  USAGE_KEK: { former: base64(4), next: base64(14) },
};
const NEXT_TOKEN = 'n'.repeat(43);

interface Hook {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Verifies as docs/webhooks.md says. */
function isSignedBy(secret: string, { headers, body }: Hook): boolean {
  const timestamp = String(headers['service-webhook-timestamp']);
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const terms = String(headers['service-webhook-signature']).split(',');
  return terms.some((term) => term.trim() === `v1=${expected}`);
}

describe('secrets of a fleet with two of each service, changed under traffic as docs/operations/secrets.md says', () => {
  let doubled: DoubledFleet;
  let fleet: Fleet;
  let receiver: Server;
  let person: PersonSession;
  const hooks: Hook[] = [];

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => void pieces.push(piece));
      request.on('end', () => {
        hooks.push({ headers: request.headers, body: Buffer.concat(pieces).toString('utf8') });
        response.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    doubled = await startDoubledFleet(startBalancer, {
      ALERTS_ALLOW_PRIVATE: new URL(receiverUrl()).host,
      DRAIN_ACCEPT_MS: '2000',
      DRAIN_GRACE_MS: '20000',
    });
    ({ fleet, person } = doubled);
  }, START_MS);
  afterAll(async () => {
    await doubled?.stop();
    receiver?.close();
  }, START_MS);

  const receiverUrl = (): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

  /** Restarts all while a person's session asks again and again. A login lasts a quarter of an hour. */
  async function restartAll(env: Record<string, string>): Promise<void> {
    const whoIsIt = { name: 'session', method: 'GET', path: '/auth/me', isWhole: () => true } as const;
    const target = { url: doubled.balancers.edge.url, key: person.token };
    const load = startLoad(target, { callers: 1, pauseMs: 250, kinds: [whoIsIt] });
    await doubled.restartAll(env);
    const { answered, failed } = await load.stop();
    expect(failed).toEqual([]);
    expect(answered.session).toBeGreaterThan(15);
  }

  /** A command of the repository, with the keys service's own variables. */
  async function keysCommand(main: string): Promise<unknown> {
    const env = {
      ...{ PATH: process.env.PATH, DATABASE_URL: fleet.databaseUrl, KEYS_PEPPER: base64(1) },
      ...{ KEYS_KEK: KEKS.KEYS_KEK.next, KEYS_KEK_PREVIOUS: KEKS.KEYS_KEK.former },
    };
    const path = join(repository, 'dist/apps/keys/src', main);
    const { stdout } = await promisify(execFile)(process.execPath, [path], { env, timeout: 60_000 });
    return JSON.parse(stdout);
  }

  async function made<T>(path: string, body: object): Promise<T> {
    const answer = await person.call('POST', path, body);
    expect([path, answer.status < 300, answer.status < 300 ? '' : await answer.text()]).toEqual([
      path,
      true,
      '',
    ]);
    return (await answer.json()) as T;
  }

  /** Returns the key that signed a session's token. */
  const kidOf = (token: string): unknown =>
    (JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString('utf8')) as { kid: unknown }).kid;

  /** The steps of the page, those of several secrets in one restart. Answers which key signs sessions now. */
  async function changeAll(): Promise<string> {
    const { KEYS_KEK, NOTIFICATIONS_KEK, USAGE_KEK } = KEKS;
    await restartAll({
      ...{ FLEET_TOKEN: `${fleet.fleetToken},${NEXT_TOKEN}` },
      ...{ KEYS_KEK_PREVIOUS: KEYS_KEK.next, USAGE_KEK_PREVIOUS: USAGE_KEK.next },
      NOTIFICATIONS_KEK_PREVIOUS: NOTIFICATIONS_KEK.next,
    });
    person = await logIn(fleet);
    await restartAll({
      ...{ FLEET_TOKEN: `${NEXT_TOKEN},${fleet.fleetToken}` },
      ...{ KEYS_KEK: KEYS_KEK.next, KEYS_KEK_PREVIOUS: KEYS_KEK.former },
      ...{ USAGE_KEK: USAGE_KEK.next, USAGE_KEK_PREVIOUS: USAGE_KEK.former },
      ...{ NOTIFICATIONS_KEK: NOTIFICATIONS_KEK.next },
      ...{ NOTIFICATIONS_KEK_PREVIOUS: NOTIFICATIONS_KEK.former },
    });
    person = await logIn(fleet);
    const { signing_key: kid } = (await keysCommand('rotate-signing-key.js')) as { signing_key: string };
    expect(await keysCommand('rotate-kek.js')).toEqual({ provider_keys: 1 });
    await eventually(async () => kidOf((await logIn(fleet)).token) === kid, {
      ...{ timeoutMs: 60_000, intervalMs: 2_000 },
    });
    await restartAll({ FLEET_TOKEN: NEXT_TOKEN, KEYS_KEK_PREVIOUS: '', NOTIFICATIONS_KEK_PREVIOUS: '' });
    return kid;
  }

  it(
    'restarts each of both without an error of a caller or a lost event; what was sealed and signed before holds, and what was taken away opens nothing',
    async () => {
      const credentials = { api_key: OWN_KEY };
      const own = { provider: 'simulated', credentials, allow_platform_fallback: false };
      const { id: ownId } = await made<{ id: string }>('/v1/provider-keys', { org_id: person.orgId, ...own });
      const destination = `${receiverUrl()}/hook`;
      const channel = await made<{ id: string; signing_secret: string }>('/alerts/channels', {
        ...{ channel_type: 'webhook', destination, is_enabled: true },
      });
      /** The next delivery verifies by the secret that was returned when the channel was made. */
      const expectSigned = async (): Promise<void> => {
        const before = hooks.length;
        expect((await person.call('POST', `/alerts/channels/${channel.id}/test`)).status).toBe(202);
        await eventually(() => hooks.length > before, { timeoutMs: 60_000 });
        expect(hooks.slice(before).map((hook) => isSignedBy(channel.signing_secret, hook))).not.toContain(
          false,
        );
      };
      await expectSigned();

      const { id: keyId, key } = await person.createKey('rotation', { rpm: 1_000 });
      const target = { url: doubled.balancers.edge.url, key };
      const usesOwnKey = async (): Promise<string> => {
        const body = { model: PASSES.chat, messages: [{ role: 'user', content: 'own key' }] };
        const { status, text, requestId } = await ask(target, 'POST', '/v1/chat/completions', { body });
        expect([status, text]).toEqual([200, text]);
        const sent = doubled.upstream.requests().find((one) => one.body.includes('own key'));
        expect(sent?.headers.authorization).toBe(`Bearer ${OWN_KEY}`);
        return requestId;
      };
      const load = startLoad(target, { callers: 4, pauseMs: 200 });

      const kid = await changeAll();

      const withOwnKey = await usesOwnKey();
      expect((await person.call('POST', `/v1/provider-keys/${ownId}/test`)).status).toBe(200);
      await expectSigned();
      // A secret of before and one of now sign side by side.
      const { signing_secret: fresh } = await made<{ signing_secret: string }>(
        `/alerts/channels/${channel.id}/rotate-secret`,
        {},
      );
      await expectSigned();
      expect([fresh === channel.signing_secret, isSignedBy(fresh, hooks[hooks.length - 1])]).toEqual([
        false,
        true,
      ]);
      const { answered, inferred, failed } = await load.stop();
      expect(failed).toEqual([]);
      expect(Object.keys(answered)).toHaveLength(7);
      // The session was signed by the former key, which verifies on.
      expect(kidOf(person.token)).not.toBe(kid);
      // One that was answered 503 and sent again has an event of its own.
      await expectEvents(
        doubled.database,
        keyId,
        [...inferred, withOwnKey],
        ({ status }) => status === 'success',
      );
      await expectFormerRefused();
    },
    HANG_MS,
  );

  async function expectFormerRefused(): Promise<void> {
    for (const [app, path] of [
      ['catalogue', '/internal/catalogue/snapshot'],
      ['keys', '/internal/directory/names'],
      ['usage', '/internal/spend'],
      ['workers', '/internal/idempotency/claim'],
      ['edge', '/internal/infer'],
    ] as const) {
      const by = async (token: string): Promise<number> => {
        const method = app === 'catalogue' ? 'GET' : 'POST';
        const headers = { [HEADER.fleetToken]: token, 'content-type': 'application/json' };
        const body = method === 'GET' ? undefined : '{}';
        return (await fetch(`${fleet.urls[app]}${path}`, { method, headers, body })).status;
      };
      expect([app, await by(fleet.fleetToken)]).toEqual([app, 404]);
      expect([app, await by(NEXT_TOKEN)]).not.toEqual([app, 404]);
    }
    const env = {
      ...{ HOST: '127.0.0.1', PORT: '0', FLEET_TOKEN: NEXT_TOKEN, REDIS_URL: fleet.redisUrl },
      ...{ DATABASE_URL: fleet.databaseUrl, KAFKA_BROKERS: fleet.kafka.brokers.join(',') },
      ...{ USAGE_URL: fleet.urls.usage, CATALOGUE_URL: fleet.urls.catalogue, KEYS_URL: fleet.urls.keys },
      WORKERS_URL: fleet.urls.workers,
      ...{ KEYS_PEPPER: base64(1), KEYS_KEK: KEKS.KEYS_KEK.former },
      ...{ NOTIFICATIONS_KEK: KEKS.NOTIFICATIONS_KEK.former, USAGE_KEK: KEKS.USAGE_KEK.former },
    };
    for (const app of ['keys', 'notifications', 'usage'] as const) {
      const started = startBuilt(app, { env, readyWhen: /"msg":"listening"/ });
      await expect(started.then((program) => program.kill())).rejects.toThrow(
        `${app.toUpperCase()}_KEK is not`,
      );
    }
  }
});
