import type { UnitUsage } from '@gateway/contracts';
import type { JsonObject } from '../body/json-object.js';
import { unitUsage as chat } from './chat/chat-completion.js';
import { unitUsage as converse } from './converse/usage.js';
import { unitUsage as gemini } from './gemini/usage.js';
import { unitUsage as messages } from './messages/usage.js';
import { unitUsage as responses } from './responses/usage.js';

interface Dialect {
  readonly read: (raw: JsonObject) => UnitUsage;
  readonly input: string;
  readonly output: string;
  /** Members beside the totals, as providers send them. */
  readonly beside: JsonObject;
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  chat: {
    read: (raw) => chat(raw, {}),
    input: 'prompt_tokens',
    output: 'completion_tokens',
    beside: {
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  },
  messages: {
    read: (raw) => messages(raw),
    input: 'input_tokens',
    output: 'output_tokens',
    beside: { cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  },
  'messages with a compaction': {
    read: ({ input_tokens, output_tokens }) =>
      messages({
        iterations: [
          { type: 'compaction', input_tokens: 5, output_tokens: 5 },
          { type: 'message', input_tokens, output_tokens, cache_read_input_tokens: 0 },
        ],
      }),
    input: 'input_tokens',
    output: 'output_tokens',
    beside: {},
  },
  responses: {
    read: (raw) => responses({ usage: raw }, 0),
    input: 'input_tokens',
    output: 'output_tokens',
    beside: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 3 } },
  },
  gemini: {
    read: (raw) => gemini(raw, true),
    input: 'promptTokenCount',
    output: 'candidatesTokenCount',
    beside: { toolUsePromptTokenCount: 0, thoughtsTokenCount: 3 },
  },
  converse: {
    read: converse,
    input: 'inputTokens',
    output: 'outputTokens',
    beside: { cacheReadInputTokens: 0 },
  },
};

const ODD = ['12', 0.5, -1, -0.5, [12], { tokens: 12 }, true, Infinity, NaN];

describe.each(Object.entries(DIALECTS))(
  'the usage of a %s answer',
  (_name, { read, input, output, beside }) => {
    it('counts both sides where both are counts', () => {
      const { prompt_tokens, completion_tokens } = read({ ...beside, [input]: 12, [output]: 7 });
      expect(prompt_tokens).toBeGreaterThanOrEqual(12);
      expect(completion_tokens).toBeGreaterThanOrEqual(7);
    });

    it.each(ODD)('leaves an input of %j to the estimate, whatever stands beside it', (odd) => {
      const usage = read({ ...beside, [input]: odd, [output]: 7 });
      expect(usage).not.toHaveProperty('prompt_tokens');
      expect(usage.completion_tokens).toBeGreaterThanOrEqual(7);
    });

    it.each(ODD)('leaves an output of %j to the estimate, whatever stands beside it', (odd) => {
      const usage = read({ ...beside, [input]: 12, [output]: odd });
      expect(usage).not.toHaveProperty('completion_tokens');
      expect(usage.prompt_tokens).toBeGreaterThanOrEqual(12);
    });

    it.each([2 ** 53, 1e308])('keeps %d, so that whoever meters it can say whose it is', (huge) => {
      expect(read({ ...beside, [input]: huge, [output]: 7 }).prompt_tokens).toBeGreaterThanOrEqual(huge);
      expect(read({ ...beside, [input]: 12, [output]: huge }).completion_tokens).toBeGreaterThanOrEqual(huge);
    });
  },
);

describe('an output of Gemini that is no count', () => {
  it.each(['candidatesTokenCount', 'thoughtsTokenCount'])('is what the total leaves, for %s', (name) => {
    const counts = { promptTokenCount: 12, candidatesTokenCount: 4, thoughtsTokenCount: 3 };
    const usage = { ...counts, [name]: 'many', totalTokenCount: 19 };
    expect(gemini(usage, true).completion_tokens).toBe(7);
    expect(gemini(usage, false)).not.toHaveProperty('completion_tokens');
  });
});
