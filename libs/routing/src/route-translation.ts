import type { CatalogueModel, Route } from '@gateway/contracts';
import type { Unsupported, Translation } from '@gateway/dialects';
import type { Asked, Endpoint } from '@gateway/endpoints';
import type { Provider } from '@gateway/providers';
import { scrubProviderText } from '@gateway/redaction';

interface Parts {
  asked: Asked;
  endpoint: Pick<Endpoint, 'translate'>;
  model: CatalogueModel;
  provider: Provider;
}

/** Returns the request in the route's dialect, or the part of it that the route cannot serve. */
export function translationOf(
  route: Route,
  { asked, endpoint, model: { reasoning, fixesSampling }, provider }: Parts,
): Translation | Unsupported {
  const { dialect, upstreamModel, maxOutputTokens, contextLength, price } = route;
  const quirks = provider.quirks(route);
  return endpoint.translate(asked, {
    dialect,
    upstreamModel: quirks.upstreamName ?? upstreamModel,
    maxOutputTokens,
    contextLength,
    reasoning,
    fixesSampling,
    quirks,
    price,
    said: (words) => `${provider.name}: ${scrubProviderText(words)}`,
  });
}

/** Returns the parameter that a route cannot serve; null where the misfit names none. */
export function missingOf({
  param,
  value,
  what,
}: Unsupported): { param: string; value?: string; what?: string } | null {
  if (param === null) return null;
  return { param, ...(value === undefined ? {} : { value }), ...(what === undefined ? {} : { what }) };
}
