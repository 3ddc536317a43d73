import { ApiError, UpstreamError } from '@gateway/contracts';
import {
  Unsupported,
  type AnswerFacts,
  type RouteTarget,
  type Translation,
  type VideoRequest,
} from '@gateway/dialects';
import { writeJson } from '@gateway/json-body';
import { UpstreamCallsDouble } from '@gateway/testing';
import type { Asked } from '../endpoint.js';
import { endpoint } from './video.endpoint.js';
import { wholeBody } from '../stored/stored-content-needed.js';

type Json = Record<string, unknown>;

const target = (dialect: string): RouteTarget => ({
  dialect,
  upstreamModel: 'video-1',
  maxOutputTokens: null,
  contextLength: 4_096,
  reasoning: { style: 'none' } as unknown as RouteTarget['reasoning'],
  fixesSampling: false,
  quirks: {},
});
const IMAGE = 'data:image/png;base64,AAAA';
const item = (kind: string, role?: string, url = `data:${kind}/png;base64,AAAA`): Json => ({
  type: `${kind}_url`,
  [`${kind}_url`]: { url },
  ...(role === undefined ? {} : { role }),
});

function read(body: Json): Asked<VideoRequest> {
  return wholeBody(
    endpoint.read({ bytes: Buffer.from(JSON.stringify({ model: 'a/video', ...body })), headers: {} }),
  );
}

function faultOf(body: Json): ApiError {
  try {
    read(body);
  } catch (failure) {
    if (failure instanceof ApiError) return failure;
    throw failure;
  }
  throw new Error('the body was read');
}

function translated(body: Json, dialect = 'openrouter-video'): Translation {
  const made = endpoint.translate(read(body), target(dialect));
  if (made instanceof Unsupported) throw new Error(`misfit ${made.param}`);
  return made;
}

async function run(
  body: Json,
  calls: UpstreamCallsDouble,
  dialect?: string,
): ReturnType<NonNullable<Translation['exchange']>> {
  return translated(body, dialect).exchange!(calls, {} as AnswerFacts);
}

/** A file that plays for 5.5 seconds, or as many units of its time scale. */
function mp4(length = 5_500, scale = 1_000): Buffer {
  const mvhd = Buffer.alloc(108);
  mvhd.writeUInt32BE(108, 0);
  mvhd.write('mvhd', 4);
  mvhd.writeUInt32BE(scale, 20);
  mvhd.writeUInt32BE(length, 24);
  const moov = Buffer.alloc(8);
  moov.writeUInt32BE(116, 0);
  moov.write('moov', 4);
  return Buffer.concat([Buffer.from([0, 0, 0, 8]), Buffer.from('free'), moov, mvhd]);
}

const notFound = (): UpstreamError =>
  new UpstreamError({
    code: 'resource_not_found',
    message: 'no such task',
    httpStatus: 404,
  } as ConstructorParameters<typeof UpstreamError>[0]);

const tooLarge = (): UpstreamError =>
  new UpstreamError({
    code: 'upstream_error',
    providerCode: 'bad_response',
    message: 'the answer was too large.',
    httpStatus: null,
  } as ConstructorParameters<typeof UpstreamError>[0]);

