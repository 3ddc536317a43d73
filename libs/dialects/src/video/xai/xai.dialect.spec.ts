import { begunBy, INLINE, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './xai.dialect.js';

const MODEL = 'grok-imagine-video';
const done = (video: object): object => ({ status: 'done', video, model: MODEL });

describe('videos of xAI', () => {
  it.each([
    ['/videos/generations', {}, {}],
    [
      '/videos/generations',
      { items: items(['first_frame'], ['last_frame', NAMED]) },
      { image: { url: INLINE }, last_frame: { url: NAMED } },
    ],
    [
      '/videos/generations',
      { items: items(['reference_image'], ['reference_image', NAMED], ['reference_audio', NAMED]) },
      { reference_images: [{ url: INLINE }, { url: NAMED }], reference_audios: [{ url: NAMED }] },
    ],
    ['/videos/edits', { items: items(['source_video', NAMED]) }, { video: { url: NAMED } }],
  ])('VID-13 are begun at %s: %j', (at, given, body) => {
    const options = { seed: 7, fps: 24 };
    const asked = { ...given, duration: 6, resolution: '720p', aspectRatio: '16:9', options };
    expect(begunBy(dialect, MODEL, asked)).toEqual({
      ...{ method: 'POST', at },
      json: {
        ...{ model: MODEL, prompt: 'a fox', ...body, duration: 6, resolution: '720p', aspect_ratio: '16:9' },
      },
    });
    expect(begunBy(dialect, MODEL, given).json).toEqual({ model: MODEL, prompt: 'a fox', ...body });
  });

  it('VID-13 are requests that are looked at, done or under way with or without a body', () => {
    expect(dialect.begun(replied({ request_id: 'r-1' }), videoOf())).toBe('r-1');
    expect(sent(dialect.poll('r-1'))).toEqual({ method: 'GET', at: '/videos/r-1', json: null });
    expect(dialect.read(replied(Buffer.alloc(0), 202), 'r-1')).toEqual({ status: 'running' });
    expect(dialect.read(replied({ status: 'pending' }, 202), 'r-1')).toEqual({ status: 'running' });
    expect(dialect.read(replied({ status: 'pending' }), 'r-1')).toEqual({ status: 'running' });
    const url = 'https://vidgen.x.ai/v.mp4';
    const whole = done({ url, duration: 6, respect_moderation: true });
    expect(dialect.read(replied(whole), 'r-1')).toEqual({ status: 'done', seconds: 6, result: { url } });
    expect(dialect.read(replied(done({ url })), 'r-1')).toMatchObject({ seconds: null });
  });

  it.each([
    [{ status: 'failed', error: { code: 'moderation', message: 'No.' } }, true, 'No.'],
    [{ status: 'failed', error: { code: 'internal', message: 'Broken.' } }, false, 'Broken.'],
    [{ status: 'expired' }, false, 'The task is expired.'],
    [done({ respect_moderation: false }), true, 'The video was held back by moderation.'],
  ])('ends with a reason: %j', (answer, isRefused, message) => {
    expect(dialect.read(replied(answer), 'r-1')).toEqual({ status: 'failed', isRefused, message });
  });

  it('takes nothing else for a task, its state or a video', () => {
    for (const answer of [{}, [], { request_id: 'a/b' }, { id: 'r-1' }])
      expect(() => dialect.begun(replied(answer), videoOf())).toThrow('names no request_id');
    for (const answer of [{}, [], { status: 'odd' }])
      expect(() => dialect.read(replied(answer), 'r-1')).toThrow('names no state');
    expect(() => dialect.read(replied(done({})), 'r-1')).toThrow('holds no video');
  });
});
