export { FirstRun } from './first-run/first-run.js';
export type { FirstRunResult } from './first-run/first-run.js';
export { OpeningCredit } from './first-run/opening-credit.js';
export { KeysConfig } from './keys.config.js';
export { readKeysConfig } from './read-keys-config.js';
export { KeysModule } from './keys.module.js';
export { rewrapProviderKeys } from './provider-keys/rewrap-provider-keys.js';
export { rotateSigningKey } from './sessions/rotate-signing-key.js';
export { SCHEMA as KEYS_SCHEMA, SCHEMA_DIR as KEYS_SCHEMA_DIR } from './postgres/keys-database.js';
