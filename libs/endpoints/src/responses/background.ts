import { queuedResponse, type ModelRequest } from '@gateway/dialects';
import type { Asked, EndpointBackground } from '../endpoint.js';
import { StoredContentNeeded } from '../stored/stored-content-needed.js';

const NAME = Buffer.from('"background"');

/** Requests to /v1/responses with `background: true`. */
export function responsesBackground(
  read: (bytes: Uint8Array) => Asked<ModelRequest> | StoredContentNeeded,
): EndpointBackground<ModelRequest> {
  return {
    mayBe: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(NAME),
    read: ({ bytes }) => {
      const asked = read(bytes);
      if (asked instanceof StoredContentNeeded) return asked;
      if (!isBackground(asked)) return null;
      const flag = 'supports_background_response' as const;
      return { ...asked, requires: [...asked.requires, { flag, param: 'background' }] };
    },
    // What is kept of it is kept by who runs it.
    body: ({ request }) => {
      const { background: _later, stream_options: _shown, ...value } = request.body.value;
      return { ...value, stream: true, store: false };
    },
    begun: ({ request }, of) => queuedResponse(request, of),
  };
}

export function isBackground({ request }: Asked<ModelRequest>): boolean {
  return request.body.value.background === true;
}
