import type { TextDialect } from '../text-dialect.js';
import { ConverseDecoder } from './converse-decoder.js';
import { encodeRequest, unsupported, STREAM_TYPE } from './encode-request.js';

/** Amazon Bedrock's Converse and ConverseStream. */
export const dialect = {
  name: 'converse',
  upstream: {
    streamType: STREAM_TYPE,
    unsupported,
    encode: encodeRequest,
    decoder: (_target, toolNames) => new ConverseDecoder(toolNames),
  },
} as const satisfies TextDialect;
