import { PassThrough, type Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiError, ObjectStore, type Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { contentOf, FILES_MAX, FileStore, fileView, uploadedAt, type FileRow } from './files.store.js';
import { readUpload } from './read-upload.js';

/** POST /v1/files: without Nest, whose parsers would hold the whole body. */
@Injectable()
export class UploadRoute implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly files: FileStore,
    private readonly objects: ObjectStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    const instance = this.host.httpAdapter.getInstance<FastifyInstance>();
    await instance.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
      const config = { access: { key: { permission: 'files:write' } } };
      for (const url of ['/v1/files', '/openai/v1/files'])
        scope.post(url, { config }, (request) => this.upload(request));
      done();
    });
  }

  private async upload(request: FastifyRequest): Promise<object> {
    const { principal } = request;
    if (principal?.kind !== 'key') throw new TypeError('an upload without a key principal');
    const { keyId: key_id, accountId: account_id } = principal;
    const file = { id: this.files.newId(), key_id, account_id };
    const body = request.body as Readable | undefined;
    const stream = body ?? new PassThrough().end();
    // Before the body is read; and again when it is there, because others may have come meanwhile.
    if (!(await this.files.hasRoom(key_id))) {
      stream.resume();
      throw tooMany();
    }
    const form = { stream, contentType: request.headers['content-type'] };
    await this.files.expect(file);
    const { bytes, filename, purpose, seconds } = await readUpload(form, this.objects, contentOf(file)).catch(
      (failure: unknown) => this.giveUp(file, failure),
    );
    const begunMs = uploadedAt(file.id)?.getTime() ?? this.clock.now();
    const expires_at = seconds === null ? null : new Date(begunMs + seconds * 1_000);
    const added = await this.files.addUploaded({ ...file, bytes, filename, purpose, expires_at });
    return added === null ? this.giveUp(file, tooMany()) : fileView(added);
  }

  /** Gives up an upload. Content that cannot be removed now is removed later. */
  private async giveUp(file: Pick<FileRow, 'id' | 'account_id'>, failure: unknown): Promise<never> {
    const removed = this.objects.remove(contentOf(file)).then(() => this.files.expectNoMore(file.id));
    await removed.catch(() => undefined);
    throw failure;
  }
}

function tooMany(): ApiError {
  return new ApiError('conflict', { message: `A key has at most ${FILES_MAX} files. Delete some first.` });
}
