import type { components } from './generated/schema.js';

/** Bodies and answers of the API by the names that its document gives them. */
export type Schemas = components['schemas'];
