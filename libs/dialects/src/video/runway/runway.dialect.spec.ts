import { Unsupported } from '../../translation/translation.js';
import { begunBy, INLINE, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './runway.dialect.js';

const TASK = '17f20503-6c24-4c16-946b-35dbbce2af2f';

describe('videos of Runway', () => {
  it.each([
    [
      'text_to_video',
      { aspectRatio: '9:16' },
      { promptText: 'a fox', ratio: '720:1280', duration: 5, seed: 4 },
    ],
    [
      'image_to_video',
      { items: items(['first_frame'], ['last_frame', NAMED]) },
      {
        promptText: 'a fox',
        ratio: '1280:720',
        duration: 5,
        promptImage: [
          { uri: INLINE, position: 'first' },
          { uri: NAMED, position: 'last' },
        ],
        seed: 4,
      },
    ],
    [
      'video_to_video',
      { items: items(['source_video', NAMED]) },
      { promptText: 'a fox', videoUri: NAMED, seed: 4 },
    ],
  ])('VID-13 are begun at %s with what it knows alone', (path, given, body) => {
    expect(begunBy(dialect, 'gen4', { ...given, duration: 5, options: { seed: 4, fps: 24 } })).toEqual({
      method: 'POST',
      at: `/v1/${path}`,
      json: { model: 'gen4', ...body },
    });
  });

  it('VID-12 refuses what it has no word for', () => {
    expect(dialect.unsupported?.(videoOf({ resolution: '4k' }))).toEqual(new Unsupported('resolution'));
    expect(dialect.unsupported?.(videoOf({ items: items(['source_video']) }))).toEqual(
      new Unsupported('content.0.video_url'),
    );
    expect(dialect.unsupported?.(videoOf({ resolution: '720p' }))).toBeNull();
    const sized = begunBy(dialect, 'gen4', { options: { size: '1584x672' } });
    expect(sized.json).toMatchObject({ ratio: '1584:672' });
  });

  it('VID-13 are tasks', () => {
    expect(dialect.begun(replied({ id: TASK }), videoOf())).toBe(TASK);
    expect(sent(dialect.poll(TASK))).toMatchObject({ method: 'GET', at: `/v1/tasks/${TASK}` });
    for (const status of ['PENDING', 'THROTTLED', 'RUNNING'])
      expect(dialect.read(replied({ id: TASK, status, progress: 0.5 }), TASK)).toEqual({ status: 'running' });
    const url = 'https://dnznrvs05pmza.cloudfront.net/v.mp4';
    expect(dialect.read(replied({ status: 'SUCCEEDED', output: [url] }), TASK)).toEqual({
      status: 'done',
      seconds: null,
      result: { url },
    });
    expect(dialect.read(replied({ status: 'CANCELLED' }), TASK)).toMatchObject({ isRefused: false });
    const failed = { status: 'FAILED', failure: 'No.', failureCode: 'SAFETY.INPUT.TEXT' };
    expect(dialect.read(replied(failed), TASK)).toEqual({
      status: 'failed',
      isRefused: true,
      message: 'No.',
    });
    expect(() => dialect.read(replied({ status: 'SUCCEEDED', output: [] }), TASK)).toThrow('holds no video');
    expect(() => dialect.read(replied({}), TASK)).toThrow('names no state');
  });
});
