import { parseSpelled, writeJson } from '@gateway/json-body';
import { Usd } from '@gateway/money';
import { Prisma } from '../generated/prisma/client.js';

/** PostgreSQL prints every decimal of the column's scale; the wire has none that say nothing. */
export function money(text: string | null): string | null {
  return text === null ? null : Usd.parse(text).toString();
}

/** Part of a text, in any case. Prisma gives it to ILIKE as it is, to which `%`, `_` and `\\` are no letters. */
export function containing(text: string) {
  return { contains: text.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' } as const;
}

type Direction = 'asc' | 'desc';

/**
 * Order of a list by one column, with - before it for the other direction. Rows without a value come last in both. The
 * tie-break keeps pages from repeating or losing a row.
 */
export function sortedBy(
  sort: string,
  nullable: readonly string[],
  tieBreak: string,
): Record<string, Direction | { sort: Direction; nulls: 'last' }>[] {
  const direction: Direction = sort.startsWith('-') ? 'desc' : 'asc';
  const column = sort.replace('-', '');
  const order = nullable.includes(column) ? ({ sort: direction, nulls: 'last' } as const) : direction;
  return [{ [column]: order }, { [tieBreak]: direction }];
}

/** A class instance as a bare JSON value. */
export function plainJson(value: object): Prisma.InputJsonObject {
  return JSON.parse(JSON.stringify(value)) as Prisma.InputJsonObject;
}

/** The one member of a JSON column whose value jsonb would change: numbers, order or repeated names. No record has it. */
const AS_TEXT = '$json';

/** JSON that a caller wrote, for a jsonb column that `writtenJson` reads. */
export function asWrittenJson(value: object): Prisma.InputJsonObject {
  const text = writeJson(value);
  return text === JSON.stringify(value) ? plainJson(value) : { [AS_TEXT]: text };
}

/** JSON of `asWrittenJson`, whose numbers, order and repeated names are those that the caller wrote. */
export function writtenJson<T>(value: Prisma.JsonValue): T {
  const { [AS_TEXT]: text } = value as Record<string, unknown>;
  return (typeof text === 'string' ? parseSpelled(text) : value) as T;
}

/** SQL's NULL where the value is null (Prisma would store the JSON text `null`); undefined leaves the column alone. */
export function nullableJson(
  value: object | null | undefined,
): Prisma.InputJsonObject | Prisma.NullableJsonNullValueInput | undefined {
  if (value === undefined) return undefined;
  return value === null ? Prisma.DbNull : plainJson(value);
}

/** A JSON column as the shape that this service alone writes into it. */
export function storedJson<T>(value: Prisma.JsonValue): T {
  return value as T;
}
