import {
  badAnswer,
  filled,
  LazySchema,
  Unsupported,
  readJson,
  RERANK_DIALECTS,
  wholeTranslation,
  type AnswerFacts,
  type Piece,
  type RerankOrder,
  type RerankRequest,
} from '@gateway/dialects';
import type { ParsedBody } from '@gateway/json-body';
import type { Asked, Endpoint } from '../endpoint.js';
import { unreadMembers } from '../unread-members.js';

const DOCUMENTS_MAX = 1_000;
/** Number of documents in one search of providers that bill by searches; longer documents count in parts. */
const SEARCH_DOCUMENTS = 100;
const DOCUMENT_BYTES = 2_000;

const text = { type: 'string', minLength: 1 };
const SCHEMA = {
  type: 'object',
  required: ['query', 'documents'],
  properties: {
    model: { type: 'string', nullable: true },
    query: text,
    documents: {
      type: 'array',
      minItems: 1,
      maxItems: DOCUMENTS_MAX,
      items: {
        type: ['string', 'object'],
        minLength: 1,
        required: ['text'],
        properties: { text },
      },
    },
    top_n: { type: 'integer', minimum: 1, nullable: true },
    return_documents: { type: 'boolean', nullable: true },
    max_tokens_per_doc: { type: 'integer', minimum: 1, nullable: true },
    safety_identifier: { type: 'string', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/rerank. */
export const endpoint: Endpoint<RerankRequest> = {
  paths: ['/rerank'],
  permission: 'inference:write',
  isCacheable: true,
  idPrefix: 'rerank',
  docs: {
    summary: 'Rerank',
    schemaName: 'RerankRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description: 'Documents in the order in which they answer the query, the best first.',
  },
  load: () => schema.load(),
  read: ({ bytes }) => askedOf(readJson(bytes, schema)),
  translate: ({ request }, route) => {
    const dialect = RERANK_DIALECTS.get(route.dialect);
    if (!dialect) return new Unsupported(null);
    const param = dialect.unsupported(request);
    if (param !== null) return new Unsupported(param);
    return wholeTranslation({
      encode: () => dialect.encode(request, route),
      decode: (bytes, facts) => {
        const order = dialect.decode(bytes, request);
        return order === null
          ? badAnswer('the answer holds no order of the documents.')
          : piece(order, request, facts);
      },
    });
  },
};

function piece({ ranks, usage }: RerankOrder, request: RerankRequest, facts: AnswerFacts): Piece {
  const { prompt_tokens: tokens = 0, searches } = facts.believed(usage);
  const out = JSON.stringify({
    id: facts.answerId(),
    object: 'rerank',
    model: facts.model,
    results: ranks.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(request.returnsDocuments ? { document: { text: request.documents[index] } } : {}),
    })),
    usage: {
      prompt_tokens: tokens,
      total_tokens: tokens,
      ...(searches === undefined ? {} : { search_units: searches }),
      byok_used: facts.byokUsed,
      fallback_triggered: facts.fallbackTriggered,
    },
  });
  return { kind: 'end', out, usage };
}

function askedOf({ value }: ParsedBody): Asked<RerankRequest> {
  const documents = (value.documents as (string | { text: string })[]).map((document) =>
    typeof document === 'string' ? document : document.text,
  );
  const search = String(value.query);
  const sizes = documents.map((document) => Buffer.byteLength(document));
  const queryBytes = Buffer.byteLength(search);
  const parts = sizes.reduce((sum, size) => sum + Math.ceil(size / DOCUMENT_BYTES), 0);
  const searches = Math.ceil(parts / SEARCH_DOCUMENTS);
  return {
    model: filled(value.model),
    stream: false,
    tier: 'default',
    endUser: filled(value.safety_identifier),
    serves: { output: 'rerank', status: 400 },
    requires: [],
    dialect: 'rerank',
    input: {
      // The query is read once with each document, and counted as often by those who bill by tokens.
      inputBytes: sizes.reduce((sum, size) => sum + size + queryBytes, 0),
      inputImages: 0,
      inputAudioSeconds: 0,
      inputDocuments: [],
    },
    billableUnits: { searches },
    maxOutputTokens: 0,
    choices: 1,
    writesCache: false,
    unread: unreadMembers(value, SCHEMA),
    context: {},
    request: {
      query: search,
      documents,
      topN: Math.min((value.top_n as number | null | undefined) ?? documents.length, documents.length),
      returnsDocuments: value.return_documents === true,
      maxTokensPerDocument: (value.max_tokens_per_doc as number | null | undefined) ?? null,
      searches,
    },
  };
}
