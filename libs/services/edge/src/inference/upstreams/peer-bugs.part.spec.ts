import type { CatalogueModel } from '@gateway/contracts';
import type { ScriptedAnswer } from '@gateway/testing';
import { hello, testModel, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, second, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'peer_bugs');

const FAILED: ScriptedAnswer = { status: 500, json: { error: { message: 'down', type: 'server_error' } } };
const MESSAGE: ScriptedAnswer = {
  json: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  },
};
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const IMAGE: ScriptedAnswer = { json: { created: 1, data: [{ b64_json: PNG.toString('base64') }] } };

// Each was found in another gateway.
describe('an attempt after one that failed', () => {
  beforeAll(() => {
    first.answer = () => FAILED;
    edge.serveModels(editor());
  });
  beforeEach(() => {
    first.seen.length = 0;
    second.seen.length = 0;
  });

  function editor(): CatalogueModel {
    const routes = [
      { provider: 'openai', upstreamModel: 'gpt-image' },
      { provider: 'together', upstreamModel: 'flux' },
    ];
    const price = { pricing_unit: 'per_image', input_usd_per_unit: '0.001' } as const;
    const model = testModel('acme/editor', routes, {
      model_type: 'image',
      supports_completions_api: false,
      input_modalities: ['text', 'image'],
      output_modalities: ['image'],
      supports_image_edit: true,
      pricing: price,
    });
    const made = model.routes.map((route) => ({ ...route, dialect: 'images', price, maxOutputTokens: null }));
    return { ...model, routes: made };
  }

  it('bug 43: has the credential, headers, path and body of its own provider alone', async () => {
    second.answer = () => MESSAGE;
    const model = edge.serve(
      'acme/both',
      { provider: 'openai', upstreamModel: 'gpt' },
      { provider: 'anthropic', upstreamModel: 'claude' },
    );
    const headers = { 'openai-organization': 'org-callers', 'x-secret': 'callers' };
    const answer = await edge.post(hello(model, { max_tokens: 5 }), { headers });
    expect(answer.status).toBe(200);
    expect(first.seen.at(-1)).toMatchObject({
      path: expect.stringContaining('/chat/completions') as string,
      headers: { authorization: 'Bearer sim-key-of-openai' },
    });
    const [tried] = second.seen;
    expect(tried.path).toMatch(/\/messages$/);
    expect(tried.headers).toMatchObject({ 'x-api-key': 'sim-key-of-anthropic' });
    for (const name of ['authorization', 'openai-organization', 'x-secret', 'cookie'])
      expect([name, tried.headers[name]]).toEqual([name, undefined]);
    expect(Object.values(tried.headers).join()).not.toContain(edge.key);
    expect(JSON.parse(String(tried.body))).toMatchObject({ model: 'claude' });
  });

  it('bug 43: of an image edit goes to the next provider, with the image', async () => {
    second.answer = () => IMAGE;
    // It says that nothing was begun: an edit that may have begun goes nowhere else.
    first.answer = () => ({ status: 429, json: { error: { message: 'busy' } } });
    const image = `data:image/png;base64,${PNG.toString('base64')}`;
    const body = { model: 'acme/editor', prompt: 'A hat', image, response_format: 'b64_json' };
    const answer = await edge.post(body, { path: '/v1/images/edits' });
    expect([answer.status, ((await answer.json()) as { data: Json[] }).data.length]).toEqual([200, 1]);
    const [tried] = second.seen;
    expect(tried.headers).toMatchObject({ authorization: 'Bearer sim-key-of-together' });
    expect(Buffer.from(tried.body).includes(PNG)).toBe(true);
  });
});
