import type { ErrorDetail } from '@gateway/contracts';
import type { Provider } from '../provider.js';

const DEPLOYMENTS_MAX = 200;
const MODEL = /^[!-~]{1,200}$/;
/** Names that Azure takes. */
export const DEPLOYMENT = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
const NAME = new RegExp(DEPLOYMENT);

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
    if (!MODEL.test(model)) return [fault('each model must be printable text without spaces.', model)];
    const isName = typeof name === 'string' && NAME.test(name);
    return isName ? [] : [fault('each name must be that of a deployment of Azure.', model)];
  });
}

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
