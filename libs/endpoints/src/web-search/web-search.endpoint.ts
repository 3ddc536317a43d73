import { ApiError } from '@gateway/contracts';
import {
  badAnswer,
  filled,
  LazySchema,
  Unsupported,
  readJson,
  SEARCH_DIALECTS,
  wholeTranslation,
  type AnswerFacts,
  type Piece,
  type SearchFindings,
  type SearchRequest,
} from '@gateway/dialects';
import type { ParsedBody } from '@gateway/json-body';
import type { Asked, Endpoint } from '../endpoint.js';
import { unreadMembers } from '../unread-members.js';
import { SEARCH_MODEL } from './search-model.js';

const QUERIES_MAX = 5;
const RESULTS_MAX = 20;
const RESULTS_DEFAULT = 10;
const DOMAINS_MAX = 20;

const query = { type: 'string', minLength: 1, maxLength: 2_048, pattern: '\\S' };
/** Names alone: an engine may take them as operators of its query. */
const domains = {
  type: 'array',
  maxItems: DOMAINS_MAX,
  nullable: true,
  items: { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$' },
};
const day = { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$', nullable: true };
const oneOf = (...values: string[]): object => ({ enum: [...values, null] });
const SCHEMA = {
  type: 'object',
  required: ['query'],
  properties: {
    query: { ...query, type: ['string', 'array'], minItems: 1, maxItems: QUERIES_MAX, items: query },
    max_results: { type: 'integer', minimum: 1, maximum: RESULTS_MAX, nullable: true },
    model: { type: 'string', nullable: true },
    search_type: oneOf('web', 'news', 'academic', 'images'),
    country: { type: 'string', pattern: '^[A-Za-z]{2}$', nullable: true },
    language: { type: 'string', pattern: '^[A-Za-z]{2}$', nullable: true },
    recency: oneOf('day', 'week', 'month', 'year'),
    start_date: day,
    end_date: day,
    include_domains: domains,
    exclude_domains: domains,
    include_content: { type: 'boolean', nullable: true },
    max_tokens_per_page: { type: 'integer', minimum: 1, maximum: 100_000, nullable: true },
    safe_search: oneOf('off', 'moderate', 'strict'),
    safety_identifier: { type: 'string', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/web/search. */
export const endpoint: Endpoint<SearchRequest> = {
  paths: ['/web/search'],
  permission: 'search:write',
  idPrefix: 'search',
  docs: {
    summary: 'Web search',
    schemaName: 'WebSearchRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description:
      `Results of a web search engine. Without a model, the engines behind ${SEARCH_MODEL} are tried in order of price; ` +
      'the one that answers is billed. A search that fails or finds nothing is free.',
  },
  load: () => schema.load(),
  read: ({ bytes }) => askedOf(readJson(bytes, schema)),
  translate: ({ request }, route) => {
    const dialect = SEARCH_DIALECTS.get(route.dialect);
    if (!dialect) return new Unsupported(null);
    const param = dialect.unsupported(request);
    if (param !== null) return new Unsupported(param);
    return wholeTranslation({
      encode: () => dialect.encode(request),
      decode: (bytes, facts) => {
        const found = dialect.decode(bytes, request);
        return found === null
          ? badAnswer('the answer holds no results of a search.')
          : piece(found, request, facts);
      },
    });
  },
};

/** Returns the answer of a search; one that finds nothing costs nothing, neither search nor request. */
function piece(found: SearchFindings, { queries }: SearchRequest, facts: AnswerFacts): Piece {
  const isEmpty = found.results.length === 0;
  const searches = isEmpty ? 0 : queries.length;
  const { results, ...more } = found;
  const out = JSON.stringify({
    id: facts.answerId(),
    object: 'web.search',
    created: facts.created,
    query: queries.length === 1 ? queries[0] : queries,
    results,
    ...more,
    usage: {
      searches,
      results: results.length,
      byok_used: facts.byokUsed,
      fallback_triggered: facts.fallbackTriggered,
    },
  });
  const usage = { prompt_tokens: 0, completion_tokens: 0, searches, ...(isEmpty ? { requests: 0 } : {}) };
  return { kind: 'end', out, usage };
}

function askedOf({ value }: ParsedBody): Asked<SearchRequest> {
  const request = requestOf(value);
  return {
    model: filled(value.model) ?? SEARCH_MODEL,
    stream: false,
    tier: 'default',
    endUser: filled(value.safety_identifier),
    serves: { output: 'search_results', status: 400 },
    requires: [],
    outsideAllowList: 'forbidden',
    dialect: 'perplexity-search',
    input: { inputBytes: 0, inputImages: 0, inputAudioSeconds: 0, inputDocuments: [] },
    billableUnits: { searches: request.queries.length },
    maxOutputTokens: 0,
    choices: 1,
    writesCache: false,
    unread: unreadMembers(value, SCHEMA),
    context: {},
    request,
  };
}

function requestOf(value: Record<string, unknown>): SearchRequest {
  const startDate = filled(value.start_date);
  const endDate = filled(value.end_date);
  if (startDate !== null && endDate !== null && startDate > endDate)
    throw invalid('end_date', 'is before start_date');
  const recency = filled(value.recency) as SearchRequest['recency'];
  if (recency !== null && (startDate !== null || endDate !== null))
    throw invalid('recency', 'cannot be given beside start_date or end_date');
  return {
    queries: typeof value.query === 'string' ? [value.query] : (value.query as string[]),
    maxResults: (value.max_results as number | null | undefined) ?? RESULTS_DEFAULT,
    type: (filled(value.search_type) ?? 'web') as SearchRequest['type'],
    country: filled(value.country)?.toUpperCase() ?? null,
    language: filled(value.language)?.toLowerCase() ?? null,
    recency,
    startDate,
    endDate,
    includeDomains: (value.include_domains as string[] | null | undefined) ?? [],
    excludeDomains: (value.exclude_domains as string[] | null | undefined) ?? [],
    includeContent: value.include_content === true,
    maxTokensPerPage: (value.max_tokens_per_page as number | null | undefined) ?? null,
    safeSearch: filled(value.safe_search) as SearchRequest['safeSearch'],
  };
}

function invalid(param: string, msg: string): ApiError {
  return new ApiError('validation_error', {
    message: `${param}: ${msg}`,
    details: [{ type: 'value_error', loc: [param], msg }],
    param,
  });
}
