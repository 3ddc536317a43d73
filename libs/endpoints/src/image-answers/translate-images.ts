import { ApiError } from '@gateway/contracts';
import {
  badReply,
  bytesOf,
  exchangeTranslation,
  IMAGES_DIALECTS,
  invalidBody,
  JSON_HEADERS,
  Unsupported,
  pictureOf,
  type ImagesDialect,
  type MadeImages,
  type Picture,
  type RouteTarget,
  type Translation,
  type UpstreamCalls,
} from '@gateway/dialects';
import { IMAGING_PIXELS_MAX, type Imaging } from '@gateway/imaging';
import { answerOf } from './answer-of.js';
import type { AskedImages } from './asked-images.js';

/** Null: the library is not there. */
export type FindImaging = () => Imaging | null;

/** Both endpoints of images over any upstream that makes them. */
export function translateImages(
  asked: AskedImages,
  target: RouteTarget,
  findImaging: FindImaging,
): Translation | Unsupported {
  const dialect = IMAGES_DIALECTS.get(target.dialect);
  if (!dialect) return new Unsupported(null);
  const unsupported = dialect.unsupported(asked, target) ?? unsupportedMask(asked, dialect);
  if (unsupported) return unsupported;
  return exchangeTranslation(
    async (calls, facts) => {
      const ready = await prepared(asked, dialect, { findImaging, calls });
      const made = await dialect.run(ready.asked, { target, calls, facts });
      const images =
        asked.operation === 'upscale'
          ? await upscaled(made, asked, { findImaging, calls })
          : await finished(made, asked, { masked: ready.masked, calls });
      return { headers: JSON_HEADERS, piece: await answerOf(images, asked.format, { calls, facts }) };
    },
    ignoredOf(asked, dialect),
  );
}

function unsupportedMask(
  { mask, operation }: AskedImages,
  { mask: form, takesMargins }: ImagesDialect,
): Unsupported | null {
  if (mask === null || form !== undefined) return null;
  return operation === 'outpaint' && takesMargins ? null : new Unsupported('mask');
}

function ignoredOf({ options }: AskedImages, { takes }: ImagesDialect): string[] {
  if (takes === undefined) return [];
  const isIgnored = (name: string): boolean =>
    !takes.includes(name) && options[name] != null && options[name] !== 'auto';
  return Object.keys(options).filter((name) => isIgnored(name) && !OF_ALL.includes(name));
}

/** Members that name the end user: read by the gateway, whatever the provider makes of them. */
const OF_ALL = ['user', 'safety_identifier'];

/** The library, and for whom it works. */
interface Imagers {
  findImaging: FindImaging;
  calls: UpstreamCalls;
}

/** Signal that never aborts: work that is paid for is finished even if its caller leaves. */
const STAYS = new AbortController().signal;

interface Masked {
  imaging: Imaging;
  /** White is what is repainted. */
  white: Uint8Array;
}

const NOTHING_PAINTED =
  'the mask paints nothing: white is painted (in an OpenAI mask, what is transparent), black is kept';
const TOO_MANY = 'Too many images with masks of this account are waiting: send it again after Retry-After.';
const NOTHING_TO_EXTEND =
  'black is kept and white is painted: the mask has to hold both, and the smallest box around the black part has to be smaller than the image';

