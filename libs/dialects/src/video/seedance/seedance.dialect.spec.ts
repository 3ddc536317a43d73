import { begunBy, INLINE, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './seedance.dialect.js';

const TASK = 'cgt-20260101-abcde';

describe('videos of Seedance', () => {
  it('VID-13 are begun with the caller’s items; a picture alone has no role', () => {
    const asked = begunBy(dialect, 'seedance-1-5-pro', {
      items: items(['first_frame']),
      duration: 5,
      resolution: '720p',
      aspectRatio: 'adaptive',
      options: { seed: 3, generate_audio: false, watermark: true, camera_fixed: true, fps: 24 },
    });
    expect(asked).toEqual({
      method: 'POST',
      at: '/contents/generations/tasks',
      json: {
        model: 'seedance-1-5-pro',
        content: [
          { type: 'text', text: 'a fox' },
          { type: 'image_url', image_url: { url: INLINE } },
        ],
        resolution: '720p',
        ratio: 'adaptive',
        duration: 5,
        seed: 3,
        generate_audio: false,
        watermark: true,
        camera_fixed: true,
      },
    });
    const frames = items(['first_frame'], ['last_frame', NAMED]);
    expect(begunBy(dialect, 'm', { items: frames, prompt: '' }).json).toEqual({
      model: 'm',
      content: [
        { type: 'image_url', image_url: { url: INLINE }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: NAMED }, role: 'last_frame' },
      ],
    });
    const shown = items(['reference_image'], ['reference_video', NAMED], ['reference_audio', NAMED]);
    expect(begunBy(dialect, 'm', { items: shown }).json).toEqual({
      model: 'm',
      content: [
        { type: 'text', text: 'a fox' },
        { type: 'image_url', image_url: { url: INLINE }, role: 'reference_image' },
        { type: 'video_url', video_url: { url: NAMED }, role: 'reference_video' },
        { type: 'audio_url', audio_url: { url: NAMED }, role: 'reference_audio' },
      ],
    });
  });

  it('VID-13 are looked at by their id', () => {
    expect(dialect.begun(replied({ id: TASK }), videoOf())).toBe(TASK);
    expect(sent(dialect.poll(TASK))).toMatchObject({
      method: 'GET',
      at: `/contents/generations/tasks/${TASK}`,
    });
    expect(dialect.read(replied({ id: TASK, status: 'queued' }), TASK)).toEqual({ status: 'running' });
    const done = { status: 'succeeded', content: { video_url: 'https://a.test/v.mp4' }, duration: 5 };
    expect(dialect.read(replied(done), TASK)).toEqual({
      status: 'done',
      seconds: 5,
      result: { url: 'https://a.test/v.mp4' },
    });
  });

  it.each([
    [
      { status: 'failed', error: { code: 'OutputVideoSensitiveContentDetected', message: 'No.' } },
      true,
      'No.',
    ],
    [{ status: 'failed', error: { code: 'InternalServiceError', message: 'Broken.' } }, false, 'Broken.'],
    [{ status: 'cancelled' }, false, 'The task is cancelled.'],
  ])('ends with a reason: %j', (answer, isRefused, message) => {
    expect(dialect.read(replied(answer), TASK)).toEqual({ status: 'failed', isRefused, message });
  });

  it('takes nothing else for a task or a video', () => {
    expect(() => dialect.begun(replied({}), videoOf())).toThrow('names no task');
    expect(() => dialect.read(replied({ status: 'odd' }), TASK)).toThrow('names no state');
    expect(() => dialect.read(replied({ status: 'succeeded', content: {} }), TASK)).toThrow('holds no video');
  });
});
