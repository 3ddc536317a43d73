import { UpstreamError } from '@gateway/contracts';
import { Unsupported } from '../../translation/translation.js';
import { asked, BASE64, PICTURE, PNG, run, targetOf } from '../images.fixture.js';
import { dialect } from './bfl.dialect.js';

const look = 'https://api.eu1.bfl.ai/v1/get_result?id=1';
const task = { id: '1', polling_url: look, cost: 4 };
const pending = { id: '1', status: 'Pending', result: null };
const ready = { id: '1', status: 'Ready', result: { sample: 'https://delivery-eu1.bfl.ai/1.jpeg' } };
const done = [{ body: task }, { body: pending }, { body: ready }, { body: PNG }];

describe('images of Black Forest Labs', () => {
  it('are tasks, looked at where the answer says, and fetched', async () => {
    const given = { options: { size: '1024x768', seed: 7 } };
    const { calls, made } = await run(dialect, 'flux-pro-1.1', given, [...done]);
    expect(calls.sent[0]).toMatchObject({
      at: '/v1/flux-pro-1.1',
      json: { prompt: 'A fox', width: 1024, height: 768, seed: 7, output_format: 'jpeg' },
    });
    expect(calls.sent.slice(1).map(({ method, at }) => [method, at])).toEqual([
      ['GET', look],
      ['GET', look],
    ]);
    expect(calls.sleptMs).toEqual([500, 500]);
    expect(calls.downloads).toEqual([ready.result.sample]);
    expect(made).toMatchObject({ images: [{ picture: { bytes: PNG } }], usage: { images: 1 } });
  });

  it('IMG-14 take several images by number', async () => {
    const mix = { operation: 'mix', images: [PICTURE], references: [PICTURE], aspectRatio: null } as const;
    const { calls } = await run(dialect, 'flux-kontext-pro', { ...mix, options: { size: '1024x1024' } }, [
      ...done,
    ]);
    expect(calls.sent[0].json).toEqual({
      prompt: 'A fox',
      input_image: BASE64,
      input_image_2: BASE64,
      aspect_ratio: '1:1',
      output_format: 'jpeg',
    });
  });

  it('IMG-10 are edited by their words, in pixels where the model names them so', async () => {
    const edit = { operation: 'edit', images: [PICTURE], options: { size: '512x256', output_format: 'png' } };
    const { calls, made } = await run(dialect, 'flux-2-pro', edit as object, [...done]);
    expect(calls.sent[0]).toMatchObject({ method: 'POST', at: '/v1/flux-2-pro' });
    expect(calls.sent[0].json).toEqual({
      ...{ prompt: 'A fox', input_image: BASE64, width: 512, height: 256, output_format: 'png' },
    });
    expect(made.usage).toMatchObject({ images: 1, input_images: 1 });
  });

  it.each([
    ['IMG-18', 'inpaint'],
    ['IMG-13', 'outpaint'],
  ] as const)('%s are filled by the model for it: %s', async (_id, operation) => {
    const given = { operation, images: [PICTURE], mask: PICTURE } as const;
    const { calls } = await run(dialect, 'flux-pro-1.0-fill', given, [...done]);
    expect(calls.sent[0].at).toBe('/v1/flux-pro-1.0-fill');
    expect(calls.sent[0].json).toEqual({
      prompt: 'A fox',
      image: BASE64,
      mask: BASE64,
      output_format: 'jpeg',
    });
  });

  it.each([
    ['Request Moderated', 400],
    ['Content Moderated', 400],
    ['Error', 500],
    ['Task not found', 500],
  ])('end as %s', async (status, expected) => {
    await expect(
      run(dialect, 'flux-pro-1.1', {}, [{ body: task }, { body: { id: '1', status } }]),
    ).rejects.toMatchObject({ failure: { kind: 'in_band', status: expected } });
  });

  it('go on where a look fails, four times in a row', async () => {
    const failure = new UpstreamError({
      code: 'upstream_error',
      message: 'away',
      httpStatus: 503,
      retryable: true,
      fallback: true,
      countsAsFault: true,
      fault: 'service',
    });
    const four = [failure, failure, failure, failure];
    await expect(
      run(dialect, 'flux-pro-1.1', {}, [done[0], ...four, ...done.slice(1)]),
    ).resolves.toBeDefined();
    await expect(run(dialect, 'flux-pro-1.1', {}, [done[0], ...four, failure])).rejects.toBe(failure);
  });

  it('IMG-24 are filled by no other model', () => {
    const unsupported = (model: string, given: Parameters<typeof asked>[0]): unknown =>
      dialect.unsupported(asked(given), targetOf(model));
    expect(unsupported('flux-pro-1.1', { operation: 'inpaint', mask: PICTURE })).toEqual(
      new Unsupported(null),
    );
    expect(unsupported('flux-pro-1.0-fill', { operation: 'edit' })).toEqual(new Unsupported(null));
    expect(unsupported('flux-kontext-pro', { operation: 'upscale' })).toEqual(new Unsupported(null));
    expect(unsupported('flux-kontext-pro', { operation: 'edit', mask: PICTURE })).toEqual(
      new Unsupported('mask'),
    );
    expect(unsupported('flux-kontext-pro', { n: 2 })).toEqual(new Unsupported('n'));
  });
});
