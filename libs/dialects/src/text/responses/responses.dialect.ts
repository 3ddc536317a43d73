import { invalidBody } from '../../body/read-json.js';
import { objectOf } from '../../body/json-object.js';
import type { TextDialect } from '../text-dialect.js';
import { encodeRequest, unsupported } from './encode-request.js';
import { NativeResponsesEncoder } from './native-encoder.js';
import { readRequest, RESPONSES } from './read-request.js';
import { requestSchema, RESPONSES_REQUEST_SCHEMA } from './request-schema.js';
import { ResponsesDecoder } from './responses-decoder.js';
import { frame, ResponsesEncoder } from './responses-encoder.js';

/** OpenAI Responses, on the caller's side and on the provider's. */
export const dialect = {
  name: RESPONSES,
  caller: {
    schema: RESPONSES_REQUEST_SCHEMA,
    load: () => requestSchema.load(),
    read: readRequest,
    bodyError: ({ detail }) => invalidBody(detail),
    encoder: (facts, isNative, request) =>
      isNative ? new NativeResponsesEncoder(facts, request) : new ResponsesEncoder(facts, request),
    keepAlive: ': keep-alive\n\n',
    errorFrame: (error, requestId) => {
      const { code, message, options, entry } = error;
      const said = { code, message, param: options.param ?? null };
      const nested = objectOf({ type: entry.type, ...said });
      return frame({ type: 'error', ...said, error: nested, request_id: requestId, sequence_number: 0 });
    },
  },
  upstream: {
    unsupported,
    stopMax: () => 0,
    encode: encodeRequest,
    decoder: (_target, toolNames) => new ResponsesDecoder(toolNames),
  },
} as const satisfies TextDialect;
