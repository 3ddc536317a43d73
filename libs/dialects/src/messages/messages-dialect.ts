import { messagesErrorEnvelope } from '@gateway/contracts';
import type { Dialect } from '../dialect.js';
import { decodeAnswer } from './decode-answer.js';
import { editAnswer } from './edit-answer.js';
import { encodeRequest } from './encode-request.js';
import { fold } from './fold.js';
import { MessagesFrameEditor } from './frame-editor.js';
import { bodyError, readRequest } from './read-request.js';
import { requestSchema } from './request-schema.js';
import { MessagesStreamDecoder } from './stream-decoder.js';
import { MessagesStreamEncoder } from './stream-encoder.js';

/** Anthropic's Messages API, version 2023-06-01 (wire-formats 2). */
export const messagesDialect: Dialect = {
  name: 'messages',
  front: {
    dialect: 'messages',
    load: () => requestSchema.load(),
    readRequest,
    bodyError,
    fold,
    streamEncoder: (facts) => new MessagesStreamEncoder(facts),
    errorBody: messagesErrorEnvelope,
    editAnswer,
    frameEditor: (decoder, facts, see) => new MessagesFrameEditor(decoder, facts, see),
  },
  upstream: {
    dialect: 'messages',
    encodeRequest,
    decodeAnswer: (body) => decodeAnswer(body),
    streamDecoder: () => new MessagesStreamDecoder(),
  },
};
