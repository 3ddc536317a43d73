import type { Provider, ProviderAccess } from '../provider.js';
import type { UpstreamRequest } from '../transport.js';

/** Returns the provider whose requests get the parts of the access that they are sent with. */
export function withAddedParts(provider: Provider): Provider {
  return {
    ...provider,
    prepare: (body, access) => {
      const prepared = provider.prepare(body, access);
      return prepared instanceof Promise
        ? prepared.then((request) => added(request, access))
        : added(prepared, access);
    },
  };
}

function added(request: UpstreamRequest, { added: parts }: ProviderAccess): UpstreamRequest {
  if (parts === undefined) return request;
  const url = new URL(request.url);
  for (const [name, value] of Object.entries(parts.query)) url.searchParams.set(name, value);
  const hasQuery = Object.keys(parts.query).length > 0;
  return {
    ...request,
    url: hasQuery ? url.href : request.url,
    headers: { ...request.headers, ...parts.headers },
  };
}
