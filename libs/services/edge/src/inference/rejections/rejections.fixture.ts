import { startEdge } from '../../edge.fixture.js';

/** The edge that the parts of rejections.http.spec.ts share. */
export const started = await startEdge();
afterAll(() => started.close());
