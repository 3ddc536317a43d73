import { Unsupported } from '../../translation/translation.js';
import { asked, BASE64, PICTURE, run, targetOf } from '../images.fixture.js';
import { dialect } from './gemini.dialect.js';

const MODEL = 'gemini-3-pro-image';
const image = { inlineData: { mimeType: 'image/png', data: BASE64 } };
const usageMetadata = {
  promptTokenCount: 270,
  candidatesTokenCount: 1_120,
  thoughtsTokenCount: 80,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 12 },
    { modality: 'IMAGE', tokenCount: 258 },
  ],
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_120 }],
};
const parts = [
  { thought: true, inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' } },
  { text: 'Here it is.' },
  image,
];
const body = { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata };

describe('images of Gemini', () => {
  it('are made by generateContent; thoughts are output, drafts are not shown', async () => {
    const { calls, made } = await run(dialect, MODEL, { options: { size: '1024x1024', resolution: '2K' } }, [
      { body },
    ]);
    expect(calls.sent[0]).toMatchObject({
      at: `/models/${MODEL}:generateContent`,
      json: {
        contents: [{ role: 'user', parts: [{ text: 'A fox' }] }],
        generationConfig: {
          responseModalities: ['TEXT', 'IMAGE'],
          imageConfig: { aspectRatio: '1:1', imageSize: '2K' },
        },
      },
    });
    expect(made.images).toEqual([
      { picture: { base64: BASE64 }, members: { revised_prompt: 'Here it is.' } },
    ]);
    expect(made.usage).toMatchObject({
      images: 1,
      prompt_tokens: 270,
      image_input_tokens: 258,
      completion_tokens: 1_200,
      image_output_tokens: 1_120,
    });
    expect(made.members).toMatchObject({ usage: { input_tokens: 270, output_tokens: 1_200 } });
  });

  it('IMG-15 mixes: the images stand before the prompt', async () => {
    const mix = { operation: 'mix', images: [PICTURE], references: [PICTURE, PICTURE] } as const;
    const { calls } = await run(dialect, MODEL, mix, [{ body }]);
    expect(calls.sent[0].json).toMatchObject({
      contents: [{ parts: [image, image, image, { text: 'A fox' }] }],
    });
  });

  it.each([
    ['IMG-10', { operation: 'edit' }, 'A fox', {}],
    [
      'IMG-16',
      { operation: 'reframe', prompt: '', aspectRatio: '9:16' },
      'Extend the picture to the new format. Keep everything that it shows.',
      { imageConfig: { aspectRatio: '9:16' } },
    ],
  ] as const)('%s edits: %j', async (_id, given, text, config) => {
    const { calls, made } = await run(dialect, MODEL, { ...given, images: [PICTURE] }, [{ body }]);
    expect(calls.sent[0]).toMatchObject({ method: 'POST', at: `/models/${MODEL}:generateContent` });
    expect(calls.sent[0].json).toEqual({
      contents: [{ role: 'user', parts: [image, { text }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], ...config },
    });
    expect(made.usage).toMatchObject({ images: 1, input_images: 1 });
  });

  it('leaves to the estimate what was not counted', async () => {
    const { made } = await run(dialect, MODEL, {}, [{ body: { ...body, usageMetadata: undefined } }]);
    expect(made).toMatchObject({ usage: { images: 1, image_output_tokens: 1_000 }, deliveredBytes: 4_000 });
  });

  it.each([
    [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'in_band'],
    [{ candidates: [{ finishReason: 'IMAGE_SAFETY' }] }, 'in_band'],
    [{ candidates: [{ finishReason: 'NO_IMAGE', content: { parts: [{ text: 'No.' }] } }] }, 'bad_response'],
    [{}, 'bad_response'],
  ])('says why %j holds no image', async (answer, kind) => {
    await expect(run(dialect, MODEL, {}, [{ body: answer }])).rejects.toMatchObject({ failure: { kind } });
  });

  it('IMG-24 takes no mask operation, and one image', () => {
    const unsupported = (given: Parameters<typeof asked>[0]): unknown =>
      dialect.unsupported(asked(given), targetOf(MODEL));
    expect(unsupported({ operation: 'inpaint' })).toEqual(new Unsupported(null));
    expect(unsupported({ n: 2 })).toEqual(new Unsupported('n'));
    for (const operation of ['generate', 'edit', 'mix', 'reframe'] as const)
      expect(unsupported({ operation })).toBeNull();
  });
});
