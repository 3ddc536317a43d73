export { chatDialect } from './chat/chat-dialect.js';
export { CHAT_REQUEST_SCHEMA } from './chat/request-schema.js';
export { DIALECTS } from './dialects.js';
export { BodyFault, JSON_BOUNDS, parseBody } from './body/parsed-body.js';
export { parseUpstreamJson } from './body/upstream-json.js';
export type { Member, ParsedBody } from './body/parsed-body.js';
export { spliceMembers } from './body/splice.js';
export { SseParser } from './sse/sse-parser.js';
export type { SseEvent } from './sse/sse-parser.js';
export type {
  AnswerFacts,
  Dialect,
  EditedFrame,
  EncodedRequest,
  FrameEditor,
  Front,
  Quirks,
  RouteTarget,
  StreamDecoder,
  StreamEncoder,
  UpstreamDialect,
} from './dialect.js';
export { messagesDialect } from './messages/messages-dialect.js';
export { MESSAGES_REQUEST_SCHEMA } from './messages/request-schema.js';
export type { Citation, ModelEvent, StreamFailure } from './model-event.js';
export type {
  AudioPart,
  CacheMarker,
  Capability,
  DocumentPart,
  Effort,
  ImagePart,
  MediaSource,
  ModelRequest,
  OpaqueReasoningPart,
  Part,
  ReasoningPart,
  ReasoningRequest,
  RequiredCapability,
  ResponseFormat,
  Sampling,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
} from './model-request.js';
