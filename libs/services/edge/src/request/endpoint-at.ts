import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';

/** Returns the endpoint at a path below /v1; undefined where there is none. */
export function findEndpoint(path: string): Endpoint | undefined {
  return ENDPOINTS.find(({ paths }) => paths.includes(path));
}

/** Returns an endpoint that this program always has. Throws TypeError where the registry lost it. */
export function endpointAt(path: string): Endpoint {
  const found = findEndpoint(path);
  if (found === undefined) throw new TypeError(`there is no endpoint ${path}`);
  return found;
}
