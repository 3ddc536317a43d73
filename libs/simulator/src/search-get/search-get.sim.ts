import { openAiError } from '../errors-openai.js';
import { JSON_TYPE } from '../reply.js';
import { pagesFor } from '../search/pages.js';
import type { SimEndpoint } from '../sim-endpoint.js';

/** Brave's web search, which takes its query in the address. */
export const simulated: SimEndpoint = {
  path: '/web/search',
  method: 'GET',
  answer: ({ path }) => {
    const asked = new URLSearchParams(path.slice(path.indexOf('?') + 1));
    const query = asked.get('q') ?? '';
    if (query === '') return openAiError(422, 'invalid_request_error', 'VALIDATION', 'q is missing.', 'q');
    const results = pagesFor(query, Number(asked.get('count') ?? 20)).map(({ title, url, text, day }) => ({
      type: 'search_result',
      title,
      url,
      description: text,
      page_age: `${day}T00:00:00`,
    }));
    const found = results.length > 0 ? { web: { type: 'search', results } } : {};
    return {
      contentType: JSON_TYPE,
      body: JSON.stringify({ type: 'search', query: { original: query }, ...found }),
    };
  },
};
