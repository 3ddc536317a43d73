import { randomBytes } from 'node:crypto';
import { scrub } from '@gateway/redaction';
import { mintSecret } from '../auth/secret.js';
import { SystemRandom } from '../time/system.js';
import { createLogger } from './logger.js';

const secret = mintSecret('rsk_', new SystemRandom());
const PLANTED: readonly (readonly [string, string])[] = [
  ['a key of ours', secret],
  ['an admin key', mintSecret('mak_', new SystemRandom())],
  ['an OpenAI key', 'sk-proj-abcdefghijklmnopqrstuvwx'],
  ['an Anthropic key', 'sk-ant-api03-abcdefghijklmnop'],
  ['a Google key', 'AIzaSyA1234567890abcdefghijklmnopqrstuvw'],
  ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE'],
  ['a JWT', 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl'],
  ['a bearer token', 'Bearer abc.def-123'],
  ['an ARN', 'arn:aws:bedrock:us-east-1:123456789012:model/x'],
  ['a password in a URL', 'hunter2'],
  ['a query', 'X-Amz-Signature=abc'],
  ['random base64', randomBytes(48).toString('base64')],
];

describe('scrub', () => {
  it.each(PLANTED)('S09 takes out %s', (name, planted) => {
    const text =
      name === 'a password in a URL'
        ? `connect postgres://user:${planted}@db:5432/x failed`
        : name === 'a query'
          ? `GET https://host/path?${planted} failed`
          : `it failed with ${planted}, sorry`;
    expect(scrub(text)).not.toContain(planted);
    expect(scrub(text)).toContain('[redacted]');
    expect(scrub(text)).toContain('failed');
  });

  it('S09 takes each of 10,000 out, wherever it stands in what a provider says', () => {
    const random = new SystemRandom();
    const token = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString('hex');
    const kinds = [
      () => mintSecret('rsk_', random),
      () => mintSecret('mak_', random),
      () => `sk-proj-${token(24)}`,
      () => `sk-ant-api03-${token(40)}`,
      () => `AIzaSy${token(17).slice(0, 33)}`,
      () => `AKIA${token(8).toUpperCase()}`,
    ];
    const around = [
      (key: string) => `Incorrect API key provided: ${key}. You can find your key at https://host/keys.`,
      (key: string) => JSON.stringify({ error: { message: `key=${key}`, param: null } }),
      (key: string) => `${key}`,
      (key: string) => `invalid header Authorization:Bearer ${key},(retry)`,
      (key: string) => `line one\n${key}\nline three`,
    ];
    const left: string[] = [];
    for (let at = 0; at < 10_000; at += 1) {
      const key = kinds[at % kinds.length]();
      const text = around[at % around.length](key);
      if (scrub(text).includes(key)) left.push(text);
    }
    expect(left).toEqual([]);
  });

  it('leaves words, ids and digests of hex', () => {
    const text =
      'req_019a9d3e-1c7e-7000-8000-0123456789ab of openai/gpt-4o-mini took 12 ms at https://host/path';
    expect(scrub(text)).toBe(text);
  });
});

describe('the logger', () => {
  function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
    const lines: string[] = [];
    write(createLogger({ service: 'probe', level: 'info' }, { write: (line) => lines.push(line) }));
    return lines.join('');
  }

  it('S01 drops fields that are not on the list', () => {
    const line = logged((logger) =>
      logger.info({ request_id: 'req_1', prompt: 'private words', body: {} }, 'done'),
    );
    expect(JSON.parse(line)).toMatchObject({
      request_id: 'req_1',
      service: 'probe',
      level: 'info',
      msg: 'done',
    });
    expect(line).not.toMatch(/private|body/);
  });

  it('S01 scrubs messages, fields and errors with their causes', () => {
    const cause = new Error(`refused ${secret}`);
    const line = logged((logger) =>
      logger.error({ err: new Error(`failed ${secret}`, { cause }), reason: secret }, `lost ${secret}`),
    );
    expect(line).not.toContain(secret);
    expect(JSON.parse(line).err.cause.message).toBe('refused [redacted]');
  });
});
