import {
  ApiError,
  callerFile,
  type NamedFile,
  type ObjectStore,
  type ResponseStore,
} from '@gateway/contracts';
import type { Asked, FileContent } from '@gateway/endpoints';
import type { Call } from '../request/call.js';

export interface NamedFilesDeps {
  store: Pick<ResponseStore, 'files'>;
  objects: Pick<ObjectStore, 'get'>;
}

const FILES_MAX = 32;
/** In base64 they are as large as any body may be. */
const BYTES_MAX = 24 * 1_048_576;

/**
 * The request with the files that it names by their ids, whatever provider serves it. Throws resource_not_found for one that
 * the key does not have: an id never goes to a provider, where it might be another tenant's.
 */
export async function withNamedFiles(
  asked: Asked,
  { endpoint, principal, headers }: Pick<Call, 'endpoint' | 'principal' | 'headers'>,
  { store, objects }: NamedFilesDeps,
): Promise<Asked> {
  const { files: named } = asked;
  if (named === undefined || !endpoint.withFiles) return asked;
  const paramOf = new Map(named.map(({ id, param }) => [id, param]));
  const [first] = named;
  if (paramOf.size > FILES_MAX) throw tooMuch(first.param, `a request names at most ${FILES_MAX} files`);
  const found = await store.files(principal.keyId, [...paramOf.keys()]);
  for (const [id, param] of paramOf) if (!found.has(id)) throw missing(id, param);
  const bytes = [...found.values()].reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > BYTES_MAX) throw tooMuch(first.param, `the files are together larger than ${BYTES_MAX} bytes`);
  const contents = new Map<string, FileContent>();
  for (const [id, param] of paramOf) contents.set(id, await contentOf(id, param, found.get(id), objects));
  const { credential } = asked;
  return { ...endpoint.withFiles(asked, contents, headers), ...(credential !== undefined && { credential }) };
}

async function contentOf(
  id: string,
  param: string,
  file: NamedFile | undefined,
  objects: NamedFilesDeps['objects'],
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
