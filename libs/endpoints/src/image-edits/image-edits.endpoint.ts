import { LazySchema } from '@gateway/dialects';
import type { Endpoint } from '../endpoint.js';
import type { AskedImages } from '../image-answers/asked-images.js';
import { sharedImaging } from '../image-answers/shared-imaging.js';
import { translateImages, type FindImaging } from '../image-answers/translate-images.js';
import { OPERATIONS } from './operations.js';
import { readEdit } from './read-edit.js';

const PROMPT_CHARACTERS_MAX = 32_000;
const IMAGES_MAX = 10;
const FEATHER_MAX = 256;

const text = { type: 'string', nullable: true };
const oneOf = (...values: string[]): object => ({ ...text, enum: [...values, null] });
const SCHEMA = {
  type: 'object',
  properties: {
    model: text,
    operation: oneOf(...Object.keys(OPERATIONS)),
    prompt: { ...text, maxLength: PROMPT_CHARACTERS_MAX },
    upscale_factor: oneOf('x2', 'x4'),
    aspect_ratio: oneOf('1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2'),
    mask_feather: { type: 'integer', nullable: true, minimum: 0, maximum: FEATHER_MAX },
    n: { type: 'integer', nullable: true, minimum: 1, maximum: IMAGES_MAX },
    size: { ...text, pattern: '^(auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$' },
    quality: oneOf('auto', 'low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd'),
    background: oneOf('auto', 'transparent', 'opaque'),
    output_format: oneOf('png', 'jpeg', 'webp'),
    output_compression: { type: 'integer', nullable: true, minimum: 0, maximum: 100 },
    input_fidelity: oneOf('low', 'high'),
    moderation: oneOf('auto', 'low'),
    response_format: oneOf('url', 'b64_json'),
    negative_prompt: { ...text, maxLength: PROMPT_CHARACTERS_MAX },
    seed: { type: 'integer', nullable: true, minimum: 0 },
    user: text,
    safety_identifier: text,
    stream: { type: 'boolean', nullable: true },
    partial_images: { type: 'integer', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

const picture = {
  description: 'A data URL, base64 or {url: data URL}; in a form a file. Remote addresses are refused.',
};
const onePicture = {
  anyOf: [{ type: 'string' }, { type: 'object', required: ['url'], properties: { url: { type: 'string' } } }],
};
const pictures = { ...picture, anyOf: [...onePicture.anyOf, { type: 'array', items: onePicture }] };
const file = { type: 'string', format: 'binary', description: 'The bytes of an image.' };
const files = { type: 'array', items: file, description: 'Files of the same name; it may end in `[]`.' };

/** One name or the other. */
const IMAGE_REQUIRED = [{ required: ['image'] }, { required: ['images'] }];

/** POST /v1/image/edits, over an imaging library that may not be there. */
export const imageEdits = (findImaging: FindImaging): Endpoint<AskedImages> => ({
  paths: ['/images/edits'],
  permission: 'inference:write',
  idPrefix: 'img',
  answersOnce: true,
  isCreate: true,
  docs: {
    summary: 'Image edits',
    schemaName: 'ImageEditRequest',
    schema: {
      ...SCHEMA,
      anyOf: IMAGE_REQUIRED,
      properties: {
        image: pictures,
        images: {
          ...pictures,
          description: `The same as image, as OpenAI's clients write it. ${picture.description}`,
        },
        mask: { ...picture, ...onePicture },
        reference_images: pictures,
        ...SCHEMA.properties,
      },
    },
    form: {
      ...SCHEMA,
      anyOf: IMAGE_REQUIRED,
      properties: { image: files, images: files, mask: file, reference_images: files, ...SCHEMA.properties },
    },
    answers: ['application/json'],
    description:
      'Edits images, by JSON or multipart/form-data. `operation` is edit, remove_background, upscale, outpaint, mix, ' +
      'reframe or inpaint. White in a mask is what is repainted. A repeat with the same `Idempotency-Key` within a day gets the first answer.',
  },
  load: () => schema.load(),
  read: (body) => readEdit(body, schema, findImaging),
  translate: ({ request }, route) => translateImages(request, route, findImaging),
});

export const endpoint = imageEdits(sharedImaging);
