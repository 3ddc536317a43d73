import fc from 'fast-check';
import { parseSpelled, writeJson } from '@gateway/json-body';
import { redacted } from './redact.js';

const personal = { personal: true };
const bare = { personal: false };
const textOf = (text: string, how = personal): unknown => redacted(text, how).body;

/** Secrets joined here, so that no scanner takes this page for a leak. */
const SECRETS = {
  openai: `sk-${'proj-abcdefgh12345678'}`,
  own: `rsk_${'0123456789abcdef'}`,
  admin: `mak_${'0123456789abcdef'}`,
  google: `AIza${'SyA1234567890abcdef'}`,
  aws: `AKIA${'IOSFODNN7EXAMPLE'}`,
  bearer: 'Bearer abcdef.123456',
  token: `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJ${'zdWIiOiIxMjM0In0'}.c2lnbmF0dXJl`,
  random: 'q8Zr1Lw0XyT7mBv5KpNc3HsDg9JfAe2UiOoRtYh6',
  pem: `-----BEGIN ${'PRIVATE'} KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n`,
  url: 'https://ada:swordfish@example.com/',
};

describe('what is kept of a body', () => {
  it.each(Object.entries(SECRETS))('S01 has no credential: %s, wherever it stands', (_name, secret) => {
    for (const how of [personal, bare]) {
      const kept = redacted(
        { a: [`my key is ${secret} ok`], [`name ${secret}`]: 1, nested: { deep: { value: secret } } },
        how,
      );
      const text = JSON.stringify(kept.body);
      expect(text).not.toContain(secret.slice(8, 20));
      expect(text).toContain('[redacted]');
      expect(kept.redactions).toBeGreaterThanOrEqual(3);
    }
  });

  it('has no address of mail, card, bank account and telephone where that is asked for', () => {
    const text =
      'Write to ada.lovelace+x@mail.example.com, card 4111 1111 1111 1111, GB33 BUKB 2020 1555 5555 55, +44 20 7946 0958.';
    expect(textOf(text)).toBe('Write to [redacted], card [redacted], [redacted], [redacted].');
    expect(textOf(text, bare)).toBe(text);
    expect(redacted({ card: 4111111111111111, at: 1_763_856_000_000 }, personal)).toEqual({
      body: { card: '[redacted]', at: 1_763_856_000_000 },
      redactions: 1,
    });
  });

  it('F1 keeps numbers, order and repeated names as they were written, and masks them all the same', () => {
    const kept = (text: string): string => writeJson(redacted(parseSpelled(text), personal).body);
    const odd = '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0,"e":1e400,"z":[-0,1.0],"b":3}';
    expect(kept(odd)).toBe(odd);
    expect(kept(`{"a":{"mail":"ada@example.com","n":1.0},"a":1.0}`)).toBe(
      '{"a":{"mail":"[redacted]","n":1.0},"a":1.0}',
    );
    expect(kept('{"card":4111111111111111,"long":6304000000000000000,"n":1.0}')).toBe(
      '{"card":"[redacted]","long":"[redacted]","n":1.0}',
    );
  });

  it('is what was said otherwise', () => {
    for (const text of [
      'The quick brown fox jumps over the lazy dog, 12 times in 2026-11-23T10:00:00Z.',
      'task-force, key-performance-indicator, sketch_book, 3.14159, 1,000,000 and 4111 1111 1111 1112',
      'deadbeef'.repeat(8),
      'GB00 WEST 1234 5698 7654 32',
    ])
      expect(textOf(text)).toBe(text);
    const body = { __proto__x: 1, list: [null, true, 1.5, '', 'a\u0000b', '\ud800'] };
    expect(redacted(body, personal).body).toEqual(body);
  });

  it('keeps a member called __proto__ a member', () => {
    const { body } = redacted(JSON.parse('{"__proto__": {"polluted": true}}'), personal);
    expect(JSON.stringify(body)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('is cut where it is nested deeper than anybody writes', () => {
    const deep = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as unknown;
    expect(JSON.stringify(redacted(deep, personal).body)).toBe(
      `${'['.repeat(64)}"[redacted]"${']'.repeat(64)}`,
    );
  });

  it('stays valid JSON of the same form, whatever it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { body } = redacted(value, personal);
        const text = JSON.stringify(body ?? null);
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
      }),
    );
  });

  /** Texts on which a pattern that looks back over what it gave up takes quadratic time: minutes instead of milliseconds. */
  it.each([
    'eyJ-',
    'a.',
    'http://',
    '+1-',
    'a@',
    '1 ',
    '1-',
    'Bearer ',
    '://a',
    'AB12 ',
    'x',
    '=',
    ' ',
    '-----BEGIN A',
    'sk-',
    'A@a.',
    '+',
    'aA1/',
  ])('costs no more for a megabyte of %j', (piece) => {
    const text = piece.repeat(Math.ceil(1_048_576 / piece.length));
    const begin = process.cpuUsage();
    redacted(text, personal);
    const { user } = process.cpuUsage(begin);
    expect(user).toBeLessThan(20_000_000);
  });
});
