export { BodyFault, JSON_BOUNDS, parseBody } from './body/parsed-body.js';
export { isObject, type JsonObject } from './body/json-object.js';
export { LazySchema } from './body/lazy-schema.js';
export { readJson, invalidBody } from './body/read-json.js';
export { parseUpstreamObject } from './body/upstream-json.js';
export type { Member, ParsedBody } from './body/parsed-body.js';
export { spliceMembers } from './body/splice.js';
export * from './families.generated.js';
export { SseParser } from './sse/sse-parser.js';
export type { SseEvent } from './sse/sse-parser.js';
export type { ModelEvent } from './text/model-event.js';
export type { Capability, ModelRequest } from './text/model-request.js';
export { withoutMoney } from './translation/money-names.js';
export { Misfit } from './translation/translation.js';
export type {
  Answer,
  AnswerFacts,
  AnswerFailure,
  AnswerHead,
  Piece,
  Quirks,
  ResultContext,
  RouteTarget,
  Translation,
} from './translation/translation.js';
export { JSON_TYPE, jsonBody } from './translation/upstream-body.js';
export { badAnswer, failurePiece, JSON_HEADERS, wholeTranslation } from './translation/whole-answer.js';
export type { UpstreamBody } from './translation/upstream-body.js';
