export { EdgeConfig, enabledProviders } from './config/edge.config.js';
export type { EnabledProvider } from './config/edge.config.js';
export { EdgeModule } from './edge.module.js';
export type { EdgeOptions } from './edge.module.js';
export type { FrontDoorServices } from './front-door/front-door.js';
export { ShipperFactory } from './units/shipper-factory.js';
export { drainJournal } from './units/drain-journal.js';
export type { DrainedJournal, DrainJournalOptions } from './units/drain-journal.js';
