import { ApiError, type ErrorDetail, type DetailType } from '@gateway/contracts';
import { filled, invalidBody, isObject, pictureOf, type FormFile, type Picture } from '@gateway/dialects';
import { IMAGING_PIXELS_MAX } from '@gateway/imaging';

/** Decoded (decisions): a body within its own limit may still hold an image beyond this. */
const PICTURE_BYTES_MAX = 20 * 1024 * 1024;

type Loc = ErrorDetail['loc'];

/** The images of one member: a data URL, base64, `{url}` or OpenAI's `{image_url}`, or a list of those. */
export function picturesOf(name: string, value: unknown): Picture[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [pictureAt([name], value)];
  return value.map((one, at) => pictureAt([name, at], one));
}

export function pictureOfFile({ field, bytes }: FormFile): Picture {
  return checked([field], bytes);
}

function pictureAt(loc: Loc, value: unknown): Picture {
  const text = isObject(value) ? (filled(value.url) ?? urlIn(value.image_url)) : filled(value);
  if (text === null) throw fault('wrong_type', loc, 'must be a data URL, base64 or {url: data URL}');
  // Never fetched: what a caller sends becomes no address.
  if (/^\s*[a-z][a-z0-9+.-]{0,31}:/i.test(text.slice(0, 40)) && !/^data:/i.test(text))
    throw fault('invalid_url', loc, 'remote addresses are not fetched: send a data URL');
  return checked(loc, decoded(loc, text));
}

function urlIn(value: unknown): string | null {
  return isObject(value) ? filled(value.url) : filled(value);
}

function decoded(loc: Loc, text: string): Uint8Array {
  let base64 = text;
  if (/^data:/i.test(text)) {
    const comma = text.indexOf(',');
    if (comma < 0 || !/;base64$/i.test(text.slice(0, comma)))
      throw fault('invalid_data_url', loc, 'the data URL has to be base64');
    base64 = text.slice(comma + 1);
  }
  return fromBase64(base64) ?? fromBase64(base64.replace(/\s+/g, '')) ?? invalidBase64(loc);
}

/** Null where a character is none of base64: the decoder skips such. */
function fromBase64(text: string): Uint8Array | null {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.length === Math.floor(((text.length - padding) * 3) / 4) ? bytes : null;
}

function invalidBase64(loc: Loc): never {
  throw fault('invalid_base64', loc, 'is not base64');
}

function checked(loc: Loc, bytes: Uint8Array): Picture {
  const param = loc.join('.');
  if (bytes.byteLength > PICTURE_BYTES_MAX)
    throw fault('too_large', loc, `more than ${PICTURE_BYTES_MAX} bytes`);
  const picture = pictureOf(bytes);
  if (picture === null)
    throw new ApiError('invalid_input', {
      status: 415,
      message: `${param}: only png, jpeg and webp images are taken.`,
      param,
    });
  if (picture.width === 0 || picture.height === 0) throw fault('content_invalid', loc, 'the image is broken');
  return picture;
}

/** Longest side of an image that is decoded here: long rows cost far more than their pixels say. */
const SIDE_MAX = 8_192;
/** Pixels times `mask_feather`: what fading costs. About a second of one core. */
const FEATHERED_MAX = 400_000_000;

/** Checks the bounds on the work with images that are decoded here. */
export function checkPixels(loc: Loc, { width, height }: Picture, feather: number): void {
  if (Math.max(width, height) > SIDE_MAX)
    throw fault('too_large', loc, `a side of more than ${SIDE_MAX} pixels with a mask`);
  if (width * height > IMAGING_PIXELS_MAX)
    throw fault('too_large', loc, `more than ${IMAGING_PIXELS_MAX} pixels with a mask`);
  const most = Math.floor(FEATHERED_MAX / (width * height));
  if (feather > most) throw fault('too_large', ['mask_feather'], `at most ${most} for a mask of this size`);
}

function fault(type: DetailType, loc: Loc, msg: string): ApiError {
  return invalidBody({ type, loc, msg });
}
