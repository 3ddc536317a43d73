import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inference, type InferenceCall } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { catalogueModel, HurriedClock } from '@gateway/testing';
import { startEdge, type EdgeUnderTest } from '../edge.fixture.js';

const PATH = '/v1/video/generations';
const NAME = 'projects/p-1/locations/global/publishers/google/models/veo/operations/op-1';
const MIB = 1_048_576;
const BOUND = 64 * MIB;

describe('a provider whose video has no end', () => {
  let edge: EdgeUnderTest;
  let upstream: Server;
  const looks: { sent: number; whole: Promise<void> }[] = [];

  beforeAll(async () => {
    const piece = Buffer.alloc(MIB, 'A');
    upstream = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      if (request.url?.endsWith(':predictLongRunning')) return response.end(JSON.stringify({ name: NAME }));
      const look = { sent: 0, whole: new Promise<void>((resolve) => response.once('close', resolve)) };
      looks.push(look);
      const more = (): void => {
        if (response.destroyed) return;
        look.sent += piece.byteLength;
        response.write(piece, more);
      };
      const start = JSON.stringify({ name: NAME, done: true, response: { videos: [{}] } }).slice(0, -4);
      response.write(`${start}"mimeType":"video/mp4","bytesBase64Encoded":"`, more);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    edge = await startEdge({
      clock: new HurriedClock(new SystemClock()),
      upstreams: () => Promise.resolve({ 'google-vertex': `http://127.0.0.1:${port}` }),
    });
    const price = { pricing_unit: 'per_second', video_usd_per_second: '0.4' };
    const route = { provider: 'google-vertex', upstreamModel: 'veo', dialect: 'vertex-veo', price };
    edge.serveModels(
      catalogueModel('google/veo', [route], {
        supports_video_generation: true,
        model_type: 'video',
        output_modalities: ['video'],
      }),
    );
  });
  afterAll(async () => {
    await edge.close();
    await new Promise((resolve) => upstream.close(resolve));
  });

  it('VID-13 is read to its bound once, and its task fails and costs nothing', async () => {
    const inference = edge.app.app.get(Inference);
    const asked: InferenceCall = {
      ...{ key_id: 'key_test', account_id: 'acct_test', request_id: 'req_endless', unit: 0 },
      ...{ recorded_path: PATH, endpoint: PATH, is_batch: false, task: null },
      body: { model: 'google/veo', prompt: 'a fox', duration: 8 },
    };
    const begun = await inference.infer(asked);
    expect(begun).toMatchObject({ status: 202, body: { state: NAME } });
    const answer = await inference.infer({ ...asked, task: begun.body });
    expect(answer).toMatchObject({ body: { error: { code: 'upstream_error' } } });
    expect(looks.length).toBe(1);
    await looks[0].whole;
    // What stood in the buffers of the connection was sent as well.
    expect(looks[0].sent).toBeGreaterThanOrEqual(BOUND);
    expect(looks[0].sent).toBeLessThan(BOUND + 32 * MIB);
    expect(await edge.record('req_endless')).toMatchObject({ cost_usd: null });
  });
});
