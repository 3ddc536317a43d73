export type { Asked, CallerBody, Endpoint, Need, Requirement } from './endpoint.js';
export { EVENT_STREAM_HEADERS } from './event-stream.js';
export { ENDPOINTS } from './registry.generated.js';
