import type { Provider } from '../provider.js';

/** Returns the provider that is called with the name of a deployment where the operator has given one for the route's model. */
export function withDeployments(provider: Provider, deployments: Readonly<Record<string, string>>): Provider {
  const names = new Map(Object.entries(deployments));
  return {
    ...provider,
    quirks: (route) => {
      const quirks = provider.quirks(route);
      const upstreamName = names.get(route.upstreamModel);
      return upstreamName === undefined ? quirks : { ...quirks, upstreamName };
    },
  };
}
