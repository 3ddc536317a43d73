import type { RealtimeDialect } from '../realtime-dialect.js';

/** OpenAI's realtime protocol, which callers speak. */
export const dialect: RealtimeDialect = {
  name: 'realtime',
  open: (upstreamModel) => ({
    method: 'GET',
    path: `/realtime?model=${encodeURIComponent(upstreamModel)}`,
    contentType: '',
    accept: '',
    pieces: [],
    byteLength: 0,
  }),
};
