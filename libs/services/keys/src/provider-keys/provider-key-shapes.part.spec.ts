import { PROVIDERS } from '@gateway/providers';
import type { Answer } from '../keys-app.fixture.js';
import { keys, upstream } from '../written-keys.fixture.js';

const SECRET = 'sk-shape-0123456789abcdefghijklmnop';
/** Its endpoint is the customer's own and its address no operator's: see read-credentials.spec.ts. */
const OF_THEIR_OWN_ADDRESS = ['azure'];
const KEYED = PROVIDERS.map(({ slug }) => slug).filter((slug) => !OF_THEIR_OWN_ADDRESS.includes(slug));

let status = 200;

beforeAll(() => {
  upstream.answer = ({ headers }) => ({
    status,
    json: { error: { message: `The key ${String(headers.authorization)} ${SECRET} is refused.` } },
  });
});

/** Stores the credentials, has them tried, and deletes them again. */
async function tried(provider: string, credentials: object): Promise<Answer> {
  const {
    status: made,
    body,
    text,
  } = await keys.call('POST', '/v1/provider-keys', {
    as: keys.admin,
    body: { provider, credentials },
  });
  expect([provider, made, text]).toEqual([provider, 201, expect.any(String)]);
  const path = `/v1/provider-keys/${String(body.id)}`;
  const answer = await keys.call('POST', `${path}/test`, { as: keys.admin });
  expect((await keys.call('DELETE', path, { as: keys.admin })).status).toBe(204);
  return answer;
}

it.each(KEYED)('ROUTE-07 S01 %s gets its key in one call, and its error names no key', async (slug) => {
  upstream.seen.length = 0;
  status = 200;
  expect((await tried(slug, { api_key: SECRET })).body).toMatchObject({ status: 'works', error: null });
  expect(upstream.seen).toHaveLength(1);
  const [{ headers, path }] = upstream.seen;
  expect(Object.values(headers).some((value) => String(value).includes(SECRET))).toBe(true);
  expect(path).not.toContain(SECRET);
  status = 401;
  const refused = await tried(slug, { api_key: SECRET });
  expect(refused.body).toMatchObject({ status: 'refused', error: { code: 'upstream_auth_error' } });
  expect(refused.text).not.toContain(SECRET);
});

it('ROUTE-07 S01 an AWS pair of keys signs the call, and the secret of it is not sent', async () => {
  upstream.seen.length = 0;
  status = 400; // What Bedrock says of an empty body, once it has taken the signature.
  const credentials = {
    access_key_id: 'AKIAABCDEFGHIJKLMNOP',
    secret_access_key: 's'.repeat(40),
    session_token: 'a-session-token',
    region: 'eu-west-1',
  };
  expect((await tried('amazon-bedrock', credentials)).body).toMatchObject({ status: 'works' });
  const [{ headers }] = upstream.seen;
  expect(headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIAABCDEFGHIJKLMNOP\/\d{8}\/eu-west-1\/bedrock\//,
  );
  expect(headers['x-amz-security-token']).toBe('a-session-token');
  expect(JSON.stringify(headers)).not.toContain(credentials.secret_access_key);
});
