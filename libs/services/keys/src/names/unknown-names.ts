import type { CatalogueNamed, CatalogueNames, ErrorDetail } from '@gateway/contracts';
import { refuseFaults } from '@gateway/platform';

/** A name of the catalogue, and where a body has it. */
export interface Reference {
  kind: keyof CatalogueNamed;
  name: string;
  loc: (string | number)[];
}

const MESSAGES = {
  models: 'The catalogue has no such model.',
  ids: 'The catalogue lists no model with this id. A list takes ids as GET /v1/models shows them, and <brand>/*.',
  providers: 'There is no such provider.',
};

/**
 * Faults of the names that the catalogue does not have; one that is stored already stays, whatever became of it. Throws
 * ApiError `service_unavailable` where the catalogue could not be asked.
 */
export async function unknownNames(
  names: CatalogueNames,
  asked: readonly Reference[],
  {
    stored,
    isRefused = () => false,
    orgId = null,
  }: {
    stored: readonly Reference[];
    isRefused?: (one: Reference) => boolean;
    /** Organization whose aliases count as names of models. */
    orgId?: string | null;
  },
): Promise<ErrorDetail[]> {
  const added = asked.filter(
    ({ kind, name }) => !stored.some((one) => one.kind === kind && one.name === name),
  );
  if (added.length === 0) return [];
  const ofKind = (kind: Reference['kind']): string[] => [
    ...new Set(added.flatMap((one) => (one.kind === kind ? [one.name] : []))),
  ];
  const unknown = await names.unknown({
    models: ofKind('models'),
    ids: ofKind('ids'),
    providers: ofKind('providers'),
    ...(orgId === null ? {} : { org_id: orgId }),
  });
  return added
    .filter((one) => unknown[one.kind].includes(one.name) || isRefused(one))
    .map(({ kind, loc }) => ({ type: 'unknown_reference', loc, msg: MESSAGES[kind] }));
}

/** Returns the ids of a list of models. `<brand>/*` names no model: the brand may come. */
export function idsOf(field: string, list: readonly string[] | null | undefined): Reference[] {
  const named = (list ?? []).map((name, at) => ({ kind: 'ids' as const, name, loc: [field, at] }));
  return named.filter(({ name }) => !name.endsWith('/*'));
}

interface Allowing {
  allowed_models?: unknown;
}

/**
 * Throws ApiError `unprocessable_entity` for an allow-list with an id that is not listed, but for those that are stored:
 * it would allow nothing. `stored` reads the row that changes; it is called only if the body has ids.
 */
export async function refuseUnlisted(
  names: CatalogueNames,
  body: Allowing,
  stored: () => Promise<Allowing | null> = async () => null,
  orgId: string | null = null,
): Promise<void> {
  const idsIn = (one: Allowing | null): Reference[] =>
    idsOf('allowed_models', one?.allowed_models as string[] | null | undefined);
  const asked = idsIn(body);
  if (asked.length === 0) return;
  refuseFaults(
    'unprocessable_entity',
    await unknownNames(names, asked, { stored: idsIn(await stored()), orgId }),
  );
}
