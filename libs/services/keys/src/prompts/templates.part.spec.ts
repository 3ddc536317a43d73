import { writeJson } from '@gateway/json-body';
import type { Answer, Person } from '../keys-app.fixture.js';
import { DatabaseStoredContent } from '../stored-content/database-stored-content.js';
import { keys } from '../written-keys.fixture.js';

let owner: Person;
let orgId: string;
let accountId: string;

type Sent = Record<string, unknown> & { id: string };

const call = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) =>
  keys.call(method, path, { as: owner, body });

async function template(name = 'greeting'): Promise<Sent> {
  const answer = await call('POST', '/v1/templates', { org_id: orgId, name });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body as Sent;
}

async function version(id: string, content = 'Hello {{name}}', more: object = {}): Promise<Sent> {
  const messages = [{ role: 'user', content }];
  const answer = await call('POST', `/v1/templates/${id}/versions`, { messages, ...more });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body as Sent;
}

const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const stored = (name: string, wanted: string | number | null = null) =>
  keys.app.get(DatabaseStoredContent, { strict: false }).template(accountId, name, wanted);
const statuses = async (id: string): Promise<unknown> =>
  ((await call('GET', `/v1/templates/${id}/versions`)).body.data as Sent[]).map(({ status }) => status);

async function begin(): Promise<void> {
  owner = await keys.person();
  ({ orgId, accountId } = await keys.org(owner));
}

