import { startUpstreamDouble } from '@gateway/testing';
import { startEdge } from '../../edge.fixture.js';

/** Providers that a part lets answer as it wants, by name. */
export const [google, openai, groq] = await Promise.all([0, 1, 2].map(() => startUpstreamDouble()));

/** The edge that the parts of audio.http.spec.ts share: other providers are the simulated one. */
export const started = await startEdge({
  upstreams: ({ url }) =>
    Promise.resolve({
      ...{ mistral: url, elevenlabs: url, deepgram: url, xai: url },
      ...{ google: google.url, openai: openai.url, groq: groq.url },
    }),
});
afterAll(async () => {
  await started.close();
  await Promise.all([google, openai, groq].map((provider) => provider.close()));
});
