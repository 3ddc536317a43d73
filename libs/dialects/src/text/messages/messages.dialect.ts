import { messagesErrorEnvelope } from '@gateway/contracts';
import type { RouteTarget } from '../../translation/translation.js';
import type { EncodedRequest, TextDialect } from '../text-dialect.js';
import { encodeRequest, unsupported } from './encode-request.js';
import { MessagesDecoder } from './messages-decoder.js';
import { frame, MessagesEncoder, PING } from './messages-encoder.js';
import { NativeMessagesEncoder } from './native-encoder.js';
import { bodyError, MESSAGES, readRequest } from './read-request.js';
import { MESSAGES_CALLER_SCHEMA, requestSchema } from './request-schema.js';

/** Anthropic's Messages API, version 2023-06-01. */
export const dialect = {
  name: MESSAGES,
  caller: {
    schema: MESSAGES_CALLER_SCHEMA,
    load: () => requestSchema.load(),
    read: readRequest,
    bodyError,
    encoder: (facts, isNative) => (isNative ? new NativeMessagesEncoder(facts) : new MessagesEncoder(facts)),
    keepAlive: PING,
    errorFrame: (error, requestId) => frame('error', messagesErrorEnvelope(error, requestId)),
  },
  upstream: {
    unsupported,
    encode: encodeRequest,
    decoder: (_target?: RouteTarget, toolNames?: EncodedRequest['toolNames']) =>
      new MessagesDecoder(toolNames),
  },
} as const satisfies TextDialect;
