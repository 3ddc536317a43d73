import { keyPrincipal } from '@gateway/testing';
import { mintSecret } from '../auth/secret.js';
import { startProbe, type Probe } from '../boot/probe-app.fixture.js';
import { SystemRandom } from '../time/system-random.js';

const secret = mintSecret('rsk_', new SystemRandom());
const MSG = 'This field is not known.';

let probe: Probe;

beforeAll(async () => {
  probe = await startProbe();
  probe.principals.add(secret, keyPrincipal());
});
afterAll(() => probe.close());

async function refusal(name: string, rest: string): Promise<unknown> {
  const answer = await fetch(`${probe.url}/v1/widgets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: `{"name": "a", "${name}": {"x": 1}${rest}}`,
  });
  return { status: answer.status, ...((await answer.json()) as object) };
}

// class-transformer and Nest drop these names before class-validator looks for unknown ones.
it.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])(
  'EDGE-06 422 names the unknown field %s, which every object has, in a body and in a nested object of it',
  async (name) => {
    const parts = `, "parts": [{"size": 1}, {"size": 2, "${name}": "y"}]`;
    expect(await refusal(name, parts)).toMatchObject({
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

it('EDGE-06 422 refuses __proto__ in a body as a name that is not allowed', async () => {
  expect(await refusal('__proto__', '')).toMatchObject({
    status: 422,
    error: { code: 'validation_error', details: [{ type: 'json_forbidden_key' }] },
  });
});
