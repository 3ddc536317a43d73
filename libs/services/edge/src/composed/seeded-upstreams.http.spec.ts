import { readFileSync } from 'node:fs';
import {
  Inference,
  type CatalogueModel,
  type InferenceCall,
  type ObjectKey,
  type PriceRecord,
} from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { catalogueModel, HurriedClock } from '@gateway/testing';
import { startEdge, type EdgeUnderTest } from '../edge.fixture.js';
import { connect, ownKey } from '../sockets/realtime/realtime.fixture.js';

const PATH = '/v1/video/generations';
const VEO = 'google/veo-3.1-generate-001';
const FRAME = { type: 'image_url', image_url: { url: 'https://a.test/fox.png' }, role: 'first_frame' };
const MODELS = [
  'bytedance/dreamina-seedance-2-0-260128',
  'kuaishou/kling-v3',
  'runway/gen4.5',
  'luma/ray-2',
  'luma/ray-flash-2',
  'google/veo-3.1-generate-001',
  'google/veo-3.1-fast-generate-001',
  'google/gemini-3.8-live',
];
const DATA = new URL('../../../catalogue/data/models/', import.meta.url);

interface SeedModel {
  id: string;
  supports: string[];
  model_type: CatalogueModel['record']['model_type'];
  routes: { provider: string; upstream_model: string; dialect: string; price: PriceRecord }[];
}

/** A model as the catalogue has it, with the one route of its own maker. */
function seeded(id: string): CatalogueModel {
  const [brand] = id.split('/');
  const models = JSON.parse(readFileSync(new URL(`${brand}.json`, DATA), 'utf8')) as SeedModel[];
  const found = models.find((model) => model.id === id);
  if (found === undefined) throw new Error(`no model ${id}`);
  const [{ provider, upstream_model: upstreamModel, dialect, price }] = found.routes;
  const flags = Object.fromEntries(found.supports.map((flag) => [`supports_${flag}`, true]));
  return catalogueModel(id, [{ provider, upstreamModel, dialect, price }], {
    ...flags,
    model_type: found.model_type,
    supports_completions_api: false,
  });
}

