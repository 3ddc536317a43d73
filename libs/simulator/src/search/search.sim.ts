import { openAiError } from '../errors-openai.js';
import { isList, textOf, type Json, type JsonObject } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';
import { pagesFor } from './pages.js';

/** Tavily, Exa, Serper and Perplexity share a path; what a body calls its number of results shows whose it is. */
export const simulated: SimEndpoint = {
  path: '/search',
  answer: ({ json, id }) => {
    const query = queryOf(json);
    if (query === undefined)
      return openAiError(400, 'invalid_request_error', null, 'query is missing.', 'query');
    return { contentType: JSON_TYPE, body: JSON.stringify(answerOf(json ?? {}, query, `search-sim${id}`)) };
  },
};

function queryOf(json: JsonObject | undefined): string | undefined {
  const query = json?.q ?? json?.query;
  if (isList(query)) return query.map(textOf).join(' and ');
  return textOf(query) === '' ? undefined : textOf(query);
}

function answerOf(json: JsonObject, query: string, id: string): Json {
  if ('num' in json)
    return {
      searchParameters: { q: query, type: 'search' },
      organic: pagesFor(query, numberIn(json, 'num')).map(({ title, url, text, day }, at) => ({
        title,
        link: url,
        snippet: text,
        date: day,
        position: at + 1,
      })),
      credits: 1,
    };
  if ('numResults' in json)
    return {
      requestId: id,
      results: pagesFor(query, numberIn(json, 'numResults')).map(({ title, url, text, day }) => ({
        id: url,
        title,
        url,
        publishedDate: `${day}T00:00:00.000Z`,
        author: 'Sim',
        highlights: [text],
        text: `${title}. ${text}`,
      })),
      costDollars: { total: 0.007 },
    };
  const pages = pagesFor(query, numberIn(json, 'max_results'));
  if ('search_depth' in json)
    return {
      query,
      answer: null,
      images: [],
      results: pages.map(({ title, url, text, day }, at) => ({
        title,
        url,
        content: text,
        score: 0.9 - at / 100,
        raw_content: json.include_raw_content === undefined ? null : `# ${title}`,
        published_date: day,
      })),
      response_time: 0.1,
      request_id: id,
    };
  return {
    id,
    results: pages.map(({ title, url, text, day }) => ({
      title,
      url,
      snippet: text,
      date: day,
      last_updated: day,
    })),
  };
}

function numberIn(json: JsonObject, name: string): number {
  const value = json[name];
  return typeof value === 'number' ? value : 10;
}
