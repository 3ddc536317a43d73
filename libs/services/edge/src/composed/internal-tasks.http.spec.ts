import {
  counterScope,
  heldCounter,
  Inference,
  type Clock,
  type InferenceCall,
  type ObjectKey,
  type ObjectStore,
  type Random,
} from '@gateway/contracts';
import { catalogueModel, eventually } from '@gateway/testing';
import { startEdge, type EdgeUnderTest } from '../edge.fixture.js';
import { EdgeTasks } from './edge-tasks.js';

const PATH = '/v1/video/generations';

describe('a video that the edge runs for the workers service', () => {
  let edge: EdgeUnderTest;
  let inference: Inference;
  let calls = 0;

  beforeAll(async () => {
    edge = await startEdge();
    inference = edge.app.app.get(Inference);
    const price = { pricing_unit: 'per_second', video_usd_per_second: '0.01' };
    const route = { provider: 'simulated', upstreamModel: 'sim-video', dialect: 'openrouter-video', price };
    const record = { supports_video_generation: true, supports_video_first_frame: true };
    edge.serveModels(
      catalogueModel('simulator/video', [route], {
        ...record,
        model_type: 'video',
        output_modalities: ['video'],
      }),
    );
  });
  afterAll(() => edge.close());

  function call(body: Record<string, unknown>, task: InferenceCall['task'] = null): InferenceCall {
    calls += 1;
    return {
      key_id: 'key_test',
      account_id: 'acct_test',
      request_id: `req_video_${calls}`,
      unit: 0,
      recorded_path: PATH,
      endpoint: PATH,
      body: { model: 'simulator/video', ...body },
      is_batch: false,
      task,
    };
  }

  it('VID-13 is answered with its task first, then with its object; it costs the delivered seconds, once', async () => {
    const asked = call({ prompt: 'a fox', duration: 6 });
    const begun = await inference.infer(asked);
    expect(begun).toMatchObject({ status: 202, body: { credential: 'simulated' } });
    const waiting = { ...asked, task: begun.body };
    const [one, two] = await Promise.all([inference.infer(waiting), inference.infer(waiting)]);
    expect(two).toEqual(one);
    expect(one).toMatchObject({ status: 200, body: { seconds: 6 } });
    const kept = await edge.objects.get(one.body.object as ObjectKey);
    expect(kept).toMatchObject({ contentType: 'video/mp4' });
    kept?.content.destroy();
    const record = await edge.record(asked.request_id);
    expect(record).toMatchObject({
      endpoint: PATH,
      cost_usd: '0.06',
      usage: { video_seconds: '6', videos: 1 },
    });
    expect(await inference.infer(waiting)).toEqual(one);
  });

  it('READ-57 is held as a video until it has ended', async () => {
    const held = async (): Promise<bigint[]> => {
      const { reservedNano, scopes } = await edge.limits.read('acct_test', [
        counterScope('key_test', heldCounter('video')),
      ]);
      return [reservedNano, scopes[0].reservedNano];
    };
    const isFree = async (): Promise<boolean> => (await held()).every((nano) => nano === 0n);
    // A unit's end is sent to the store after its record is there.
    await eventually(isFree);
    const asked = call({ prompt: 'a fox', duration: 5 });
    const begun = await inference.infer(asked);
    expect(await held()).toEqual([50_000_000n, 50_000_000n]);
    await inference.infer({ ...asked, task: begun.body });
    await eventually(isFree);
  });

  it('goes on with a task that another process began, and begins none', async () => {
    const task = { credential: 'simulated', state: 'video-abc-3-simulated' };
    const sent = edge.upstream().length;
    const answer = await inference.infer(call({ prompt: 'a' }, task));
    expect(answer).toMatchObject({ status: 200, body: { seconds: 3 } });
    const methods = edge
      .upstream()
      .slice(sent)
      .map(({ method }) => method);
    expect(methods).toEqual(['GET', 'GET']);
  });

  it('B2 a repeat of a begin joins the task that runs here, and begins none that is not known', async () => {
    const asked = call({ prompt: 'a fox', duration: 5 });
    const begun = await inference.infer(asked);
    const creates = (): number => edge.upstream().filter(({ method }) => method === 'POST').length;
    const sent = creates();
    expect(await inference.infer({ ...asked, is_repeat: true })).toMatchObject({
      status: 202,
      body: begun.body,
    });
    const done = await inference.infer({ ...asked, task: begun.body });
    expect(await inference.infer({ ...asked, is_repeat: true })).toEqual(done);
    const other = { ...call({ prompt: 'a fox', duration: 5 }), is_repeat: true };
    expect(await inference.infer(other)).toMatchObject({ status: 503, is_unknown: true, unit_ended: false });
    expect(creates()).toBe(sent);
  });

  it('VID-11 VID-12 422 names the item whose role the model does not accept, and no provider is called', async () => {
    const video = { type: 'video_url', video_url: { url: 'https://a.test/v.mp4' }, role: 'source_video' };
    const sent = edge.upstream().length;
    const answer = await inference.infer(call({ content: [{ type: 'text', text: 'on' }, video] }));
    expect(answer).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'validation_error',
          details: [{ type: 'content_invalid', loc: ['content', 1, 'role'] }],
        },
      },
    });
    expect(edge.upstream().length).toBe(sent);
  });

  it('is no endpoint of the edge for callers', async () => {
    const answer = await edge.post({ model: 'simulator/video', prompt: 'a' }, { path: PATH });
    expect(answer.status).toBe(404);
  });
});

it('VID-01 503 past half of what one edge watches for an account: another one finds room', async () => {
  const tasks = new EdgeTasks({} as ObjectStore, {} as Clock, {} as Random);
  const begin = (account_id: string, n: number): Promise<unknown> =>
    tasks.answer(`${account_id}/${n}`, { account_id, task: null } as InferenceCall, (begun) => {
      begun({});
      return new Promise(() => undefined);
    });
  for (let n = 0; n < 1_000; n += 1) await begin('a', n);
  await expect(begin('a', 1_000)).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
  for (let n = 0; n < 500; n += 1) await begin('b', n);
  await expect(begin('b', 500)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(await begin('c', 0)).toMatchObject({ status: 202 });
});
