import { writeJson } from '@gateway/json-body';

/** The request for an upstream, as its dialect makes it. The provider adds the address and the credential. */
export interface UpstreamBody {
  /** POST where it is absent. A GET has no body: what it asks stands in the query of `path`. */
  readonly method?: 'GET' | 'PUT';
  /** Path below the provider's API root, for example `/chat/completions`. */
  readonly path: string;
  /** Address in place of the path, which the provider's own answer named. Only at a host of the provider's. */
  readonly url?: string;
  readonly contentType: string;
  /** Media types of the answers that the dialect reads. */
  readonly accept: string;
  /** Further headers of the dialect, in lower case; none holds a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Written in order: a large body is passed on with only the changed members spliced in. */
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
}

export const JSON_TYPE = 'application/json';

/** A JSON body that is made anew. */
export function jsonBody(
  path: string,
  accept: string,
  value: unknown,
): Pick<UpstreamBody, 'path' | 'contentType' | 'accept' | 'pieces' | 'byteLength'> {
  const bytes = Buffer.from(writeJson(value));
  return { path, contentType: JSON_TYPE, accept, pieces: [bytes], byteLength: bytes.byteLength };
}

/** A look at an address that an answer of the provider named. */
export function lookAt(url: string): UpstreamBody {
  return { method: 'GET', path: '', url, contentType: '', accept: JSON_TYPE, pieces: [], byteLength: 0 };
}

/** The same at a path of its API. */
export function lookAtPath(path: string): UpstreamBody {
  return { method: 'GET', path, contentType: '', accept: JSON_TYPE, pieces: [], byteLength: 0 };
}
