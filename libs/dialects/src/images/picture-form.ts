import { formBody } from '../body/multipart.js';
import type { AnswerFacts } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';
import type { Picture } from './picture.js';

export interface PictureForm {
  /** null and undefined are left out; what is no string is written as JSON. */
  fields: Readonly<Record<string, unknown>>;
  pictures: readonly (readonly [field: string, picture: Picture])[];
}

/** A form with images. Its boundary is of this attempt alone, so no caller can write it into an image or a prompt. */
export function pictureForm(
  path: string,
  accept: string,
  { fields, pictures }: PictureForm,
  { answerId }: AnswerFacts,
): UpstreamBody {
  const written: [string, string][] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined) continue;
    written.push([name, typeof value === 'string' ? value : JSON.stringify(value)]);
  }
  const files = pictures.map(([field, { bytes, mediaType }], at) => ({
    field,
    filename: `${at}.${mediaType.slice('image/'.length)}`,
    contentType: mediaType,
    bytes,
  }));
  return formBody(path, accept, { fields: written, files, boundary: `gateway-${answerId()}` });
}
