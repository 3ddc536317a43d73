import type { Dice } from './dice.js';

/** Mark for a raw token; the text never occurs elsewhere. */
const SLOT = '@@raw@@';
/** A list of long tokens is no longer about the token. */
const MOST_TOKENS = 40;
const SLOT_IN_JSON = Buffer.from(JSON.stringify(SLOT));

type Container = Record<string, unknown> | unknown[];

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  '',
  ' ',
  'x',
  '\u0000',
  '\u202e\u200b\ufeff',
  '🦊'.repeat(20),
  'é\u0301',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "' or 1=1 --",
  '${jndi:ldap://x}',
  '<script>',
  'x'.repeat(300),
  'y'.repeat(70_000),
  '2026-13-45T99:99:99Z',
  '9999-12-31T23:59:59.999Z',
  '0000-01-01',
  '-271821-04-20T00:00:00Z',
  0,
  -1,
  1.5,
  0.1,
  201,
  2_147_483_647,
  2_147_483_648,
  4_294_967_296,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  1e21,
  1e308,
  5e-324,
  [],
  {},
  [[]],
  [null],
  [''],
  [{}],
  { x: 1 },
  { type: 'text' },
  { length: 1e9 },
  { toString: 'x' },
  { then: 1 },
  { toJSON: 'x', valueOf: null },
];

/** Tokens that no value of JavaScript writes. */
const TOKENS: readonly Buffer[] = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '1E+2',
  '0.1e1',
  '123456789012345678901234567890',
  '0.' + '1'.repeat(400),
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\u0000\\u001f"',
  '"\\/\\b\\f"',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  '{"a":1,"a":2}',
  '{"":""}',
  'NaN',
  'undefined',
  '01',
  '.5',
  '+1',
  "'x'",
  '"\t"',
  '[1,]',
  '{"a":1,}',
  '[' + '0,'.repeat(3_000) + '0]',
  '['.repeat(61) + ']'.repeat(61),
  '['.repeat(64) + ']'.repeat(64),
  '['.repeat(5_000) + ']'.repeat(5_000),
  '{"a":'.repeat(64) + '1' + '}'.repeat(64),
]
  .map((text) => Buffer.from(text))
  .concat([
    Buffer.from([0x22, 0xff, 0xfe, 0x22]),
    Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]),
    Buffer.from([0x22, 0xe2, 0x82, 0x22]),
  ]);

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', '', ' ', 'x', 'é', '0', 'stream', 'then'];

/** Whole bodies, where nothing of the valid one is left. */
const WHOLE: readonly Buffer[] = [
  Buffer.alloc(0),
  Buffer.from(' \r\n\t '),
  Buffer.from('null'),
  Buffer.from('[]'),
  Buffer.from('[[{}]]'),
  Buffer.from('"text"'),
  Buffer.from('0'),
  Buffer.from('tru'),
  Buffer.from('{'),
  Buffer.from('}'),
  Buffer.from('{"a"'),
  Buffer.from('a=b&c=d'),
  Buffer.from('<xml/>'),
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  Buffer.from([0x00]),
  Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00]),
  Buffer.from('['.repeat(100_000)),
  Buffer.from(`{${Array.from({ length: 3_000 }, (_, at) => `"k${at}":${at}`).join(',')}}`),
];

/** Changes a valid value in up to three places; some stay as they were. The value is used up. */
export function spoiledBody(value: unknown, dice: Dice): Buffer {
  if (dice.chance(0.06)) return dice.pick(WHOLE);
  const changes = dice.pick([0, 0, 1, 1, 1, 2, 3]);
  for (let done = 0; done < changes; done += 1) spoilOnce(value, dice);
  const bytes = withTokens(Buffer.from(JSON.stringify(value) ?? ''), dice);
  return dice.chance(0.12) ? spoiledBytes(bytes, dice) : bytes;
}

/** The same token in each slot of a body: a list may have repeated one slot many times. */
function withTokens(bytes: Buffer, dice: Dice): Buffer {
  if (!bytes.includes(SLOT_IN_JSON)) return bytes;
  const token = dice.pick(TOKENS);
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(SLOT_IN_JSON); at >= 0; at = bytes.indexOf(SLOT_IN_JSON, from)) {
    pieces.push(bytes.subarray(from, at), pieces.length < MOST_TOKENS ? token : Buffer.from('0'));
    from = at + SLOT_IN_JSON.length;
  }
  return Buffer.concat([...pieces, bytes.subarray(from)]);
}

function spoilOnce(value: unknown, dice: Dice): void {
  const places = containersOf(value);
  if (places.length === 0) return;
  const place = dice.pick(places);
  const keys = Object.keys(place);
  const hostile = dice.chance(0.25) ? SLOT : structuredClone(dice.pick(VALUES));
  if (keys.length === 0 || dice.chance(0.15)) return set(place, dice.pick(NAMES), hostile);
  const key = dice.pick(keys);
  const old: unknown = Reflect.get(place, key);
  switch (dice.below(6)) {
    case 0:
      if (Array.isArray(place)) place.splice(Number(key), 1);
      else Reflect.deleteProperty(place, key);
      return;
    case 1:
      return set(place, key, [old]);
    case 2:
      return set(place, key, { [key]: old });
    case 3:
      return set(
        place,
        key,
        Array.from({ length: dice.pick([2, 5, 30]) }, () => old),
      );
    default:
      return set(place, key, hostile);
  }
}

/** Defines, so that even `__proto__` becomes a member of its own. */
function set(place: Container, key: string, value: unknown): void {
  if (Array.isArray(place) && !/^\d+$/.test(key)) place.push(value);
  else Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
}

function containersOf(value: unknown, found: Container[] = []): Container[] {
  if (typeof value !== 'object' || value === null || found.length >= 200) return found;
  found.push(value as Container);
  for (const member of Object.values(value)) containersOf(member, found);
  return found;
}

function spoiledBytes(bytes: Buffer, dice: Dice): Buffer {
  const at = dice.below(bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const first = /^\{("[^"]*":)/.exec(bytes.toString('latin1', 0, 200))?.[1] ?? '"model":';
  switch (dice.below(8)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([before, Buffer.from([dice.below(256)]), after]);
    case 2:
      return Buffer.concat([before, Buffer.from([dice.below(256)]), after.subarray(1)]);
    case 3:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 4:
      return Buffer.concat([bytes, dice.pick([Buffer.from('x'), Buffer.from('\n{}'), Buffer.from('\0')])]);
    case 5:
      return Buffer.concat([Buffer.from(`{${first}1,`), bytes.subarray(1)]);
    case 6:
      return Buffer.from(bytes.toString('utf8'), 'utf16le');
    default:
      return Buffer.concat([bytes, Buffer.alloc(dice.pick([1, 100_000]), 0x20)]);
  }
}
