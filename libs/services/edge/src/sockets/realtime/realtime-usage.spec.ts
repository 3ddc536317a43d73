import { transcriptionUsage } from './realtime-usage.js';

describe('the counts of an input transcription', () => {
  it.each([
    [
      { type: 'duration', seconds: 3 },
      { audio_seconds: '3', prompt_tokens: 0, completion_tokens: 0 },
    ],
    [
      { input_tokens: 9, output_tokens: 2 },
      { audio_seconds: '2.5', prompt_tokens: 9, completion_tokens: 2 },
    ],
    [
      { input_tokens: '9', output_tokens: 2 },
      { audio_seconds: '2.5', completion_tokens: 2 },
    ],
    [{ seconds: 3, input_tokens: -1 }, { audio_seconds: '3' }],
    [{ seconds: '3' }, { audio_seconds: '2.5' }],
    [undefined, { audio_seconds: '2.5' }],
  ])('%j: a side that is no count is left to the estimate', (usage, counted) => {
    const { audio_input_tokens, ...counts } = transcriptionUsage(usage, 2.5);
    expect(counts).toEqual(counted);
    expect(audio_input_tokens).toBe('prompt_tokens' in counted ? 0 : undefined);
  });
});
