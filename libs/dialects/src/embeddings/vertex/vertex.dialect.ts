import { objectOf, objectsOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { purposeOf, textsOf, translatedAnswer } from '../translated-answer.js';

const INPUTS_MAX = 250;
const TASKS: Readonly<Record<string, string>> = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
};

/** Vertex AI's predict of a text embedding model. */
export const dialect: EmbeddingsDialect = {
  name: 'vertex-embeddings',
  misfit: (request) => {
    const texts = textsOf(request);
    return texts === null || texts.length > INPUTS_MAX ? 'input' : null;
  },
  encode: (request, { upstreamModel }) => {
    const task_type = TASKS[purposeOf(request) ?? ''];
    const { dimensions } = request;
    return jsonBody(`/models/${encodeURIComponent(upstreamModel)}:predict`, 'application/json', {
      instances: (textsOf(request) ?? []).map((content) => ({
        content,
        ...(task_type === undefined ? {} : { task_type }),
      })),
      ...(dimensions === null ? {} : { parameters: { outputDimensionality: dimensions } }),
    });
  },
  decode: (bytes, request, facts) => {
    const found = objectsOf(objectOf(parseUpstreamObject(bytes)).predictions).map(({ embeddings }) =>
      objectOf(embeddings),
    );
    let tokens: number | null = 0;
    for (const { statistics } of found) {
      const { token_count } = objectOf(statistics);
      tokens = tokens === null || typeof token_count !== 'number' ? null : tokens + token_count;
    }
    const vectors = found.map(({ values }) => values);
    return translatedAnswer(vectors, found.length === 0 ? null : tokens, request, facts);
  },
};
