import { JSON_TYPE, jsonBody } from '../../translation/upstream-body.js';
import { findingsAt, firstGiven, takesOne } from '../findings.js';
import type { SearchDialect, SearchRequest } from '../search-dialect.js';

/** Its price of a search ends with the tenth result: more cost extra. */
const RESULTS_MAX = 10;
const CHARACTERS_PER_TOKEN = 4;
const CATEGORIES = { web: null, news: 'news', academic: 'research paper', images: null };
const NAMES = {
  snippet: ['highlights', 'summary'],
  content: ['text'],
  published_at: ['publishedDate'],
  source: ['author'],
  favicon: ['favicon'],
  image: ['image'],
};

/** Exa. Text and highlights of ten results are part of a search. */
export const dialect: SearchDialect = {
  name: 'exa-search',
  unsupported: (request) => {
    const missing = takesOne(request) ?? firstGiven(request, { language: 'language' });
    if (missing !== null) return missing;
    if (request.maxResults > RESULTS_MAX) return 'max_results';
    if (request.type === 'images') return 'search_type';
    // A relative span needs the day of today, which a translation does not know.
    return request.recency === null ? null : 'recency';
  },
  encode: (request) => jsonBody('/search', JSON_TYPE, bodyOf(request)),
  decode: (bytes, request) => findingsAt(bytes, 'results', NAMES, request),
};

function bodyOf(request: SearchRequest): Record<string, unknown> {
  const { country, startDate, endDate, includeDomains, excludeDomains, safeSearch, maxTokensPerPage } =
    request;
  const category = CATEGORIES[request.type];
  const text = maxTokensPerPage === null ? true : { maxCharacters: maxTokensPerPage * CHARACTERS_PER_TOKEN };
  return {
    query: request.queries[0],
    numResults: request.maxResults,
    type: 'auto',
    contents: { highlights: true, ...(request.includeContent ? { text } : {}) },
    ...(category === null ? {} : { category }),
    ...(country === null ? {} : { userLocation: country }),
    ...(startDate === null ? {} : { startPublishedDate: `${startDate}T00:00:00.000Z` }),
    ...(endDate === null ? {} : { endPublishedDate: `${endDate}T23:59:59.999Z` }),
    ...(includeDomains.length > 0 ? { includeDomains } : {}),
    ...(excludeDomains.length > 0 ? { excludeDomains } : {}),
    ...(safeSearch === null || safeSearch === 'off' ? {} : { moderation: true }),
  };
}
