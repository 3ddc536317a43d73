import type { ScriptedAnswer } from '@gateway/testing';
import { testModel } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { painter, started } from './images.fixture.js';

const edge = tenantOf(started, 'image_tasks');

const PRICE = { pricing_unit: 'per_image', output_usd_per_unit: '0.04' };

describe('an image that its provider works on', () => {
  let begun = 0;
  let polls = 0;
  let looked: ScriptedAnswer = { status: 503, json: { detail: 'later' } };

  beforeAll(() => {
    edge.sim.reset();
    painter.answer = ({ method }) => {
      if (method === 'GET') {
        polls += 1;
        return looked;
      }
      begun += 1;
      return { json: { id: `task-${begun}`, polling_url: `${painter.url}/v1/get_result?id=${begun}` } };
    };
    const model = testModel(
      'acme/slow',
      [
        { provider: 'bfl', upstreamModel: 'flux-pro-1.1', dialect: 'bfl' },
        { provider: 'simulated', upstreamModel: 'sim-image', dialect: 'images' },
      ],
      { model_type: 'image', supports_completions_api: false, output_modalities: ['image'], pricing: PRICE },
    );
    const routes = model.routes.map((route, at) => ({
      ...route,
      price: at === 0 ? PRICE : { ...PRICE, output_usd_per_unit: '0.08' },
      maxOutputTokens: null,
    }));
    edge.serveModels({ ...model, routes });
  });

  it('is not begun again, there or elsewhere, when looking at it fails: it is paid for once', async () => {
    const answer = await edge.post(
      { model: 'acme/slow', prompt: 'A fox' },
      { path: '/v1/images/generations' },
    );
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect([begun, polls]).toEqual([1, 5]);
    expect(edge.upstream()).toHaveLength(0);
    expect(await edge.record(answer)).toMatchObject({ outcome: 'failed', cost_usd: null });
  });

  it.each<[string, ScriptedAnswer]>([
    ['looking at it is refused', { status: 429, json: { detail: 'slow down' } }],
    ['its provider ends it with a failure', { json: { status: 'Error' } }],
  ])('is not begun again, there or elsewhere, when %s', async (_case, answered) => {
    looked = answered;
    const before = begun;
    const answer = await edge.post(
      { model: 'acme/slow', prompt: 'A fox' },
      { path: '/v1/images/generations' },
    );
    expect(answer.status).toBeGreaterThanOrEqual(429);
    expect(begun).toBe(before + 1);
    expect(edge.upstream()).toHaveLength(0);
    const { attempts } = await edge.record(answer);
    expect(attempts).toEqual([expect.not.objectContaining({ not_begun: expect.anything() })]);
  });
});
