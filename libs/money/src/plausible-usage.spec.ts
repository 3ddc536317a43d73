import fc from 'fast-check';
import { plausibleUsage, recordingBound, transcriptionBound, usageBound } from './plausible-usage.js';

const bound = usageBound({ contextLength: 1_000, maxOutputTokens: 500 }, 0);

describe('counts that cannot be', () => {
  it('believes 16 times what the route can use, and not one more, each side by itself', () => {
    const most = 16 * 1_500;
    const counts = { prompt_tokens: most, cached_tokens: 5, completion_tokens: most, reasoning_tokens: 4 };
    expect(plausibleUsage(counts, bound)).toEqual({ usage: counts, isDoubted: false });
    expect(plausibleUsage({ ...counts, prompt_tokens: most + 1 }, bound)).toEqual({
      usage: { completion_tokens: most, reasoning_tokens: 4 },
      isDoubted: true,
    });
    expect(plausibleUsage({ ...counts, completion_tokens: 2 ** 53 - 1 }, bound)).toEqual({
      usage: { prompt_tokens: most, cached_tokens: 5 },
      isDoubted: true,
    });
  });

  it('believes an input of many contexts up to a token a byte, and a route without bounds up to 16 times 2^20', () => {
    const many = usageBound({ contextLength: 1_000, maxOutputTokens: null }, 300_000);
    expect(plausibleUsage({ prompt_tokens: 300_000 }, many).isDoubted).toBe(false);
    expect(plausibleUsage({ prompt_tokens: 300_001 }, many).isDoubted).toBe(true);
    const unknown = usageBound({ contextLength: null, maxOutputTokens: null }, 0);
    expect(plausibleUsage({ completion_tokens: 2 ** 24 }, unknown).isDoubted).toBe(false);
    expect(plausibleUsage({ completion_tokens: 2 ** 24 + 1 }, unknown).isDoubted).toBe(true);
  });

  it('does not believe more than 1,000 searches or calls of one tool', () => {
    const { usage, isDoubted } = plausibleUsage(
      { searches: 1_001, tool_calls: { web_search: 1_000, code: 1e308 } },
      bound,
    );
    expect([usage, isDoubted]).toEqual([{ tool_calls: { web_search: 1_000 } }, true]);
    expect(plausibleUsage({ searches: 1_001 }, bound)).toEqual({ usage: {}, isDoubted: true });
    expect(plausibleUsage({ searches: 1_000 }, bound).isDoubted).toBe(false);
    expect(plausibleUsage({ tool_calls: { code: 1_001 } }, bound).isDoubted).toBe(true);
  });

  it('issue 14 believes no more seconds of speech than were sent, a started one whole, nor tokens beyond them', () => {
    const heard = transcriptionBound(1.5);
    expect(plausibleUsage({ audio_seconds: '2' }, heard)).toEqual({
      usage: { audio_seconds: '2' },
      isDoubted: false,
    });
    expect(plausibleUsage({ audio_seconds: '2.001' }, heard)).toEqual({
      usage: { audio_seconds: '2' },
      isDoubted: true,
    });
    const most = 2 * 512 + 4_096;
    expect(plausibleUsage({ prompt_tokens: most, completion_tokens: most }, heard).isDoubted).toBe(false);
    const over = { prompt_tokens: most + 1, audio_input_tokens: 9, completion_tokens: 3 };
    expect(plausibleUsage(over, heard)).toEqual({ usage: { completion_tokens: 3 }, isDoubted: true });
    expect(plausibleUsage({ audio_seconds: '90000' }, bound).isDoubted).toBe(false);
  });

  it('believes twice the seconds of a recording and a window, or one for 500 bytes; beyond, those that were measured', () => {
    const short = { ...bound, ...recordingBound(2.0004, 16_000) };
    expect(plausibleUsage({ audio_seconds: '34' }, short).isDoubted).toBe(false);
    expect(plausibleUsage({ audio_seconds: '34.002' }, short)).toEqual({
      usage: { audio_seconds: '2' },
      isDoubted: true,
    });
    // An hour whose header says a second.
    const forged = { ...bound, ...recordingBound(1, 1_800_000) };
    expect(plausibleUsage({ audio_seconds: '3600' }, forged).isDoubted).toBe(false);
    expect(plausibleUsage({ audio_seconds: '3600.1' }, forged).usage).toEqual({ audio_seconds: '1' });
  });

  it('leaves out a side with all its parts', () => {
    const input = {
      cached_tokens: 1,
      cache_write_tokens: 2,
      cache_write_1h_tokens: 1,
      audio_input_tokens: 1,
    };
    const parts = { ...input, image_input_tokens: 1, cached_audio_tokens: 1, cached_image_tokens: 1 };
    const { usage } = plausibleUsage({ prompt_tokens: 2 ** 50, ...parts, completion_tokens: 3 }, bound);
    expect(usage).toEqual({ completion_tokens: 3 });
    const output = { reasoning_tokens: 1, audio_output_tokens: 1, image_output_tokens: 1 };
    const predicted = { accepted_prediction_tokens: 1, rejected_prediction_tokens: 1 };
    const reported = { completion_tokens: 2 ** 50, ...output, ...predicted, prompt_tokens: 3 };
    expect(plausibleUsage(reported, bound).usage).toEqual({ prompt_tokens: 3 });
  });

  it('gives integers of 0 to 2^40 whatever was reported', () => {
    const numbers = fc.double();
    const names = ['prompt_tokens', 'cached_tokens', 'images', 'characters', 'reasoning_tokens'] as const;
    fc.assert(
      fc.property(
        fc.record({
          prompt_tokens: numbers,
          cached_tokens: numbers,
          images: numbers,
          characters: numbers,
          reasoning_tokens: numbers,
        }),
        (reported) => {
          const { usage } = plausibleUsage(reported, bound);
          for (const name of names) {
            const count = usage[name] ?? 0;
            expect(Number.isSafeInteger(count) && count >= 0 && count <= 2 ** 40).toBe(true);
          }
        },
      ),
    );
  });
});
