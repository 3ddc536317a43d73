import { migratedDatabase, startKeysApp } from './keys-app.fixture.js';

const database = await migratedDatabase();

/** The service that the parts of organizations.http.spec.ts share; each takes people and organizations of its own. */
export const keys = await startKeysApp(database.url);
afterAll(async () => {
  await keys.close();
  await database.drop();
});
