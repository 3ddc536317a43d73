import { objectOf, objectsOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { purposeOf, textsOf, translatedAnswer } from '../translated-answer.js';

const INPUTS_MAX = 250;
const TASKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    query: 'RETRIEVAL_QUERY',
    document: 'RETRIEVAL_DOCUMENT',
    classification: 'CLASSIFICATION',
    clustering: 'CLUSTERING',
  }),
);

/**
 * Returns true from the second version on: Gemini's embeddings are then no prediction but a call of their own, with one
 * text.
 */
function isContent(upstreamModel: string): boolean {
  return upstreamModel.startsWith('gemini-embedding-2');
}

/** Vertex AI's predict of a text embedding model, or embedContent of a Gemini one. */
export const dialect: EmbeddingsDialect = {
  name: 'vertex-embeddings',
  unsupported: (request, { upstreamModel }) => {
    const texts = textsOf(request);
    return texts === null || texts.length > (isContent(upstreamModel) ? 1 : INPUTS_MAX) ? 'input' : null;
  },
  encode: (request, { upstreamModel }) => {
    const task_type = TASKS.get(purposeOf(request) ?? '');
    const { dimensions } = request;
    const path = `/models/${encodeURIComponent(upstreamModel)}`;
    if (isContent(upstreamModel))
      return jsonBody(`${path}:embedContent`, 'application/json', {
        content: { parts: [{ text: textsOf(request)?.[0] }] },
        ...(task_type === undefined ? {} : { taskType: task_type }),
        ...(dimensions === null ? {} : { outputDimensionality: dimensions }),
      });
    return jsonBody(`${path}:predict`, 'application/json', {
      instances: (textsOf(request) ?? []).map((content) => ({
        content,
        ...(task_type === undefined ? {} : { task_type }),
      })),
      ...(dimensions === null ? {} : { parameters: { outputDimensionality: dimensions } }),
    });
  },
  decode: (bytes, request, facts) => {
    const answer = objectOf(parseUpstreamObject(bytes));
    if (answer.embedding !== undefined) {
      const { promptTokenCount } = objectOf(answer.usageMetadata);
      return translatedAnswer([objectOf(answer.embedding).values], promptTokenCount, request, facts);
    }
    const found = objectsOf(answer.predictions).map(({ embeddings }) => objectOf(embeddings));
    let tokens: number | null = 0;
    for (const { statistics } of found) {
      const { token_count } = objectOf(statistics);
      tokens = tokens === null || typeof token_count !== 'number' ? null : tokens + token_count;
    }
    const vectors = found.map(({ values }) => values);
    return translatedAnswer(vectors, found.length === 0 ? null : tokens, request, facts);
  },
};
