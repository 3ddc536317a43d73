import { Prisma } from '../generated/prisma/client.js';
import type { Tag } from './row-filter.js';

/** A column of request tags that holds this one. */
export function tagged({ name, value }: Tag): Prisma.JsonFilter {
  return { path: [name], ...(value === null ? { not: Prisma.AnyNull } : { equals: value }) };
}