describe('the request of a video', () => {
  it('F1 sends a seed and members of its own as the caller wrote them', () => {
    const odd = '"seed":1234567890123456789,"own":{"b":1,"10":2,"rate":1.0,"e":1e400,"z":-0},"fps":24';
    const bytes = Buffer.from(`{"model":"a/video","prompt":"x",${odd}}`);
    expect(writeJson(wholeBody(endpoint.read({ bytes, headers: {} })).request.options)).toBe(`{${odd}}`);
  });

  it.each([
    ['seconds', 2],
    ['image', IMAGE],
    ['first_frame', IMAGE],
    ['input_reference', IMAGE],
    ['video_url', 'https://a.test/v.mp4'],
    ['reference_images', [IMAGE]],
  ])(
    'VID-11 422 for %s, whose place is another one: it would be dropped and the video billed',
    (name, value) => {
      const { code, options } = faultOf({ prompt: 'a', [name]: value });
      expect(code).toBe('validation_error');
      expect(options.details).toMatchObject([{ type: 'unknown_field', loc: [name] }]);
      expect(() => read({ prompt: 'a', [name]: null })).not.toThrow();
    },
  );

  it('names members that nobody knows as ignored, and none that no header can name', () => {
    const dialect = 'openrouter-video';
    const found = endpoint.translate(read({ prompt: 'a', sparkle: 1, 'x\r\ny': 1 }), target(dialect));
    expect((found as Translation).ignored).toEqual(['sparkle']);
  });

  it('VID-13 is a prompt or content, with one role each, and what is asked for', () => {
    const asked = read({
      content: [
        { type: 'text', text: 'a fox' },
        item('image'),
        item('image', 'last_frame', 'https://a.test/b.png'),
      ],
      duration: 6,
      resolution: '720p',
      seed: 7,
    });
    expect(asked.request).toMatchObject({
      prompt: 'a fox',
      items: [
        { role: 'first_frame', position: 1 },
        { role: 'last_frame', position: 2 },
      ],
      duration: 6,
      resolution: '720p',
      options: { seed: 7 },
    });
    expect(asked.billableUnits).toEqual({ videos: 1, video_seconds: '6' });
    expect(asked.requires).toEqual([
      { flag: 'supports_video_first_frame', param: 'content.1.role' },
      { flag: 'supports_video_last_frame', param: 'content.2.role' },
    ]);
  });

  it.each<[string, Json, (string | number)[]]>([
    ['nothing to make', {}, ['prompt']],
    ['two prompts', { prompt: 'a', content: [{ type: 'text', text: 'b' }] }, ['content', 0, 'type']],
    ['a role of another kind', { content: [item('image', 'source_video')] }, ['content', 0, 'role']],
    ['a video without a role', { content: [item('video')] }, ['content', 0, 'role']],
    [
      'a file address',
      { content: [item('image', undefined, 'file:///etc/passwd')] },
      ['content', 0, 'image_url'],
    ],
    [
      'a plain http address',
      { content: [item('image', undefined, 'http://a.test')] },
      ['content', 0, 'image_url'],
    ],
    [
      'a data URL of another kind',
      { content: [item('image', undefined, 'data:text/html;base64,AAAA')] },
      ['content', 0, 'image_url'],
    ],
    [
      'a data URL that is not base64',
      { content: [item('image', undefined, 'data:image/png;base64,!!')] },
      ['content', 0, 'image_url'],
    ],
    [
      'a data URL without data',
      { content: [item('image', undefined, 'data:image/png;base64,')] },
      ['content', 0, 'image_url'],
    ],
    ['two first frames', { content: [item('image'), item('image')] }, ['content', 1, 'role']],
    ['a last frame alone', { content: [item('image', 'last_frame')] }, ['content', 0, 'role']],
    [
      'frames among references',
      { content: [item('image'), item('image', 'reference_image')] },
      ['content', 1, 'role'],
    ],
  ])('VID-13 is refused with 422 for %s', (_name, body, loc) => {
    const { status, options } = faultOf(body);
    expect([status, options.details?.[0].loc]).toEqual([422, loc]);
  });

  it('VID-12 with a role that the upstream has no word for leaves the route: nothing is dropped', () => {
    const asked = read({ prompt: 'a', content: [item('video', 'source_video')] });
    const unsupported = endpoint.translate(asked, target('openrouter-video'));
    expect(unsupported).toEqual(new Unsupported('content.0.role'));
    expect(endpoint.translate(asked, target('chat'))).toEqual(new Unsupported(null));
  });
});

