import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api, bodyOf } from '../api/call.js';
import { OWN_ACCOUNT } from '../session/rights.js';

export interface OrgName {
  id: string;
  name: string;
}

const ORGS_MAX = 200;

/** The organizations that the person is in, for the switch; a super admin reads the first of all. */
export function useOrgNames(): UseQueryResult<OrgName[]> {
  return useQuery({
    queryKey: ['orgs'],
    queryFn: async () => {
      const answer: unknown = await bodyOf(api.GET('/v1/orgs', { params: { query: { limit: ORGS_MAX } } }));
      return (answer as { data: OrgName[] }).data;
    },
  });
}

/** The organization that is open: its part of the URL, and its id where it is one. */
export function useOrg(): { slug: string; id: string | null } {
  const { org = OWN_ACCOUNT }: { org?: string } = useParams({ strict: false });
  return { slug: org, id: org === OWN_ACCOUNT ? null : org };
}
