import { startEdge } from '../../edge.fixture.js';

/** Engines that search the web. */
export const ENGINES = ['tavily', 'exa', 'brave', 'serper', 'perplexity'];

/** The edge that the parts of scores.http.spec.ts share: each provider is the simulated one. */
export const started = await startEdge({
  upstreams: ({ url }) =>
    Promise.resolve(Object.fromEntries(['voyage', 'cohere', ...ENGINES].map((name) => [name, url]))),
});
afterAll(() => started.close());
