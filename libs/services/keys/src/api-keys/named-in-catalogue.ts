import type { CatalogueNames, ErrorDetail, UpdateKeyBody } from '@gateway/contracts';

type Named = Pick<UpdateKeyBody, 'default_model' | 'fixed_provider'>;

const NOTHING: Named = {};

/**
 * Faults of what a body names in the catalogue; what the key names already stays, whatever became of it. Throws ApiError
 * `service_unavailable` where the catalogue could not be asked.
 */
export async function catalogueFaults(
  names: CatalogueNames,
  body: Named,
  stored: Named = NOTHING,
): Promise<ErrorDetail[]> {
  const changed = (field: keyof Named): string[] =>
    body[field] == null || body[field] === stored[field] ? [] : [body[field]];
  const named = { models: changed('default_model'), providers: changed('fixed_provider') };
  if (named.models.length + named.providers.length === 0) return [];
  const unknown = await names.unknown(named);
  return [
    ...unknown.models.map(() => fault('default_model', 'The catalogue has no such model.')),
    ...unknown.providers.map(() => fault('fixed_provider', 'There is no such provider.')),
  ];
}

function fault(field: keyof Named, msg: string): ErrorDetail {
  return { type: 'unknown_reference', loc: [field], msg };
}
