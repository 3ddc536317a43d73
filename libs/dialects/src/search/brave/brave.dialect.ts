import { objectOf, objectsOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { JSON_TYPE, type UpstreamBody } from '../../translation/upstream-body.js';
import { firstGiven, resultsOf, takesOne, withDomains } from '../findings.js';
import type { SearchDialect, SearchRequest } from '../search-dialect.js';

const PATHS = { web: '/web/search', news: '/news/search', images: '/images/search', academic: null };
const SPANS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' };
const NAMES = { snippet: ['description'], published_at: ['page_age', 'age'], content: ['extra_snippets'] };

/** Brave, which is asked with GET: what is searched for stands in the query of a fixed address. */
export const dialect: SearchDialect = {
  name: 'brave-search',
  unsupported: (request) => {
    const { type, includeContent, startDate, endDate, safeSearch } = request;
    const missing = takesOne(request) ?? firstGiven(request, { maxTokensPerPage: 'max_tokens_per_page' });
    if (missing !== null) return missing;
    if (type === 'academic') return 'search_type';
    if (includeContent) return 'include_content';
    // Of a range it takes both ends, and of images neither.
    if (startDate === null && endDate !== null) return 'end_date';
    if (startDate !== null && endDate === null) return 'start_date';
    if (type !== 'images') return null;
    if (request.recency !== null) return 'recency';
    if (startDate !== null) return 'start_date';
    return safeSearch === 'moderate' ? 'safe_search' : null;
  },
  encode: (request): UpstreamBody => ({
    method: 'GET',
    path: `${PATHS[request.type] ?? PATHS.web}?${queryOf(request).toString()}`,
    contentType: JSON_TYPE,
    accept: JSON_TYPE,
    pieces: [],
    byteLength: 0,
  }),
  decode: (bytes, { maxResults, type }) => {
    const answer = parseUpstreamObject(bytes);
    if (answer === null) return null;
    // An answer without results of the web has no `web` at all.
    const list = type === 'web' ? (objectOf(answer.web).results ?? []) : answer.results;
    if (type === 'web' && answer.type !== 'search') return null;
    const results = resultsOf(list, NAMES, maxResults);
    if (results === null) return null;
    const images = type === 'images' ? imagesOf(list) : [];
    return { results, ...(images.length > 0 ? { images } : {}) };
  },
};

function queryOf(request: SearchRequest): URLSearchParams {
  const { country, language, recency, startDate, endDate, safeSearch } = request;
  const query = new URLSearchParams({ q: withDomains(request), count: String(request.maxResults) });
  if (country !== null) query.set('country', country);
  if (language !== null) query.set('search_lang', language);
  if (safeSearch !== null) query.set('safesearch', safeSearch);
  if (startDate !== null && endDate !== null) query.set('freshness', `${startDate}to${endDate}`);
  else if (recency !== null) query.set('freshness', SPANS[recency]);
  return query;
}

function imagesOf(list: unknown): string[] {
  return objectsOf(list).flatMap((found) => {
    const { url } = objectOf(found.properties);
    return typeof url === 'string' ? [url] : [];
  });
}
