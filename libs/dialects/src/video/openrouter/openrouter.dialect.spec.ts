import { begunBy, INLINE, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './openrouter.dialect.js';

const frame = (url: string, frame_type: string): object => ({ ...shown(url), frame_type });
const shown = (url: string): object => ({ type: 'image_url', image_url: { url } });

describe('videos of OpenRouter', () => {
  it.each([
    ['words alone', {}, {}],
    [
      'frames',
      { items: items(['first_frame'], ['last_frame', NAMED]) },
      { frame_images: [frame(INLINE, 'first_frame'), frame(NAMED, 'last_frame')] },
    ],
    [
      'references',
      { items: items(['reference_image'], ['reference_image', NAMED]) },
      { input_references: [shown(INLINE), shown(NAMED)] },
    ],
  ])('VID-13 are begun with %s', (_what, given, body) => {
    const options = { seed: 7, generate_audio: false, size: '1280x720', watermark: true };
    const asked = begunBy(dialect, 'acme/clip', {
      ...{ ...given, duration: 4, resolution: '720p', aspectRatio: '16:9', options },
    });
    expect(asked).toEqual({
      method: 'POST',
      at: '/videos',
      json: {
        ...{ model: 'acme/clip', prompt: 'a fox', ...body, duration: 4, resolution: '720p' },
        ...{ aspect_ratio: '16:9', seed: 7, generate_audio: false, size: '1280x720' },
      },
    });
    expect(begunBy(dialect, 'm', given).json).toEqual({ model: 'm', prompt: 'a fox', ...body });
  });

  it('VID-13 are looked at by their id, and fetched below it', () => {
    expect(dialect.begun(replied({ id: 'v-1', status: 'pending' }), videoOf())).toBe('v-1');
    expect(sent(dialect.poll('a:1'))).toEqual({ method: 'GET', at: '/videos/a%3A1', json: null });
    for (const status of ['pending', 'queued', 'in_progress', 'processing'])
      expect(dialect.read(replied({ id: 'v-1', status }), 'v-1')).toEqual({ status: 'running' });
    const done = dialect.read(replied({ id: 'v-1', status: 'completed' }), 'v-1');
    if (done.status !== 'done' || !('call' in done.result)) throw new Error('it is not done');
    expect(done.seconds).toBeNull();
    expect(sent(done.result.call)).toEqual({
      ...{ method: 'GET', at: '/videos/v-1/content?index=0', json: null },
    });
    expect(done.result.call.accept).toBe('video/*');
  });

  it.each([
    [{ status: 'failed', error: 'content policy' }, true, 'content policy'],
    [{ status: 'failed', error: { message: 'no capacity' } }, false, 'no capacity'],
    [{ status: 'cancelled' }, false, 'The task is cancelled.'],
    [{ status: 'expired', error: '' }, false, 'The task is expired.'],
  ])('ends with a reason: %j', (answer, isRefused, message) => {
    expect(dialect.read(replied(answer), 'v-1')).toEqual({ status: 'failed', isRefused, message });
  });

  it('takes nothing else for a task or its state', () => {
    for (const answer of [{}, [], { id: 'a/b' }, { id: '' }, { id: 7 }])
      expect(() => dialect.begun(replied(answer), videoOf())).toThrow('names no task');
    for (const answer of [{}, [], { status: 'odd' }])
      expect(() => dialect.read(replied(answer), 'v-1')).toThrow('names no state');
  });
});
