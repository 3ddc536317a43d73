import {
  ValidationPipe,
  type ArgumentMetadata,
  type Type,
  type ValidationError,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { instanceToPlain, plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import {
  ApiError,
  FleetBody,
  detailType,
  unknownField,
  type DetailType,
  type ErrorDetail,
} from '@gateway/contracts';

/** Checks management bodies and queries against their class; an unknown field is refused by its name. */
export function validationPipe(): ValidationPipe {
  return new StorablePipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: true, value: true },
    transformerPackage: TRANSFORMER,
    exceptionFactory: (errors) => validationFailure(errors),
  });
}

/** PostgreSQL has no text with NUL or half a surrogate pair in it: refused once here, before any handler meets the database. */
class StorablePipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'param' && isOdd(value)) throw new ApiError('not_found');
    if (metadata.type === 'query' || (metadata.type === 'body' && !isOfFleet(metadata))) {
      const loc = placeOfOdd(value);
      if (loc !== null) {
        const msg = 'A text has to be well-formed Unicode without the character NUL.';
        throw new ApiError('validation_error', {
          message: msg,
          details: [{ type: 'text_invalid', loc, msg }],
        });
      }
    }
    const isQuery = metadata.type === 'query' && !takesRefresh(metadata);
    return super.transform(isQuery ? withoutRefresh(value) : value, metadata);
  }

  /** Nest would delete members in the caller's own values. The parser has refused `__proto__` anywhere in a body. */
  protected override stripProtoKeys(): void {
    // Nothing is assigned by a caller's name without a look at it: see `instanceOf`.
  }
}

type Place = (string | number)[];

/**
 * class-transformer for one object at a time. It leaves out names that every object has, for example `constructor`, and
 * breaks on some of them. So it sees no member without a class of its own: such a one stays the caller's value, by
 * reference. Where a class names the members, such a name is refused: class-validator would not find it unknown.
 */
const TRANSFORMER: NonNullable<ValidationPipeOptions['transformerPackage']> = {
  plainToInstance: <T>(type: Type<T>, value: unknown) => {
    const unseen: Place[] = [];
    const entity = instanceOf(type, value, [], unseen) as T;
    const details = unseen.map((loc) => ({ type: 'unknown_field' as const, loc, msg: unknownField('') }));
    const [first] = details;
    if (first === undefined) return entity;
    throw new ApiError('validation_error', { message: `${first.loc.join('.')}: ${first.msg}`, details });
  },
  classToPlain: instanceToPlain,
};

/** `unseen` collects the places of names that no class can have. */
function instanceOf(type: Type<unknown>, value: unknown, loc: Place, unseen: Place[]): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map((item, at) => instanceOf(type, item, [...loc, at], unseen));
  const plain = Object.entries(value).filter(([name]) => {
    const isSeen = name !== 'prototype' && !(name in Object.prototype);
    if (!isSeen) unseen.push([...loc, name]);
    return isSeen;
  });
  const flat = Object.fromEntries(plain.map(([name, member]) => [name, isObject(member) ? null : member]));
  const entity = plainToInstance(type, flat) as Record<string, unknown>;
  const nested = nestedOf(type);
  for (const [name, member] of plain) {
    const inner = nested.get(name);
    if (!isObject(member)) continue;
    entity[name] = inner === undefined ? member : instanceOf(inner, member, [...loc, name], unseen);
  }
  return entity;
}

const nestedOfClass = new WeakMap<object, ReadonlyMap<string, Type<unknown>>>();

/** The members of a class that have a class of their own. */
function nestedOf(type: Type<unknown>): ReadonlyMap<string, Type<unknown>> {
  const known = nestedOfClass.get(type);
  if (known !== undefined) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = rules.flatMap((rule) => (rule.type === 'nestedValidation' ? [rule.propertyName] : []));
  // What class-transformer makes of an empty object has the class that the member is declared with.
  const made = plainToInstance(type, Object.fromEntries(names.map((name) => [name, {}])));
  const found = Object.entries(made as Record<string, object>).filter(([name]) => names.includes(name));
  const nested = new Map(found.map(([name, one]) => [name, one.constructor as Type<unknown>]));
  nestedOfClass.set(type, nested);
  return nested;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Its members are kept as JSON, which takes any text. */
function isOfFleet({ metatype }: ArgumentMetadata): boolean {
  return metatype?.prototype instanceof FleetBody;
}

/** True if the class of the query has the member itself: a read that is cached for a while. */
function takesRefresh({ metatype }: ArgumentMetadata): boolean {
  return metatype !== undefined && fieldsOf(metatype).has('refresh');
}

/** Every read may be asked to pass over a cache; most have none. */
function withoutRefresh(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || !('refresh' in query)) return query;
  const { refresh, ...rest } = query;
  return refresh === 'true' || refresh === 'false' ? rest : query;
}

