import { UpstreamError } from '@gateway/contracts';
import { withOwnParam } from './own-param.js';

const failed = (param?: string): UpstreamError =>
  new UpstreamError({
    ...{ code: 'invalid_request', message: 'Acme: no', httpStatus: 400, retryable: false, fallback: false },
    ...{ countsAsFault: false, fault: 'caller' as const },
    ...(param === undefined ? {} : { param }),
  });
const SENT = Buffer.from('{"model":"a", "messages" : [{"content":"\\"seed\\": 1 seed"}], "x": "top_p"}');

it.each<[string | undefined, boolean, string | undefined]>([
  ['messages[0].content', false, 'messages[0].content'],
  ['messages[0].content', true, 'messages'],
  ['messages.0.content', true, 'messages'],
  ['max_completion_tokens', false, undefined],
  // In a text, or as one, it is no member.
  ['seed', false, undefined],
  ['top_p', false, undefined],
  ['messages and sk-live-1', false, undefined],
  ['messages/../x', false, undefined],
  ['', false, undefined],
  [undefined, false, undefined],
])('ERR-28 names the parameter %j (translated: %s) as %j', (param, isTranslated, expected) => {
  const { options, message } = withOwnParam(failed(param), SENT, isTranslated);
  expect([options.param, message, options.httpStatus]).toEqual([expected, 'Acme: no', 400]);
});
