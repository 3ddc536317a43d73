import { ApiError } from '@gateway/contracts';
import type { Answer, Method } from '../keys-app.fixture.js';
import { keys } from '../written-keys.fixture.js';

describe('what a key names of the catalogue', () => {
  const create = (body: object): Promise<Answer> => keys.call('POST', '/v1/keys', { as: keys.admin, body });

  it.each([
    ['default_model', 'nowhere/model', 'openai/gpt-5-mini'],
    ['fixed_provider', 'nowhere-at-all', 'openai'],
  ])(
    'KEY-06 KEY-22 422 names %s where nobody knows %s, 503 where nobody can say; what is stored stays',
    async (field, unknown, known) => {
      const refused = await create({ [field]: unknown });
      expect([refused.status, refused.body.error]).toMatchObject([
        422,
        { code: 'unprocessable_entity', details: [{ type: 'unknown_reference', loc: [field] }] },
      ]);
      const path = `/v1/keys/${String((await create({ [field]: known })).body.id)}`;
      const changed = (body: object): Promise<Answer> => keys.call('PATCH', path, { as: keys.admin, body });
      expect((await changed({ [field]: unknown })).status).toBe(422);
      keys.names.failure = new ApiError('service_unavailable');
      try {
        const again = await changed({ [field]: `${known}-2` });
        expect([again.status, again.body.error]).toMatchObject([503, { code: 'service_unavailable' }]);
        // Nothing is asked of what the key has already, or of a body that names nothing.
        expect((await changed({ [field]: known, label: 'b' })).status).toBe(200);
        expect((await changed({ [field]: null })).status).toBe(200);
        expect((await create({ [field]: known })).status).toBe(503);
      } finally {
        keys.names.failure = null;
      }
    },
  );

  it.each([
    ['fallback_models', 'nowhere/model', 'openai/gpt-5-mini'],
    ['provider_order', 'nowhere-at-all', 'openai'],
    ['only_providers', 'nowhere-at-all', 'openai'],
    ['ignore_providers', 'nowhere-at-all', 'openai'],
  ])(
    'KEY-39 422 names %s of a policy where nobody knows %s; what is stored stays',
    async (list, unknown, known) => {
      const policy = (...named: string[]): object => ({ routing_policy: { [list]: named } });
      const refused = await create(policy(known, unknown));
      expect([refused.status, refused.body.error]).toMatchObject([
        422,
        {
          code: 'unprocessable_entity',
          details: [{ type: 'unknown_reference', loc: ['routing_policy', list, 1] }],
        },
      ]);
      const path = `/v1/keys/${String((await create(policy(known))).body.id)}`;
      keys.names.failure = new ApiError('service_unavailable');
      try {
        const same = { ...policy(known), label: 'b' };
        expect((await keys.call('PATCH', path, { as: keys.admin, body: same })).status).toBe(200);
        const more = policy(known, unknown);
        expect((await keys.call('PATCH', path, { as: keys.admin, body: more })).status).toBe(503);
      } finally {
        keys.names.failure = null;
      }
    },
  );

  it('KEY-10 KEY-11 422 names each id of a list of models that is not listed; a brand may come, what is stored stays', async () => {
    const org = await keys.org(keys.admin);
    const base = `/v1/orgs/${org.orgId}`;
    const as = keys.admin;
    const lists = [['openai/gpt-5-mini'], ['nowhere/*', 'nowhere/model']];
    const team = await keys.call('POST', `${base}/teams`, { as, body: { name: 'a' } });
    const members = (await keys.call('GET', `${base}/members`, { as })).body.data as { user_id: string }[];
    const userId = members[0].user_id;
    const key = await create({ allowed_models: lists[0] });
    const credentials = { provider: 'openai', credentials: { api_key: 'sk-one' } };
    const writes: [method: Method, path: string, body?: object][] = [
      ['POST', '/v1/keys'],
      ['PATCH', `/v1/keys/${String(key.body.id)}`],
      ['POST', '/v1/orgs', { name: 'b' }],
      ['PATCH', base],
      ['POST', `${base}/teams`, { name: 'b' }],
      ['PATCH', `/v1/teams/${String(team.body.id)}`],
      ['PUT', `/v1/teams/${String(team.body.id)}/members/${userId}`],
      ['PATCH', `${base}/members/${userId}`],
      ['POST', '/v1/provider-keys', credentials],
    ];
    for (const [method, path, body] of writes) {
      const ask = (allowed_models: string[]): Promise<Answer> =>
        keys.call(method, path, { as, body: { ...body, allowed_models } });
      const refused = await ask(lists[1]);
      expect([path, refused.status, refused.body.error]).toMatchObject([
        path,
        422,
        {
          code: 'unprocessable_entity',
          details: [{ type: 'unknown_reference', loc: ['allowed_models', 1] }],
        },
      ]);
      expect([path, (await ask([...lists[0], 'nowhere/*'])).status]).toEqual([
        path,
        method === 'POST' ? 201 : 200,
      ]);
    }
    keys.names.failure = new ApiError('service_unavailable');
    try {
      for (const [method, path, body] of writes.filter(([method]) => method !== 'POST')) {
        const same = { ...body, allowed_models: lists[0] };
        expect([path, (await keys.call(method, path, { as, body: same })).status]).toEqual([path, 200]);
      }
    } finally {
      keys.names.failure = null;
    }
  });

  it('EDGE-08 a repeat of an Idempotency-Key gets the first answer, another body 409, also where nobody can say', async () => {
    const ask = (path: string, body: object): Promise<Answer> =>
      keys.call('POST', path, { as: keys.admin, body, headers: { 'idempotency-key': 'away' } });
    const routing_policy = { fallback_models: ['openai/gpt-5-mini'] };
    const CREATES: [string, object][] = [
      ['/v1/keys', { default_model: 'openai/gpt-5-mini' }],
      ['/v1/routing-policy-templates', { org_id: keys.first.orgId, name: 'away', routing_policy }],
    ];
    const other = [{ label: 'other' }, { name: 'other' }];
    const firsts = await Promise.all(CREATES.map(([path, body]) => ask(path, body)));
    keys.names.failure = new ApiError('service_unavailable');
    try {
      for (const [at, [path, body]] of CREATES.entries()) {
        const again = await ask(path, body);
        expect([path, again.status, again.body.id]).toEqual([path, 201, firsts[at].body.id]);
        expect((await ask(path, { ...body, ...other[at] })).status).toBe(409);
        const fresh = await keys.call('POST', path, { as: keys.admin, body });
        expect([path, fresh.status]).toEqual([path, 503]);
      }
    } finally {
      keys.names.failure = null;
    }
  });
});
