import { filled } from '../body/json-object.js';

/** An image that is sent: what its own bytes say of it. */
export interface Picture {
  readonly bytes: Uint8Array;
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp';
  readonly width: number;
  readonly height: number;
}

/** An image that was made: as bytes or as base64, whichever the provider answered. */
export type MadePicture = { readonly bytes: Uint8Array } | { readonly base64: string };

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Number of base64 characters that show whether it is any. */
const HEAD_CHARACTERS = 64;
/** Segments of a JPEG before its frame: more are no picture. */
const SEGMENTS_MAX = 1_000;

/** Null where the bytes are no png, jpeg or webp; a size of 0 where their header is broken. */
export function pictureOf(bytes: Uint8Array): Picture | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (data.subarray(0, 8).equals(PNG)) return { bytes, mediaType: 'image/png', ...pngSize(data) };
  if (data.length > 3 && data[0] === 0xff && data[1] === 0xd8 && data[2] === 0xff)
    return { bytes, mediaType: 'image/jpeg', ...jpegSize(data) };
  if (data.toString('latin1', 0, 4) === 'RIFF' && data.toString('latin1', 8, 12) === 'WEBP')
    return { bytes, mediaType: 'image/webp', ...webpSize(data) };
  return null;
}

export function bytesOf(made: MadePicture): Uint8Array {
  return 'bytes' in made ? made.bytes : Buffer.from(made.base64, 'base64');
}

export function base64Of(made: MadePicture | Picture): string {
  if ('base64' in made) return made.base64;
  const { bytes } = made;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Base64 of an answer that holds bytes; null for anything else, which is no image and is not paid for. */
export function base64In(value: unknown): string | null {
  const text = filled(value);
  return text !== null && Buffer.from(text.slice(0, HEAD_CHARACTERS), 'base64').length > 0 ? text : null;
}

/** Returns the extension of a file with these bytes; `bin` where nothing identifies them. */
export function extensionOf(bytes: Uint8Array): string {
  const picture = pictureOf(bytes);
  if (picture !== null) return picture.mediaType === 'image/jpeg' ? 'jpg' : picture.mediaType.slice(6);
  return Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'GIF8' ? 'gif' : 'bin';
}

export function dataUrlOf(picture: Picture): string {
  return `data:${picture.mediaType};base64,${base64Of(picture)}`;
}

interface Size {
  width: number;
  height: number;
}

const NONE: Size = { width: 0, height: 0 };

function pngSize(data: Buffer): Size {
  if (data.length < 24) return NONE;
  return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
}

function jpegSize(data: Buffer): Size {
  let at = 2;
  for (let n = 0; n < SEGMENTS_MAX && at + 9 < data.length && data[at] === 0xff; n += 1) {
    const marker = data[at + 1];
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) };
    // Fill bytes stand alone.
    at += marker === 0xff ? 1 : 2 + data.readUInt16BE(at + 2);
  }
  return NONE;
}

function webpSize(data: Buffer): Size {
  if (data.length < 30) return NONE;
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + data.readUIntLE(24, 3), height: 1 + data.readUIntLE(27, 3) };
    case 'VP8L': {
      const bits = data.readUInt32LE(21);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    case 'VP8 ':
      return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
    default:
      return NONE;
  }
}
