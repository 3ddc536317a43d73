import { Misfit } from '../../translation/translation.js';
import { begunBy, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './veo.dialect.js';

const MODEL = 'veo-3.1-generate-preview';
const TASK = `models/${MODEL}/operations/abc-123`;
const png = { bytesBase64Encoded: 'AAAA', mimeType: 'image/png' };
const URI = 'https://generativelanguage.googleapis.com/v1beta/files/f1:download?alt=media';
const made = (response: object): object => ({ name: TASK, done: true, response });

describe('videos of Veo', () => {
  it('VID-13 are begun with the bytes of their pictures', () => {
    const asked = begunBy(dialect, MODEL, {
      items: items(['first_frame'], ['last_frame']),
      duration: 8,
      resolution: '1080p',
      aspectRatio: '9:16',
      options: { seed: 7, negative_prompt: 'rain', person_generation: 'allow_adult' },
    });
    expect(asked).toEqual({
      method: 'POST',
      at: `/models/${MODEL}:predictLongRunning`,
      json: {
        instances: [{ prompt: 'a fox', image: png, lastFrame: png }],
        parameters: {
          aspectRatio: '9:16',
          durationSeconds: 8,
          resolution: '1080p',
          negativePrompt: 'rain',
          personGeneration: 'allow_adult',
          seed: 7,
        },
      },
    });
    const shown = items(['reference_image'], ['reference_image']);
    expect(begunBy(dialect, MODEL, { items: shown, aspectRatio: 'adaptive' }).json).toEqual({
      instances: [
        {
          prompt: 'a fox',
          referenceImages: [
            { image: png, referenceType: 'asset' },
            { image: png, referenceType: 'asset' },
          ],
        },
      ],
      parameters: {},
    });
    const source = items(['source_video', URI]);
    expect(begunBy(dialect, MODEL, { items: source }).json).toMatchObject({
      instances: [{ video: { uri: URI } }],
    });
    const own = items(['source_video', 'data:video/mp4;base64,BBBB']);
    expect(begunBy(dialect, MODEL, { items: own }).json).toEqual({
      instances: [{ prompt: 'a fox', video: { encodedVideo: 'BBBB', encoding: 'video/mp4' } }],
      parameters: {},
    });
  });

  it('VID-12 takes no address of a picture: it is refused, not left out', () => {
    const named = items(['first_frame'], ['last_frame', NAMED]);
    expect(dialect.misfit?.(videoOf({ items: named }))).toEqual(new Misfit('content.1.image_url'));
    expect(dialect.misfit?.(videoOf({ items: items(['source_video', NAMED]) }))).toBeNull();
  });

  it('VID-13 are operations that are looked at, and files that are fetched with the key', () => {
    expect(dialect.begun(replied({ name: TASK }), videoOf())).toBe(TASK);
    expect(sent(dialect.poll(TASK))).toMatchObject({ method: 'GET', at: `/${TASK}` });
    expect(dialect.read(replied({ name: TASK }), TASK)).toEqual({ status: 'running' });
    const done = made({ generateVideoResponse: { generatedSamples: [{ video: { uri: URI } }] } });
    expect(dialect.read(replied(done), TASK)).toMatchObject({
      status: 'done',
      seconds: null,
      result: { call: { method: 'GET', url: URI, mayMove: true } },
    });
  });

  it.each([
    [{ name: TASK, done: true, error: { code: 13, message: 'internal' } }, false, 'internal'],
    [
      { name: TASK, done: true, error: { code: 3, message: 'blocked by safety filters' } },
      true,
      'blocked by safety filters',
    ],
    [
      made({ generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['a face'] } }),
      true,
      'a face',
    ],
  ])('ends with a reason: %j', (answer, isRefused, message) => {
    expect(dialect.read(replied(answer), TASK)).toEqual({ status: 'failed', isRefused, message });
  });

  it('takes nothing else for an operation or a video', () => {
    for (const name of ['', 'operations/1', 'models/../../v1/x', `${TASK}/../..`])
      expect(() => dialect.begun(replied({ name }), videoOf())).toThrow('names no operation');
    expect(() => dialect.poll('models/a/../b')).toThrow('no operation');
    expect(() => dialect.read(replied(made({})), TASK)).toThrow('holds no video');
    expect(() => dialect.read(replied([]), TASK)).toThrow('names no operation');
  });
});
