import { ApiError } from '@gateway/contracts';
import { secretDigest } from '@gateway/platform';
import { FLEET_TOKEN, type Answer, type Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

const PATH = '/v1/routing-policy-templates';

let owner: Person;
let orgId: string;

const post = (body: object, as = owner): Promise<Answer> => keys.call('POST', PATH, { as, body });
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const detailsOf = ({ body }: Answer): string[] =>
  (body.error as { details: { loc: string[] }[] }).details.map(({ loc }) => loc.join('.'));

async function created(body: object = {}): Promise<{ id: string }> {
  const answer = await post({ org_id: orgId, name: 'Careful', routing_policy: { max_retries: 0 }, ...body });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { id: String(answer.body.id) };
}

/** Returns the policy that the edge gets of a key. */
async function policyOf(secret: string): Promise<unknown> {
  const answer = await keys.call('POST', '/internal/principals/resolve', {
    body: { kind: 'key', digest: secretDigest(secret) },
    headers: { 'x-fleet-token': FLEET_TOKEN },
  });
  return answer.body.routingPolicy;
}

async function begin(): Promise<void> {
  owner = await keys.person();
  ({ orgId } = await keys.org(owner));
}

describe('routing policy templates', () => {
  beforeEach(begin);

  it('TPL-09 KEY-18 creates, reads, lists, changes and deletes; only fields of the policy that were set are stored', async () => {
    const policy = {
      max_retries: 1,
      sort: null,
      max_price: { prompt_usd_per_1m: '3', completion_usd_per_1m: null },
    };
    const { id } = await created({ name: 'One', routing_policy: policy });
    const record = {
      id,
      org_id: orgId,
      name: 'One',
      routing_policy: { max_retries: 1, max_price: { prompt_usd_per_1m: '3' } },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    };
    expect((await keys.call('GET', `${PATH}/${id}`, { as: owner })).body).toEqual(record);
    await created({ name: 'Two' });
    const page = await keys.call('GET', `${PATH}?org_id=${orgId}&limit=1&offset=1`, { as: owner });
    expect(page.body).toEqual({ data: [record], total: 2, limit: 1, offset: 1 });
    const renamed = await keys.call('PATCH', `${PATH}/${id}`, { as: owner, body: { name: 'Three' } });
    expect([renamed.status, renamed.body]).toEqual([200, { ...record, name: 'Three' }]);
    const replaced = { routing_policy: { allow_fallbacks: false } };
    expect((await keys.call('PATCH', `${PATH}/${id}`, { as: owner, body: replaced })).body).toMatchObject(
      replaced,
    );
    expect((await keys.call('DELETE', `${PATH}/${id}`, { as: owner })).status).toBe(204);
    expect(codeOf(await keys.call('GET', `${PATH}/${id}`, { as: owner }))).toEqual([404, 'not_found']);
    const actions = await keys.database.prisma.auditLog.findMany({
      where: { target_id: id },
      orderBy: { id: 'asc' },
    });
    expect(actions.map(({ action }) => action.split('.')[1])).toEqual([
      'create',
      'update',
      'update',
      'delete',
    ]);
  });

  it.each([
    ['no name', { name: undefined }, 'name'],
    ['a name that is null', { name: null }, 'name'],
    ['no policy', { routing_policy: undefined }, 'routing_policy'],
    ['an unknown field of the policy', { routing_policy: { retries: 1 } }, 'routing_policy.retries'],
    ['six retries', { routing_policy: { max_retries: 6 } }, 'routing_policy.max_retries'],
    ['an unknown field', { label: 'x' }, 'label'],
  ])('422 names the field: %s', async (_name, body, field) => {
    const answer = await post({ org_id: orgId, name: 'T', routing_policy: {}, ...body });
    expect([answer.status, detailsOf(answer)]).toEqual([422, expect.arrayContaining([field])]);
    expect(new Set(detailsOf(answer)).size).toBe(1);
  });

  it('422 names each model and provider of the policy that nobody knows, 503 where nobody can say; what is stored stays', async () => {
    const policy = {
      fallback_models: ['openai/gpt-5-mini', 'nowhere/model', 'auto'],
      provider_order: ['nowhere-at-all', 'openai'],
      only_providers: ['openai', 'nowhere-at-all'],
      ignore_providers: ['nowhere-else'],
    };
    const unknown = [
      'routing_policy.fallback_models.1',
      'routing_policy.fallback_models.2',
      'routing_policy.provider_order.0',
      'routing_policy.only_providers.1',
      'routing_policy.ignore_providers.0',
    ];
    const refused = await post({ org_id: orgId, name: 'T', routing_policy: policy });
    expect([codeOf(refused), detailsOf(refused)]).toEqual([[422, 'unprocessable_entity'], unknown]);
    const known = { fallback_models: ['openai/gpt-5-mini'], only_providers: ['openai'] };
    const path = `${PATH}/${(await created({ routing_policy: known })).id}`;
    const change = (body: object): Promise<Answer> => keys.call('PATCH', path, { as: owner, body });
    expect(detailsOf(await change({ routing_policy: policy }))).toEqual(unknown);
    keys.names.failure = new ApiError('service_unavailable');
    try {
      expect(codeOf(await post({ org_id: orgId, name: 'T', routing_policy: known }))).toEqual([
        503,
        'service_unavailable',
      ]);
      expect((await change({ routing_policy: { ...known, provider_order: ['groq'] } })).status).toBe(503);
      // Nothing is asked of names that it has already, in whichever list, or of a policy that names nothing.
      const moved = { routing_policy: { ...known, provider_order: ['openai'] }, name: 'Moved' };
      expect((await change(moved)).body).toMatchObject(moved);
      expect((await change({ routing_policy: { sort: 'price' } })).status).toBe(200);
    } finally {
      keys.names.failure = null;
    }
    const stranger = await keys.person();
    expect(
      codeOf(await keys.call('PATCH', path, { as: stranger, body: { routing_policy: policy } })),
    ).toEqual([404, 'not_found']);
  });

  it('403 for an org that the caller is not in, known or not; a member reads and does not write', async () => {
    const stranger = await keys.person();
    const far = await post({ org_id: orgId, name: 'T', routing_policy: {} }, stranger);
    const none = await post({ org_id: 'org_0', name: 'T', routing_policy: {} }, stranger);
    expect([codeOf(far), far.body.error]).toEqual([[403, 'forbidden'], none.body.error]);
    expect((await keys.call('GET', `${PATH}?org_id=${orgId}`, { as: stranger })).status).toBe(403);
    const member = await keys.person({ orgId, role: 'member' });
    const { id } = await created();
    expect((await keys.call('GET', `${PATH}/${id}`, { as: member })).status).toBe(200);
    expect((await post({ org_id: orgId, name: 'T', routing_policy: {} }, member)).status).toBe(403);
    expect((await keys.call('DELETE', `${PATH}/${id}`, { as: member })).status).toBe(403);
  });

  it('TPL-09 KEY-20 K10 a key follows its template at its next request, and 409 while a key uses it', async () => {
    const { id } = await created({ routing_policy: { max_retries: 1 } });
    const body = { org_id: orgId, routing_policy_template_id: id };
    const key = await keys.call('POST', '/v1/keys', { as: owner, body });
    expect(await policyOf(String(key.body.key))).toEqual({ max_retries: 1 });
    const account = { org_id: orgId };
    const before = await keys.database.prisma.account.findUniqueOrThrow({ where: account });
    await keys.call('PATCH', `${PATH}/${id}`, { as: owner, body: { routing_policy: { sort: 'price' } } });
    const after = await keys.database.prisma.account.findUniqueOrThrow({ where: account });
    expect([after.version - before.version, after.stamped_version]).toEqual([1, after.version]);
    expect(await policyOf(String(key.body.key))).toEqual({ sort: 'price' });
    await keys.call('DELETE', `/v1/keys/${String(key.body.id)}`, { as: owner });
    expect(codeOf(await keys.call('DELETE', `${PATH}/${id}`, { as: owner }))).toEqual([409, 'conflict']);
    await keys.call('PATCH', `/v1/keys/${String(key.body.id)}`, {
      as: owner,
      body: { routing_policy_template_id: null },
    });
    expect((await keys.call('DELETE', `${PATH}/${id}`, { as: owner })).status).toBe(204);
  });

  it('422 for a template of another org on a key, like an unknown one', async () => {
    const { id } = await created();
    const other = await keys.org(owner);
    const ask = (routing_policy_template_id: string) =>
      keys.call('POST', '/v1/keys', { as: owner, body: { org_id: other.orgId, routing_policy_template_id } });
    const [far, unknown] = [await ask(id), await ask('rpt_0')];
    expect([codeOf(far), far.body.error]).toEqual([[422, 'unprocessable_entity'], unknown.body.error]);
  });
});
