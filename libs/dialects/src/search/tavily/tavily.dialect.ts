import { filled, isObject } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { JSON_TYPE, jsonBody } from '../../translation/upstream-body.js';
import { firstGiven, resultsOf, takesOne } from '../findings.js';
import type { SearchDialect, SearchRequest } from '../search-dialect.js';

const NAMES = {
  snippet: ['content'],
  content: ['raw_content'],
  published_at: ['published_date'],
  favicon: ['favicon'],
};
const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' });

/** Tavily's search at its basic depth, which is one credit. */
export const dialect: SearchDialect = {
  name: 'tavily-search',
  unsupported: (request) => {
    const missing =
      takesOne(request) ??
      firstGiven(request, { language: 'language', maxTokensPerPage: 'max_tokens_per_page' });
    if (missing !== null) return missing;
    if (request.type === 'academic') return 'search_type';
    // A country raises results of the general topic alone; what is strict beyond that needs another plan.
    if (request.country !== null && request.type === 'news') return 'country';
    return request.safeSearch === 'strict' ? 'safe_search' : null;
  },
  encode: (request) => jsonBody('/search', JSON_TYPE, bodyOf(request)),
  decode: (bytes, { maxResults, type }) => {
    const answer = parseUpstreamObject(bytes);
    const results = resultsOf(answer?.results, NAMES, maxResults);
    if (answer === null || results === null) return null;
    const summary = filled(answer.answer);
    const images = type === 'images' ? imagesOf(answer.images) : [];
    return {
      results,
      ...(summary === null ? {} : { answer: summary }),
      ...(images.length > 0 ? { images } : {}),
    };
  },
};

function bodyOf(request: SearchRequest): Record<string, unknown> {
  const { country, recency, startDate, endDate, includeDomains, excludeDomains, type } = request;
  return {
    query: request.queries[0],
    max_results: request.maxResults,
    search_depth: 'basic',
    topic: type === 'news' ? 'news' : 'general',
    include_favicon: true,
    ...(country === null ? {} : { country: (COUNTRY_NAMES.of(country) ?? country).toLowerCase() }),
    ...(recency === null ? {} : { time_range: recency }),
    ...(startDate === null ? {} : { start_date: startDate }),
    ...(endDate === null ? {} : { end_date: endDate }),
    ...(includeDomains.length > 0 ? { include_domains: includeDomains } : {}),
    ...(excludeDomains.length > 0 ? { exclude_domains: excludeDomains } : {}),
    ...(request.includeContent ? { include_raw_content: 'markdown' } : {}),
    ...(type === 'images' ? { include_images: true } : {}),
  };
}

/** Addresses, bare or with a description. */
function imagesOf(images: unknown): string[] {
  if (!Array.isArray(images)) return [];
  return images.flatMap((image: unknown) => filled(isObject(image) ? image.url : image) ?? []);
}
