import { createHmac } from 'node:crypto';
import type { Random } from '@gateway/contracts';
import { seededRandom } from '@gateway/testing/plain';
import { kekIdOf, openEnvelope, rewrapped, sealEnvelope } from './envelope.js';
import { unseal } from './seal.js';

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const context = { text: 'key_1/secret', key: 'key_1' };
const plain = Buffer.from('sk-secret');

/** Keeps what it gave, so that a test sees what became of it. */
function watched(): { random: Random; given: Uint8Array[] } {
  const inner = seededRandom(3);
  const given: Uint8Array[] = [];
  const bytes = (count: number): Uint8Array<ArrayBuffer> => {
    const made = Uint8Array.from(inner.bytes(count));
    given.push(made);
    return made;
  };
  return { random: { bytes, fraction: () => inner.fraction() }, given };
}

describe('an envelope', () => {
  const random = seededRandom(1);

  it('S02 opens with its key-encryption key and both contexts, and with nothing else', () => {
    const envelope = sealEnvelope(plain, [first], context, random);
    expect(openEnvelope(envelope, [first], context)).toEqual(plain);
    expect(openEnvelope(envelope, [second, first], context)).toEqual(plain);
    expect(() => openEnvelope(envelope, [second], context)).toThrow(`${kekIdOf(first)} is configured`);
    for (const other of [
      { ...context, text: 'key_2/secret' },
      { ...context, key: 'key_2' },
    ])
      expect(() => openEnvelope(envelope, [first], other)).toThrow();
  });

  it('has a data key of 32 bytes of its own, sealed with the first of the keys', () => {
    const [one, other] = [1, 2].map(() => sealEnvelope(plain, [second, first], context, random));
    const keys = [one, other].map(({ wrappedKey }) => unseal(wrappedKey, second, context.key));
    expect(keys.map(({ length }) => length)).toEqual([32, 32]);
    expect(keys[0]).not.toEqual(keys[1]);
    expect(one.kekId).toBe(kekIdOf(second));
  });

  it('names a key-encryption key by 16 hex digits that reveal nothing of it', () => {
    const name = createHmac('sha256', first).update('key-encryption key id').digest('hex');
    expect(kekIdOf(first)).toBe(name.slice(0, 16));
    expect(kekIdOf(second)).not.toBe(kekIdOf(first));
  });

  it('goes to a new key-encryption key with the same data key', () => {
    const envelope = sealEnvelope(plain, [first], context, random);
    const moved = rewrapped(envelope, [second, first], context, random);
    expect(moved.kekId).toBe(kekIdOf(second));
    expect(unseal(moved.wrappedKey, second, context.key)).toEqual(
      unseal(envelope.wrappedKey, first, context.key),
    );
    expect(openEnvelope({ ...envelope, ...moved }, [second], context)).toEqual(plain);
    expect(() => openEnvelope({ ...envelope, ...moved }, [first], context)).toThrow();
    expect(() => rewrapped(envelope, [second], context, random)).toThrow();
    expect(() => rewrapped(envelope, [first], { key: 'key_2' }, random)).toThrow();
  });

  it('leaves no data key in memory, also where sealing fails', () => {
    const { random: seen, given } = watched();
    sealEnvelope(plain, [first], context, seen);
    expect(given[0]).toEqual(new Uint8Array(32));
    const failing = watched();
    expect(() => sealEnvelope(plain, [Buffer.alloc(5)], context, failing.random)).toThrow();
    expect(failing.given[0]).toEqual(new Uint8Array(32));
  });
});
