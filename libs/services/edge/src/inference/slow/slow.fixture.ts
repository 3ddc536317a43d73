import { startEdge } from '../../edge.fixture.js';

/** The edge that the parts of slow.http.spec.ts share: it waits briefly for providers and for readers. */
export const started = await startEdge({
  config: { STREAM_KEEP_ALIVE_MS: 150, CLIENT_STALL_TIMEOUT_MS: 300 },
});
afterAll(() => started.close());
