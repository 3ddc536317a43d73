export type { Asked, Endpoint, Need } from './endpoint.js';
export { EVENT_STREAM_HEADERS } from './event-stream.js';
export { ENDPOINTS } from './registry.generated.js';
