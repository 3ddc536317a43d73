import { parseUpstreamObject } from '../../body/upstream-json.js';
import { JSON_TYPE, jsonBody } from '../../translation/upstream-body.js';
import { american, resultsOf } from '../findings.js';
import type { SearchDialect, SearchRequest } from '../search-dialect.js';

const NAMES = { published_at: ['date'], updated_at: ['last_updated'] };
/** Tokens that it takes from a page unless it is asked for less. */
const SNIPPET_TOKENS = 256;

/** Perplexity's search, which alone takes several queries at once. Its snippet is the page's text. */
export const dialect: SearchDialect = {
  name: 'perplexity-search',
  unsupported: ({ type, safeSearch, includeDomains, excludeDomains }) => {
    if (type === 'news' || type === 'images') return 'search_type';
    if (safeSearch !== null && safeSearch !== 'off') return 'safe_search';
    // One list is either what is wanted or what is not.
    return includeDomains.length > 0 && excludeDomains.length > 0 ? 'exclude_domains' : null;
  },
  encode: (request) => jsonBody('/search', JSON_TYPE, bodyOf(request)),
  decode: (bytes, { queries, maxResults, includeContent }) => {
    const list: unknown = parseUpstreamObject(bytes)?.results;
    if (!Array.isArray(list)) return null;
    // Of several queries the results may come as a list each.
    const names = includeContent ? { ...NAMES, content: ['snippet'] } : NAMES;
    const results = resultsOf(list.flat(1), names, maxResults * queries.length);
    return results === null ? null : { results };
  },
};

function bodyOf(request: SearchRequest): Record<string, unknown> {
  const { queries, country, language, recency, startDate, endDate, includeDomains, excludeDomains } = request;
  const domains = [...includeDomains, ...excludeDomains.map((domain) => `-${domain}`)];
  const tokens = request.maxTokensPerPage ?? (request.includeContent ? null : SNIPPET_TOKENS);
  return {
    query: queries.length === 1 ? queries[0] : queries,
    max_results: request.maxResults,
    ...(tokens === null ? {} : { max_tokens_per_page: tokens }),
    ...(country === null ? {} : { country }),
    ...(language === null ? {} : { search_language_filter: [language] }),
    ...(recency === null ? {} : { search_recency_filter: recency }),
    ...(startDate === null ? {} : { search_after_date_filter: american(startDate) }),
    ...(endDate === null ? {} : { search_before_date_filter: american(endDate) }),
    ...(domains.length > 0 ? { search_domain_filter: domains } : {}),
    ...(request.type === 'academic' ? { search_mode: 'academic' } : {}),
  };
}
