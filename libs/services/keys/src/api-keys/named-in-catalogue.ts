import type { CatalogueNames, ErrorDetail, RoutingPolicy, RoutingPolicyBody } from '@gateway/contracts';
import { idsOf, unknownNames, type Reference } from '../names/unknown-names.js';

/** The fields of keys and of routing policy templates that name something of the catalogue. */
interface Naming {
  default_model?: string | null;
  fixed_provider?: string | null;
  allowed_models?: string[] | null;
  routing_policy?: RoutingPolicyBody | RoutingPolicy | null;
}

const POLICY_LISTS = [
  ['fallback_models', 'models'],
  ['provider_order', 'providers'],
  ['only_providers', 'providers'],
  ['ignore_providers', 'providers'],
] as const;
/** Name that requests use as a model, which chooses among all; nothing falls back to it. */
const AUTO = 'auto';

/**
 * Faults of what a body names in the catalogue; a name that is stored already stays, whatever became of it. Throws ApiError
 * `service_unavailable` where the catalogue could not be asked.
 */
export function catalogueFaults(
  names: CatalogueNames,
  body: Naming,
  stored: Naming = {},
  orgId: string | null = null,
): Promise<ErrorDetail[]> {
  const isRefused = ({ kind, name, loc: [field] }: Reference): boolean =>
    kind === 'models' && name === AUTO && field !== 'default_model';
  return unknownNames(names, referencesOf(body), { stored: referencesOf(stored), isRefused, orgId });
}

function referencesOf({
  default_model: model,
  fixed_provider: pin,
  allowed_models: allowed,
  routing_policy: policy,
}: Naming): Reference[] {
  const lists = POLICY_LISTS.flatMap(([field, kind]) =>
    (policy?.[field] ?? []).map((name, at) => ({ kind, name, loc: ['routing_policy', field, at] })),
  );
  return [
    ...(model == null ? [] : [{ kind: 'models' as const, name: model, loc: ['default_model'] }]),
    ...(pin == null ? [] : [{ kind: 'providers' as const, name: pin, loc: ['fixed_provider'] }]),
    ...idsOf('allowed_models', allowed),
    ...lists,
  ];
}
