import type { UseMutationResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import { useWrite } from '../api/use-write.js';
import type { OrgName } from './org.queries.js';

/** Creates an organization, whose maker is its owner: their memberships are read anew. */
export function useCreateOrg(idempotencyKey: string): UseMutationResult<OrgName, Problem, string> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useWrite({
    write: (name) => bodyOf<OrgName>(api.POST('/v1/orgs', { headers, body: { name } })),
    touches: ([noun]) => noun === 'me' || noun === 'orgs',
  });
}
