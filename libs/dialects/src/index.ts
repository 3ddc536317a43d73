export { filled, isObject } from './body/json-object.js';
export { wholeCount } from './body/json-object.js';
export { LazySchema } from './body/lazy-schema.js';
export { compactionItem } from './text/responses/compaction.js';
export { itemsFault } from './text/responses/items-fault.js';
export { queuedResponse } from './text/responses/response-object.js';
export { isForeignReasoning as isForeignReasoningItem } from './text/responses/sealed-reasoning.js';
export { parseDataUrl } from './text/data-url.js';
export { AnswerCallIds, distinctCalls } from './text/call-ids.js';
export { base64Of, bytesOf, extensionOf, pictureOf } from './images/picture.js';
export type { MadePicture, Picture } from './images/picture.js';
export { formBody, readForm } from './body/multipart.js';
export type { Form, FormFile } from './body/multipart.js';
export { invalidBody, readJson, schemaFault } from './body/read-json.js';
export { parseUpstreamObject, parseUpstreamText } from './body/upstream-json.js';
export * from './families.generated.js';
export { newBetaNames } from './text/messages/place.js';
export type { ModelEvent } from './text/model-event.js';
export { isOpening } from './text/opening.js';
export type { Capability, ModelRequest } from './text/model-request.js';
export { Unsupported } from './translation/translation.js';
export type {
  Answer,
  AnswerFacts,
  AnswerFailure,
  AnswerHead,
  Piece,
  Quirks,
  ResultContext,
  RouteTarget,
  Exchange,
  Translation,
  UpstreamCalls,
  UpstreamReply,
} from './translation/translation.js';
export { EVENT_STREAM, EVENT_STREAM_HEADERS } from './translation/event-stream.js';
export { badReply, ExchangeFailure } from './translation/exchange.js';
export { withoutMoney } from './translation/money-names.js';
export { jsonBody, lookAt, lookAtPath } from './translation/upstream-body.js';
export {
  badAnswer,
  exchangeTranslation,
  failurePiece,
  JSON_HEADERS,
  wholeAnswer,
  wholeTranslation,
} from './translation/whole-answer.js';
export type { UpstreamBody } from './translation/upstream-body.js';
export { spokenSeconds, spokenTokens } from './speech/spoken-tokens.js';
export { mp4Seconds } from './video/mp4-seconds.js';
export { writeTranscript } from './transcriptions/write-transcript.js';
