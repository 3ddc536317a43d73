import { keyPrincipal } from '@gateway/testing';
import { mintSecret } from '../auth/secret.js';
import { startProbe, type Probe } from '../boot/probe-app.fixture.js';
import { SystemRandom } from '../time/system.js';

const secret = mintSecret('rsk_', new SystemRandom());
const MSG = 'This field is not known.';

let probe: Probe;

beforeAll(async () => {
  probe = await startProbe();
  probe.principals.add(secret, keyPrincipal());
});
afterAll(() => probe.close());

async function sent(body: string): Promise<{ status: number } & Record<string, unknown>> {
  const answer = await fetch(`${probe.url}/v1/widgets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body,
  });
  return { status: answer.status, ...((await answer.json()) as object) };
}

const rejection = (name: string, rest: string): Promise<unknown> =>
  sent(`{"name": "a", "${name}": {"x": 1}${rest}}`);

// class-transformer and Nest drop these names before class-validator looks for unknown ones.
it.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])(
  'EDGE-06 422 names the unknown field %s, which every object has, in a body and in a nested object of it',
  async (name) => {
    const parts = `, "parts": [{"size": 1}, {"size": 2, "${name}": "y"}]`;
    expect(await rejection(name, parts)).toMatchObject({
      status: 422,
      error: {
        code: 'validation_error',
        message: `${name}: ${MSG}`,
        details: [
          { type: 'unknown_field', loc: [name], msg: MSG },
          { type: 'unknown_field', loc: ['parts', 1, name], msg: MSG },
        ],
      },
    });
  },
);

it('EDGE-06 members without a class keep every name, at any depth and beside a nested object of a class', async () => {
  const labels =
    '{"constructor": {"prototype": [{"toString": null}]}, "valueOf": 1, "hasOwnProperty": ["x"]}';
  const {
    status,
    labels: kept,
    parts,
  } = await sent(`{"name": "a", "labels": ${labels}, "parts": [{"size": 1, "labels": ${labels}}]}`);
  expect(status).toBe(201);
  expect(JSON.stringify(kept)).toBe(JSON.stringify(JSON.parse(labels)));
  expect(JSON.stringify(parts)).toBe(JSON.stringify([{ size: 1, labels: JSON.parse(labels) as unknown }]));
});

it('EDGE-06 422 refuses __proto__ also in a member without a class, and no prototype changes', async () => {
  for (const name of ['__proto__', '\\u005f_proto__'])
    expect(await sent(`{"name": "a", "labels": {"x": [{"${name}": {"isAdmin": true}}]}}`)).toMatchObject({
      status: 422,
      error: { details: [{ type: 'json_forbidden_key' }] },
    });
  expect('isAdmin' in {}).toBe(false);
});

it('ERR-03 422 of a value of another kind names the kind before the bounds that it misses, too', async () => {
  const { error } = await sent('{"name": 7, "size": "many"}');
  expect(error).toMatchObject({
    message: 'name must be a string',
    details: [
      { type: 'wrong_type', loc: ['name'] },
      { type: 'length', loc: ['name'] },
      { type: 'wrong_type', loc: ['size'] },
      { type: 'maximum', loc: ['size'] },
      { type: 'minimum', loc: ['size'] },
    ],
  });
});

it('EDGE-06 422 refuses __proto__ in a body as a name that is not allowed', async () => {
  expect(await rejection('__proto__', '')).toMatchObject({
    status: 422,
    error: { code: 'validation_error', details: [{ type: 'json_forbidden_key' }] },
  });
});

it('R10 422 of a field that is left out is one fault of type missing, whatever its bounds are', async () => {
  const { error } = await sent('{"size": 1}');
  expect(error).toMatchObject({
    message: 'name is required.',
    details: [{ type: 'missing', loc: ['name'], msg: 'field required' }],
  });
});

it('B6 422 names a query member of a write, which no write has; nothing is made', async () => {
  const answer = await fetch(`${probe.url}/v1/widgets?org_id=org_x`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: '{"name": "a"}',
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    422,
    {
      error: {
        code: 'validation_error',
        message: 'org_id: This field is not known.',
        details: [{ type: 'unknown_field', loc: ['org_id'], msg: 'This field is not known.' }],
      },
    },
  ]);
});
