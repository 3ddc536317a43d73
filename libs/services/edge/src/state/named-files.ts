import { Injectable } from '@nestjs/common';
import { ApiError, callerFile, ObjectStore, ResponseStore, type NamedFile } from '@gateway/contracts';
import { FILE_BYTES_MAX, type Asked, type FileContent } from '@gateway/endpoints';
import { Pressure, withMemory, type Closing } from '@gateway/platform';
import type { InferenceRequest } from '../request/inference-request.js';

const FILES_MAX = 32;
/** Nothing else is an id of ours, or goes into a look-up. */
const FILE_ID = /^[\w-]{1,128}$/;

/** Files that requests name by their ids. A small request that names large files holds as much as a large body. */
@Injectable()
export class NamedFiles {
  constructor(
    private readonly store: ResponseStore,
    private readonly objects: ObjectStore,
    private readonly pressure: Pressure,
  ) {}

  /**
   * Returns the request with the files that it names by their ids, whatever provider serves it. Throws resource_not_found for one that
   * the key does not have: an id never goes to a provider, where it might be another tenant's. Throws service_unavailable while
   * too much of bodies and files is held; what it holds itself is released when the answer is closed.
   */
  async attach(
    asked: Asked,
    { endpoint, principal, headers }: Pick<InferenceRequest, 'endpoint' | 'principal' | 'headers'>,
    closing: Closing,
  ): Promise<Asked> {
    const { store, objects, pressure } = this;
    const { files: named } = asked;
    if (named === undefined || !endpoint.withFiles) return asked;
    const paramOf = new Map(named.map(({ id, param }) => [id, param]));
    const [first] = named;
    if (paramOf.size > FILES_MAX) throw tooMuch(first.param, `a request names at most ${FILES_MAX} files`);
    for (const [id, param] of paramOf) if (!FILE_ID.test(id)) throw missing(id, param);
    const found = await store.files(principal.keyId, [...paramOf.keys()]);
    for (const [id, param] of paramOf) if (!found.has(id)) throw missing(id, param);
    // At each place that names one: that is how often it is sent.
    const bytes = named.reduce((sum, { id }) => sum + (found.get(id)?.bytes ?? 0), 0);
    if (bytes > FILE_BYTES_MAX)
      throw tooMuch(first.param, `the files are together larger than ${FILE_BYTES_MAX} bytes`);
    const contents = new Map<string, FileContent>();
    await withMemory(pressure.ofAccount(principal.accountId), closing, async (reserveMemory) => {
      reserveMemory(bytes);
      for (const [id, param] of paramOf) contents.set(id, await contentOf(id, param, found.get(id), objects));
    });
    const { credential } = asked;
    return {
      ...endpoint.withFiles(asked, contents, headers),
      ...(credential !== undefined && { credential }),
    };
  }
}

async function contentOf(
  id: string,
  param: string,
  file: NamedFile | undefined,
  objects: ObjectStore,
): Promise<FileContent> {
  const object = file === undefined ? null : await objects.get(callerFile(file.account_id, id));
  if (file === undefined || object === null) throw missing(id, param);
  const pieces: Uint8Array[] = [];
  for await (const piece of object.content) pieces.push(piece);
  return { filename: file.filename, bytes: Buffer.concat(pieces) };
}

function missing(id: string, param: string): ApiError {
  return new ApiError('resource_not_found', {
    message: `No file with id ${id.slice(0, 80)} was found.`,
    providerCode: 'resource_not_found',
    param,
  });
}

function tooMuch(param: string, what: string): ApiError {
  return new ApiError('invalid_input', { message: `${param}: ${what}.`, param });
}
