import { ApiError, errorEnvelope } from '@gateway/contracts';
import type { TextDialect } from '../text-dialect.js';
import { ChatDecoder } from './chat-decoder.js';
import { ChatEncoder } from './chat-encoder.js';
import { encodeRequest, misfit } from './encode-request.js';
import { NativeChatEncoder } from './native-encoder.js';
import { CHAT, readRequest } from './read-request.js';
import { CHAT_REQUEST_SCHEMA, requestSchema } from './request-schema.js';

/** OpenAI Chat Completions, on the caller's side and on the provider's. */
export const dialect = {
  name: CHAT,
  caller: {
    schema: CHAT_REQUEST_SCHEMA,
    load: () => requestSchema.load(),
    read: readRequest,
    bodyError: ({ detail }) => new ApiError('validation_error', { message: detail.msg, details: [detail] }),
    encoder: (facts, isNative) => (isNative ? new NativeChatEncoder(facts) : new ChatEncoder(facts)),
    keepAlive: ': keep-alive\n\n',
    // The in-band failure of a stream that has begun; no [DONE] follows (S9).
    errorFrame: (error, requestId) => `data: ${JSON.stringify(errorEnvelope(error, requestId))}\n\n`,
  },
  upstream: {
    misfit,
    encode: encodeRequest,
    decoder: (target, toolNames) => new ChatDecoder(target, toolNames),
  },
} as const satisfies TextDialect;
