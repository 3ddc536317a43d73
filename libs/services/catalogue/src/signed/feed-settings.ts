import { registerDecorator } from 'class-validator';
import { readFeedKeys } from './envelope.js';

const KEYS_MAX = 8;
const [SECONDS_MIN, SECONDS_MAX] = [10, 604_800];

/** An address at which a signed catalogue may lie: https, file, or http to a loopback address. */
export function IsFeedAddress(): PropertyDecorator {
  return check(isFeedAddress, '$property must be https://…, file:///… or http:// to a loopback address');
}

/** Public keys as readFeedKeys takes them, at most 8. */
export function IsFeedKeys(): PropertyDecorator {
  return check(
    areFeedKeys,
    '$property must be 1 to 8 of keyid=base64 of an Ed25519 key, with commas between',
  );
}

/** 0, or seconds between two readings. */
export function IsFeedInterval(): PropertyDecorator {
  return check(
    (value) => value === 0 || (typeof value === 'number' && value >= SECONDS_MIN && value <= SECONDS_MAX),
    `$property must be 0 or ${SECONDS_MIN} to ${SECONDS_MAX}`,
  );
}

function isFeedAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  if (protocol === 'file:') return hostname === '';
  return (
    protocol === 'https:' ||
    (protocol === 'http:' && /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(hostname))
  );
}

function areFeedKeys(value: unknown): boolean {
  try {
    const { size } = readFeedKeys(String(value));
    return size >= 1 && size <= KEYS_MAX;
  } catch {
    return false;
  }
}

function check(isValid: (value: unknown) => boolean, message: string): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: `feed ${message}`,
      target: target.constructor,
      propertyName: String(property),
      options: { message },
      validator: { validate: isValid },
    });
}
