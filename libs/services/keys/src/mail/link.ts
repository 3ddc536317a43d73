import { createHash } from 'node:crypto';
import { ApiError, type Random } from '@gateway/contracts';

const TOKEN_BYTES = 32;

/** The secret of a link. Only its SHA-256 is stored: 256 random bits need no slower hash. */
export function newLinkToken(random: Random): string {
  return Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
}

export function linkDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Returns a link with the token behind the `#`, so that no server's log and no Referer holds it. */
export function linkTo(publicUrl: string, page: 'invite' | 'reset', token: string): string {
  return `${publicUrl}/dashboard/${page}#token=${token}`;
}

/** Alike for a token that is unknown, used, void and too old. */
export function deadLink(): ApiError {
  const msg = 'This link is unknown, was already used, or has expired.';
  return new ApiError('unprocessable_entity', {
    message: `token: ${msg}`,
    details: [{ type: 'token_invalid', loc: ['token'], msg }],
  });
}
