const MAGIC: readonly (readonly [string, (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ['image/gif', (bytes) => bytes.toString('latin1', 0, 4) === 'GIF8'],
  [
    'image/webp',
    (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
  ],
];

/** Base64 of the first 12 bytes, all that the magic needs. */
const HEAD_CHARS = 16;

/** Returns the type of the bytes, whatever the caller called them: a wrong media_type is a 400 at this upstream. */
export function imageType(base64: string, declared: string): string {
  const head = Buffer.from(base64.slice(0, HEAD_CHARS), 'base64');
  const found = MAGIC.find(([, matches]) => matches(head));
  return found?.[0] ?? (declared === 'image/jpg' ? 'image/jpeg' : declared);
}
