import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { ApiError, type ErrorDetail } from '@gateway/contracts';

/** Checks management bodies and queries against their class; an unknown field is refused by its name. */
export function validationPipe(): ValidationPipe {
  return new StorablePipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => validationFailure(errors),
  });
}

/** PostgreSQL has no text with NUL or half a surrogate pair in it: refused once here, before any handler meets the database. */
class StorablePipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'param' && isOdd(value)) throw new ApiError('not_found');
    if (metadata.type === 'body' || metadata.type === 'query') {
      const loc = placeOfOdd(value);
      if (loc !== null) {
        const msg = 'A text has to be well-formed Unicode without the character NUL.';
        throw new ApiError('validation_error', {
          message: msg,
          details: [{ type: 'text_invalid', loc: metadata.type === 'query' ? ['query', ...loc] : loc, msg }],
        });
      }
    }
    if (this.toValidate(metadata)) refuseUnseen(value, metadata);
    const isQuery = metadata.type === 'query' && !takesRefresh(metadata);
    return super.transform(isQuery ? withoutRefresh(value) : value, metadata);
  }
}

/**
 * Names that every object has, for example `constructor`: class-transformer and Nest leave them out of the copy that
 * class-validator is given, so that none is found unknown and all would be dropped without a word.
 */
function refuseUnseen(value: unknown, { type, metatype }: ArgumentMetadata): void {
  const rules = getMetadataStorage().getTargetValidationMetadatas(
    metatype as NewableFunction,
    '',
    false,
    false,
  );
  const nested = new Set(
    rules.flatMap(({ type: kind, propertyName }) => (kind === 'nestedValidation' ? [propertyName] : [])),
  );
  const details = unseenIn(value, (name) => nested.has(name)).map((loc) => ({
    ...named('whitelistValidation', ''),
    loc: type === 'query' ? ['query', ...loc] : loc,
  }));
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError('validation_error', { message: `${first.loc.join('.')}: ${first.msg}`, details });
}

/** The places of such names. A member without a class of its own is looked at by its handler. */
function unseenIn(value: unknown, hasClass: (name: string) => boolean): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, member]) => {
    if (!isList && (name === 'prototype' || name in Object.prototype)) return [[name]];
    if (!hasClass(name)) return [];
    return unseenIn(member, () => true).map((loc) => [isList ? Number(name) : name, ...loc]);
  });
}

/** Whether the class of the query has the member itself: a read that is kept for a while. */
function takesRefresh({ metatype }: ArgumentMetadata): boolean {
  if (metatype === undefined) return false;
  const members = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
  return members.some(({ propertyName }) => propertyName === 'refresh');
}

/** Every read may be asked to pass over a cache (spec, Usage and balance); most have none. */
function withoutRefresh(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || !('refresh' in query)) return query;
  const { refresh, ...rest } = query;
  return refresh === 'true' || refresh === 'false' ? rest : query;
}

const ODD = /\0|\p{Surrogate}/u;
const ODD_ALL = /\0|\p{Surrogate}/gu;

function isOdd(value: unknown): boolean {
  return typeof value === 'string' && ODD.test(value);
}

/** The first value or name of that kind, null where there is none. Depth and size were bounded by the parser. */
function placeOfOdd(value: unknown): (string | number)[] | null {
  if (typeof value === 'string') return isOdd(value) ? [] : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const inner = isOdd(name) ? [] : placeOfOdd(member);
    if (inner !== null) return [Array.isArray(value) ? Number(name) : name.replaceAll(ODD_ALL, ''), ...inner];
  }
  return null;
}

/** class-validator's findings as the envelope's details. `root` begins the loc, for example "query". */
function validationFailure(errors: readonly ValidationError[], root: string[] = []): ApiError {
  const details = errors.flatMap((error) => detailsOf(error, root));
  const [first] = details;
  return new ApiError('validation_error', {
    message: first === undefined ? undefined : `${first.loc.join('.')}: ${first.msg}`,
    details,
  });
}

function detailsOf(error: ValidationError, parent: (string | number)[]): ErrorDetail[] {
  const loc = [...parent, /^\d+$/.test(error.property) ? Number(error.property) : error.property];
  const own = Object.entries(error.constraints ?? {}).map(([type, msg]) => ({ ...named(type, msg), loc }));
  return [...own, ...(error.children ?? []).flatMap((child) => detailsOf(child, loc))];
}

function named(constraint: string, msg: string): Pick<ErrorDetail, 'type' | 'msg'> {
  if (constraint === 'whitelistValidation') return { type: 'unknown_field', msg: 'This field is not known.' };
  return { type: constraint.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), msg };
}