/** The request in the upstream's own convention of masks. */
async function prepared(
  asked: AskedImages,
  dialect: ImagesDialect,
  { findImaging, calls: { caller } }: Imagers,
): Promise<{ asked: AskedImages; masked: Masked | null }> {
  const { mask, operation, images } = asked;
  if (mask === null) return { asked, masked: null };
  const imaging = findImaging()?.for(caller);
  if (imaging === undefined) throw noImaging('mask');
  if (imaging.isFull) throw new ApiError('service_unavailable', { retryAfterSeconds: 5, message: TOO_MANY });
  const unreadable = unreadableFor(caller.signal);
  const white = await imaging.mask(mask.bytes, operation === 'edit').catch(unreadable('mask'));
  if (operation === 'inpaint' && !(await imaging.hasWhite(white)))
    throw invalidBody({ type: 'mask_invalid', loc: ['mask'], msg: NOTHING_PAINTED });
  // Before it is sent, and paid for: the answer is laid over it.
  if (operation === 'inpaint') await imaging.check(images[0].bytes).catch(unreadable('image'));
  const masked = { imaging, white };
  if (operation === 'outpaint') {
    const box = await imaging.keptBox(white);
    const { width, height } = mask;
    if (box === null || (box.width === width && box.height === height))
      throw invalidBody({
        type: 'mask_invalid',
        loc: ['mask'],
        msg: NOTHING_TO_EXTEND,
      });
    if (dialect.takesMargins) {
      const kept = pictureFrom(await imaging.crop(images[0].bytes, box).catch(unreadable('image')));
      const { left, top } = box;
      const margins = { left, up: top, right: width - left - box.width, down: height - top - box.height };
      return { asked: { ...asked, images: [kept, ...images.slice(1)], mask: null, margins }, masked };
    }
  }
  const form = dialect.mask ?? 'white';
  return { asked: { ...asked, mask: pictureFrom(await imaging.maskAs(white, form)) }, masked };
}

/** Returns handlers for images that cannot be read, though their heads are those of one. Who left is no such failure. */
function unreadableFor(signal: AbortSignal): (param: string) => (cause: unknown) => never {
  return (param) => (cause) => {
    if (signal.aborted) throw cause;
    const message = `${param}: the image cannot be decoded.`;
    throw new ApiError('invalid_input', { status: 422, message, param, cause });
  };
}

function pictureFrom(bytes: Uint8Array): Picture {
  const picture = pictureOf(bytes);
  if (picture === null) throw new TypeError('the imaging library wrote no picture');
  return picture;
}

export function noImaging(param: string): ApiError {
  return new ApiError('model_capability_not_supported', {
    status: 501,
    message: `${param}: the imaging library is not there on this machine.`,
    param,
  });
}

/** Returns the image in the requested size: upstreams have factors of their own. */
async function upscaled(
  made: MadeImages,
  asked: AskedImages,
  { findImaging, calls }: Imagers,
): Promise<MadeImages> {
  const { images, upscaleFactor } = asked;
  const [{ width, height }] = images;
  const [wide, high] = [width * (upscaleFactor ?? 1), height * (upscaleFactor ?? 1)];
  const found = wide * high <= IMAGING_PIXELS_MAX ? findImaging() : null;
  if (found === null) return made;
  const imaging = found.for({ ...calls.caller, signal: STAYS });
  const sized = made.images.map(async (image) => {
    const bytes = bytesOf(image.picture);
    const picture = pictureOf(bytes);
    if (picture?.width === wide && picture.height === high) return image;
    // It is paid for: larger than what is decoded here, it goes on as it is.
    if (picture !== null && picture.width * picture.height > IMAGING_PIXELS_MAX) return image;
    const exact = imaging.resize(bytes, wide, high).catch(() => {
      throw badReply('the answer holds an image that cannot be decoded.');
    });
    return { ...image, picture: { bytes: await exact } };
  });
  return { ...made, images: await Promise.all(sized) };
}

/** Restores the caller's own pixels that an upstream repaints outside the mask. */
async function finished(
  made: MadeImages,
  asked: AskedImages,
  { masked, calls }: { masked: Masked | null; calls: UpstreamCalls },
): Promise<MadeImages> {
  if (masked === null || asked.operation !== 'inpaint') return made;
  const { white } = masked;
  const imaging = masked.imaging.for({ ...calls.caller, signal: STAYS });
  const [original] = asked.images;
  const images = made.images.map(async (image) => {
    const laid = imaging.layOver(original.bytes, bytesOf(image.picture), white, asked.feather ?? 0);
    return {
      ...image,
      picture: {
        bytes: await laid.catch(() => {
          throw badReply('the answer holds an image that cannot be decoded.');
        }),
      },
    };
  });
  const members = {
    ...made.members,
    ...('output_format' in (made.members ?? {}) && { output_format: 'png' }),
  };
  return { ...made, images: await Promise.all(images), members };
}
