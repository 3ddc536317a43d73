import { eventually, startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import { startAllInOne } from './harness/all-in-one.js';
import type { Gateway } from './harness/gateway.js';
import { START_MS } from './harness/modes.js';
import { ask, pico, type Body } from './harness/requests.js';

/** Price of one search, of each model here: 10 USD a thousand. */
const SEARCH_USD = '0.01';
const SAID = 'Red foxes live in dens.';

const search = (id: string, type = 'search'): Body => ({
  ...{ type: 'web_search_call', id, status: 'completed', action: { type, query: 'red foxes' } },
});
const done = (item: Body, output_index: number): Body => ({
  ...{ type: 'response.output_item.done', output_index, item },
});
/** Two searches, a page that is opened, which is none, and some words: then nothing more. */
const RESPONSES: Body[] = [
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
  done(search('ws_1'), 0),
  done(search('ws_2', 'open_page'), 1),
  done(search('ws_3'), 2),
  {
    ...{ type: 'response.output_item.added', output_index: 3 },
    item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] },
  },
  {
    ...{ type: 'response.content_part.added', item_id: 'msg_1', output_index: 3, content_index: 0 },
    part: { type: 'output_text', text: '', annotations: [] },
  },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 3, content_index: 0, delta: SAID },
];
const called = (index: number): Body[] => [
  {
    ...{ type: 'content_block_start', index },
    content_block: { type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: {} },
  },
  {
    ...{ type: 'content_block_delta', index },
    delta: { type: 'input_json_delta', partial_json: '{"query":"red foxes"}' },
  },
  { type: 'content_block_stop', index },
];
const MESSAGES: Body[] = [
  {
    type: 'message_start',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
      ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 40, output_tokens: 1 } },
    },
  },
  ...called(0),
  ...called(1),
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: SAID } },
];

const CASES: [path: string, body: Body, rates: { input: string; output: string }][] = [
  [
    '/v1/responses',
    {
      ...{ model: 'openai/gpt-6-luna', stream: true, store: false, input: 'Where do foxes live?' },
      tools: [{ type: 'web_search' }],
    },
    { input: '0.1', output: '0.5' },
  ],
  [
    '/v1/messages',
    {
      ...{ model: 'anthropic/claude-haiku-4-5', stream: true, max_tokens: 64 },
      messages: [{ role: 'user', content: 'Where do foxes live?' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }],
    },
    { input: '1', output: '5' },
  ],
];

describe('a caller that leaves an answer with searches', () => {
  let provider: UpstreamDouble;
  let gateway: Gateway;

  beforeAll(async () => {
    provider = await startUpstreamDouble(({ path }) => ({
      headers: { 'content-type': 'text/event-stream' },
      pieces: (path.endsWith('/messages') ? MESSAGES : RESPONSES).map(
        (event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`,
      ),
      ending: 'stall',
    }));
    const { url } = provider;
    gateway = await startAllInOne({
      env: {
        ...{ OPENAI_API_KEY: 'sk-searches', OPENAI_BASE_URL: `${url}/v1` },
        ...{ ANTHROPIC_API_KEY: 'sk-searches', ANTHROPIC_BASE_URL: url },
      },
    });
  }, START_MS);
  afterAll(async () => {
    await gateway?.stop();
    await provider?.close();
  }, START_MS);

  const balance = async (): Promise<Body> => (await ask(gateway, 'GET', '/v1/balance')).body;

  it.each(CASES)(
    'of %s pays for each search that was shown and for the tokens, once, and nothing stays reserved',
    async (path, body, rates) => {
      const before = await balance();
      const caller = new AbortController();
      const answer = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify(body),
        signal: caller.signal,
      });
      expect(answer.status).toBe(200);
      let seen = '';
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      while (!seen.includes(SAID)) seen += (await reader?.read())?.value ?? '';
      caller.abort();
      await eventually(() => provider.open() === 0);
      const event = await eventually(async () => {
        const page = await ask(gateway, 'POST', '/v1/usage/events', { body: { org_id: 'mine' } });
        const id = answer.headers.get('x-request-id');
        const own = (page.body.events as Body[]).filter(({ request_id }) => request_id === id);
        return own.length === 0 ? null : own;
      });
      expect(event).toHaveLength(1);
      const [{ prompt_tokens: read, completion_tokens: written, cost_usd: cost }] = event;
      expect(read).toBeGreaterThan(0);
      expect(written).toBeGreaterThan(0);
      // Rates are of a million tokens: of one, a millionth.
      const tokens = BigInt(read) * pico(rates.input) + BigInt(written) * pico(rates.output);
      expect(pico(cost)).toBe(2n * pico(SEARCH_USD) + tokens / 1_000_000n);
      const after = await balance();
      expect(pico(before.balance_usd) - pico(after.balance_usd)).toBe(pico(cost));
      expect(after.reserved_usd).toBe('0');
    },
  );
});
