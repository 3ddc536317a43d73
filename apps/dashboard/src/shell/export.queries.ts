import { useMutation, type UseMutationResult } from '@tanstack/react-query';
import { askedOrg } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';

export type ExportFilter = Omit<Schemas['UsageExportBody'], 'org_id'>;

/** A link to a CSV that works once: the browser writes it to the disk by itself. */
export function useExport(
  org: string | null,
): UseMutationResult<Schemas['UsageExportRecord'], Problem, ExportFilter> {
  return useMutation({
    mutationFn: (filter) =>
      bodyOf(api.POST('/v1/usage/exports', { body: { org_id: askedOrg(org), ...filter } })),
  });
}
