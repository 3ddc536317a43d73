import { Unsupported } from '../../translation/translation.js';
import { begunBy, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './vertex-veo.dialect.js';

const MODEL = 'veo-3.1-generate-001';
const PLACE = `projects/p-1/locations/us-central1/publishers/google/models/${MODEL}/operations`;
const TASK = `${PLACE}/0f8a1b2c-3d4e-5f60`;
const VIDEO = Buffer.from('an mp4');
const png = { bytesBase64Encoded: 'AAAA', mimeType: 'image/png' };
const mp4 = { bytesBase64Encoded: VIDEO.toString('base64'), mimeType: 'video/mp4' };
const made = (response: object, name = TASK): object => ({ name, done: true, response });
const read = (answer: unknown) => dialect.read(replied(answer), TASK);

describe('videos of Veo on Vertex AI', () => {
  it('VID-13 are begun with the bytes of their pictures and every option', () => {
    const asked = begunBy(dialect, MODEL, {
      items: items(['first_frame'], ['last_frame']),
      duration: 8,
      resolution: '1080p',
      aspectRatio: '9:16',
      options: {
        ...{ seed: 7, negative_prompt: 'rain', person_generation: 'allow_adult', generate_audio: false },
        fps: 24,
      },
    });
    expect(asked).toEqual({
      method: 'POST',
      at: `/models/${MODEL}:predictLongRunning`,
      json: {
        instances: [{ prompt: 'a fox', image: png, lastFrame: png }],
        parameters: {
          sampleCount: 1,
          aspectRatio: '9:16',
          durationSeconds: 8,
          resolution: '1080p',
          generateAudio: false,
          negativePrompt: 'rain',
          personGeneration: 'allow_adult',
          seed: 7,
        },
      },
    });
    expect(dialect.takes).not.toContain('fps');
  });

  it.each([
    [{}, { prompt: 'a fox' }],
    [{ prompt: '', items: items(['first_frame']) }, { image: png }],
    [
      { items: items(['reference_image'], ['reference_image']), aspectRatio: 'adaptive' },
      {
        prompt: 'a fox',
        referenceImages: [
          { image: png, referenceType: 'asset' },
          { image: png, referenceType: 'asset' },
        ],
      },
    ],
    [
      { items: items(['source_video', 'data:video/mp4;base64,BBBB']) },
      { prompt: 'a fox', video: { bytesBase64Encoded: 'BBBB', mimeType: 'video/mp4' } },
    ],
  ])('VID-13 have sound where nothing is said of it: %j', (given, instance) => {
    expect(begunBy(dialect, MODEL, given).json).toEqual({
      instances: [instance],
      parameters: { sampleCount: 1, generateAudio: true },
    });
  });

  it('VID-12 take no address of a picture or a video: it is refused, not left out', () => {
    const picture = items(['first_frame'], ['last_frame', NAMED]);
    expect(dialect.unsupported?.(videoOf({ items: picture }))).toEqual(
      new Unsupported('content.1.image_url'),
    );
    const video = items(['source_video', 'https://a.test/b.mp4']);
    expect(dialect.unsupported?.(videoOf({ items: video }))).toEqual(new Unsupported('content.0.video_url'));
    expect(dialect.unsupported?.(videoOf({ items: items(['first_frame'], ['last_frame']) }))).toBeNull();
  });

  it('VID-13 are operations that are asked for by name, and hold their video at the end', () => {
    expect(dialect.begun(replied({ name: TASK }), videoOf())).toBe(TASK);
    expect(sent(dialect.poll(TASK))).toEqual({
      method: 'POST',
      at: `/projects/p-1/locations/us-central1/publishers/google/models/${MODEL}:fetchPredictOperation`,
      json: { operationName: TASK },
    });
    expect(read({ name: TASK })).toEqual({ status: 'running' });
    const done = { status: 'done', seconds: null, result: { bytes: VIDEO } };
    expect(read(made({ raiMediaFilteredCount: 0, videos: [mp4] }))).toEqual(done);
    const numbered = TASK.replace('p-1', '123456');
    expect(read(made({ videos: [{ bytesBase64Encoded: mp4.bytesBase64Encoded }] }, numbered))).toEqual(done);
  });

  const sensitive = 'The prompt contains sensitive words.';
  it.each([
    [{ name: TASK, done: true, error: { code: 13, message: 'internal' } }, false, 'internal'],
    [{ name: TASK, done: true, error: { code: 3, message: sensitive } }, true, sensitive],
    [{ name: TASK, done: true, error: {} }, false, 'The task failed.'],
    [made({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['a face'] }), true, 'a face'],
    [made({ raiMediaFilteredCount: 1 }), true, 'The video was filtered.'],
  ])('ends with a reason: %j', (answer, isRefused, message) => {
    expect(read(answer)).toEqual({ status: 'failed', isRefused, message });
  });

  it.each([
    '',
    'operations/1',
    `models/${MODEL}/operations/1`,
    `${TASK}/../..`,
    `${TASK}?a=b`,
    `/${TASK}`,
    TASK.replace(MODEL, '..'),
    TASK.replace(MODEL, `a/../${MODEL}`),
    TASK.replace('us-central1', '..'),
    TASK.replace('/google/', '/anthropic/'),
    `${PLACE}/${'a'.repeat(101)}`,
  ])('takes %j for no operation, neither from an answer nor from a table', (name) => {
    expect(() => dialect.begun(replied({ name }), videoOf())).toThrow('names no operation');
    expect(() => dialect.poll(name)).toThrow('no operation');
  });

  it.each([
    ['another operation', { ...made({ videos: [mp4] }), name: `${PLACE}/other` }, 'another operation'],
    ['no operation', { done: true, response: { videos: [mp4] } }, 'another operation'],
    ['an answer that is no object', [], 'another operation'],
    ['nothing', made({}), 'holds no video'],
    ['a video without bytes', made({ videos: [{ mimeType: 'video/mp4' }] }), 'holds no video'],
    ['bytes that are none', made({ videos: [{ bytesBase64Encoded: '!!!' }] }), 'holds no video'],
    ['a number', made({ videos: [{ bytesBase64Encoded: 7 }] }), 'holds no video'],
    ['a file of another kind', made({ videos: [{ ...mp4, mimeType: 'text/html' }] }), 'no mp4'],
    ['a file in a bucket', made({ videos: [{ gcsUri: 'gs://b/v.mp4', ...mp4 }] }), 'in a bucket'],
  ])('takes %s for no video', (_name, answer, reason) => {
    expect(() => read(answer)).toThrow(reason);
  });
});