describe('a video task', () => {
  it('VID-13 at OpenRouter is begun, noted, polled and fetched, and bills the seconds of the file', async () => {
    const calls = new UpstreamCallsDouble([
      { body: { id: 'job-1', status: 'pending' } },
      { body: { status: 'in_progress' } },
      { body: { status: 'completed' } },
      { body: mp4(), contentType: 'video/mp4' },
    ]);
    const content = [item('image'), item('image', 'last_frame')];
    const { headers, piece } = await run({ prompt: 'a fox', content, duration: 8, seed: 1, fps: 24 }, calls);
    expect(calls.noted).toEqual(['job-1']);
    expect(calls.sent.map(({ method, at }) => [method, at])).toEqual([
      ['POST', '/videos'],
      ['GET', '/videos/job-1'],
      ['GET', '/videos/job-1'],
      ['GET', '/videos/job-1/content?index=0'],
    ]);
    expect(calls.sent[0].json).toEqual({
      model: 'video-1',
      prompt: 'a fox',
      frame_images: [
        { type: 'image_url', image_url: { url: IMAGE }, frame_type: 'first_frame' },
        { type: 'image_url', image_url: { url: IMAGE }, frame_type: 'last_frame' },
      ],
      duration: 8,
      seed: 1,
    });
    expect(piece).toMatchObject({ kind: 'end', out: mp4(), usage: { videos: 1, video_seconds: '5.5' } });
    expect(headers).toMatchObject({ 'content-type': 'video/mp4', 'x-video-seconds': '5.5' });
    expect(translated({ prompt: 'a', fps: 24 }).ignored).toEqual(['fps']);
  });

  it('VID-13 at xAI: 202 is pending, the result waits at an address', async () => {
    const calls = new UpstreamCallsDouble([
      { body: { request_id: 'req-9' } },
      { status: 202, body: Buffer.alloc(0) },
      {
        body: {
          status: 'done',
          video: { url: 'https://vidgen.x.ai/v.mp4', duration: 4, respect_moderation: true },
        },
      },
      { body: Buffer.from('no header'), contentType: 'video/mp4' },
    ]);
    const body = { prompt: 'go on', content: [item('video', 'source_video', 'https://a.test/v.mp4')] };
    const { piece } = await run(body, calls, 'xai-video');
    expect(calls.sent[0]).toMatchObject({
      at: '/videos/edits',
      json: { model: 'video-1', prompt: 'go on', video: { url: 'https://a.test/v.mp4' } },
    });
    expect(calls.downloads).toEqual(['https://vidgen.x.ai/v.mp4']);
    expect(piece.usage).toMatchObject({ video_seconds: '4' });
  });

  it.each([
    ['3200/600 in its file', mp4(3_200, 600), 4, '5.333'],
    ['121121/24000 in its file', mp4(121_121, 24_000), 4, '5.047'],
    ['a year in its file', mp4(2 ** 32 - 1, 100), 4, '4'],
    ['nothing in its file', mp4(1, 2 ** 32 - 1), 4, '4'],
    ['1e308 by its provider', Buffer.from('no header'), 1e308, '6'],
    ['-5 by its provider', Buffer.from('no header'), -5, '6'],
  ])(
    'VID-13 bills seconds that can be, as a price takes them, of a video of %s',
    async (_name, file, reported, billed) => {
      const url = 'https://vidgen.x.ai/v.mp4';
      const calls = new UpstreamCallsDouble([
        { body: { request_id: 'req-9' } },
        { body: { status: 'done', video: { url, duration: reported } } },
        { body: file, contentType: 'video/mp4' },
      ]);
      const { headers, piece } = await run({ prompt: 'a fox', duration: 6 }, calls, 'xai-video');
      expect(piece.usage).toMatchObject({ videos: 1, video_seconds: billed });
      expect(headers?.['x-video-seconds']).toBe(billed);
    },
  );

  it('VID-13 at MiniMax bills the videos that were shown, too', async () => {
    const usage = { input_seconds: 3, output_seconds: 6 };
    const task = { status: 'succeeded', content: { url: 'https://a.test/v.mp4' }, usage };
    const calls = new UpstreamCallsDouble([
      { body: { task_id: 't-1' } },
      { body: { task } },
      { body: mp4() },
    ]);
    const content = [item('video', 'reference_video', 'https://a.test/r.mp4')];
    const { piece } = await run({ prompt: 'a fox', content }, calls, 'minimax-video');
    expect(piece.usage).toMatchObject({ videos: 1, video_seconds: '5.5', input_video_seconds: '3' });
  });

  it('VID-13 at fal: the result names where the video is', async () => {
    const [status_url, response_url] = ['https://queue.fal.run/r/status', 'https://queue.fal.run/r'];
    const calls = new UpstreamCallsDouble([
      { body: { status_url, response_url } },
      { status: 202, body: { status: 'IN_QUEUE' } },
      { body: { status: 'COMPLETED' } },
      { body: { video: { url: 'https://v3.fal.media/v.mp4' } } },
      { body: mp4() },
    ]);
    const { piece } = await run({ prompt: 'a fox' }, calls, 'fal-video');
    expect(calls.sent.map(({ at }) => at)).toEqual(['/video-1', status_url, status_url, response_url]);
    expect(calls.downloads).toEqual(['https://v3.fal.media/v.mp4']);
    expect(piece.usage).toMatchObject({ video_seconds: '5.5' });
  });

  it('VID-13 at Vertex AI: the last look holds the video, which is not fetched', async () => {
    const name = 'projects/p-1/locations/global/publishers/google/models/video-1/operations/op-1';
    const look = '/projects/p-1/locations/global/publishers/google/models/video-1:fetchPredictOperation';
    const video = { bytesBase64Encoded: mp4().toString('base64'), mimeType: 'video/mp4' };
    const calls = new UpstreamCallsDouble([
      { body: { name } },
      { body: { name } },
      { body: { name, done: true, response: { videos: [video] } } },
    ]);
    const { headers, piece } = await run({ prompt: 'a fox', duration: 8, fps: 24 }, calls, 'vertex-veo');
    expect(calls.noted).toEqual([name]);
    expect(calls.sent.map(({ at, json }) => [at, json])).toEqual([
      [
        '/models/video-1:predictLongRunning',
        {
          instances: [{ prompt: 'a fox' }],
          parameters: { sampleCount: 1, durationSeconds: 8, generateAudio: true },
        },
      ],
      [look, { operationName: name }],
      [look, { operationName: name }],
    ]);
    expect(calls.downloads).toEqual([]);
    expect(piece).toMatchObject({ kind: 'end', out: mp4(), usage: { videos: 1, video_seconds: '5.5' } });
    expect(headers).toMatchObject({ 'content-type': 'video/mp4', 'x-video-seconds': '5.5' });
  });

  it('VID-12 an upstream that takes no address of a picture leaves the route', () => {
    const content = [item('image', 'first_frame', 'https://a.test/b.png')];
    const unsupported = endpoint.translate(read({ prompt: 'a', content }), target('vertex-veo'));
    expect(unsupported).toEqual(new Unsupported('content.0.image_url'));
  });

  it('goes on with a task that is there, and never begins a second one', async () => {
    const calls = new UpstreamCallsDouble([{ body: { status: 'completed' } }, { body: mp4() }]);
    await run({ prompt: 'a', $task: { credential: 'openrouter', state: 'job-1' } }, calls);
    expect(calls.sent.map(({ method }) => method)).toEqual(['GET', 'GET']);
    expect(calls.noted).toEqual([]);
    expect(read({ prompt: 'a', $task: { credential: 'openrouter', state: 'job-1' } }).credential).toBe(
      'openrouter',
    );
  });

  it('ERR-59 ends with provider_resource_not_found where the provider no longer knows it', async () => {
    const calls = new UpstreamCallsDouble([{ body: { id: 'job-1' } }, notFound()]);
    await expect(run({ prompt: 'a' }, calls)).rejects.toMatchObject({ code: 'provider_resource_not_found' });
  });

  it.each([
    ['failed', 'internal', 'upstream_error'],
    ['failed', 'stopped by our safety policy', 'content_policy_violation'],
    ['expired', '', 'upstream_error'],
  ])('that is %s (%s) ends as %s, which nobody tries again', async (status, error, code) => {
    const calls = new UpstreamCallsDouble([{ body: { id: 'job-1' } }, { body: { status, error } }]);
    const failure: unknown = await run({ prompt: 'a' }, calls).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(ApiError);
    expect((failure as ApiError).code).toBe(code);
  });

  it.each([
    [{ status: 'failed', error: 'The prompt was refused.' }, 'Luma: The prompt was refused.'],
    [{ status: 'a new one' }, 'Luma: the answer names no state of the task.'],
  ])('says of %j who failed, in words that a caller may read', async (body, message) => {
    const answers = Array.from({ length: 6 }, () => ({ body }));
    const calls = new UpstreamCallsDouble([{ body: { id: 'job-1' } }, ...answers]);
    const said = (words: string): string => `Luma: ${words}`;
    const found = endpoint.translate(read({ prompt: 'a' }), { ...target('openrouter-video'), said });
    if (found instanceof Unsupported) throw new Error('a misfit');
    await expect(found.exchange?.(calls, {} as AnswerFacts)).rejects.toMatchObject({ message });
  });

  it('ERR-59 ends at once where an answer is beyond its bound: it would not be smaller a second time', async () => {
    const name = 'projects/p-1/locations/global/publishers/google/models/video-1/operations/op-1';
    const looked = new UpstreamCallsDouble([{ body: { name } }, tooLarge()]);
    const fetched = new UpstreamCallsDouble([
      { body: { id: 'job-1' } },
      { body: { status: 'completed' } },
      tooLarge(),
    ]);
    const failure = { code: 'upstream_error', message: 'the answer was too large.' };
    await expect(run({ prompt: 'a' }, looked, 'vertex-veo')).rejects.toMatchObject(failure);
    await expect(run({ prompt: 'a' }, fetched)).rejects.toMatchObject(failure);
    expect([looked.sent.length, fetched.sent.length]).toEqual([2, 3]);
  });

  it('survives polls that fail for a while', async () => {
    const calls = new UpstreamCallsDouble([
      { body: { id: 'job-1' } },
      { body: 'no object' },
      { body: { status: 'a new one' } },
      { body: { status: 'completed' } },
      { body: mp4() },
    ]);
    const { piece } = await run({ prompt: 'a' }, calls);
    expect(piece.kind).toBe('end');
  });
});
