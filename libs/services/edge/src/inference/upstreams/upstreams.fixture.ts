import { startUpstreamDouble } from '@gateway/testing';
import { startEdge } from '../../edge.fixture.js';

/** Providers that a part lets answer as it wants. */
export const [first, second] = await Promise.all([startUpstreamDouble(), startUpstreamDouble()]);

const OF_FIRST = ['openai', 'simulated', 'simulated-messages', 'google-vertex', 'tavily'];
const OF_SECOND = ['anthropic', 'together'];

/** The edge that the parts of upstreams.http.spec.ts share. */
export const started = await startEdge({
  config: { BYOK_FEE_PCT: '10' },
  upstreams: () =>
    Promise.resolve(
      Object.fromEntries([
        ...OF_FIRST.map((slug) => [slug, first.url]),
        ...OF_SECOND.map((slug) => [slug, second.url]),
      ]),
    ),
});
afterAll(async () => {
  await started.close();
  await Promise.all([first.close(), second.close()]);
});
