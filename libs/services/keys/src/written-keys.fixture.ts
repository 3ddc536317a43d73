import { PROVIDERS } from '@gateway/providers';
import { startUpstreamDouble } from '@gateway/testing';
import { migratedDatabase, startKeysApp } from './keys-app.fixture.js';

const database = await migratedDatabase();

/** Every provider, where keys of providers are tried. */
export const upstream = await startUpstreamDouble();
const keyed = new Map(
  PROVIDERS.map((provider) => [provider.slug, { provider, baseUrl: `${upstream.url}/v1` }]),
);
/** The service that the parts of written-keys.http.spec.ts share; each takes people and organizations of its own. */
export const keys = await startKeysApp(database.url, { keyed });
afterAll(async () => {
  await keys.close();
  await upstream.close();
  await database.drop();
});
