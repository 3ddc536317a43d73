export type { Asked, Endpoint, EndpointCounts, EndpointState, Need } from './endpoint.js';
export { EVENT_STREAM_HEADERS } from './event-stream.js';
export { StoredContentNeeded } from './stored/stored-content-needed.js';
export { ENDPOINTS } from './registry.generated.js';
