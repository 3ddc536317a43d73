import fc from 'fast-check';
import { SEARCH_DIALECTS } from '../families.generated.js';
import type { SearchDialect, SearchRequest } from './search-dialect.js';

const PLAIN: SearchRequest = {
  queries: ['red foxes'],
  maxResults: 3,
  type: 'web',
  country: null,
  language: null,
  recency: null,
  startDate: null,
  endDate: null,
  includeDomains: [],
  excludeDomains: [],
  includeContent: false,
  maxTokensPerPage: null,
  safeSearch: null,
};
const asking = (more: Partial<SearchRequest> = {}): SearchRequest => ({ ...PLAIN, ...more });

function engine(name: string): SearchDialect {
  const found = SEARCH_DIALECTS.get(`${name}-search`);
  if (!found) throw new Error(`no engine ${name}`);
  return found;
}

/** Path and body, or the query of a GET. */
function sent(name: string, request: SearchRequest): unknown {
  const { method, path, pieces } = engine(name).encode(request);
  if (method === 'GET') return path;
  return { path, ...(JSON.parse(Buffer.concat(pieces).toString()) as object) };
}

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

describe('SRCH-06 what each engine is sent', () => {
  it('Tavily', () => {
    expect(sent('tavily', asking())).toEqual({
      path: '/search',
      query: 'red foxes',
      max_results: 3,
      search_depth: 'basic',
      topic: 'general',
      include_favicon: true,
    });
    const all = asking({
      country: 'US',
      recency: 'week',
      includeDomains: ['a.org'],
      excludeDomains: ['b.org'],
    });
    expect(sent('tavily', { ...all, includeContent: true })).toMatchObject({
      country: 'united states',
      time_range: 'week',
      include_domains: ['a.org'],
      exclude_domains: ['b.org'],
      include_raw_content: 'markdown',
    });
  });

  it('Exa', () => {
    expect(sent('exa', asking())).toEqual({
      path: '/search',
      query: 'red foxes',
      numResults: 3,
      type: 'auto',
      contents: { highlights: true },
    });
    const all = asking({ type: 'academic', country: 'DE', startDate: '2026-01-02', endDate: '2026-02-03' });
    expect(
      sent('exa', { ...all, includeContent: true, maxTokensPerPage: 100, safeSearch: 'strict' }),
    ).toMatchObject({
      contents: { text: { maxCharacters: 400 } },
      category: 'research paper',
      userLocation: 'DE',
      startPublishedDate: '2026-01-02T00:00:00.000Z',
      endPublishedDate: '2026-02-03T23:59:59.999Z',
      moderation: true,
    });
  });

  it('Brave, in the address', () => {
    expect(sent('brave', asking({ queries: ['a&count=9 #b'] }))).toBe(
      '/web/search?q=a%26count%3D9+%23b&count=3',
    );
    const all = asking({ type: 'news', country: 'GB', language: 'en', recency: 'day', safeSearch: 'strict' });
    expect(sent('brave', { ...all, includeDomains: ['a.org', 'b.org'], excludeDomains: ['c.org'] })).toBe(
      '/news/search?q=red+foxes+site%3Aa.org+OR+site%3Ab.org+-site%3Ac.org&count=3&country=GB&search_lang=en&safesearch=strict&freshness=pd',
    );
    expect(sent('brave', asking({ startDate: '2026-01-02', endDate: '2026-02-03' }))).toContain(
      'freshness=2026-01-02to2026-02-03',
    );
  });

  it('Serper', () => {
    expect(sent('serper', asking())).toEqual({ path: '/search', q: 'red foxes', num: 3 });
    expect(
      sent('serper', asking({ type: 'academic', country: 'FR', language: 'fr', recency: 'year' })),
    ).toEqual({
      path: '/scholar',
      q: 'red foxes',
      num: 3,
      gl: 'fr',
      hl: 'fr',
      tbs: 'qdr:y',
    });
    expect(sent('serper', asking({ startDate: '2026-01-02', safeSearch: 'strict' }))).toMatchObject({
      tbs: 'cdr:1,cd_min:01/02/2026',
      safe: 'active',
    });
  });

  it('Perplexity, which takes several queries at once', () => {
    expect(sent('perplexity', asking({ queries: ['a', 'b'] }))).toEqual({
      path: '/search',
      query: ['a', 'b'],
      max_results: 3,
      max_tokens_per_page: 256,
    });
    const all = asking({ type: 'academic', recency: 'month', language: 'de', excludeDomains: ['c.org'] });
    expect(sent('perplexity', { ...all, includeContent: true, startDate: '2026-01-02' })).toEqual({
      path: '/search',
      query: 'red foxes',
      max_results: 3,
      search_language_filter: ['de'],
      search_recency_filter: 'month',
      search_after_date_filter: '01/02/2026',
      search_domain_filter: ['-c.org'],
      search_mode: 'academic',
    });
  });
});

