import { estimateInput, estimateTokens, estimateUsage } from './index.js';

describe('the estimate', () => {
  it.each([
    [0, 0],
    [1, 1],
    [4, 1],
    [5, 2],
    [401, 101],
    [Number.NaN, 0],
  ])('takes %d bytes of text for %d tokens', (bytes, tokens) => {
    expect(estimateTokens(bytes)).toBe(tokens);
  });

  it('counts a document 1,000 for each started 64 KiB, each document by itself', () => {
    const text = (inputDocuments: number[]): number => estimateInput({ inputBytes: 0, inputDocuments }).text;
    expect(text([1])).toBe(1_000);
    expect(text([65_536])).toBe(1_000);
    expect(text([65_537])).toBe(2_000);
    expect(text([1, 1, 0])).toBe(2_000);
  });

  it('counts audio 32 and video 300 tokens a second, rounded up', () => {
    expect(estimateInput({ inputBytes: 0, inputAudioSeconds: '1.5', inputVideoSeconds: 2.001 })).toEqual({
      text: 601,
      audio: 48,
      image: 0,
      total: 649,
    });
  });

  it('takes the route’s tile rule for images where there is one', () => {
    expect(estimateInput({ inputBytes: 0, inputImages: 2 }).image).toBe(2_000);
    expect(estimateInput({ inputBytes: 0, inputImages: 2, imageTokens: 510 }).image).toBe(510);
  });

  it('lets reported counts stand and completes what is missing', () => {
    const traffic = { inputBytes: 400, outputBytes: 41 };
    const reported = { prompt_tokens: 120, cached_tokens: 100, requests: 1 };
    expect(estimateUsage(traffic, reported)).toEqual({
      usage: { ...reported, completion_tokens: 11 },
      usage_estimated: true,
    });
    const complete = { prompt_tokens: 120, completion_tokens: 0 };
    expect(estimateUsage(traffic, complete)).toEqual({ usage: complete, usage_estimated: false });
  });

  it('adds audio, images, documents and video to the text of the prompt', () => {
    const input = { inputAudioSeconds: 2, inputImages: 3, inputVideoSeconds: 1, inputDocuments: [1] };
    expect(estimateUsage({ inputBytes: 8, outputBytes: 0, ...input }).usage).toMatchObject({
      prompt_tokens: 2 + 64 + 3_000 + 300 + 1_000,
      audio_input_tokens: 64,
      image_input_tokens: 3_000,
    });
  });

  it('adds hidden reasoning to the output, where the output is estimated', () => {
    const traffic = { inputBytes: 0, outputBytes: 40, hiddenTokens: 7 };
    expect(estimateUsage(traffic).usage.completion_tokens).toBe(17);
    expect(estimateUsage(traffic, { completion_tokens: 3 }).usage.completion_tokens).toBe(3);
  });

  it('counts no cache where the prompt is estimated', () => {
    const { usage } = estimateUsage({ inputBytes: 8, inputImages: 1, outputBytes: 0 }, { cached_tokens: 7 });
    expect(usage).toMatchObject({
      prompt_tokens: 1_002,
      image_input_tokens: 1_000,
      cached_tokens: 0,
      completion_tokens: 0,
    });
  });
});
