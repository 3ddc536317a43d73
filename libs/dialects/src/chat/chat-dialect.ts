import { ApiError, errorEnvelope } from '@gateway/contracts';
import type { Dialect } from '../dialect.js';
import { decodeAnswer } from './decode-answer.js';
import { editAnswer } from './edit-answer.js';
import { encodeRequest } from './encode-request.js';
import { fold } from './fold.js';
import { ChatFrameEditor } from './frame-editor.js';
import { readRequest } from './read-request.js';
import { requestSchema } from './request-schema.js';
import { ChatStreamDecoder } from './stream-decoder.js';
import { ChatStreamEncoder } from './stream-encoder.js';

/** OpenAI Chat Completions, on the caller's side and on the provider's. */
export const chatDialect: Dialect = {
  name: 'chat',
  front: {
    dialect: 'chat',
    load: () => requestSchema.load(),
    readRequest,
    bodyError: ({ detail }) => new ApiError('validation_error', { message: detail.msg, details: [detail] }),
    fold,
    streamEncoder: (facts) => new ChatStreamEncoder(facts),
    errorBody: errorEnvelope,
    editAnswer,
    frameEditor: (decoder, facts, see) => new ChatFrameEditor(decoder, facts, see),
  },
  upstream: {
    dialect: 'chat',
    encodeRequest,
    decodeAnswer,
    streamDecoder: (target, toolNames) => new ChatStreamDecoder(target, toolNames),
  },
};
