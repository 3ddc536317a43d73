import { filled, objectOf, objectsOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { JSON_TYPE, jsonBody } from '../../translation/upstream-body.js';
import { american, firstGiven, resultsOf, takesOne, withDomains } from '../findings.js';
import type { SearchDialect, SearchRequest } from '../search-dialect.js';

/** More results of one search are a second credit. */
const RESULTS_MAX = 10;
const PATHS = { web: '/search', news: '/news', academic: '/scholar', images: '/images' };
const LISTS = { web: 'organic', news: 'news', academic: 'organic', images: 'images' };
const SPANS = { day: 'qdr:d', week: 'qdr:w', month: 'qdr:m', year: 'qdr:y' };
const NAMES = { url: ['link'], published_at: ['date'], source: ['source'], image: ['imageUrl'] };

/** Serper: Google's results. */
export const dialect: SearchDialect = {
  name: 'serper-search',
  unsupported: (request) => {
    const missing = takesOne(request) ?? firstGiven(request, { maxTokensPerPage: 'max_tokens_per_page' });
    if (missing !== null) return missing;
    if (request.maxResults > RESULTS_MAX) return 'max_results';
    if (request.includeContent) return 'include_content';
    return request.safeSearch === 'moderate' ? 'safe_search' : null;
  },
  encode: (request) => jsonBody(PATHS[request.type], JSON_TYPE, bodyOf(request)),
  decode: (bytes, { maxResults, type }) => {
    const answer = parseUpstreamObject(bytes);
    const results = resultsOf(answer?.[LISTS[type]], NAMES, maxResults);
    if (answer === null || results === null) return null;
    const box = objectOf(answer.answerBox);
    const said = filled(box.answer) ?? filled(box.snippet);
    const images =
      type === 'images' ? objectsOf(answer.images).flatMap(({ imageUrl }) => filled(imageUrl) ?? []) : [];
    return { results, ...(said === null ? {} : { answer: said }), ...(images.length > 0 ? { images } : {}) };
  },
};

function bodyOf(request: SearchRequest): Record<string, unknown> {
  const { country, language, recency, startDate, endDate, safeSearch } = request;
  return {
    q: withDomains(request),
    num: request.maxResults,
    ...(country === null ? {} : { gl: country.toLowerCase() }),
    ...(language === null ? {} : { hl: language }),
    ...(recency === null && startDate === null && endDate === null
      ? {}
      : {
          tbs: startDate === null && endDate === null ? SPANS[recency ?? 'day'] : rangeOf(startDate, endDate),
        }),
    ...(safeSearch === null ? {} : { safe: safeSearch === 'strict' ? 'active' : 'off' }),
  };
}

function rangeOf(start: string | null, end: string | null): string {
  const ends = [
    ...(start === null ? [] : [`cd_min:${american(start)}`]),
    ...(end === null ? [] : [`cd_max:${american(end)}`]),
  ];
  return ['cdr:1', ...ends].join(',');
}