describe('models of the catalogue at the stand-ins of their makers', () => {
  let edge: EdgeUnderTest;
  let inference: Inference;
  let calls = 0;

  beforeAll(async () => {
    const slugs = ['bytedance', 'kling', 'runway', 'luma', 'google', 'google-vertex'];
    edge = await startEdge({
      clock: new HurriedClock(new SystemClock()),
      upstreams: async (sim) => Object.fromEntries(slugs.map((slug) => [slug, sim.url])),
    });
    inference = edge.app.app.get(Inference);
    edge.serveModels(...MODELS.map(seeded));
  });
  afterAll(() => edge.close());

  function call(body: Record<string, unknown>): InferenceCall {
    calls += 1;
    return {
      ...{ key_id: 'key_test', account_id: 'acct_test', request_id: `req_seeded_${calls}`, unit: 0 },
      ...{ recorded_path: PATH, endpoint: PATH, body, is_batch: false, task: null },
    };
  }

  const text = { prompt: 'a fox' };
  const frame = { content: [{ type: 'text', text: 'a fox' }, FRAME] };
  const drawn = { content: [{ ...FRAME, image_url: { url: 'data:image/png;base64,AAAA' } }] };

  const CASES: [string, Record<string, unknown> & { duration: number }, string][] = [
    ['bytedance/dreamina-seedance-2-0-260128', { ...text, duration: 5 }, '0.756'],
    ['bytedance/dreamina-seedance-2-0-260128', { ...frame, duration: 5, resolution: '1080p' }, '1.8711'],
    ['kuaishou/kling-v3', { ...text, duration: 5 }, '0.42'],
    ['kuaishou/kling-v3', { ...frame, duration: 5, generate_audio: true }, '0.63'],
    ['kuaishou/kling-v3', { ...text, duration: 5, resolution: '1080p', generate_audio: true }, '0.84'],
    ['runway/gen4.5', { ...text, duration: 5 }, '0.6'],
    ['runway/gen4.5', { ...frame, duration: 10 }, '1.2'],
    ['luma/ray-2', { ...text, duration: 5 }, '0.71'],
    ['luma/ray-2', { ...frame, duration: 9, resolution: '1080p' }, '2.862'],
    ['luma/ray-flash-2', { ...text, duration: 5 }, '0.24'],
    [VEO, { ...text, duration: 8 }, '3.2'],
    [VEO, { ...text, duration: 6, generate_audio: false, resolution: '1080p' }, '1.2'],
    [VEO, { ...drawn, duration: 4, resolution: '4k' }, '2.4'],
    [VEO, { ...text, duration: 4, resolution: '4k', generate_audio: false }, '1.6'],
    ['google/veo-3.1-fast-generate-001', { ...drawn, duration: 8 }, '0.8'],
    ['google/veo-3.1-fast-generate-001', { ...text, duration: 8, resolution: '1080p' }, '0.96'],
    ['google/veo-3.1-fast-generate-001', { ...text, duration: 8, resolution: '4k' }, '2.4'],
  ];

  /** Returns the cost, and the playing time. */
  async function make(body: Record<string, unknown>): Promise<unknown[]> {
    const asked = call(body);
    const begun = await inference.infer(asked);
    const { status, body: made } = await inference.infer({ ...asked, task: begun.body });
    const kept = await edge.objects.get(made.object as ObjectKey);
    kept?.content.destroy();
    const { model, cost_usd: cost, usage } = await edge.record(asked.request_id);
    const { video_seconds: seconds } = usage as Record<string, unknown>;
    return [begun.status, status, kept?.contentType, model, Number(seconds), cost];
  }

  it('issue 14 VID-13 each makes the video that is asked for, at the price of its resolution and sound', async () => {
    const made = await Promise.all(CASES.map(([model, body]) => make({ model, ...body })));
    expect(made).toEqual(
      CASES.map(([model, { duration }, cost]) => [202, 200, 'video/mp4', model, duration, cost]),
    );
  });

  it('VID-13 goes on with an operation that another process began at Vertex AI: none is begun, and it is paid for', async () => {
    const place = 'projects/simulated/locations/global/publishers/google/models/veo-3.1-generate-001';
    const state = `${place}/operations/video-abc-4`;
    const asked = {
      ...call({ model: VEO, ...text, duration: 4 }),
      task: { credential: 'google-vertex', state },
    };
    const sent = edge.upstream().length;
    const [one, two] = await Promise.all([inference.infer(asked), inference.infer(asked)]);
    expect([one.status, one.body.seconds, two]).toEqual([200, 4, one]);
    const paths = edge
      .upstream()
      .slice(sent)
      .map(({ path }) => path);
    expect(paths).toEqual([`/v1/${place}:fetchPredictOperation`]);
    expect(await edge.record(asked.request_id)).toMatchObject({ cost_usd: '1.6' });
  });

  it('VID-12 400 where Veo on Vertex AI is shown an address: nothing is begun', async () => {
    const sent = edge.upstream().length;
    const answer = await inference.infer(call({ model: VEO, ...frame, duration: 8 }));
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'content.1.image_url' } } });
    expect(edge.upstream().length).toBe(sent);
  });

  it.each(['luma/ray-2', 'kuaishou/kling-v3', 'runway/gen4.5'])(
    '400 where %s makes no video of a resolution',
    async (model) => {
      const answer = await inference.infer(call({ model, ...text, resolution: '480p' }));
      expect(answer).toMatchObject({ status: 400, body: { error: { param: 'resolution' } } });
    },
  );

  it('issue 14 google/gemini-3.8-live answers in a realtime session, billed turn by turn', async () => {
    const model = 'google/gemini-3.8-live';
    const { key, records } = ownKey(edge, 'key_seeded_live');
    const client = connect(edge, model, key);
    const session = { type: 'realtime', output_modalities: ['audio'] };
    client.send({ type: 'session.update', session });
    client.say('Hello');
    await client.next('response.done');
    client.ws.close();
    expect(await records(1)).toMatchObject([
      {
        ...{ model, outcome: 'served', usage_estimated: false, cost_usd: '0.0003015' },
        usage: { prompt_tokens: 2, completion_tokens: 25, audio_output_tokens: 25 },
      },
    ]);
  });
});
