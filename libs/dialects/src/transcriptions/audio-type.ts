import type { FormFile } from '../body/multipart.js';

/** First bytes of the recordings that are taken. */
const HEADS: readonly (readonly [head: RegExp, type: string])[] = [
  [/^RIFF[^]{4}WAVE/, 'audio/wav'],
  [/^fLaC/, 'audio/flac'],
  [/^OggS/, 'audio/ogg'],
  [/^[^]{4}ftyp/, 'audio/mp4'],
  [/^[^]E\xdf\xa3/, 'audio/webm'],
  [/^(?:ID3|\xff[\xe0-\xff])/, 'audio/mp3'],
];
const HEAD_BYTES = 12;

/** The media type of a recording: many clients send a file without one, or call it a stream of octets. */
export function audioTypeOf({ contentType, bytes }: FormFile): string {
  if (/^(?:audio|video)\//i.test(contentType)) return contentType;
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  return HEADS.find(([known]) => known.test(head))?.[1] ?? 'audio/wav';
}
