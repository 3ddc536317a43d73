import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { startReads } from './reads.fixture.js';

/** The service that the parts of rollups.db.spec.ts share: nothing is rolled up but by a part. */
export const reads = await startReads();
export const { app } = reads;
await app.app.get(ScheduledJobs, { strict: false }).stop();
afterAll(() => reads.close());
