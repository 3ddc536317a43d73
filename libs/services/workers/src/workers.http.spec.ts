import { randomBytes } from 'node:crypto';
import { deadLetterTopic, HEADER, TOPIC, type StoredResponse, type Subscription } from '@gateway/contracts';
import { eventually, testPostgres, type TestDatabase } from '@gateway/testing';
import { WorkersDatabase } from './postgres/workers-database.js';
import { anyMemory, MIGRATED, startWorkersApp, stored, type WorkersApp } from './workers.fixture.js';

let place: TestDatabase;
let app: WorkersApp;
let key: string;
let thief: string;

beforeAll(async () => {
  place = await testPostgres();
  await MIGRATED.migrate(place.url);
  app = await startWorkersApp(place.url);
  key = app.keyOf('key_a');
  thief = app.keyOf('key_b');
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

describe('the workers service', () => {
  it('is ready, and consumes the account topic', async () => {
    for (const path of ['/healthz', '/readyz']) expect((await fetch(`${app.url}${path}`)).status).toBe(200);
    const letters: string[] = [];
    const handler: Subscription['handler'] = async (batch) =>
      void letters.push(...batch.map(({ value }) => value));
    const topics = [deadLetterTopic(TOPIC.account)];
    await app.log.consume({ topics, group: 'reader', maxBatch: 10, lingerMs: 0, handler });
    await app.log.append(TOPIC.account, [{ key: 'acct_1', value: 'no event' }]);
    await eventually(() => letters.length === 1);
    expect(JSON.parse(letters[0])).toMatchObject({ data: { service: 'workers', value: 'no event' } });
  });
});

describe('/v1/responses/{id}', () => {
  it.each(['/v1', '/openai/v1'])('RESP-03 answers under %s what was kept, unchanged', async (base) => {
    const one = stored(`resp_read${base.length}`);
    await app.responses.store([one, one]);
    const { status, body } = await app.call('GET', `${base}/responses/${one.id}`, key);
    expect([status, body]).toEqual([200, one.response]);
  });

  it('RESP-03 keeps what a model may write: NUL, halves of characters, megabytes', async () => {
    const text = `\u0000 \ud800 ${'x'.repeat(2_000_000)}`;
    const response = { id: 'resp_odd', status: 'completed', output: [{ type: 'message', text }] };
    await app.responses.store([stored('resp_odd', { response })]);
    expect((await app.call('GET', '/v1/responses/resp_odd', key)).body).toEqual(response);
  });

  it('RESP-03 204 keeps them for an edge, too, also what no caller may send: one tenant’s is no reason to lose all', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`) as object;
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 0]));
    const texts = ['\u0000 \ud800', 'x'];
    const odd = stored('resp_far_odd', {
      input: texts.map((content) => ({ type: 'message', role: 'user', content, many })),
      response: { id: 'resp_far_odd', status: 'completed', output: [{ type: 'message', deep }] },
    });
    const other = stored('resp_far_other', { key_id: 'key_b' });
    const answer = await fetch(`${app.url}/internal/responses`, {
      method: 'POST',
      headers: { [HEADER.fleetToken]: 'fleet-token-of-the-spec', 'content-type': 'application/json' },
      body: JSON.stringify({ responses: [odd, other] }),
    });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect((await app.call('GET', '/v1/responses/resp_far_odd', key)).body).toEqual(odd.response);
    expect((await app.call('GET', '/v1/responses/resp_far_other', thief)).body).toEqual(other.response);
  });

  it('ERA-05 204 removes for the usage service what was answered for an end user until then, and nothing else', async () => {
    const of = { end_user_hash: 'hash-of-ada', created_at: 1_700_000_000 };
    await app.responses.store([
      stored('resp_ada', of),
      stored('resp_ada_later', { ...of, created_at: 1_700_000_001 }),
      stored('resp_bob', { ...of, end_user_hash: 'hash-of-bob' }),
      stored('resp_ada_elsewhere', { ...of, account_id: 'acct_2' }),
    ]);
    const until = new Date(1_700_000_000_500).toISOString();
    const answer = await fetch(`${app.url}/internal/responses/forget`, {
      method: 'POST',
      headers: { [HEADER.fleetToken]: 'fleet-token-of-the-spec', 'content-type': 'application/json' },
      body: JSON.stringify({ account_id: 'acct_key_a', end_user_hash: 'hash-of-ada', until }),
    });
    expect(answer.status).toBe(204);
    const ids = ['resp_ada', 'resp_ada_later', 'resp_bob', 'resp_ada_elsewhere'];
    const shown = await Promise.all(ids.map((id) => app.call('GET', `/v1/responses/${id}`, key)));
    expect(shown.map(({ status }) => status)).toEqual([404, 200, 200, 200]);
  });

  it('RESP-03 keeps what else is written with an item whose id no index holds, and the item under another', async () => {
    const { body: conversation } = await app.call('POST', '/v1/conversations', key, {});
    const ids = [randomBytes(20_000).toString('base64'), 'msg_\u0000', 'x'.repeat(257), ''];
    const input = ids.map((id) => ({ type: 'message', id, role: 'user', content: 'Hello' }));
    const own: Partial<StoredResponse> = { input, conversation_id: conversation.id as string };
    await app.responses.store([stored('resp_long_ids', own), stored('resp_next_to_it', { key_id: 'key_b' })]);
    expect((await app.call('GET', '/v1/responses/resp_next_to_it', thief)).status).toBe(200);
    const listed = await app.call('GET', `/v1/conversations/${conversation.id}/items?order=asc`, key);
    const shown = (listed.body.data as { id: string }[]).map(({ id }) => id);
    expect(shown).toEqual([...ids.map((_, at) => `resp_long_ids_${at}`), 'out_resp_long_ids']);
    const more = await app.call('POST', `/v1/conversations/${conversation.id}/items`, key, {
      items: [{ type: 'message', id: randomBytes(20_000).toString('base64'), role: 'user', content: 'Hi' }],
    });
    expect([more.status, more.body.data?.[0]?.id]).toEqual([200, expect.stringMatching(/^msg_.{1,64}$/)]);
  });

  it.each([
    ['GET', ''],
    ['GET', '/input_items'],
    ['POST', '/cancel'],
    ['DELETE', ''],
  ])('ERR-32 404 resource_not_found for another key, %s %s', async (method, path) => {
    await app.responses.store([stored('resp_mine')]);
    for (const [id, as] of [
      ['resp_mine', thief],
      ['resp_none', key],
    ]) {
      const { status, body } = await app.call(method, `/v1/responses/${id}${path}`, as);
      expect([status, body.error.code]).toEqual([404, 'resource_not_found']);
    }
    expect((await app.call('GET', '/v1/responses/resp_mine', key)).status).toBe(200);
  });

  it('RESP-03 does not let one key’s response take the place of another’s of the same id', async () => {
    await app.responses.store([stored('resp_same')]);
    await app.responses.store([
      stored('resp_same', { key_id: 'key_b', response: { id: 'resp_same', output: [] } }),
    ]);
    expect((await app.call('GET', '/v1/responses/resp_same', key)).body.usage).toBeDefined();
    expect((await app.call('GET', '/v1/responses/resp_same', thief)).body.usage).toBeUndefined();
  });

  it('RESP-03 deletes', async () => {
    await app.responses.store([stored('resp_gone')]);
    const deleted = { id: 'resp_gone', object: 'response', deleted: true };
    expect((await app.call('DELETE', '/v1/responses/resp_gone', key)).body).toEqual(deleted);
    expect((await app.call('GET', '/v1/responses/resp_gone', key)).status).toBe(404);
  });

  it('RESP-03 pages the items of its input', async () => {
    const input = ['a', 'b', 'c'].map((id) => ({ type: 'message', id, role: 'user', content: id }));
    await app.responses.store([stored('resp_items', { input })]);
    const page = async (query: string): Promise<unknown> =>
      (await app.call('GET', `/v1/responses/resp_items/input_items?${query}`, key)).body;
    expect(await page('limit=2&order=asc')).toMatchObject({
      object: 'list',
      data: [{ id: 'a' }, { id: 'b' }],
      first_id: 'a',
      last_id: 'b',
      has_more: true,
    });
    expect(await page('order=asc&after=b')).toMatchObject({ data: [{ id: 'c' }], has_more: false });
    expect(await page('limit=1')).toMatchObject({ data: [{ id: 'c' }], has_more: true });
  });

  it('RESP-03 takes what the SDKs ask to hold besides, and leaves out what was not kept', async () => {
    await app.responses.store([
      stored('resp_more', { input: [{ type: 'message', id: 'a', role: 'user', content: 'a' }] }),
    ]);
    const include = 'include[]=reasoning.encrypted_content&include[]=message.input_image.image_url';
    for (const query of [
      include,
      'include=file_search_call.results',
      'include_obfuscation=false',
      `stream=true&include_obfuscation=true&${include}`,
    ])
      expect([query, (await app.call('GET', `/v1/responses/resp_more?${query}`, key)).status]).toEqual([
        query,
        200,
      ]);
    const items = await app.call('GET', `/v1/responses/resp_more/input_items?${include}`, key);
    expect([items.status, items.body.data]).toMatchObject([200, [{ id: 'a' }]]);
    const { status } = await app.call('GET', '/v1/responses/resp_more?included=x', key);
    expect(status).toBe(422);
  });

  it('RESP-03 streams a response that has ended, from where the caller left it', async () => {
    await app.responses.store([stored('resp_stream')]);
    const { text } = await app.call('GET', '/v1/responses/resp_stream?stream=true&starting_after=2', key);
    const types = [...text.matchAll(/^event: (\S+)$/gm)].map(([, type]) => type);
    expect(types).toEqual(['response.output_item.done', 'response.completed']);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const late = await app.call('GET', '/v1/responses/resp_stream?stream=true&starting_after=900', key);
    expect(late.text).toContain('"sequence_number":901');
  });

  it('RESP-03 400 for the cancel of what does not run in the background', async () => {
    await app.responses.store([stored('resp_done')]);
    const { status, body } = await app.call('POST', '/v1/responses/resp_done/cancel', key);
    expect([status, body.error.code]).toEqual([400, 'bad_request']);
  });
});

describe('what a request goes on from', () => {
  it('RESP-05 is the whole chain, oldest first, of this key alone', async () => {
    await app.responses.store([
      stored('resp_1'),
      stored('resp_2', { previous_response_id: 'resp_1' }),
      stored('resp_3', { previous_response_id: 'resp_2', credential: 'openai' }),
    ]);
    const found = await app.responses.recall('key_a', { response_id: 'resp_3' }, anyMemory);
    expect(found?.items.map(({ id }) => id)).toEqual([
      'msg_resp_1',
      'out_resp_1',
      'msg_resp_2',
      'out_resp_2',
      'msg_resp_3',
      'out_resp_3',
    ]);
    expect(found?.credential).toBe('openai');
    expect(await app.responses.recall('key_b', { response_id: 'resp_3' }, anyMemory)).toBeNull();
  });
});

describe('/v1/conversations', () => {
  const text = (content: string): object => ({ type: 'message', role: 'user', content });

  it('RESP-05 are created, read, changed and deleted', async () => {
    const { status, body } = await app.call('POST', '/v1/conversations', key, {
      metadata: { a: 'b' },
      items: [text('one')],
    });
    expect([status, body.object, body.metadata]).toEqual([200, 'conversation', { a: 'b' }]);
    const path = `/v1/conversations/${body.id}`;
    expect((await app.call('GET', path, key)).body).toEqual(body);
    expect((await app.call('GET', path, thief)).status).toBe(404);
    expect((await app.call('POST', path, key, { metadata: { c: 'd' } })).body.metadata).toEqual({ c: 'd' });
    const deleted = { id: body.id, object: 'conversation.deleted', deleted: true };
    expect((await app.call('DELETE', path, key)).body).toEqual(deleted);
    expect((await app.call('GET', path, key)).status).toBe(404);
  });

  it('RESP-05 keep names that every object has, in metadata and in items; such a type of an item is a type like another', async () => {
    const metadata = { constructor: 'a', toString: 'b', hasOwnProperty: 'c' };
    const call = {
      type: 'function_call',
      call_id: 'call_1',
      name: 'f',
      arguments: '{}',
      constructor: { valueOf: [1] },
    };
    const items = [call, { type: 'constructor', valueOf: {} }];
    const { body } = await app.call('POST', '/v1/conversations', key, { metadata, items });
    const path = `/v1/conversations/${body.id}`;
    expect((await app.call('GET', path, key)).body.metadata).toEqual(metadata);
    const { data } = (await app.call('GET', `${path}/items?order=asc`, key)).body;
    expect(data).toMatchObject(items);
    expect(data[1].id).toMatch(/^msg_/);
    const polluted = { metadata: JSON.parse('{"__proto__": "x"}') as object };
    expect((await app.call('POST', path, key, polluted)).status).toBe(422);
  });

  it('RESP-05 F7 422 with its place for an element that is no item, or no part of one: nothing is added', async () => {
    const { body } = await app.call('POST', '/v1/conversations', key, {});
    const path = `/v1/conversations/${body.id}/items`;
    const parts = [{ type: 'message', role: 'user', content: ['one'] }];
    for (const at of ['/v1/conversations', path])
      for (const items of [
        [text('x'), 'one'],
        [text('x'), null],
        [text('x'), ...parts],
      ])
        expect(await app.call('POST', at, key, { items })).toMatchObject({
          status: 422,
          body: { error: { param: expect.stringMatching(/^items\.1/) } },
        });
    expect((await app.call('GET', path, key)).body.data).toEqual([]);
  });

  it('RESP-05 hold items, and what responses add to them', async () => {
    const { body } = await app.call('POST', '/v1/conversations', key, { items: [text('one')] });
    const path = `/v1/conversations/${body.id}/items`;
    const added = await app.call('POST', path, key, { items: [text('two')] });
    expect(added.body.data).toHaveLength(1);
    await app.responses.store([stored('resp_conv', { conversation_id: body.id })]);
    const { data } = (await app.call('GET', `${path}?order=asc`, key)).body;
    expect(data.map(({ content }: { content: unknown }) => content).slice(0, 2)).toEqual(
      ['one', 'two'].map((one) => [{ type: 'input_text', text: one }]),
    );
    expect(data[0]).toMatchObject({ type: 'message', status: 'completed' });
    expect(data).toHaveLength(4);
    const [{ id }] = data;
    expect((await app.call('GET', `${path}/${id}`, key)).body).toEqual(data[0]);
    expect((await app.call('DELETE', `${path}/${id}`, thief)).status).toBe(404);
    expect((await app.call('DELETE', `${path}/${id}`, key)).body.id).toBe(body.id);
    const found = await app.responses.recall('key_a', { conversation_id: body.id }, anyMemory);
    expect(found?.items).toHaveLength(3);
    expect(await app.responses.recall('key_b', { conversation_id: body.id }, anyMemory)).toBeNull();
  });

  it('RESP-05 422 for metadata beyond 16 texts of 512 characters, made or replaced', async () => {
    const { body } = await app.call('POST', '/v1/conversations', key, { metadata: { a: 'b' } });
    const path = `/v1/conversations/${body.id}`;
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`n${n}`, 'x']));
    for (const metadata of [many, { a: 'x'.repeat(513) }, { ['n'.repeat(65)]: 'x' }, { a: 1 }])
      for (const at of ['/v1/conversations', path])
        expect(await app.call('POST', at, key, { metadata })).toMatchObject({
          status: 422,
          body: { error: { code: 'validation_error', param: 'metadata' } },
        });
    expect((await app.call('GET', path, key)).body.metadata).toEqual({ a: 'b' });
  });

  it('RESP-05 409 past 10,000 of a key, however many are created at once; another key goes on', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    const brim = app.keyOf('key_brim');
    await pool.query(
      `INSERT INTO conversations (key_id, id, account_id, created_at, metadata)
       SELECT 'key_brim', 'conv_brim_' || n, 'acct_key_brim', now(), '{}' FROM generate_series(1, 9997) n`,
    );
    // Every connection of the pool is there, so that none of the creates waits for one.
    await Promise.all(Array.from({ length: 8 }, () => pool.query('SELECT 1')));
    const create = (own: string) => app.call('POST', '/v1/conversations', own, { items: [text('one')] });
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(brim)));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 200, 409, 409, 409, 409, 409]);
    const refused = answers.filter(({ status }) => status === 409);
    for (const { body } of refused) expect(body.error.code).toBe('conflict');
    const kept = await pool.query("SELECT FROM conversation_items WHERE key_id = 'key_brim'");
    expect(kept.rowCount).toBe(3);
    expect((await create(key)).status).toBe(200);
    await app.call('DELETE', '/v1/conversations/conv_brim_1', brim);
    expect((await create(brim)).status).toBe(200);
  });

  it('RESP-05 409 for items past 10,000 of one, however many come at once; what a response said is kept', async () => {
    const { body } = await app.call('POST', '/v1/conversations', key, {});
    const conversation_id = body.id as string;
    const path = `/v1/conversations/${conversation_id}/items`;
    const said = (id: string, items: number): StoredResponse =>
      stored(id, {
        conversation_id,
        input: Array.from({ length: items }, (_, n) => ({ ...text('x'), id: `${id}_${n}` })),
      });
    await app.responses.store([said('resp_brim', 9_980)]);
    const add = (items: object[]) => app.call('POST', path, key, { items });
    const tries = [1, 2, 3, 4].map(() => add(Array.from({ length: 8 }, () => text('more'))));
    const answers = await Promise.all(tries);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 409, 409]);
    const count = async (): Promise<number> => {
      const { pool } = app.app.get(WorkersDatabase);
      const values = [conversation_id];
      return (
        (await pool.query('SELECT FROM conversation_items WHERE conversation_id = $1', values)).rowCount ?? 0
      );
    };
    expect(await count()).toBe(9_997);
    // Items that are there already are no more.
    expect((await add([1, 2, 3, 4, 5].map((n) => ({ ...text('x'), id: `resp_brim_${n}` })))).status).toBe(
      200,
    );
    await app.responses.store([said('resp_past', 5)]);
    expect(await count()).toBe(10_003);
    expect(await add([text('more')])).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    for (const n of [1, 2, 3, 4]) await app.call('DELETE', `${path}/resp_brim_${n}`, key);
    expect((await add([text('more')])).status).toBe(200);
    expect((await add([text('more')])).status).toBe(409);
  });

  it('RESP-05 409 for items past 32 MiB of one, from where no request could go on', async () => {
    const { body } = await app.call('POST', '/v1/conversations', key, {});
    const path = `/v1/conversations/${body.id}/items`;
    const large = { ...text('x'.repeat(31 * 1_048_576)), id: 'msg_large' };
    await app.responses.store([stored('resp_large', { conversation_id: body.id as string, input: [large] })]);
    const add = async (): Promise<number> =>
      (await app.call('POST', path, key, { items: [text('x'.repeat(1_048_576))] })).status;
    expect(await add()).toBe(409);
    await app.call('DELETE', `${path}/msg_large`, key);
    expect(await add()).toBe(200);
  });

  it('RESP-05 finds items by their ids in responses and conversations of the key alone', async () => {
    await app.responses.store([stored('resp_items_1', { key_id: 'key_items' })]);
    const owner = app.keyOf('key_items');
    const { body: conversation } = await app.call('POST', '/v1/conversations', owner, {
      items: [{ type: 'message', role: 'user', content: 'Hello' }],
    });
    const path = `/v1/conversations/${conversation.id}/items`;
    const own = (await app.call('GET', path, owner)).body.data[0].id as string;
    const ids = ['out_resp_items_1', 'msg_resp_items_1', own];
    const found = await app.responses.items('key_items', ids, anyMemory);
    expect([...found.keys()].sort()).toEqual([...ids].sort());
    expect(found.get('out_resp_items_1')).toMatchObject({ role: 'assistant' });
    expect((await app.responses.items('key_other', ids, anyMemory)).size).toBe(0);
  });
});
