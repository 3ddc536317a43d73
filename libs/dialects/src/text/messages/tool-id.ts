import { plainToolId } from '../tool-signature.js';

/** Ids as this dialect allows them; the newer servers refuse any other with a 400. */
const VALID = /^[A-Za-z0-9_-]+$/;
const FROM_OTHERS = 'toolu_via_';
const ENCODED = 'toolu_b64_';

/**
 * An id that this dialect's servers accept. One that they would refuse is spelled in base64url, with which no other id
 * collides. It is the same on every turn, and `callerToolId` undoes it.
 */
export function upstreamToolId(id: string): string {
  return spelled(plainToolId(id));
}

function spelled(id: string): string {
  return VALID.test(id) ? id : ENCODED + Buffer.from(id, 'utf8').toString('base64url');
}

/** The id as a caller of the messages endpoint sees it: ids of other dialects do not show. */
export function callerToolId(id: string): string {
  if (/^(srv)?toolu_/.test(id)) return spelled(id);
  return VALID.test(id) ? FROM_OTHERS + id : spelled(id);
}

/** Undoes both: the id that the provider gave, as it stands in its own history. */
export function providerToolId(id: string): string {
  if (id.startsWith(FROM_OTHERS)) return id.slice(FROM_OTHERS.length);
  if (!id.startsWith(ENCODED)) return id;
  return Buffer.from(id.slice(ENCODED.length), 'base64url').toString('utf8');
}
