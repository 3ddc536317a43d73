import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from '@gateway/contracts';

/**
 * Form of a credential, published for secret scanners: prefix, 43 base62 characters (256 bits), then 6 of
 * CRC-32 over all that stands before them. A wrong checksum is refused without a lookup.
 */
export const SECRET_PATTERN = /^(?:rsk|mak)_[0-9A-Za-z]{49}$/;

export type SecretPrefix = 'rsk_' | 'mak_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
/** Bytes from here on are drawn again: taking them modulo 62 would favour the first letters. */
const REJECT_FROM = 248;

export function mintSecret(prefix: SecretPrefix, random: Random): string {
  let body = '';
  while (body.length < RANDOM_LENGTH) {
    for (const byte of random.bytes(RANDOM_LENGTH)) {
      if (byte < REJECT_FROM && body.length < RANDOM_LENGTH) body += ALPHABET[byte % 62];
    }
  }
  return `${prefix}${body}${checksum(prefix + body)}`;
}

/** True where prefix, length, alphabet and checksum are right. Says nothing of whether the key exists. */
export function isWellFormedSecret(secret: string): boolean {
  if (!SECRET_PATTERN.test(secret)) return false;
  const split = secret.length - CHECKSUM_LENGTH;
  return checksum(secret.slice(0, split)) === secret.slice(split);
}

/**
 * Returns the form of a secret that travels between services and names a cache entry: lower-case hex SHA-256 of the
 * whole secret.
 */
export function secretDigest(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** `rsk_ab12...wxyz`: first and last four of the random part, nothing of the checksum. */
export function maskedSecret(secret: string): string {
  const start = secret.indexOf('_') + 1;
  const body = secret.slice(start, start + RANDOM_LENGTH);
  return `${secret.slice(0, start)}${body.slice(0, 4)}...${body.slice(-4)}`;
}

/** 62^6 is more than 2^32, so six characters hold every checksum. */
function checksum(text: string): string {
  let rest = crc32(text);
  let encoded = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    encoded = ALPHABET[rest % 62] + encoded;
    rest = Math.floor(rest / 62);
  }
  return encoded;
}