const ODD = /\0|\p{Surrogate}/u;
const ODD_ALL = /\0|\p{Surrogate}/gu;

/** True if PostgreSQL can store the text; nothing is called by another. */
export function isStorable(text: string): boolean {
  return !ODD.test(text);
}

function isOdd(value: unknown): boolean {
  return typeof value === 'string' && !isStorable(value);
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

/** Returns class-validator's findings as the envelope's details. */
function validationFailure(errors: readonly ValidationError[]): ApiError {
  const details = errors.flatMap((error) => detailsOf(error, []));
  const [first] = details;
  return new ApiError('validation_error', {
    message: first === undefined ? undefined : messageOf(first),
    details,
  });
}

/** Returns the sentence of one fault, which says the name of the field once. */
export function messageOf({ type, loc, msg }: ErrorDetail): string {
  const path = loc.join('.');
  if (type === 'missing') return `${path} is required.`;
  const name = String(loc.at(-1));
  return msg.startsWith(`${name} `) ? `${path}${msg.slice(name.length)}` : `${path}: ${msg}`;
}

/** Types of `error.details` by the names that class-validator has for them; docs/errors.md lists all. */
const TYPES: ReadonlyMap<string, DetailType> = new Map([
  ['isArray', 'wrong_type'],
  ['isBoolean', 'wrong_type'],
  ['isDefined', 'wrong_type'],
  ['isInt', 'wrong_type'],
  ['isNumber', 'wrong_type'],
  ['isObject', 'wrong_type'],
  ['isString', 'wrong_type'],
  ['isIn', 'enum'],
  ['isEnum', 'enum'],
  ['min', 'minimum'],
  ['max', 'maximum'],
  ['isLength', 'length'],
  ['arrayMinSize', 'min_items'],
  ['arrayNotEmpty', 'min_items'],
  ['arrayMaxSize', 'max_items'],
  ['arrayUnique', 'unique_items'],
  ['matches', 'pattern'],
]);
/** The words of class-validator for a pattern, which are for who has written it. */
const PATTERN = /must match \/.*\/\w* regular expression$/s;

/** Returns the names that a class takes. */
function fieldsOf(type: Type<unknown>): ReadonlySet<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return new Set(rules.map((rule) => rule.propertyName));
}

function detailsOf(error: ValidationError, parent: (string | number)[]): ErrorDetail[] {
  const { property, constraints = {}, children = [] } = error;
  const value: unknown = error.value;
  const loc = [...parent, /^\d+$/.test(property) ? Number(property) : property];
  if ('whitelistValidation' in constraints)
    return [
      {
        type: 'unknown_field',
        loc,
        msg: unknownField(
          property,
          error.target === undefined ? [] : fieldsOf(error.target.constructor as Type<unknown>),
        ),
      },
    ];
  if (value === undefined) return [{ type: 'missing', loc, msg: 'field required' }];
  const isKind = (name: string): number => Number(TYPES.get(name) === 'wrong_type');
  const own = Object.entries(constraints)
    .sort(([one], [other]) => isKind(other) - isKind(one))
    .map(([type, msg]) => ({ ...named(type, msg), loc }));
  return [...own, ...children.flatMap((child) => detailsOf(child, loc))];
}

function named(constraint: string, msg: string): Pick<ErrorDetail, 'type' | 'msg'> {
  // Others that begin so are forms of a text: an address, a time.
  const type =
    TYPES.get(constraint) ?? (constraint.startsWith('is') ? 'pattern' : detailType(snakeOf(constraint)));
  return { type, msg: msg.replace(PATTERN, 'does not have the form that it needs') };
}

function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
