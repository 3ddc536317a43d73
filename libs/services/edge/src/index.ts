export { COMPOSED_ENDPOINTS } from './composed/composed-endpoints.js';
export { EdgeConfig, enabledProviders } from './config/edge.config.js';
export type { EnabledProvider } from './config/edge.config.js';
export { EdgeModule } from './edge.module.js';
export type { FrontDoorServices } from './front-door/front-door.js';
export { START_SHIPPER } from './units/journal-runtime.js';
export type { StartShipper } from './units/journal-runtime.js';
export { alarmLine } from './units/alarm-line.js';
export { drainJournal } from './units/drain-journal.js';
