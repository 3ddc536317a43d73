import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { isObject } from '@gateway/dialects';

/** Media type of the payload, which the signature covers. */
const PAYLOAD_TYPE = 'application/vnd.model-gateway.catalogue.v1+json';
const SIGNATURES_MAX = 16;
/** DER of an Ed25519 public key up to its 32 bytes (RFC 8410). */
const PUBLIC_KEY_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const PUBLIC_KEY_BYTES = 32;

/** Public keys by their id. */
export type FeedKeys = ReadonlyMap<string, KeyObject>;

/** Reason why a document is not taken: the sentence for people is the message. */
export class FeedRefused extends Error {
  constructor(
    /** Label of the metric. */
    readonly reason: 'envelope' | 'key' | 'signature' | 'payload' | 'time' | 'version' | 'model' | 'guard',
    message: string,
  ) {
    super(message);
    this.name = 'FeedRefused';
  }
}

/**
 * Returns the payload of an envelope that one of the keys has signed, and the id of that key. Nothing of a payload is
 * read before its signature fits. Throws FeedRefused.
 */
export function openEnvelope(bytes: Uint8Array, keys: FeedKeys): { payload: Buffer; keyid: string } {
  const { payload, signatures } = parsedEnvelope(bytes);
  const signed = signedBytes(payload);
  let isKnown = false;
  for (const { keyid, sig } of signatures) {
    const key = keys.get(keyid);
    if (key === undefined) continue;
    isKnown = true;
    if (verify(null, signed, key, sig)) return { payload, keyid };
  }
  if (isKnown) throw new FeedRefused('signature', 'The signature does not fit the document.');
  throw new FeedRefused('key', `No known key has signed the document: it names ${named(signatures)}.`);
}

/** Returns the envelope of a payload as text. Throws TypeError for a key that is not Ed25519. */
export function sealEnvelope(payload: Uint8Array, { pem, keyid }: { pem: string; keyid: string }): string {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('The key is not an Ed25519 key.');
  const sig = sign(null, signedBytes(payload), key).toString('base64');
  const text = Buffer.from(payload).toString('base64');
  return `${JSON.stringify({ payloadType: PAYLOAD_TYPE, payload: text, signatures: [{ keyid, sig }] })}\n`;
}

/** Reads `keyid=base64` pairs with commas between. Throws TypeError with the place of a fault. */
export function readFeedKeys(text: string): FeedKeys {
  const pairs = text.split(',').map((pair) => pair.trim());
  return new Map(
    pairs.filter(Boolean).map((pair) => {
      const at = pair.indexOf('=');
      const raw = Buffer.from(pair.slice(at + 1), 'base64');
      const keyid = pair.slice(0, Math.max(at, 0));
      if (!/^[A-Za-z0-9._-]{1,64}$/.test(keyid) || raw.length !== PUBLIC_KEY_BYTES)
        throw new TypeError(`"${pair.slice(0, 80)}" is not keyid=base64 of the 32 bytes of an Ed25519 key.`);
      const key = Buffer.concat([PUBLIC_KEY_HEAD, raw]);
      return [keyid, createPublicKey({ key, format: 'der', type: 'spki' })];
    }),
  );
}

/** Returns the 32 bytes of the public key of a pair, base64, as readFeedKeys takes them. */
export function publicKeyText(key: KeyObject): string {
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return der.subarray(PUBLIC_KEY_HEAD.length).toString('base64');
}

interface Envelope {
  payload: Buffer;
  signatures: { keyid: string; sig: Buffer }[];
}

function parsedEnvelope(bytes: Uint8Array): Envelope {
  const value = jsonOf(bytes);
  const { payloadType, payload, signatures } = isObject(value) ? value : {};
  if (payloadType !== PAYLOAD_TYPE || typeof payload !== 'string' || !Array.isArray(signatures))
    throw new FeedRefused('envelope', `The document is no envelope of ${PAYLOAD_TYPE}.`);
  const read = signatures.slice(0, SIGNATURES_MAX).flatMap((one: unknown) => {
    const { keyid, sig } = isObject(one) ? one : {};
    const isSigned = typeof keyid === 'string' && typeof sig === 'string';
    return isSigned ? [{ keyid, sig: Buffer.from(sig, 'base64') }] : [];
  });
  return { payload: Buffer.from(payload, 'base64'), signatures: read };
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new FeedRefused('envelope', 'The document is not JSON, or it was cut off.');
  }
}

/** The bytes that DSSE signs: type and payload with their lengths. */
function signedBytes(payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(PAYLOAD_TYPE)} ${PAYLOAD_TYPE} ${payload.byteLength} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

function named(signatures: Envelope['signatures']): string {
  const ids = signatures.map(({ keyid }) => keyid.replace(/[^A-Za-z0-9._-]/g, '?').slice(0, 64));
  return ids.length === 0 ? 'none' : ids.join(', ');
}
