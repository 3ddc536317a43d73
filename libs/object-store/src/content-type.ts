import type { ObjectKey } from '@gateway/contracts';

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  jsonl: 'application/jsonl',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
};

/** Returns the content type that the extension of an object names. */
export function contentTypeOf(key: ObjectKey): string {
  return TYPES[key.slice(key.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