describe('prompt templates', () => {
  beforeEach(begin);

  it('TPL-08 a version keeps members with names that every object has, and a variable may have such a name', async () => {
    const { id } = await template();
    const schema = { type: 'object', properties: { constructor: { type: 'string' }, toString: {} } };
    const sent = {
      variables: [
        { name: 'constructor', type: 'json', required: false, default: { valueOf: [{ constructor: 1 }] } },
      ],
      defaults: { temperature: 0.5, metadata: { constructor: 'a', hasOwnProperty: 'b' } },
      tools: [{ type: 'function', function: { name: 'find', parameters: schema } }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    };
    const made = await version(id, 'Hello {{constructor}}', sent);
    for (const [name, value] of Object.entries(sent)) expect([name, made[name]]).toEqual([name, value]);
    const polluted = {
      messages: [{ role: 'user', content: 'x' }],
      defaults: JSON.parse('{"__proto__": {"a": 1}}') as object,
    };
    expect(codeOf(await call('POST', `/v1/templates/${id}/versions`, polluted))).toEqual([
      422,
      'validation_error',
    ]);
  });

  it('F1 TPL-08 a version keeps numbers, order and repeated names as they were written', async () => {
    const { id } = await template();
    const odd = '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0,"e":1e400,"z":-0,"b":3}';
    const body = `{"messages":[{"role":"user","content":"x"}],"defaults":{"seed":1234567890123456789},
      "tools":[{"type":"function","function":{"name":"find","parameters":${odd}}}],"response_format":${odd}}`;
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'odd' };
    const path = `/v1/templates/${id}/versions`;
    const made = await keys.call('POST', path, { as: owner, body, headers });
    const again = await keys.call('POST', path, { as: owner, body, headers });
    const read = await call('GET', `${path}/${String(made.body.id)}`);
    expect([made.status, again.status, read.status]).toEqual([201, 201, 200]);
    for (const { text } of [made, again, read]) {
      expect(text.split(odd)).toHaveLength(3);
      expect(text).toContain('"defaults":{"seed":1234567890123456789}');
    }
    await call('POST', `/v1/templates/${id}/publish`, { version_id: made.body.id });
    const kept = writeJson(await stored('greeting'));
    expect(kept.split(odd)).toHaveLength(3);
    expect(kept).toContain('"seed":1234567890123456789');
  });

  it('TPL-08 POST 201, GET, list and DELETE answer the record of the format', async () => {
    const made = await template();
    expect(made).toEqual({
      id: expect.stringMatching(/^tmpl_/),
      object: 'template',
      org_id: orgId,
      name: 'greeting',
      description: null,
      published_version_id: null,
      latest_version: 0,
      created_at: expect.any(String),
      updated_at: made.created_at,
      created_by: owner.userId,
      archived: false,
    });
    expect((await call('GET', `/v1/templates/${made.id}`)).body).toEqual(made);
    const list = await call('GET', `/v1/templates?org_id=${orgId}`);
    expect(list.body).toEqual({ data: [made], total: 1, limit: 50, offset: 0 });
    await version(made.id);
    expect((await call('DELETE', `/v1/templates/${made.id}`)).status).toBe(204);
    expect(codeOf(await call('GET', `/v1/templates/${made.id}`))).toEqual([404, 'not_found']);
    expect(await keys.database.prisma.promptTemplateVersion.count({ where: { template_id: made.id } })).toBe(
      0,
    );
  });

  it('409 conflict for a name that the organization has, also on PATCH', async () => {
    const { id } = await template('one');
    await template('two');
    const again = await call('POST', '/v1/templates', { org_id: orgId, name: 'one' });
    expect(codeOf(again)).toEqual([409, 'conflict']);
    expect(codeOf(await call('PATCH', `/v1/templates/${id}`, { name: 'two' }))).toEqual([409, 'conflict']);
    expect((await call('PATCH', `/v1/templates/${id}`, { name: 'one' })).status).toBe(200);
  });

  it('TPL-06 PATCH changes name, description and archived; an archived one is not found by requests', async () => {
    const { id } = await template();
    const { id: version_id } = await version(id);
    await call('POST', `/v1/templates/${id}/publish`, { version_id });
    const answer = await call('PATCH', `/v1/templates/${id}`, {
      name: 'renamed',
      description: 'd',
      archived: true,
    });
    expect(answer.body).toMatchObject({ name: 'renamed', description: 'd', archived: true });
    expect(await stored('renamed')).toBeNull();
    await call('PATCH', `/v1/templates/${id}`, { archived: false, description: null });
    expect(await stored('renamed')).not.toBeNull();
  });

  it('TPL-01 TPL-03 a version is a draft with what was sent, and publishes nothing', async () => {
    const { id } = await template();
    const sent = {
      messages: [
        { role: 'system', content: 'Answer in {{language}}.' },
        { role: 'user', content: [{ type: 'text', text: 'About {{topic}}' }] },
      ],
      variables: [{ name: 'language', type: 'string', required: false, default: 'English' }],
      defaults: { temperature: 0.2, model: 'openai/gpt-5.4' },
      tools: [{ type: 'function', function: { name: 'f' } }],
      response_format: { type: 'json_object' },
      notes: 'first',
    };
    const answer = await call('POST', `/v1/templates/${id}/versions`, sent);
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        ...sent,
        id: expect.stringMatching(/^tv_/),
        object: 'template.version',
        template_id: id,
        version: 1,
        status: 'draft',
        variables: [...sent.variables, { name: 'topic', type: 'string', required: true }],
        created_at: expect.any(String),
        created_by: owner.userId,
        checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    const read = await call('GET', `/v1/templates/${id}/versions/${String(answer.body.id)}`);
    expect(read.body).toEqual(answer.body);
    expect((await call('GET', `/v1/templates/${id}`)).body).toMatchObject({
      latest_version: 1,
      published_version_id: null,
    });
    expect(await stored('greeting')).toBeNull();
  });

  it('TPL-02 TPL-04 TPL-05 lists newest first; publish and rollback move what requests run', async () => {
    const { id } = await template();
    const first = await version(id, 'one');
    const second = await version(id, 'two');
    const list = (await call('GET', `/v1/templates/${id}/versions`)).body.data as Sent[];
    expect(list.map((row) => row.version)).toEqual([2, 1]);
    const publish = await call('POST', `/v1/templates/${id}/publish`, { version_id: first.id });
    expect([publish.status, publish.body.published_version_id]).toEqual([200, first.id]);
    expect((await stored('greeting'))?.messages[0].content).toBe('one');
    await call('POST', `/v1/templates/${id}/publish`, { version_id: second.id });
    expect(await statuses(id)).toEqual(['published', 'superseded']);
    const rollback = `/v1/templates/${id}/versions/${first.id}/rollback`;
    expect((await call('POST', rollback)).body.published_version_id).toBe(first.id);
    expect(await statuses(id)).toEqual(['superseded', 'published']);
    expect((await stored('greeting'))?.messages[0].content).toBe('one');
    expect(codeOf(await call('POST', rollback))).toEqual([409, 'conflict']);
    // By name and by id; by number, its text, and id of the version.
    for (const wanted of [2, '2', second.id]) {
      expect((await stored('greeting', wanted))?.messages[0].content).toBe('two');
      expect((await stored(id, wanted))?.messages[0].content).toBe('two');
    }
    expect(await stored('greeting', 3)).toBeNull();
    expect(await stored('unknown')).toBeNull();
  });

  it('404 for a version of another template, and for every template of another account', async () => {
    const { id } = await template('one');
    const other = await template('two');
    const { id: version_id } = await version(other.id);
    expect(codeOf(await call('POST', `/v1/templates/${id}/publish`, { version_id }))).toEqual([
      404,
      'not_found',
    ]);
    const stranger = await keys.person();
    expect(codeOf(await keys.call('GET', `/v1/templates/${id}`, { as: stranger }))).toEqual([
      404,
      'not_found',
    ]);
    expect(
      await keys.app.get(DatabaseStoredContent, { strict: false }).template('acct_other', 'two', 1),
    ).toBeNull();
  });

  it('K10 EDGE-09 each change raises the account’s version and leaves an audit row', async () => {
    const { id } = await template();
    const before = await keys.database.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
    const { id: version_id } = await version(id);
    await call('POST', `/v1/templates/${id}/publish`, { version_id });
    const after = await keys.database.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
    expect(after.version).toBe(before.version + 2);
    const rows = await keys.database.prisma.auditLog.findMany({ where: { target_id: id } });
    expect(rows.map(({ action }) => action).sort()).toEqual([
      'template.add_version',
      'template.create',
      'template.publish',
    ]);
  });

  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user' }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: 'x', name: 'n' }] }, 'messages.0.name'],
    [{ variables: [{ name: '1x' }] }, 'variables.0.name'],
    [{ variables: [{ name: 'x', type: 'date' }] }, 'variables.0.type'],
    [{ variables: [{ name: 'x', type: 'number', default: 'one' }] }, 'variables.0.default'],
    [{ variables: [{ name: 'x' }, { name: 'x' }] }, 'variables.1.name'],
    [{ defaults: { messages: [] } }, 'defaults.messages'],
    [{ tools: ['f'] }, 'tools.0'],
    [{ status: 'published' }, 'status'],
    [{ messages: [{ role: 'user', content: 'x'.repeat(262_144) }] }, 'messages'],
  ])('EDGE-06 422 names the field of a version: %j', async (more, field) => {
    const { id } = await template(`t${Math.abs(JSON.stringify(more).length)}-${field}`);
    const messages = [{ role: 'user', content: 'x' }];
    const answer = await call('POST', `/v1/templates/${id}/versions`, { messages, ...more });
    expect(codeOf(answer)).toEqual([422, 'validation_error']);
    const { details } = answer.body.error as { details: { loc: (string | number)[] }[] };
    expect(details.map(({ loc }) => loc.join('.'))).toContain(field);
  });
});

