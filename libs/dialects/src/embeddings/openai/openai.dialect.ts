import type { UnitUsage } from '@gateway/contracts';
import { spliceMembers } from '@gateway/json-body';
import { isObject, objectOf, countOfSome, type JsonObject } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { withoutMoney } from '../../translation/money-names.js';
import { withoutServer } from '../../body/server-names.js';
import type { AnswerFacts } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { badAnswer } from '../../translation/whole-answer.js';
import type { EmbeddingsDialect, EmbeddingsRequest } from '../embeddings-dialect.js';
import '../embeddings-quirks.js';
import { vectorIn } from '../vector.js';

const DIMENSIONS = 'dimensions';

/** OpenAI's embeddings, which most providers imitate: the caller's bytes go on. */
export const dialect: EmbeddingsDialect = {
  name: 'embeddings',
  unsupported: ({ inputs, dimensions }, { quirks }) => {
    if (dimensions !== null && quirks.refuses?.includes(DIMENSIONS)) return DIMENSIONS;
    const hasTokens = inputs.some((input) => typeof input !== 'string');
    return hasTokens && !quirks.takesTokenIds ? 'input' : null;
  },
  encode: ({ body, dimensions }, { upstreamModel, quirks }) => {
    const changes: JsonObject = { model: upstreamModel };
    for (const name of quirks.refuses ?? []) if (name in body.value) changes[name] = undefined;
    if (dimensions !== null && quirks.dimensionsParam !== undefined) {
      changes[DIMENSIONS] = undefined;
      changes[quirks.dimensionsParam] = dimensions;
    }
    const { pieces, byteLength } = spliceMembers(body, changes);
    return { path: '/embeddings', contentType: JSON_TYPE, accept: JSON_TYPE, pieces, byteLength };
  },
  decode: (bytes, request, facts) => {
    const answer = parseUpstreamObject(bytes);
    const data = answer === null ? null : vectorsOf(answer.data, request);
    if (answer === null || data === null) return badAnswer('the answer holds no embedding of each input.');
    const { prompt_tokens, total_tokens } = objectOf(answer.usage);
    const tokens = countOfSome(prompt_tokens ?? total_tokens);
    const out = JSON.stringify(shown(answer, data, tokens, facts));
    // A provider that counts nothing leaves the estimate: a length of 0 would cost nothing.
    return tokens === null ? { kind: 'end', out } : { kind: 'end', out, usage: countsOf(tokens) };
  },
};

function countsOf(prompt_tokens: number): UnitUsage {
  return { prompt_tokens, completion_tokens: 0 };
}

/** One vector of each input in its order; null where one is missing, twice there or no vector. */
function vectorsOf(data: unknown, { inputs, format }: EmbeddingsRequest): JsonObject[] | null {
  if (!Array.isArray(data) || data.length !== inputs.length) return null;
  const placed = new Array<JsonObject | undefined>(inputs.length);
  for (const [position, item] of data.entries()) {
    if (!isObject(item)) return null;
    const index = item.index ?? position;
    const embedding = vectorIn(format, item.embedding);
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= inputs.length)
      return null;
    if (embedding === null || placed[index] !== undefined) return null;
    placed[index] = { object: 'embedding', index, embedding };
  }
  return placed.every((vector) => vector !== undefined) ? placed : null;
}

function shown(
  answer: JsonObject,
  data: JsonObject[],
  tokens: number | null,
  facts: AnswerFacts,
): JsonObject {
  const { usage, ...rest } = withoutMoney({ ...withoutServer(answer), data: undefined }) as JsonObject;
  // Counts that the provider did not report are 0; what is billed stands in the usage event.
  const { prompt_tokens = 0 } = tokens === null ? {} : facts.believed(countsOf(tokens));
  return {
    ...rest,
    object: 'list',
    data,
    model: facts.model,
    usage: {
      ...objectOf(usage),
      prompt_tokens,
      total_tokens: prompt_tokens,
      byok_used: facts.byokUsed,
      fallback_triggered: facts.fallbackTriggered,
    },
  };
}
