import { testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './stored.fixture.js';

const edge = tenantOf(started, 'provider_objects');

const search = { type: 'file_search', vector_store_ids: ['vs_1'] };
const python = (container: unknown): Json => ({ type: 'code_interpreter', container });
const shell = (environment: Json): Json => ({ type: 'shell', environment });
const search0 = { type: 'file_search', vector_store_ids: [] };
const hello = { role: 'user', content: 'Hello' };
/** Items that bring tools. */
const more = { type: 'additional_tools', role: 'developer' };
const found = { type: 'tool_search_output', call_id: null, execution: 'server', status: 'completed' };
const web = { type: 'web_fetch_20250910', name: 'web_fetch' };

/** Each with the parameter that names an object at the provider; null for none. */
const RESPONSES: [string | null, Json][] = [
  ['tools[0].vector_store_ids', { tools: [search] }],
  ['tools[1].vector_store_ids', { tools: [python({ type: 'auto' }), search] }],
  ['tools[0].container', { tools: [python('cntr_1')] }],
  ['tools[0].container.file_ids', { tools: [python({ type: 'auto', file_ids: ['file-1'] })] }],
  [
    'tools[0].environment.container_id',
    { tools: [shell({ type: 'container_reference', container_id: 'c' })] },
  ],
  ['tools[0].environment.skills[0].skill_id', { tools: [shell({ skills: [{ skill_id: 'skill_1' }] })] }],
  [
    'tools[0].input_image_mask.file_id',
    { tools: [{ type: 'image_generation', input_image_mask: { file_id: 'f' } }] },
  ],
  ['prompt.id', { prompt: { id: 'pmpt_1' } }],
  ['input[1].tools[0].vector_store_ids', { input: [hello, { ...more, tools: [search] }] }],
  ['input[1].tools[1].container', { input: [hello, { ...found, tools: [search0, python('cntr_1')] }] }],
  [
    'input[2].output.file_id',
    {
      input: [
        hello,
        {
          type: 'computer_call',
          id: 'cu_1',
          call_id: 'c',
          action: { type: 'screenshot' },
          status: 'completed',
        },
        {
          type: 'computer_call_output',
          call_id: 'c',
          output: { type: 'computer_screenshot', file_id: 'file-1' },
        },
      ],
    },
  ],
  [null, { input: [hello, { ...more, tools: [search0, python({ type: 'auto' })] }] }],
  [
    null,
    {
      input: [
        hello,
        {
          type: 'mcp_list_tools',
          id: 'mcpl_1',
          server_label: 'a',
          tools: [{ name: 'f', input_schema: { ids: 'x' } }],
        },
        { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', code: '1', outputs: null },
      ],
    },
  ],
  [null, { tools: [python({ type: 'auto', file_ids: [] }), { type: 'file_search', vector_store_ids: [] }] }],
  [
    null,
    {
      tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a.test', headers: { tenant_id: 'b' } }],
    },
  ],
  [
    null,
    {
      tools: [
        {
          type: 'function',
          name: 'f',
          parameters: { type: 'object', properties: { user_id: {} }, required: ['user_id'] },
        },
      ],
    },
  ],
];
const MESSAGES: [string | null, Json][] = [
  ['container', { container: 'container_1' }],
  ['container.id', { container: { id: 'container_1', skills: [] } }],
  [
    'container.skills[1]',
    {
      container: {
        skills: [
          { type: 'anthropic', skill_id: 'pdf' },
          { type: 'custom', skill_id: 's' },
        ],
      },
    },
  ],
  [null, { container: { skills: [{ type: 'anthropic', skill_id: 'pdf' }] }, tools: [web] }],
];
/** Messages with which OpenAI's callers send an earlier spoken answer again. */
const CHAT: [string | null, Json][] = [
  [
    null,
    {
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', audio: { id: 'audio_1' } },
        { role: 'user', content: 'And?' },
      ],
    },
  ],
];
const CASES = [
  ...CHAT.map(
    ([param, more]) => ['/v1/chat/completions', param, { model: 'simulator/chat', ...more }] as const,
  ),
  ...RESPONSES.map(
    ([param, more]) => ['/v1/responses', param, { model: 'acme/native', input: 'Hello', ...more }] as const,
  ),
  ...MESSAGES.map(
    ([param, more]) =>
      [
        '/v1/messages',
        param,
        { model: 'simulator/claude', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], ...more },
      ] as const,
  ),
];

/** Returns the members that may name one, without those that an upstream does not get of messages. */
const membersOf = ({ tools, prompt, container, messages }: Json): Json => ({
  tools,
  prompt,
  container,
  spoken: Array.isArray(messages) ? messages.map(({ audio }: Json) => audio) : [],
});

describe('a request that names an object at its provider', () => {
  let own: string;

  beforeAll(async () => {
    const route = { provider: 'simulated', upstreamModel: 'sim-chat', dialect: 'responses' };
    edge.serveModels(testModel('acme/native', [route]));
    const providerKeys = ['simulated', 'simulated-messages'].map((provider) => {
      edge.vault.credentials.set(`pk_${provider}`, { kind: 'api_key', key: 'sim-key-of-mine' });
      return { id: `pk_${provider}`, provider, version: 1, allowedModels: null, allowPlatformFallback: true };
    });
    own = edge.addKey(testPrincipal('key_own', { accountId: 'acct_own', providerKeys }));
  });
  beforeEach(() => edge.sim.reset());

  const sentMembers = (): unknown[] =>
    edge.upstream().map(({ body }) => {
      return membersOf(JSON.parse(body) as Json);
    });

  it.each(CASES)(
    'issue 11 of %s by %p is 400 with the operator’s credential alone',
    async (path, param, body) => {
      const sent = membersOf(body);
      const answer = await edge.post(body, { path });
      const { error } = (await answer.json()) as { error?: Json };
      if (param === null) expect([answer.status, sentMembers()]).toEqual([200, [sent]]);
      else {
        expect([answer.status, edge.upstream()]).toEqual([400, []]);
        expect(error).toMatchObject({ provider_code: 'unsupported_operation' });
        expect(error?.message).toBe(
          `${param} names an object at a provider. That takes a provider key of your own.`,
        );
      }
      edge.sim.reset();
      const served = await edge.post(body, { path, key: own });
      expect([served.status, sentMembers()]).toEqual([200, [sent]]);
    },
  );

  it('RESP-05 images of the provider’s own tool, which have no price, take a provider key of one’s own', async () => {
    const image = { type: 'image_generation', quality: 'high' };
    for (const [at, tools] of [[image], [{ type: 'web_search' }, image]].entries()) {
      edge.sim.reset();
      const body = { model: 'acme/native', input: 'Draw', tools };
      const answer = await edge.post(body, { path: '/v1/responses' });
      expect([answer.status, edge.upstream()]).toEqual([400, []]);
      expect(await answer.json()).toMatchObject({
        error: {
          code: 'unsupported_operation',
          param: `tools[${at}].type`,
          message: `No provider of acme/native supports tools[${at}].type image_generation.`,
        },
      });
      const served = await edge.post(body, { path: '/v1/responses', key: own });
      expect([served.status, sentMembers()]).toEqual([200, [membersOf(body)]]);
    }
  });
});
