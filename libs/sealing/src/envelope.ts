import { createHmac } from 'node:crypto';
import type { Random } from '@gateway/contracts';
import { seal, unseal } from './seal.js';

const DATA_KEY_BYTES = 32;

/** A text under a data key of its own, and that key under the key-encryption key that `kekId` names. */
export interface Envelope {
  sealed: Uint8Array<ArrayBuffer>;
  wrappedKey: Uint8Array<ArrayBuffer>;
  kekId: string;
}

/** The facts that bind an envelope to its row. The data key stays bound to the row where the text is replaced. */
export interface EnvelopeContext {
  text: string;
  key: string;
}

type Keks = readonly [Buffer, ...Buffer[]];

/** A name that reveals nothing of the key. */
export function kekIdOf(kek: Uint8Array): string {
  return createHmac('sha256', kek).update('key-encryption key id').digest('hex').slice(0, 16);
}

/** Seals with the first of the keys. */
export function sealEnvelope(
  plain: Uint8Array,
  [kek]: Keks,
  context: EnvelopeContext,
  random: Random,
): Envelope {
  const dataKey = random.bytes(DATA_KEY_BYTES);
  try {
    return {
      sealed: seal(plain, dataKey, context.text, random),
      wrappedKey: seal(dataKey, kek, context.key, random),
      kekId: kekIdOf(kek),
    };
  } finally {
    dataKey.fill(0);
  }
}

/** Throws where the key is not there, or a context or a byte differs. */
export function openEnvelope(envelope: Envelope, keks: Keks, context: EnvelopeContext): Buffer {
  const dataKey = unwrap(envelope, keks, context);
  try {
    return unseal(envelope.sealed, dataKey, context.text);
  } finally {
    dataKey.fill(0);
  }
}

/** The same data key under the first of the keys. Throws as `openEnvelope`. */
export function rewrapped(
  envelope: Pick<Envelope, 'wrappedKey' | 'kekId'>,
  keks: Keks,
  context: Pick<EnvelopeContext, 'key'>,
  random: Random,
): Pick<Envelope, 'wrappedKey' | 'kekId'> {
  const dataKey = unwrap(envelope, keks, context);
  try {
    return { wrappedKey: seal(dataKey, keks[0], context.key, random), kekId: kekIdOf(keks[0]) };
  } finally {
    dataKey.fill(0);
  }
}

function unwrap(
  { wrappedKey, kekId }: Pick<Envelope, 'wrappedKey' | 'kekId'>,
  keks: Keks,
  context: Pick<EnvelopeContext, 'key'>,
): Buffer {
  const kek = keks.find((candidate) => kekIdOf(candidate) === kekId);
  if (kek === undefined) throw new Error(`No key-encryption key ${kekId} is configured.`);
  return unseal(wrappedKey, kek, context.key);
}
