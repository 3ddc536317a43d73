import { ApiError, type DetailType } from '@gateway/contracts';
import {
  filled,
  invalidBody,
  readForm,
  readJson,
  schemaFault,
  type Form,
  type LazySchema,
  type Picture,
} from '@gateway/dialects';
import { BodyFault, spellBody } from '@gateway/json-body';
import type { Asked, CallerBody } from '../endpoint.js';
import { askedImages, type AskedImages } from '../image-answers/asked-images.js';
import { refuseStream } from '../image-answers/refuse-stream.js';
import { noImaging, type FindImaging } from '../image-answers/translate-images.js';
import { OPERATIONS, type EditMember, type EditOperation } from './operations.js';
import { checkPixels, pictureOfFile, picturesOf } from './picture-fields.js';

/** Images of one request, the mask not counted (OpenAI's bound). */
const PICTURES_MAX = 16;
/** Members of a form that are numbers in JSON. */
const NUMBERS = ['n', 'mask_feather', 'output_compression', 'seed', 'partial_images'];
/** Names of images; a form may end them in []. */
const PICTURES = ['image', 'images', 'mask', 'reference_images'];

interface Body {
  members: Readonly<Record<string, unknown>>;
  images: Picture[];
  masks: Picture[];
  references: Picture[];
}

/** Throws ApiError validation_error, and invalid_input where an image is none of those that are taken. */
export function readEdit(
  { bytes, headers }: CallerBody,
  schema: LazySchema,
  findImaging: FindImaging,
): Asked<AskedImages> {
  const contentType = headers['content-type'] ?? '';
  const isForm = /^\s*multipart\/form-data\b/i.test(contentType);
  const body = isForm ? ofForm(bytes, contentType, schema) : ofJson(bytes, schema);
  const { members, images, references, masks } = body;
  const operation = (filled(members.operation) ?? 'edit') as EditOperation;
  check(operation, body);
  const [mask = null] = masks;
  if (mask !== null) checkMask(mask, images[0], members, findImaging);
  const flags: `supports_${string}`[] = [`supports_image_${operation}`];
  if (references.length > 0 && operation !== 'mix') flags.push('supports_image_reference');
  return askedImages(
    members,
    { flags, status: 422, routeStatus: 501 },
    {
      operation,
      images,
      references,
      mask,
      upscaleFactor: members.upscale_factor === undefined ? null : members.upscale_factor === 'x4' ? 4 : 2,
      feather: typeof members.mask_feather === 'number' ? members.mask_feather : null,
    },
  );
}

function ofJson(bytes: Uint8Array, schema: LazySchema): Body {
  const body = readJson(bytes, schema);
  spellBody(body);
  const { value } = body;
  const { image, images, mask, reference_images, ...members } = value;
  return {
    members,
    images: [...picturesOf('image', image), ...picturesOf('images', images)],
    masks: picturesOf('mask', mask),
    references: picturesOf('reference_images', reference_images),
  };
}

function ofForm(bytes: Uint8Array, contentType: string, schema: LazySchema): Body {
  const form = readForm(bytes, contentType);
  if (form instanceof BodyFault) throw invalidBody(form.detail);
  const members: Record<string, unknown> = {};
  for (const [name, value] of form.fields) {
    if (PICTURES.includes(plain(name)) || value === '') continue;
    if (Object.hasOwn(members, name))
      throw invalidBody({ type: 'max_items', loc: [name], msg: 'one value only' });
    const isNumber = NUMBERS.includes(name) && /^-?\d{1,15}(\.\d{1,6})?$/.test(value);
    members[name] = isNumber ? Number(value) : name === 'stream' ? value === 'true' : value;
  }
  const { validate } = schema;
  if (!validate(members)) throw invalidBody(schemaFault(validate.errors?.[0]));
  return {
    members,
    images: [...ofField(form, 'image'), ...ofField(form, 'images')],
    masks: ofField(form, 'mask'),
    references: ofField(form, 'reference_images'),
  };
}

/** Files, and data URLs or base64 that stand in a field. */
function ofField({ files, fields }: Form, name: string): Picture[] {
  const texts = fields.filter(([field, value]) => plain(field) === name && value !== '');
  return [
    ...files
      .filter(({ field }) => plain(field) === name)
      .map((file) => pictureOfFile({ ...file, field: name })),
    ...texts.flatMap(([, value]) => picturesOf(name, value)),
  ];
}

function plain(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

function check(operation: EditOperation, body: Body): void {
  const { members, images, references, masks } = body;
  refuseStream(members);
  const { needs, refuses, isOfOne, makesOne, referencesMax = PICTURES_MAX } = OPERATIONS[operation];
  const counts: Partial<Record<EditMember, number>> = {
    image: images.length,
    mask: masks.length,
    reference_images: references.length,
  };
  const has = (name: EditMember): boolean =>
    name in counts ? counts[name] !== 0 : members[name] !== undefined && members[name] !== null;
  for (const name of needs) {
    if (!has(name)) throw fault('missing', name, `field required for ${operation}`);
    if (name === 'prompt' && filled(members.prompt) === null) throw fault('missing', name, 'field required');
  }
  for (const name of refuses) if (has(name)) throw fault('value_error', name, `not a member of ${operation}`);
  if (masks.length > 1) throw fault('max_items', 'mask', 'one mask only');
  if (isOfOne && images.length > 1) throw fault('max_items', 'image', `${operation} takes one image`);
  if (references.length > referencesMax)
    throw fault('max_items', 'reference_images', `at most ${referencesMax} for ${operation}`);
  if (images.length + references.length > PICTURES_MAX)
    throw fault('max_items', 'image', `at most ${PICTURES_MAX} images`);
  if (makesOne && typeof members.n === 'number' && members.n > 1)
    throw fault('maximum', 'n', `${operation} makes one image`);
}

function checkMask(mask: Picture, image: Picture, members: Body['members'], findImaging: FindImaging): void {
  if (mask.width !== image.width || mask.height !== image.height)
    throw fault('mask_invalid', 'mask', 'has to be as wide and as high as the image');
  const { mask_feather: feather } = members;
  checkPixels(['mask'], mask, typeof feather === 'number' ? feather : 0);
  if (findImaging() === null) throw noImaging(members.mask_feather === undefined ? 'mask' : 'mask_feather');
}

function fault(type: DetailType, name: string, msg: string): ApiError {
  return invalidBody({ type, loc: [name], msg });
}
