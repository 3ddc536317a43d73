import { Unsupported } from '../../translation/translation.js';
import { begunBy, INLINE, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './kling.dialect.js';

const data = (more: object): object => ({ code: 0, message: 'SUCCEED', data: { task_id: '77', ...more } });

describe('videos of Kling', () => {
  it.each([
    ['text2video', {}, { prompt: 'a fox', aspect_ratio: '16:9' }],
    [
      'image2video',
      { items: items(['first_frame'], ['last_frame', NAMED]) },
      { prompt: 'a fox', image: 'AAAA', image_tail: NAMED },
    ],
    [
      'multi-image2video',
      { items: items(['reference_image'], ['reference_image', NAMED]) },
      { prompt: 'a fox', image_list: [{ image: 'AAAA' }, { image: NAMED }], aspect_ratio: '16:9' },
    ],
  ])('VID-13 are begun at %s', (kind, given, body) => {
    const options = { negative_prompt: 'rain', generate_audio: true, watermark: false, seed: 1 };
    const asked = begunBy(dialect, 'kling-v3', { ...given, duration: 5, aspectRatio: '16:9', options });
    expect(asked).toEqual({
      method: 'POST',
      at: `/v1/videos/${kind}`,
      json: {
        model_name: 'kling-v3',
        ...body,
        negative_prompt: 'rain',
        sound: 'on',
        duration: '5',
        mode: 'std',
        watermark_info: { enabled: false },
      },
    });
    expect(JSON.stringify(asked.json)).not.toContain(INLINE);
  });

  it.each([
    ['720p', 'std'],
    ['1080p', 'pro'],
    ['4k', '4k'],
  ])('VID-13 %s is its mode %s', (resolution, mode) => {
    expect(begunBy(dialect, 'kling-v3', { resolution }).json).toMatchObject({ mode });
    expect(dialect.unsupported?.(videoOf({ resolution }))).toBeNull();
  });

  it('VID-12 refuses a resolution that it does not make', () => {
    for (const resolution of ['480p', 'constructor'])
      expect(dialect.unsupported?.(videoOf({ resolution }))).toEqual(new Unsupported('resolution'));
  });

  it('VID-13 are looked at where they were begun', () => {
    const request = videoOf({ items: items(['first_frame']) });
    const task = dialect.begun(replied(data({ task_status: 'submitted' })), request);
    expect(task).toBe('image2video:77');
    expect(sent(dialect.poll(task))).toMatchObject({ method: 'GET', at: '/v1/videos/image2video/77' });
    expect(dialect.read(replied(data({ task_status: 'processing' })), task)).toEqual({ status: 'running' });
    const videos = [{ id: '9', url: 'https://v16-kling-fdl.klingai.com/v.mp4', duration: '5.1' }];
    expect(dialect.read(replied(data({ task_status: 'succeed', task_result: { videos } })), task)).toEqual({
      status: 'done',
      seconds: 5.1,
      result: { url: 'https://v16-kling-fdl.klingai.com/v.mp4' },
    });
    const failed = data({ task_status: 'failed', task_status_msg: 'content risk control' });
    expect(dialect.read(replied(failed), task)).toEqual({
      status: 'failed',
      isRefused: true,
      message: 'content risk control',
    });
  });

  it.each([
    [1_002, 401],
    [1_102, 402],
    [1_103, 403],
    [1_201, 400],
    [1_203, 404],
    [1_301, 400],
    [1_303, 429],
    [5_000, 500],
  ])('reads the code %i under a status of 200 as %i', (code, status) => {
    const failure = expect.objectContaining({ kind: 'in_band', status }) as unknown;
    expect(() => dialect.begun(replied({ code, message: 'no' }), videoOf())).toThrow(
      expect.objectContaining({ failure }) as Error,
    );
  });

  it('takes nothing else for a task', () => {
    expect(() => dialect.begun(replied({}), videoOf())).toThrow('names no task');
    expect(() => dialect.poll('account:1')).toThrow('no known kind');
    expect(sent(dialect.poll('text2video:../x')).at).toBe('/v1/videos/text2video/..%2Fx');
    expect(() => dialect.read(replied(data({ task_status: 'odd' })), 'text2video:1')).toThrow(
      'names no state',
    );
  });
});
