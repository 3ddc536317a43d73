import { Unsupported } from '../../translation/translation.js';
import { begunBy, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './luma.dialect.js';

describe('videos of Luma', () => {
  it('VID-13 are begun with the addresses of their frames', () => {
    const frames = items(['first_frame', NAMED], ['last_frame', NAMED]);
    const given = { items: frames, duration: 9, resolution: '1080p', aspectRatio: '16:9' };
    expect(begunBy(dialect, 'ray-2', given)).toEqual({
      method: 'POST',
      at: '/generations/video',
      json: {
        model: 'ray-2',
        prompt: 'a fox',
        keyframes: { frame0: { type: 'image', url: NAMED }, frame1: { type: 'image', url: NAMED } },
        aspect_ratio: '16:9',
        duration: '9s',
        resolution: '1080p',
      },
    });
    expect(begunBy(dialect, 'ray-2').json).toEqual({ model: 'ray-2', prompt: 'a fox', resolution: '720p' });
  });

  it('VID-12 refuses bytes of a frame, and lengths and resolutions that it does not make', () => {
    expect(dialect.unsupported?.(videoOf({ items: items(['first_frame']) }))).toEqual(
      new Unsupported('content.0.image_url'),
    );
    expect(dialect.unsupported?.(videoOf({ duration: 6 }))).toEqual(new Unsupported('duration'));
    expect(dialect.unsupported?.(videoOf({ resolution: '480p' }))).toEqual(new Unsupported('resolution'));
    expect(dialect.unsupported?.(videoOf({ duration: 5, resolution: '4k' }))).toBeNull();
  });

  it('VID-13 are generations', () => {
    expect(dialect.begun(replied({ id: 'g-1' }), videoOf())).toBe('g-1');
    expect(sent(dialect.poll('g-1'))).toMatchObject({ method: 'GET', at: '/generations/g-1' });
    expect(dialect.read(replied({ state: 'dreaming' }), 'g-1')).toEqual({ status: 'running' });
    const url = 'https://storage.cdn-luma.com/v.mp4';
    expect(dialect.read(replied({ state: 'completed', assets: { video: url } }), 'g-1')).toEqual({
      status: 'done',
      seconds: null,
      result: { url },
    });
    const failed = { state: 'failed', failure_reason: 'advanced moderation failed' };
    expect(dialect.read(replied(failed), 'g-1')).toMatchObject({ status: 'failed', isRefused: true });
    expect(() => dialect.read(replied({ state: 'completed', assets: {} }), 'g-1')).toThrow('holds no video');
    expect(() => dialect.read(replied({ state: 'odd' }), 'g-1')).toThrow('names no state');
  });
});
