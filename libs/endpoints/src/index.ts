export { FILE_BYTES_MAX } from './stored/file-parts.js';
export type { FileContent } from './stored/file-parts.js';
export type {
  Asked,
  Endpoint,
  EndpointBackground,
  EndpointCounts,
  Need,
  StoredRequest,
  Requirement,
  RouteChoice,
} from './endpoint.js';
export { EVENT_STREAM_HEADERS } from '@gateway/dialects';
export { followEvents } from './responses/follow-events.js';
export { StoredContentNeeded, wholeBody } from './stored/stored-content-needed.js';
export { ENDPOINTS } from './registry.generated.js';
