import { BodyFault, parseBody } from '@gateway/json-body';
import { TEXT_DIALECTS, textChat, textMessages, textResponses } from '../families.generated.js';
import type { RouteTarget } from '../translation/translation.js';
import type { TextCaller } from './text-dialect.js';
import { target } from './upstream-streams.fixture.js';

export type Json = Record<string, unknown>;

/** A caller's body as an upstream of the dialect gets it. */
export function sent(dialect: string, body: Json, more: Partial<RouteTarget> = {}) {
  const parsed = parseBody(Buffer.from(JSON.stringify({ model: 'm', ...body })));
  if (parsed instanceof BodyFault) throw new Error(parsed.detail.msg);
  const request = callerOf(body).read(parsed);
  const upstream = TEXT_DIALECTS.get(dialect)?.upstream;
  if (!upstream) throw new Error(`no dialect ${dialect}`);
  const route = target({ dialect, ...more });
  const unsupported = upstream.unsupported(request, route);
  if (unsupported !== null) return { misfit: unsupported, path: '', ignored: [], body: {} as Json };
  const encoded = upstream.encode(request, route);
  return {
    misfit: unsupported,
    path: encoded.request.path,
    ignored: encoded.ignored,
    body: JSON.parse(Buffer.concat(encoded.request.pieces).toString('utf8')) as Json,
  };
}

/** Returns the caller of such a body: only responses has an input, only messages cannot do without max_tokens. */
function callerOf(body: Json): TextCaller {
  if (body.input !== undefined) return textResponses.caller;
  return body.max_tokens === undefined ? textChat.caller : textMessages.caller;
}

export const user = (content: unknown): Json => ({ role: 'user', content });
