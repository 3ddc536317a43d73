import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Feed } from '../generated/prisma/client.js';
import type { Tx } from '../postgres/catalogue-database.js';
import type { Seed } from './seed-record.js';

const BYTES_MAX = 256 * 1024 * 1024;
const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Data in place of the release's, of a document of this version. */
export interface FeedLayer extends Seed {
  version: number;
}

/** The row of the feed; null until one was read. */
export function feedRow(tx: Tx): Promise<Feed | null> {
  return tx.feed.findUnique({ where: { id: 1 } });
}

/** Returns the layer of the feed; null where nothing of a document was applied yet. */
export async function feedLayer(tx: Tx): Promise<FeedLayer | null> {
  const row = await tx.feed.findUnique({ where: { id: 1 }, select: { layer: true } });
  return row?.layer == null ? null : unpacked<FeedLayer>(row.layer);
}

/** Returns the bytes of a value for a column. */
export async function packed(value: object): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await zip(JSON.stringify(value)));
}

export async function unpacked<T>(bytes: Uint8Array): Promise<T> {
  return JSON.parse((await unzip(bytes, { maxOutputLength: BYTES_MAX })).toString('utf8')) as T;
}
