import { objectOf, objectsOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { purposeOf, textsOf, tokensInHeader, translatedAnswer } from '../translated-answer.js';

const PURPOSES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    query: 'TEXT_RETRIEVAL',
    classification: 'CLASSIFICATION',
    clustering: 'CLUSTERING',
  }),
);

/** Nova's embeddings on Bedrock: one text a call, made to be looked up where the caller does not say what for. */
export const dialect: EmbeddingsDialect = {
  name: 'nova-embeddings',
  unsupported: (request) => (textsOf(request)?.length === 1 ? null : 'input'),
  encode: (request, { upstreamModel }) =>
    jsonBody(`/model/${encodeURIComponent(upstreamModel)}/invoke`, 'application/json', {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: PURPOSES.get(purposeOf(request) ?? '') ?? 'GENERIC_INDEX',
        ...(request.dimensions === null ? {} : { embeddingDimension: request.dimensions }),
        text: { value: textsOf(request)?.[0], truncationMode: 'NONE' },
      },
    }),
  decode: (bytes, request, facts, head) => {
    const vectors = objectsOf(objectOf(parseUpstreamObject(bytes)).embeddings);
    return translatedAnswer(
      vectors.map(({ embedding }) => embedding),
      tokensInHeader(head),
      request,
      facts,
    );
  },
};
