import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';

/** Alerts that the bell shows. */
const SHOWN = 6;
const STALE_MS = 60_000;

export type Alert = Schemas['DeliveryRecord'];

/** Reads the last alerts of an organization. The frame is whole without them. */
export function useLastAlerts(org: string | null): UseQueryResult<Alert[]> {
  const query = { org_id: org ?? '', limit: SHOWN };
  return useQuery({
    queryKey: [org, 'deliveries', 'last', query],
    enabled: org !== null,
    queryFn: async () => (await bodyOf(api.GET('/alerts/deliveries', { params: { query } }))).data,
    staleTime: STALE_MS,
    retry: false,
  });
}
