import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Channel = Schemas['ListedChannel'];
export type Policy = Schemas['PolicyRecord'];
export type Delivery = Schemas['DeliveryRecord'];
export type DeliveryDetail = Schemas['DeliveryDetail'];

export const DELIVERIES_A_PAGE = 50;

export function useAlerts(org: string): UseQueryResult<Schemas['AlertsRecord']> {
  return useQuery({
    queryKey: [org, 'alerts'],
    queryFn: () => bodyOf(api.GET('/alerts', { params: { query: { org_id: org } } })),
  });
}

/** Reads the deliveries. One that is on its way changes by itself, so it is read anew each time. */
export function useDeliveries(
  org: string,
  filter: { channel?: string; status?: Delivery['status']; page: number },
): UseQueryResult<Schemas['PageOfDeliveryRecord']> {
  const { channel, status, page } = filter;
  const query = {
    org_id: org,
    ...(channel ? { channel_id: channel } : {}),
    ...(status ? { status } : {}),
    limit: DELIVERIES_A_PAGE,
    offset: (page - 1) * DELIVERIES_A_PAGE,
  };
  return useQuery({
    queryKey: [org, 'deliveries', query],
    queryFn: () => bodyOf(api.GET('/alerts/deliveries', { params: { query } })),
    placeholderData: (shown) => shown,
    staleTime: 0,
  });
}

export function useDelivery(id: string): UseQueryResult<DeliveryDetail> {
  return useQuery({
    queryKey: ['delivery', id],
    queryFn: () => bodyOf(api.GET('/alerts/deliveries/{id}', { params: { path: { id } } })),
    staleTime: 0,
  });
}

const LOOK_AGAIN_MS = 1_000;

/** Reads a delivery that was sent for a test until its first attempt has ended. */
export function useTestDelivery(sent: Delivery): { data: Delivery } {
  const { id } = sent;
  const read = useQuery<Delivery>({
    queryKey: ['delivery', id, 'test'],
    queryFn: () => bodyOf(api.GET('/alerts/deliveries/{id}', { params: { path: { id } } })),
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.status === 'error' || hasEnded(state.data ?? sent) ? false : LOOK_AGAIN_MS,
  });
  return { data: read.data ?? sent };
}

function hasEnded({ status, attempts }: Delivery): boolean {
  return status !== 'pending' && status !== 'sending' && (attempts > 0 || status !== 'retrying');
}

function useAlertWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
  after?: (answer: Answer) => void,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({
    write,
    after,
    touches: ([first, noun]) => noun === 'alerts' || noun === 'deliveries' || first === 'delivery',
  });
}

export function useCreateChannel(
  org: string,
  idempotencyKey: string,
  after: (created: Schemas['CreatedChannel']) => void,
): UseMutationResult<Schemas['CreatedChannel'], Problem, Schemas['CreateChannelBody']> {
  const options = { headers: { 'Idempotency-Key': idempotencyKey }, params: { query: { org_id: org } } };
  return useAlertWrite((body) => bodyOf(api.POST('/alerts/channels', { ...options, body })), after);
}

export function useChangeChannel(
  id: string,
): UseMutationResult<Schemas['ChannelRecord'], Problem, Schemas['UpdateChannelBody']> {
  return useAlertWrite((body) =>
    bodyOf(api.PATCH('/alerts/channels/{id}', { params: { path: { id } }, body })),
  );
}

export function useDeleteChannel(id: string): UseMutationResult<unknown, Problem, void> {
  return useAlertWrite(() => bodyOf(api.DELETE('/alerts/channels/{id}', { params: { path: { id } } })));
}

export function useTestChannel(id: string): UseMutationResult<Delivery, Problem, void> {
  return useAlertWrite(() => bodyOf(api.POST('/alerts/channels/{id}/test', { params: { path: { id } } })));
}

/** The secret before stays good for a day: deliveries carry a term of each. */
export function useRotateSecret(
  id: string,
  after: (rotated: { signing_secret: string }) => void,
): UseMutationResult<{ signing_secret: string }, Problem, void> {
  return useAlertWrite(
    () => bodyOf(api.POST('/alerts/channels/{id}/rotate-secret', { params: { path: { id } } })),
    after,
  );
}

export function useCreatePolicy(
  org: string,
  idempotencyKey: string,
): UseMutationResult<Policy, Problem, Schemas['CreatePolicyBody']> {
  const options = { headers: { 'Idempotency-Key': idempotencyKey }, params: { query: { org_id: org } } };
  return useAlertWrite((body) => bodyOf(api.POST('/alerts/policies', { ...options, body })));
}

/** Makes the policy that most people want first, for a channel that was made just now. */
export function useFirstPolicy(org: string): UseMutationResult<Policy, Problem, string> {
  return useAlertWrite((channel) => {
    const headers = { 'Idempotency-Key': `first-policy-${channel}` };
    const body = { channel_id: channel, alert_type: 'spend_cap.approaching', threshold_pct: 80 } as const;
    return bodyOf(api.POST('/alerts/policies', { headers, params: { query: { org_id: org } }, body }));
  });
}

export function useDeletePolicy(after: () => void): UseMutationResult<unknown, Problem, string> {
  return useAlertWrite(
    (id) => bodyOf(api.DELETE('/alerts/policies/{id}', { params: { path: { id } } })),
    after,
  );
}

export function useRedeliver(id: string): UseMutationResult<Delivery, Problem, void> {
  return useAlertWrite(() =>
    bodyOf(api.POST('/alerts/deliveries/{id}/redeliver', { params: { path: { id } } })),
  );
}
