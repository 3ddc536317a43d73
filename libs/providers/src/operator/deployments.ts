import type { ErrorDetail } from '@gateway/contracts';
import {
  DEPLOYMENTS_MAX,
  isDeployable,
  isDeployment,
  type DeploymentNames,
} from '../deployments/deployment-names.js';
import type { Provider } from '../provider.js';

/** Returns what is wrong with names of deployments that a body has for a provider. */
export function deploymentFaults(
  slug: string,
  deployments: Readonly<Record<string, unknown>> | null | undefined,
): ErrorDetail[] {
  if (deployments == null) return [];
  const fault = (msg: string, ...within: string[]): ErrorDetail => ({
    ...{ type: 'value_error', msg },
    loc: ['deployments', ...within],
  });
  if (slug !== 'azure') return [fault('azure alone has deployments.')];
  const entries = Object.entries(deployments);
  if (entries.length > DEPLOYMENTS_MAX)
    return [fault(`deployments must have at most ${String(DEPLOYMENTS_MAX)} entries.`)];
  return entries.flatMap(([model, name]) => {
    if (!isDeployable(model)) return [fault('each model must be printable text without spaces.', model)];
    return isDeployment(name) ? [] : [fault('each name must be that of a deployment of Azure.', model)];
  });
}

/** Returns the provider that is called with the name of a deployment where the resource has one for the route's model. */
export function withDeployments(provider: Provider, names: DeploymentNames): Provider {
  return {
    ...provider,
    quirks: (route) => {
      // The provider may have names of another resource.
      const { upstreamName: _other, ...quirks } = provider.quirks(route);
      const upstreamName = names.of(route.upstreamModel);
      return upstreamName === undefined ? quirks : { ...quirks, upstreamName };
    },
  };
}
