import { fixedClock } from '@gateway/testing';
import { migratedDatabase, startKeysApp } from './keys-app.fixture.js';

const database = await migratedDatabase();

export const clock = fixedClock('2026-11-21T12:00:00.000Z');
/** The service that the parts of fixed-clock.http.spec.ts share; each moves its clock on. */
export const keys = await startKeysApp(database.url, { clock });
afterAll(async () => {
  await keys.close();
  await database.drop();
});
