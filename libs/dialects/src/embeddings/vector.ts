const FLOAT_BYTES = 4;

/** A vector as numbers, from numbers or base64 of 32-bit floats; null where it is neither. */
function floatsOf(vector: unknown): number[] | null {
  if (Array.isArray(vector)) return vector.every(Number.isFinite) && vector.length > 0 ? vector : null;
  if (typeof vector !== 'string' || vector === '') return null;
  const bytes = Buffer.from(vector, 'base64');
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) return null;
  const floats = Array.from({ length: bytes.length / FLOAT_BYTES }, (_, at) =>
    bytes.readFloatLE(at * FLOAT_BYTES),
  );
  return floats.every(Number.isFinite) ? floats : null;
}

function base64Of(floats: readonly number[]): string {
  const bytes = Buffer.alloc(floats.length * FLOAT_BYTES);
  for (const [at, value] of floats.entries()) bytes.writeFloatLE(value, at * FLOAT_BYTES);
  return bytes.toString('base64');
}

/** The provider's vector in the form that the caller asked for; null where it is no vector. */
export function vectorIn(format: 'float' | 'base64', vector: unknown): number[] | string | null {
  const floats = floatsOf(vector);
  if (floats === null) return null;
  if (format === 'float') return floats;
  // What came in base64 goes on as it is.
  return typeof vector === 'string' ? vector : base64Of(floats);
}
