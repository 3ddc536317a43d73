import type { JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelRequest } from '../model-request.js';

const PATH = '/messages';
/** The version that is a superset of later ones; a newer one only where the caller asked for it. */
const VERSION_HEADERS = { 'anthropic-version': '2023-06-01' };
const BETA = 'anthropic-beta';

/** The place of a request, and the part of it in the body. */
interface Place {
  path: string;
  headers: Record<string, string>;
  /** Top-level members; undefined leaves one out. */
  members: JsonObject;
}

/** Names of newer flags as a caller reads them in a report. */
export function newBetaNames({ newBetas = [] }: ModelRequest): string[] {
  return newBetas.map((flag) => `${BETA}: ${flag}`);
}

/**
 * The body names the model and a header the version; at a provider of its own manner the path names the model and the
 * body the version. `nativeHeaders`: those of a caller who speaks this dialect.
 */
export function placeOf(
  { stream, newBetas = [] }: ModelRequest,
  { upstreamModel, quirks }: RouteTarget,
  nativeHeaders: ModelRequest['nativeHeaders'] = {},
): Place {
  const { messagesPlace: own } = quirks;
  const newer = quirks.takesNewer ? newBetas : [];
  if (own === undefined)
    return {
      path: PATH,
      headers: { ...VERSION_HEADERS, ...nativeHeaders, ...withNewer(nativeHeaders, newer) },
      members: { model: upstreamModel },
    };
  const betas = betasOf(nativeHeaders).filter((beta) => own.betas.test(beta));
  return {
    path: own.path(upstreamModel, stream),
    headers: betas.length === 0 ? {} : { [BETA]: betas.join(',') },
    members: { model: undefined, anthropic_version: own.version },
  };
}

function betasOf(headers: ModelRequest['nativeHeaders']): string[] {
  return Object.hasOwn(headers, BETA) ? headers[BETA].split(',') : [];
}

function withNewer(headers: ModelRequest['nativeHeaders'], newer: readonly string[]): Record<string, string> {
  return newer.length === 0 ? {} : { [BETA]: [...betasOf(headers), ...newer].join(',') };
}
