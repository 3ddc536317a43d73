import { Controller, Get, Param, Query, Res, StreamableFile } from '@nestjs/common';
import {
  ApiError,
  LINK_NOT_WHOLE,
  ObjectLinkQuery,
  objectName,
  ObjectStore,
  type ObjectKey,
} from '@gateway/contracts';
import { FolderStore } from '@gateway/object-store';
import { Access } from '@gateway/platform';
import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';

/** Serves the links of objects in the folder; those of a bucket lead to the bucket. The signature is the permission. */
@Controller('objects')
@Access({ public: true })
export class ObjectsController {
  constructor(private readonly store: ObjectStore) {}

  /** Follows the link of an object. */
  @Get(':kind/:owner/:name')
  async read(
    @Param() { kind, owner, name }: Record<'kind' | 'owner' | 'name', string>,
    @Query() { expires, signature }: ObjectLinkQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const key = keyOf(kind, owner, name);
    if (key === null || !(this.store instanceof FolderStore)) throw new ApiError('not_found');
    if (expires === undefined || signature === undefined)
      throw new ApiError('validation_error', {
        message: LINK_NOT_WHOLE,
        param: expires === undefined ? 'expires' : 'signature',
      });
    const found = await this.store.follow(key, expires, signature);
    if (found === null) throw new ApiError('not_found', { message: 'This link is wrong or has expired.' });
    void reply
      .header('content-type', found.contentType)
      .header('content-length', found.bytes)
      .header('cache-control', 'private, no-store')
      // A picture may be a program (SVG): it runs in no page of ours.
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('x-content-type-options', 'nosniff');
    return new StreamableFile(found.content as Readable);
  }
}

function keyOf(kind: string, owner: string, name: string): ObjectKey | null {
  try {
    return objectName(kind, owner, name);
  } catch {
    return null; // Not a name of ours.
  }
}
