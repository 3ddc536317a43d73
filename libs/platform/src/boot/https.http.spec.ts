import { request } from 'node:https';
import { connect } from 'node:net';
import { ownCertificate } from '@gateway/testing';
import { ConfigError } from '../config/load-config.js';
import { readTls } from '../config/listener.config.js';
import { startProbe, type Probe } from './probe-app.fixture.js';

const own = ownCertificate();

describe('a listener with a certificate', () => {
  let probe: Probe;
  beforeAll(async () => {
    probe = await startProbe({ tls: own });
  });
  afterAll(() => probe.close());

  function get(path: string): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(`${probe.url}${path}`, { ca: own.cert, agent: false }, (answer) => {
        let body = '';
        answer.on('data', (part) => (body += String(part)));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
      });
      sent.on('error', reject).end();
    });
  }

  it('EDGE-04 answers over HTTPS as it does without', async () => {
    expect(probe.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const answer = await get('/v1/none');
    expect(answer.status).toBe(404);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect((JSON.parse(answer.body) as { error: { code: string } }).error.code).toBe('not_found');
    expect((await get('/healthz')).status).toBe(200);
  });

  it.each(['GET /v1/none', 'GET /healthz', 'POST /v1/chat/completions'])(
    'EDGE-04 gives %s over plain HTTP no answer: the connection ends',
    async (line) => {
      const { port } = new URL(probe.url);
      const heard = await new Promise<string>((resolve) => {
        let text = '';
        const socket = connect(Number(port), '127.0.0.1', () => {
          socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer rsk_x\r\n\r\n`);
        });
        socket.on('data', (part) => (text += part.toString('latin1')));
        // Reset or closed: what matters is what came before.
        socket.on('error', () => undefined).on('close', () => resolve(text));
      });
      expect(heard).not.toMatch(/HTTP|error|req_/);
    },
  );
});

describe('TLS_CERT and TLS_KEY', () => {
  it('are taken together, or left out together', () => {
    expect(readTls({ TLS_CERT: own.cert, TLS_KEY: own.key })).toEqual(own);
    expect(readTls({})).toBeNull();
  });

  it.each([
    ['a certificate without its key', { TLS_CERT: own.cert }, /^TLS_KEY: both/],
    ['a key without its certificate', { TLS_KEY: own.key }, /^TLS_CERT: both/],
    [
      'the key of another certificate',
      { TLS_CERT: own.cert, TLS_KEY: ownCertificate().key },
      /^TLS_KEY: no private/,
    ],
    ['what is no certificate', { TLS_CERT: 'x', TLS_KEY: own.key }, /^TLS_CERT: must be/],
  ])('%s is refused at the start, and no message quotes it', (_what, env, fault) => {
    let failure: unknown;
    try {
      readTls(env);
    } catch (thrown) {
      failure = thrown;
    }
    expect(failure).toBeInstanceOf(ConfigError);
    const { faults } = failure as ConfigError;
    expect(faults[0]).toMatch(fault);
    expect(faults.join()).not.toContain('PRIVATE');
  });
});
