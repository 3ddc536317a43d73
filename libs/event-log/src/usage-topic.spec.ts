import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOPIC } from '@gateway/contracts';
import { compactRecord, usageRecord } from '@gateway/testing/plain';

const DOCS = join(import.meta.dirname, '../../../docs');

interface Schema {
  type?: string | string[];
  $ref?: string;
  anyOf?: Schema[];
  items?: Schema;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

const schemasIn = (file: string): Record<string, Schema> => {
  const document = JSON.parse(readFileSync(join(DOCS, file), 'utf8')) as { components: { schemas: object } };
  return document.components.schemas as Record<string, Schema>;
};

/** Returns the places where the new record breaks a reader of the old one. */
function breaks(old: Schema, present: Schema | undefined, path: string): string[] {
  if (present === undefined) return [`${path} is gone`];
  const [before, after] = [typesOf(old), typesOf(present)];
  const found = after.filter((type) => !before.includes(type)).map((type) => `${path} may be ${type} now`);
  for (const name of old.required ?? [])
    if (!present.required?.includes(name)) found.push(`${path}.${name} may be absent now`);
  for (const [name, member] of Object.entries(old.properties ?? {}))
    found.push(...breaks(member, present.properties?.[name], `${path}.${name}`));
  if (old.items) found.push(...breaks(old.items, present.items, `${path}[]`));
  return found;
}

function typesOf({ type, $ref, anyOf }: Schema): string[] {
  if (anyOf) return anyOf.flatMap(typesOf);
  return $ref === undefined ? [type ?? []].flat() : [$ref];
}

function sumsOf(command: string, args: string[], lines: readonly string[]): unknown {
  const { stdout, stderr, status } = spawnSync(command, args, { input: lines.join('\n'), encoding: 'utf8' });
  expect([status, stderr.replace(/^\(.*\n?/gm, '')]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const valueOf = (data: object, type: string = TOPIC.usage): string =>
  JSON.stringify({ specversion: '1.0', id: '1', source: '/edge-1', type, data });

describe('the topics of usage for other readers', () => {
  it.each([
    ['v1', ''],
    ['v2', 'V2'],
  ])('keep on %s every member of the last released record, with its types', (version, suffix) => {
    const released = schemasIn(`usage-topic/record-${version}.json`);
    const present = schemasIn('asyncapi.json');
    const names = ['UsageRecord', 'AttemptRecord', 'PricedFrom', 'LimitReading'];
    expect(Object.keys(released)).toEqual(names.map((name) => `${name}${suffix}`));
    expect(Object.entries(released).flatMap(([name, old]) => breaks(old, present[name], name))).toEqual([]);
  });

  it('finds a member that is gone, one that became optional, and one of another type', () => {
    const old = { required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'string' }, c: {} } };
    const present = {
      required: ['a'],
      properties: { a: { type: ['string', 'null'] }, b: { type: 'string' } },
    };
    expect(breaks(old, present, 'r')).toEqual([
      'r.b may be absent now',
      'r.a may be null now',
      'r.c is gone',
    ]);
  });

  it('both consumers of docs/usage-topic.md count a unit once, to the last decimal, whatever else they meet', () => {
    const crash = usageRecord({ error_code: 'gateway_crash', cost_usd: null });
    const real = usageRecord({ request_id: crash.request_id, cost_usd: '0.000000000001' });
    const cheap = usageRecord({ cost_usd: '99999999999.1' });
    const records = [
      crash,
      real,
      real,
      crash,
      cheap,
      cheap,
      usageRecord({ account_id: 'acct_2', cost_usd: null }),
    ];
    const lines = [
      ...records.map((record) => valueOf({ ...record, of_a_later_release: { x: 1 } })),
      // Edges of both versions run together, and a unit that is sent again may come on the other topic.
      valueOf(compactRecord(real), TOPIC.usageV2),
      valueOf(compactRecord(crash), TOPIC.usageV2),
      valueOf({ ...compactRecord(usageRecord({ account_id: 'acct_2' })), of_later: 1 }, TOPIC.usageV2),
      valueOf({}, 'gateway.usage.v3'),
    ];
    const expected = {
      acct_1: { units: 2, cost_usd: '99999999999.100000000001' },
      acct_2: { units: 2, cost_usd: '0.0015' },
    };
    const [node, python] = [join(DOCS, 'usage-topic/consume.mts'), join(DOCS, 'usage-topic/consume.py')];
    expect(sumsOf(process.execPath, ['--no-warnings', node, '--lines'], lines)).toEqual(expected);
    expect(sumsOf('python3', [python], lines)).toEqual(expected);
  });
});
