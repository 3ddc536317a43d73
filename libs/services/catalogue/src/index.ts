export { CatalogueConfig } from './catalogue.config.js';
export { readCatalogueConfig } from './read-catalogue-config.js';
export { CatalogueModule } from './catalogue.module.js';
export {
  SCHEMA as CATALOGUE_SCHEMA,
  SCHEMA_DIR as CATALOGUE_SCHEMA_DIR,
} from './postgres/catalogue-database.js';
export { OwnEntries } from './own/own-entries.js';
export type { ServerOffer } from './own/own-entries.js';
export { withWholeFile } from './own/whole-file.js';
export { readSeed } from './seed/read-seed.js';
export { FeedRefused, openEnvelope, publicKeyText, readFeedKeys, sealEnvelope } from './signed/envelope.js';
export { feedChanges } from './feed/feed-change.js';
export { readFeedDocument, type FeedDocument } from './feed/feed-document.js';
export { payloadOf } from './feed/feed-payload.js';
