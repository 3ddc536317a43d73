import type { Readable } from 'node:stream';
import { Controller, Delete, Get, Param, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { ApiError, FilesQuery, ObjectStore } from '@gateway/contracts';
import { Access, keyOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentOf, FileStore, fileView, type FileRow } from './files.store.js';

/** Files of the key that uploaded them; POST is a route of its own (upload-route.ts). */
@Controller(['v1/files', 'openai/v1/files'])
@Access({ key: { permission: 'files:write' } })
export class FilesController {
  constructor(
    private readonly files: FileStore,
    private readonly objects: ObjectStore,
  ) {}

  /** Lists the files of the key, the newest first. */
  @Get()
  async list(@Query() query: FilesQuery, @Req() request: FastifyRequest): Promise<object> {
    const rows = await this.files.list(keyOf(request).keyId, query);
    const data = rows.slice(0, query.limit);
    const [first, last] = [data.at(0)?.id ?? null, data.at(-1)?.id ?? null];
    const has_more = rows.length > data.length;
    return { object: 'list', data: data.map(fileView), first_id: first, last_id: last, has_more };
  }

  /** Reads what is known of a file. */
  @Get(':id')
  async read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<object> {
    return fileView(await this.found(request, id));
  }

  /** Returns the bytes of a file. */
  @Get(':id/content')
  async content(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const found = await this.objects.get(contentOf(await this.found(request, id)));
    if (found === null) throw noFile(id);
    void reply
      .header('content-type', 'application/octet-stream')
      .header('content-length', found.bytes)
      .header('x-content-type-options', 'nosniff');
    return new StreamableFile(found.content as Readable);
  }

  /** Deletes a file. */
  @Delete(':id')
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<object> {
    const file = await this.found(request, id);
    await this.objects.remove(contentOf(file));
    await this.files.remove(file.key_id, id);
    return { id, object: 'file', deleted: true };
  }

  private async found(request: FastifyRequest, id: string): Promise<FileRow> {
    const file = await this.files.read(keyOf(request).keyId, id);
    if (file === null) throw noFile(id);
    return file;
  }
}

export function noFile(id: string): ApiError {
  return new ApiError('resource_not_found', { message: `No file with id ${id.slice(0, 80)} was found.` });
}
