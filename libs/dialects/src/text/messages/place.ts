import type { JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelRequest } from '../model-request.js';

const PATH = '/messages';
/** The version that is a superset of later ones; a newer one only where the caller asked for it (wire-formats 0). */
const VERSION_HEADERS = { 'anthropic-version': '2023-06-01' };
const BETA = 'anthropic-beta';

/** The place of a request, and the part of it in the body. */
interface Place {
  path: string;
  headers: Record<string, string>;
  /** Top-level members; undefined leaves one out. */
  members: JsonObject;
}

/**
 * The body names the model and a header the version; at a provider of its own manner the path names the model and the
 * body the version. `nativeHeaders`: those of a caller who speaks this dialect.
 */
export function placeOf(
  { stream }: ModelRequest,
  { upstreamModel, quirks }: RouteTarget,
  nativeHeaders: ModelRequest['nativeHeaders'] = {},
): Place {
  const { messagesPlace: own } = quirks;
  if (own === undefined)
    return {
      path: PATH,
      headers: { ...VERSION_HEADERS, ...nativeHeaders },
      members: { model: upstreamModel },
    };
  const { [BETA]: asked = '' } = nativeHeaders as { [BETA]?: string };
  const betas = asked.split(',').filter((beta) => own.betas.test(beta));
  return {
    path: own.path(upstreamModel, stream),
    headers: betas.length === 0 ? {} : { [BETA]: betas.join(',') },
    members: { model: undefined, anthropic_version: own.version },
  };
}