describe('SRCH-06 what an engine cannot carry, named as the caller wrote it', () => {
  it.each([
    ['tavily', { queries: ['a', 'b'] }, 'query'],
    ['tavily', { language: 'en' }, 'language'],
    ['tavily', { type: 'academic' }, 'search_type'],
    ['tavily', { type: 'news', country: 'US' }, 'country'],
    ['tavily', { safeSearch: 'strict' }, 'safe_search'],
    ['exa', { maxResults: 11 }, 'max_results'],
    ['exa', { recency: 'day' }, 'recency'],
    ['exa', { type: 'images' }, 'search_type'],
    ['brave', { includeContent: true }, 'include_content'],
    ['brave', { startDate: '2026-01-02' }, 'start_date'],
    ['brave', { endDate: '2026-01-02' }, 'end_date'],
    ['brave', { type: 'images', recency: 'day' }, 'recency'],
    ['serper', { maxResults: 11 }, 'max_results'],
    ['serper', { maxTokensPerPage: 5 }, 'max_tokens_per_page'],
    ['serper', { safeSearch: 'moderate' }, 'safe_search'],
    ['perplexity', { type: 'news' }, 'search_type'],
    ['perplexity', { includeDomains: ['a.org'], excludeDomains: ['b.org'] }, 'exclude_domains'],
  ] as [string, Partial<SearchRequest>, string][])('%s %j', (name, more, param) => {
    expect(engine(name).unsupported(asking(more))).toBe(param);
    expect(engine(name).unsupported(asking())).toBeNull();
  });
});

describe('SRCH-06 what each engine found, in one form and without money', () => {
  it.each([
    [
      'tavily',
      {
        answer: 'Foxes are red.',
        results: [
          {
            title: 'T',
            url: 'https://a.org',
            content: 's',
            raw_content: '# T',
            score: 0.5,
            published_date: '2026-01-02',
          },
        ],
      },
      {
        answer: 'Foxes are red.',
        results: [
          {
            title: 'T',
            url: 'https://a.org',
            snippet: 's',
            content: '# T',
            score: 0.5,
            published_at: '2026-01-02',
          },
        ],
      },
    ],
    [
      'exa',
      {
        results: [
          { id: 'x', title: 'T', url: 'https://a.org', highlights: ['a', 'b'], text: 'c', author: 'A' },
        ],
        costDollars: { total: 0.007 },
      },
      { results: [{ title: 'T', url: 'https://a.org', snippet: 'a … b', content: 'c', source: 'A' }] },
    ],
    [
      'brave',
      {
        type: 'search',
        web: { results: [{ title: 'T', url: 'https://a.org', description: 's', page_age: 'd' }] },
      },
      { results: [{ title: 'T', url: 'https://a.org', snippet: 's', published_at: 'd' }] },
    ],
    ['brave', { type: 'search' }, { results: [] }],
    [
      'serper',
      {
        organic: [{ title: 'T', link: 'https://a.org', snippet: 's', date: 'd' }],
        answerBox: { answer: '42' },
        credits: 1,
      },
      { answer: '42', results: [{ title: 'T', url: 'https://a.org', snippet: 's', published_at: 'd' }] },
    ],
    [
      'perplexity',
      {
        results: [
          [{ title: 'T', url: 'https://a.org', snippet: 's', last_updated: 'u' }],
          [{ title: 'no address' }],
        ],
      },
      { results: [{ title: 'T', url: 'https://a.org', snippet: 's', updated_at: 'u' }] },
    ],
  ])('%s', (name, answer, findings) => {
    expect(engine(name).decode(bytes(answer), PLAIN)).toEqual(findings);
  });

  it('gives the images of a search for images', () => {
    const images = asking({ type: 'images' });
    const serper = { images: [{ title: 'T', imageUrl: 'https://a.org/i.png', link: 'https://a.org' }] };
    expect(engine('serper').decode(bytes(serper), images)?.images).toEqual(['https://a.org/i.png']);
    const tavily = {
      results: [],
      images: ['https://a.org/i.png', { url: 'https://b.org/j.png', description: 'd' }],
    };
    expect(engine('tavily').decode(bytes(tavily), images)?.images).toEqual([
      'https://a.org/i.png',
      'https://b.org/j.png',
    ]);
    const brave = {
      results: [{ title: 'T', url: 'https://a.org', properties: { url: 'https://a.org/i.png' } }],
    };
    expect(engine('brave').decode(bytes(brave), images)?.images).toEqual(['https://a.org/i.png']);
  });

  it('returns at most as many results as were asked for', () => {
    const results = Array.from({ length: 9 }, () => ({ title: 'T', url: 'https://a.org', content: 's' }));
    expect(engine('tavily').decode(bytes({ results }), PLAIN)?.results).toHaveLength(3);
  });

  it('reads any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SEARCH_DIALECTS.values()), fc.json(), (dialect, text) => {
        const found = dialect.decode(Buffer.from(text), PLAIN);
        expect(found === null || Array.isArray(found.results)).toBe(true);
      }),
    );
    for (const dialect of SEARCH_DIALECTS.values())
      expect(dialect.decode(Buffer.from('<html>'), PLAIN)).toBeNull();
  });
});
