import { startReads } from './reads.fixture.js';

/** The service that the parts of all-reads.http.spec.ts share; each empties what earlier parts have posted. */
export const reads = await startReads();
export const { app } = reads;
afterAll(() => reads.close());
