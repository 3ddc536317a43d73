export const EVENT_STREAM = 'text/event-stream';

/** Headers of an answer that is an event stream: nothing on the way may hold its frames back. */
export const EVENT_STREAM_HEADERS = {
  'content-type': `${EVENT_STREAM}; charset=utf-8`,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;
