import { Unsupported } from '../../translation/translation.js';
import { begunBy, INLINE, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './minimax.dialect.js';

const task = (more: object): object => ({ task: { id: 't-1', ...more } });

describe('videos of MiniMax', () => {
  it('VID-13 are begun with the caller’s items and roles', () => {
    const asked = begunBy(dialect, 'MiniMax-H3', {
      items: items(['reference_image'], ['reference_video', NAMED], ['reference_audio', NAMED]),
      duration: 6,
      resolution: '768p',
      aspectRatio: '16:9',
      options: { watermark: true },
    });
    expect(asked).toEqual({
      method: 'POST',
      at: '/v2/video_generation',
      json: {
        model: 'MiniMax-H3',
        content: [
          { type: 'text', text: 'a fox' },
          { type: 'image_url', image_url: { url: INLINE }, role: 'reference_image' },
          { type: 'video_url', video_url: { url: NAMED }, role: 'reference_video' },
          { type: 'audio_url', audio_url: { url: NAMED }, role: 'reference_audio' },
        ],
        resolution: '768P',
        duration: 6,
        ratio: '16:9',
        aigc_watermark: true,
      },
    });
    const frames = items(['first_frame'], ['last_frame', NAMED]);
    expect(begunBy(dialect, 'MiniMax-H3', { items: frames, prompt: '' }).json).toEqual({
      model: 'MiniMax-H3',
      content: [
        { type: 'image_url', image_url: { url: INLINE }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: NAMED }, role: 'last_frame' },
      ],
    });
  });

  it('VID-12 refuses what it would not take, by its position', () => {
    const many = items(...Array.from({ length: 10 }, (): ['reference_image'] => ['reference_image']));
    expect(dialect.unsupported?.(videoOf({ items: many }))).toEqual(new Unsupported('content.9.role'));
    expect(dialect.unsupported?.(videoOf({ items: items(['reference_audio', NAMED]) }))).toEqual(
      new Unsupported('content.0.role'),
    );
    expect(dialect.unsupported?.(videoOf({ items: items(['first_frame'], ['last_frame']) }))).toBeNull();
  });

  it('VID-13 are looked at by their id, and bill the seconds that were shown, too', () => {
    expect(dialect.begun(replied({ task_id: 't-1' }), videoOf())).toBe('t-1');
    expect(sent(dialect.poll('t-1'))).toMatchObject({ method: 'GET', at: '/v2/query/video_generation/t-1' });
    expect(dialect.read(replied(task({ status: 'queued' })), 't-1')).toEqual({ status: 'running' });
    const done = {
      status: 'succeeded',
      content: { url: 'https://cdn.test/v.mp4' },
      usage: { total_seconds: 9, input_seconds: 3, output_seconds: 6 },
    };
    expect(dialect.read(replied(task(done)), 't-1')).toEqual({
      status: 'done',
      seconds: 6,
      inputSeconds: 3,
      result: { url: 'https://cdn.test/v.mp4' },
    });
  });

  it.each([
    [{ status: 'failed', error: { code: '1026', message: 'sensitive content' } }, true, 'sensitive content'],
    [{ status: 'expired' }, false, 'The task is expired.'],
  ])('ends with a reason: %j', (more, isRefused, message) => {
    expect(dialect.read(replied(task(more)), 't-1')).toEqual({ status: 'failed', isRefused, message });
  });

  it('VID-13 a failure under a status of 200 is one: of the begin, and of a look', () => {
    const failed = replied({ task: null, base_resp: { status_code: 1002, status_msg: 'slow down' } });
    const error = { code: 'rate_limit_exceeded', message: 'slow down' };
    const failure = { kind: 'in_band', status: 429, message: 'slow down', body: { error } };
    for (const look of [() => dialect.begun(failed, videoOf()), () => dialect.read(failed, 't-1')])
      expect(look).toThrow(expect.objectContaining({ failure }) as Error);
    const fine = { task_id: 't-1', base_resp: { status_code: 0, status_msg: 'success' } };
    expect(dialect.begun(replied(fine), videoOf())).toBe('t-1');
  });

  it('takes nothing else for a task or a video', () => {
    expect(() => dialect.begun(replied({ task_id: 'a/b' }), videoOf())).toThrow('names no task');
    expect(() => dialect.read(replied(task({ status: 'new' })), 't-1')).toThrow('names no state');
    expect(() => dialect.read(replied(task({ status: 'succeeded' })), 't-1')).toThrow('holds no video');
  });
});
