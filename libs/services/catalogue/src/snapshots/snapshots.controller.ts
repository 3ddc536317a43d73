import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import { ApiError, CatalogueReader, type CatalogueSnapshot } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import type { FastifyReply } from 'fastify';

/** The other services' CatalogueReader asks here. A snapshot never changes, so its id is its ETag. */
@Controller('internal/catalogue')
export class SnapshotsController {
  constructor(private readonly reader: CatalogueReader) {}

  @Get('snapshot')
  @Access({ internal: true })
  newest(
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): CatalogueSnapshot | undefined {
    const snapshot = this.reader.snapshot();
    const etag = `"${snapshot.id}"`;
    void reply.header('etag', etag);
    if (known !== etag) return snapshot;
    void reply.code(304);
    return undefined;
  }

  @Get('snapshots/:id')
  @Access({ internal: true })
  async byId(@Param('id') id: string): Promise<CatalogueSnapshot> {
    const snapshot = await this.reader.snapshotById(id);
    if (snapshot === null) throw new ApiError('not_found');
    return snapshot;
  }
}
