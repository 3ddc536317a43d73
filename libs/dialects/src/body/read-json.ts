import { ApiError, detailType, unknownField, type DetailType, type ErrorDetail } from '@gateway/contracts';
import type { ErrorObject } from 'ajv';
import { BodyFault, parseBody, type ParsedBody } from '@gateway/json-body';
import type { LazySchema } from './lazy-schema.js';
import { plainWords } from './plain-words.js';

/**
 * A JSON body in OpenAI's manners, checked by its schema.
 * @throws ApiError validation_error with the first fault and its parameter.
 */
export function readJson(bytes: Uint8Array, schema: LazySchema): ParsedBody {
  const body = parseBody(bytes);
  if (body instanceof BodyFault) throw invalidBody(body.detail);
  const { validate } = schema;
  if (!validate(body.value)) throw invalidBody(schemaFault(validate.errors?.[0]));
  return body;
}

export function invalidBody(detail: ErrorDetail): ApiError {
  const { loc, msg } = detail;
  const path = loc.join('.');
  if (loc[0] === 'body' || path === '')
    return new ApiError('validation_error', { message: msg, details: [detail] });
  return new ApiError('validation_error', { message: `${path}: ${msg}`, details: [detail], param: path });
}

/** Returns one fault of a body. */
export function fault(type: DetailType, loc: (string | number)[], msg: string): ErrorDetail {
  return { type, loc, msg };
}

/** The first fault that a schema found, in the caller's words. */
export function schemaFault(error: ErrorObject | undefined): ErrorDetail {
  if (!error) return { type: 'value_error', loc: [], msg: 'the body is not valid' };
  const { keyword, params } = error;
  const loc = pathOf(error.instancePath);
  const given = params as Record<string, unknown>;
  if (keyword === 'required')
    return { type: 'missing', loc: [...loc, String(given.missingProperty)], msg: 'field required' };
  if (keyword === 'discriminator') {
    const tag = String(given.tag);
    const value = JSON.stringify(given.tagValue)?.slice(0, 80);
    return value === undefined
      ? { type: 'missing', loc: [...loc, tag], msg: 'field required' }
      : { type: 'unknown_tag', loc: [...loc, tag], msg: `unknown ${tag} ${value}` };
  }
  const allowed: unknown = given.allowedValues;
  if (keyword === 'enum' && Array.isArray(allowed))
    return {
      type: 'enum',
      loc,
      msg: `must be one of ${allowed.filter((value) => value !== null).join(', ')}`,
    };
  if (keyword === 'additionalProperties')
    return {
      type: 'unknown_field',
      loc: [...loc, String(given.additionalProperty)],
      msg: unknownField(''),
    };
  return { type: typeOf(keyword), loc, msg: plainWords(keyword, given) };
}

/** Returns the type of a detail for a keyword of JSON schemas. */
export function typeOf(keyword: string): DetailType {
  if (keyword === 'type') return 'wrong_type';
  return detailType(keyword.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

/** JSON pointer as a path; numbers are positions in lists. */
function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')));
}
