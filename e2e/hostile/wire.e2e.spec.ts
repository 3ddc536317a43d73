import { eventually } from '@gateway/testing';
import { START_MS } from '../harness/modes.js';
import { SHARED_MODES, type OwnOrganization } from '../harness/own-organization.js';
import { askOnce, type Body } from '../harness/requests.js';
import { logIn, type PersonSession } from '../harness/session.js';
import { rawSocket, sendRaw } from './raw-socket.js';
import { ALLOWED, BODY, OVERSIZED, SMUGGLED, wireBytes } from './wire-corpus.js';

const CHAT = '/v1/chat/completions';

describe.each(SHARED_MODES)('hostile bytes to %s', (_name, start) => {
  let gateway: OwnOrganization;
  let person: PersonSession;
  beforeAll(async () => {
    gateway = await start();
    person = await logIn(gateway);
  }, START_MS);

  /** Sends until it is decided: a busy machine may answer 503, which decides nothing. */
  const decided = (bytes: Buffer): Promise<number[]> =>
    eventually(
      async () => {
        const { statuses } = await sendRaw(gateway.url, bytes);
        return statuses.includes(503) ? null : statuses;
      },
      { intervalMs: 250 },
    );

  it('U16 every way to smuggle a request is 400 and closes the connection', async () => {
    const second = 'GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const one of SMUGGLED) {
      const bytes = Buffer.concat([wireBytes(one, gateway.key), Buffer.from(second)]);
      const { statuses, text } = await sendRaw(gateway.url, bytes);
      expect([one.name, statuses]).toEqual([one.name, [400]]);
      expect([one.name, /\r\nconnection: close\r\n/i.test(text)]).toEqual([one.name, true]);
      const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as Body;
      expect([one.name, body.error.code]).toEqual([one.name, 'bad_request']);
      expect(text).toContain(body.request_id);
    }
  });

  it('U16 what is unusual but has one meaning is served', async () => {
    for (const one of ALLOWED) {
      expect([one.name, await decided(wireBytes(one, gateway.key))]).toEqual([one.name, [200]]);
    }
  });

  it('U16 headers past 16 KiB are 431 and close the connection', async () => {
    for (const one of OVERSIZED) {
      const { statuses } = await sendRaw(gateway.url, wireBytes(one, gateway.key));
      expect([one.name, statuses]).toEqual([one.name, [431]]);
    }
  });

  it('U08 an encoded request body is 415 on every kind of path, whatever it unpacks to', async () => {
    for (const [method, path] of [
      ['POST', CHAT],
      ['POST', '/v1/messages'],
      ['POST', '/v1/keys'],
      ['POST', '/v1/usage'],
    ])
      // prettier-ignore
      for (const encoding of ['gzip', 'br', 'deflate', 'x', 'gzip, identity']) {
        const key = path === '/v1/keys' ? person.token : gateway.key;
        const headers = { 'content-encoding': encoding };
        const refused = await askOnce(gateway, method, path, { body: BODY, key, headers });
        expect([path, encoding, refused.status]).toEqual([path, encoding, 415]);
      }
  });

  it('AUTH-18 headers that contradict each other never let a request through', async () => {
    const other = await person.createKey('another');
    const of = async (lines: string[]): Promise<number[]> => {
      const head = [
        'POST /v1/chat/completions HTTP/1.1',
        'Host: x',
        'Content-Type: application/json',
        ...lines,
      ];
      const bytes = `${[...head, `Content-Length: ${BODY.length}`, 'Connection: close'].join('\r\n')}\r\n\r\n${BODY}`;
      return decided(Buffer.from(bytes));
    };
    const bearer = `Authorization: Bearer ${gateway.key}`;
    expect(await of([bearer, `Authorization: Bearer ${other.key}`])).toEqual([400]);
    expect(await of([`X-Api-Key: ${gateway.key}`, `X-Api-Key: ${other.key}`])).toEqual([401]);
    expect(await of([bearer, 'X-Service-Version: 2026-08', 'X-Service-Version: 2026-09'])).toEqual([400]);
    expect(await of([bearer, 'Content-Encoding: identity', 'Content-Encoding: gzip'])).toEqual([415]);
    // Authorization decides; x-api-key is looked at only where it is missing.
    expect(await of([bearer, 'X-Api-Key: rsk_wrong'])).toEqual([200]);
    expect(await of(['Authorization: Bearer rsk_wrong', `X-Api-Key: ${gateway.key}`])).toEqual([401]);
  });

  it('no text with NUL, no odd id and no odd query reaches a database', async () => {
    const { token } = person;
    const odd = ['%00', '%ff', '%F0%9F%A6%8A', 'x'.repeat(600), '%25', '%5c', '..%2f', '%2e%2e'];
    for (const id of odd)
      for (const path of [`/v1/keys/${id}/limits`, `/v1/models/${id}`, `/v1/usage/requests/${id}`]) {
        const { status, body } = await askOnce(gateway, 'GET', path, { key: token });
        expect([path, status === 400 || status === 404, typeof body.error?.code]).toEqual([
          path,
          true,
          'string',
        ]);
      }
    for (const query of [
      'label=%00',
      'label=%zz',
      'label=..%2f..',
      'label=../x',
      '%ff=%ff',
      '&&=&',
      '__proto__=1',
    ]) {
      const { status } = await askOnce(gateway, 'GET', `/v1/keys?${query}`, { key: token });
      expect([query, status < 500]).toEqual([query, true]);
    }
    for (const body of [
      { label: 'a\0b' },
      { label: 'a\ud800' },
      { label: 'x', model_limits: { 'a\0': {} } },
    ]) {
      const refused = await askOnce(gateway, 'POST', '/v1/keys', { body, key: token });
      expect(refused.status).toBe(422);
    }
  });

  it('OPTIONS is answered without a body or with the envelope, whatever it asks for', async () => {
    const asked: Record<string, string>[] = [
      {},
      { origin: 'https://x.example', 'access-control-request-method': 'POST' },
      { 'x-service-version': '1999-01' },
    ];
    for (const headers of asked) {
      const { status, text, body } = await askOnce(gateway, 'OPTIONS', CHAT, { headers });
      expect([status, text === '' || typeof body.error.code === 'string']).toEqual([status, true]);
      expect(status).toBeLessThan(500);
    }
  });

  it('a client that is gone in the middle of a body leaves nothing behind', async () => {
    for (const path of [CHAT, '/v1/keys']) {
      const key = path === '/v1/keys' ? person.token : gateway.key;
      const head = [
        `POST ${path} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${key}`,
        'Content-Type: application/json',
      ];
      for (const framing of ['Content-Length: 500', 'Transfer-Encoding: chunked']) {
        const socket = await rawSocket(gateway.url);
        socket.write(
          `${[...head, framing].join('\r\n')}\r\n\r\n${framing.endsWith('d') ? '5\r\n{"a":' : '{"a":'}`,
        );
        socket.resetAndDestroy();
      }
    }
    expect((await askOnce(gateway, 'POST', CHAT, { body: BODY })).status).toBe(200);
    expect((await askOnce(gateway, 'GET', '/v1/keys', { key: person.token })).status).toBe(200);
  });
});
