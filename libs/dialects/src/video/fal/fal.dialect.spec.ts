import { Unsupported } from '../../translation/translation.js';
import { begunBy, INLINE, items, NAMED, replied, sent, videoOf } from '../video.fixture.js';
import { dialect } from './fal.dialect.js';

const STATUS = 'https://queue.fal.run/fal-ai/ray/requests/r-1/status';
const RESPONSE = 'https://queue.fal.run/fal-ai/ray/requests/r-1';
const TASK = `${STATUS} ${RESPONSE}`;

describe('videos of fal', () => {
  it('VID-13 are begun below the model', () => {
    const options = { seed: 5, negative_prompt: 'rain', generate_audio: true, fps: 24 };
    const given = { items: items(['first_frame'], ['last_frame', NAMED]), duration: 5, options };
    expect(begunBy(dialect, 'fal-ai/ray', { ...given, resolution: '720p', aspectRatio: '1:1' })).toEqual({
      method: 'POST',
      at: '/fal-ai/ray',
      json: {
        prompt: 'a fox',
        negative_prompt: 'rain',
        image_url: INLINE,
        end_image_url: NAMED,
        duration: '5',
        resolution: '720p',
        aspect_ratio: '1:1',
        generate_audio: true,
        seed: 5,
      },
    });
    const shown = items(['reference_image'], ['reference_image', NAMED]);
    expect(begunBy(dialect, 'm', { items: shown }).json).toEqual({
      prompt: 'a fox',
      reference_image_urls: [INLINE, NAMED],
    });
    const source = items(['source_video', NAMED]);
    expect(begunBy(dialect, 'm', { items: source, prompt: '' })).toEqual({
      ...{ method: 'POST', at: '/m', json: { video_url: NAMED } },
    });
    const both = items(['reference_image'], ['source_video', NAMED]);
    expect(dialect.unsupported?.(videoOf({ items: both }))).toEqual(new Unsupported('content.0.role'));
  });

  it('VID-13 are looked at and fetched where the answer says: no address is built', () => {
    const begun = { request_id: 'r-1', status_url: STATUS, response_url: RESPONSE, cancel_url: 'x' };
    expect(dialect.begun(replied(begun), videoOf())).toBe(TASK);
    expect(sent(dialect.poll(TASK))).toMatchObject({ method: 'GET', at: STATUS });
    expect(dialect.read(replied({ status: 'IN_QUEUE' }, 202), TASK)).toEqual({ status: 'running' });
    const done = dialect.read(replied({ status: 'COMPLETED' }), TASK);
    if (done.status !== 'done' || !('call' in done.result)) throw new Error('it is not done');
    expect(sent(done.result.call)).toMatchObject({ method: 'GET', at: RESPONSE });
    const url = 'https://v3.fal.media/files/v.mp4';
    expect(done.result.urlIn?.(replied({ video: { url } }))).toBe(url);
    expect(() => (done.result as { urlIn: (reply: unknown) => string }).urlIn(replied({}))).toThrow(
      'no video',
    );
  });

  it('ends with a reason, and takes nothing else for a task', () => {
    expect(dialect.read(replied({ status: 'COMPLETED', error: 'content policy' }), TASK)).toEqual({
      status: 'failed',
      isRefused: true,
      message: 'content policy',
    });
    expect(() => dialect.read(replied({ status: 'odd' }), TASK)).toThrow('names no state');
    expect(() => dialect.begun(replied({ status_url: STATUS }), videoOf())).toThrow('names no task');
    const hostile = { status_url: `${STATUS} http://10.0.0.1/`, response_url: RESPONSE };
    expect(() => dialect.begun(replied(hostile), videoOf())).toThrow('names no task');
  });
});
