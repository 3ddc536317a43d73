import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import { ApiError, CatalogueReader, type AliasBook, type CatalogueSnapshot } from '@gateway/contracts';
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
    return answered(snapshot, snapshot.id, { known, reply });
  }

  /** Returns every enabled alias of organizations and of the platform. */
  @Get('aliases')
  @Access({ internal: true })
  aliases(
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): AliasBook | undefined {
    const book = this.reader.aliases();
    return answered(book, book.version, { known, reply });
  }

  @Get('snapshots/:id')
  @Access({ internal: true })
  async byId(@Param('id') id: string): Promise<CatalogueSnapshot> {
    const snapshot = await this.reader.snapshotById(id);
    if (snapshot === null) throw new ApiError('not_found');
    return snapshot;
  }
}

/** Returns the body under its ETag; undefined, with 304, where the asker has it. */
function answered<T>(
  body: T,
  version: string,
  { known, reply }: { known: string | undefined; reply: FastifyReply },
): T | undefined {
  const etag = `"${version}"`;
  void reply.header('etag', etag);
  if (known !== etag) return body;
  void reply.code(304);
  return undefined;
}
