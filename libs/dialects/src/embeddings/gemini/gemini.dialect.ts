import { objectOf, objectsOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { purposeOf, textsOf, translatedAnswer } from '../translated-answer.js';

const INPUTS_MAX = 100;
const TASKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    query: 'RETRIEVAL_QUERY',
    document: 'RETRIEVAL_DOCUMENT',
    classification: 'CLASSIFICATION',
    clustering: 'CLUSTERING',
  }),
);

/** Google's batchEmbedContents. */
export const dialect: EmbeddingsDialect = {
  name: 'gemini-embeddings',
  unsupported: (request) => {
    const texts = textsOf(request);
    return texts === null || texts.length > INPUTS_MAX ? 'input' : null;
  },
  encode: (request, { upstreamModel }) => {
    const task = TASKS.get(purposeOf(request) ?? '');
    const requests = (textsOf(request) ?? []).map((text) => ({
      model: `models/${upstreamModel}`,
      content: { parts: [{ text }] },
      ...(task === undefined ? {} : { taskType: task }),
      ...(request.dimensions === null ? {} : { outputDimensionality: request.dimensions }),
    }));
    const path = `/models/${encodeURIComponent(upstreamModel)}:batchEmbedContents`;
    return jsonBody(path, 'application/json', { requests });
  },
  decode: (bytes, request, facts) => {
    const answer = objectOf(parseUpstreamObject(bytes));
    const vectors = objectsOf(answer.embeddings).map(({ values }) => values);
    return translatedAnswer(vectors, objectOf(answer.usageMetadata).promptTokenCount, request, facts);
  },
};
