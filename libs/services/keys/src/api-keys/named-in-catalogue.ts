import type {
  CatalogueNamed,
  CatalogueNames,
  ErrorDetail,
  RoutingPolicy,
  RoutingPolicyBody,
} from '@gateway/contracts';

/** The fields of keys and of routing policy templates that name something of the catalogue. */
interface Naming {
  default_model?: string | null;
  fixed_provider?: string | null;
  routing_policy?: RoutingPolicyBody | RoutingPolicy | null;
}

interface Reference {
  kind: keyof CatalogueNamed;
  name: string;
  loc: (string | number)[];
}

const POLICY_LISTS = [
  ['fallback_models', 'models'],
  ['provider_order', 'providers'],
  ['only_providers', 'providers'],
  ['ignore_providers', 'providers'],
] as const;
/** Known as a model of requests, where it chooses among all; nothing falls back to it. */
const AUTO = 'auto';
const MESSAGES = { models: 'The catalogue has no such model.', providers: 'There is no such provider.' };

/**
 * Faults of what a body names in the catalogue; a name that is stored already stays, whatever became of it. Throws ApiError
 * `service_unavailable` where the catalogue could not be asked.
 */
export async function catalogueFaults(
  names: CatalogueNames,
  body: Naming,
  stored: Naming = {},
): Promise<ErrorDetail[]> {
  const kept = referencesOf(stored);
  const asked = referencesOf(body).filter(({ kind, name }) => !kept.some(isOf(kind, name)));
  if (asked.length === 0) return [];
  const ofKind = (kind: Reference['kind']): string[] => [
    ...new Set(asked.flatMap((one) => (one.kind === kind ? [one.name] : []))),
  ];
  const unknown = await names.unknown({ models: ofKind('models'), providers: ofKind('providers') });
  return asked
    .filter(
      ({ kind, name, loc: [field] }) =>
        unknown[kind].includes(name) || (kind === 'models' && name === AUTO && field !== 'default_model'),
    )
    .map(({ kind, loc }) => ({ type: 'unknown_reference', loc, msg: MESSAGES[kind] }));
}

function isOf(kind: Reference['kind'], name: string): (one: Reference) => boolean {
  return (one) => one.kind === kind && one.name === name;
}

function referencesOf({
  default_model: model,
  fixed_provider: pin,
  routing_policy: policy,
}: Naming): Reference[] {
  const lists = POLICY_LISTS.flatMap(([field, kind]) =>
    (policy?.[field] ?? []).map((name, at) => ({ kind, name, loc: ['routing_policy', field, at] })),
  );
  return [
    ...(model == null ? [] : [{ kind: 'models' as const, name: model, loc: ['default_model'] }]),
    ...(pin == null ? [] : [{ kind: 'providers' as const, name: pin, loc: ['fixed_provider'] }]),
    ...lists,
  ];
}
