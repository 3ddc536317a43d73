import type { Json } from '../upstream-requests.fixture.js';
import { ENDLESS, finishes, plain, sse, type GoldenDialect } from './answers.fixture.js';

const said = (parts: Json[], more: Json = {}, beside: Json = {}): Json => ({
  responseId: 'gem-1',
  candidates: [{ content: { role: 'model', parts }, ...more }],
  ...beside,
});
const STOP = { finishReason: 'STOP' };
const text = (value: string, more: Json = {}): Json => ({ text: value, ...more });
const call = (name: string, args?: Json, more: Json = {}): Json => ({
  functionCall: { name, args, ...more },
});
const usageMetadata = {
  promptTokenCount: 20,
  cachedContentTokenCount: 4,
  toolUsePromptTokenCount: 3,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 5,
  totalTokenCount: 35,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 12 },
    { modality: 'AUDIO', tokenCount: 8 },
  ],
  candidatesTokensDetails: [
    { modality: 'AUDIO', tokenCount: 2 },
    { modality: 'IMAGE', tokenCount: 4 },
  ],
  trafficType: 'ON_DEMAND',
  serviceTier: 'standard',
};
const counted = (more: Json): ReturnType<typeof plain> =>
  plain(said([text('a')], STOP, { usageMetadata: more }));
const piece = (more: Json): Json => ({ functionCall: more });

export const GEMINI_ANSWERS: GoldenDialect = {
  toolNames: { short: 'the_long_name' },
  answers: {
    everything: plain(
      said(
        [
          text('hm', { thought: true }),
          text('Zürich', { thoughtSignature: 'c2ln' }),
          { ...call('short', { city: 'Bern' }), thoughtSignature: 'a+/=' },
          call('now', undefined, { id: 'own-id' }),
        ],
        STOP,
        { usageMetadata },
      ),
    ),
    'a stream of everything': sse(
      said([text('hm', { thought: true })]),
      said([text('Zür')], {}, { usageMetadata: { promptTokenCount: 18 } }),
      said([text('ich'), text('', { thoughtSignature: 'c2ln' })]),
      said([call('now', {})]),
      said([call('now')], STOP, { usageMetadata }),
      said([text('late')], STOP),
    ),
    'arguments in pieces': sse(
      said([piece({ name: 'look', willContinue: true })]),
      said([
        piece({
          partialArgs: [{ jsonPath: '$.city', stringValue: 'Ber', willContinue: true }],
          willContinue: true,
        }),
      ]),
      said([
        piece({
          partialArgs: [
            { jsonPath: '$.city', stringValue: 'n' },
            { jsonPath: "$['a b'][0].n", numberValue: 5 },
          ],
          willContinue: true,
        }),
      ]),
      said([
        piece({
          partialArgs: [
            { jsonPath: '$.yes', boolValue: true },
            { jsonPath: '$.none', nullValue: 'NULL_VALUE' },
          ],
          willContinue: true,
        }),
      ]),
      said([piece({})]),
      said([piece({ name: 'now', willContinue: true })], STOP),
    ),
    'two candidates': plain({
      candidates: [
        { index: 0, content: { parts: [text('a')] }, ...STOP },
        { index: 1, content: { parts: [call('now')] }, ...STOP },
      ],
    }),
    'sources of a text': plain(
      said([text('Zürich liegt.')], {
        ...STOP,
        groundingMetadata: {
          webSearchQueries: ['Zürich', 'Zürich', ''],
          groundingChunks: [
            { web: { uri: 'https://a.example', title: 'A' } },
            { web: { uri: 'https://b.example' } },
          ],
          groundingSupports: [
            { segment: { endIndex: 7 }, groundingChunkIndices: [0, 1, 9] },
            { segment: { startIndex: 8, endIndex: 99 }, groundingChunkIndices: [0] },
          ],
        },
      }),
    ),
    'sources of nothing': plain(
      said([text('a')], {
        ...STOP,
        groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example' } }, {}] },
      }),
    ),
    'measured tokens': plain(
      said([text('Oui')], {
        ...STOP,
        logprobsResult: {
          chosenCandidates: [{ token: 'Oui', logProbability: -0.5 }, { token: '!' }],
          topCandidates: [{ candidates: [{ token: 'Non', logProbability: -3 }] }],
        },
      }),
    ),
    'a tier of its own': plain(said([text('a')], STOP, { usageMetadata: { serviceTier: 'flex' } })),
    'no candidates': plain({ usageMetadata }),
    'a prompt that is blocked': plain({ promptFeedback: { blockReason: 'SAFETY' } }),
    'a prompt that is blocked in words': sse({
      promptFeedback: { blockReason: 'OTHER', blockReasonMessage: 'No.' },
    }),
    'an error': plain({ error: { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED' } }),
    'an error in a list, in the middle': sse(
      said([text('a')]),
      '[{"error":{"code":700}}]',
      said([text('b')], STOP),
    ),
    'an end too early': sse(said([text('a')])),
    'nothing at all': sse(),
    'an event that is none': sse(said([text('a')]), 'not json'),
    'OpenAI’s marker at the end': sse(said([text('a')], STOP), '[DONE]'),
    'an event without an end': ENDLESS,
    'counts without thoughts': counted({ promptTokenCount: 5, candidatesTokenCount: 2 }),
    'counts by their total': counted({ promptTokenCount: 5, toolUsePromptTokenCount: 1, totalTokenCount: 9 }),
    'counts that are none': counted({ promptTokenCount: -1, candidatesTokenCount: 'x', totalTokenCount: 9 }),
    'more in the cache than there was': counted({ promptTokenCount: 5, cachedContentTokenCount: 9 }),
    ...finishes(
      [
        'STOP',
        'MAX_TOKENS',
        'SAFETY',
        'RECITATION',
        'BLOCKLIST',
        'PROHIBITED_CONTENT',
        'SPII',
        'IMAGE_SAFETY',
        'IMAGE_PROHIBITED_CONTENT',
        'IMAGE_RECITATION',
        'LANGUAGE',
        'MALFORMED_FUNCTION_CALL',
        'FINISH_REASON_UNSPECIFIED',
      ],
      (finishReason) => plain(said([text('a')], { finishReason })),
    ),
    'too many tool calls': plain(said(Array.from({ length: 1_025 }, () => call('a')).slice(0, 1_025), STOP)),
  },
};