describe('memories', () => {
  beforeEach(begin);

  const at = (id = 'user-1'): string => `/v1/memories/${id}?org_id=${orgId}`;
  const items = (n: number): { text: string }[] =>
    Array.from({ length: n }, (_, at) => ({ text: `fact ${at}` }));

  it('MEM-01 PUT replaces, GET answers {end_user_id, items}, DELETE clears', async () => {
    const put = await call('PUT', at(), { items: items(2) });
    expect(put.body).toEqual({
      end_user_id: 'user-1',
      items: items(2).map(({ text }) => ({
        id: expect.stringMatching(/^mem_/),
        text,
        created_at: expect.any(String),
      })),
    });
    expect((await call('GET', at())).body).toEqual(put.body);
    await call('PUT', at(), { items: items(64) });
    expect(((await call('GET', at())).body.items as unknown[]).length).toBe(64);
    expect((await call('DELETE', at())).status).toBe(204);
    expect((await call('GET', at())).body).toEqual({ end_user_id: 'user-1', items: [] });
    expect((await call('DELETE', at())).status).toBe(204);
  });

  it.each([
    [{ items: items(65) }, 'items'],
    [{ items: [{ text: '' }] }, 'items.0.text'],
    [{ items: [{ text: 5 }] }, 'items.0.text'],
    [{}, 'items'],
  ])('MEM-01 422 names the field, a 65th item is refused', async (body, field) => {
    const answer = await call('PUT', at(), body);
    expect(codeOf(answer)).toEqual([422, 'validation_error']);
    const { details } = answer.body.error as { details: { loc: (string | number)[] }[] };
    expect(details.map(({ loc }) => loc.join('.'))).toContain(field);
  });

  it('belongs to the account, by a key or a session, and keeps no plain end-user id', async () => {
    const { key } = (await call('POST', '/v1/keys', { org_id: orgId })).body;
    const id = 'someone@example.com';
    const put = await keys.call('PUT', `/v1/memories/${id}`, { as: String(key), body: { items: items(1) } });
    expect(put.status).toBe(200);
    expect((await call('GET', at(id))).body).toEqual(put.body);
    expect((await call('GET', `/v1/memories/${id}`)).body.items).toEqual([]);
    const stranger = await keys.person();
    expect(codeOf(await keys.call('GET', at(id), { as: stranger }))).toEqual([403, 'forbidden']);
    const { rows } = await keys.database.pool.query<{ text: string }>(
      `SELECT t::text AS text FROM memory t UNION ALL SELECT t::text FROM audit_log t`,
    );
    const dump = rows.map(({ text }) => text).join('\n');
    expect(dump).toContain('fact 0');
    expect(dump).not.toContain(id);
  });

  it('changes no principal: the version of the account stays', async () => {
    const versionOf = async (): Promise<number> =>
      (await keys.database.prisma.account.findUniqueOrThrow({ where: { id: accountId } })).version;
    const before = await versionOf();
    await call('PUT', at(), { items: items(1) });
    expect(await versionOf()).toBe(before);
  });
});
