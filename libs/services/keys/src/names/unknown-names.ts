import type { CatalogueNamed, CatalogueNames, ErrorDetail } from '@gateway/contracts';

/** A name of the catalogue, and where a body has it. */
export interface Reference {
  kind: keyof CatalogueNamed;
  name: string;
  loc: (string | number)[];
}

const MESSAGES = { models: 'The catalogue has no such model.', providers: 'There is no such provider.' };

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
  }: { stored: readonly Reference[]; isRefused?: (one: Reference) => boolean },
): Promise<ErrorDetail[]> {
  const added = asked.filter(
    ({ kind, name }) => !stored.some((one) => one.kind === kind && one.name === name),
  );
  if (added.length === 0) return [];
  const ofKind = (kind: Reference['kind']): string[] => [
    ...new Set(added.flatMap((one) => (one.kind === kind ? [one.name] : []))),
  ];
  const unknown = await names.unknown({ models: ofKind('models'), providers: ofKind('providers') });
  return added
    .filter((one) => unknown[one.kind].includes(one.name) || isRefused(one))
    .map(({ kind, loc }) => ({ type: 'unknown_reference', loc, msg: MESSAGES[kind] }));
}
