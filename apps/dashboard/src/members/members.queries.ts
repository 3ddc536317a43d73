import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Member = Schemas['MemberRecord'];
export type Invitation = Schemas['InvitationRecord'];

export const MEMBERS_A_PAGE = 50;

export function useMembers(
  org: string,
  filter: { q?: string; sort?: string; page: number },
): UseQueryResult<Schemas['CursorPageOfMemberRecord']> {
  const { q, sort, page } = filter;
  const query = {
    ...(q ? { q } : {}),
    ...(sort ? { sort } : {}),
    limit: MEMBERS_A_PAGE,
    offset: (page - 1) * MEMBERS_A_PAGE,
  };
  return useQuery({
    queryKey: [org, 'members', query],
    queryFn: () => bodyOf(api.GET('/v1/orgs/{id}/members', { params: { path: { id: org }, query } })),
    placeholderData: (shown) => shown,
  });
}

/** Reads the invitations that nobody has accepted yet. */
export function useInvitations(org: string): UseQueryResult<Schemas['CursorPageOfInvitationRecord']> {
  return useQuery({
    queryKey: [org, 'invitations'],
    queryFn: () =>
      bodyOf(api.GET('/v1/orgs/{id}/invitations', { params: { path: { id: org }, query: { limit: 200 } } })),
  });
}

function useMemberWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([, noun]) => noun === 'members' || noun === 'invitations' });
}

export function useInvite(
  org: string,
  idempotencyKey: string,
): UseMutationResult<Invitation, Problem, Schemas['CreateInvitationBody']> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useMemberWrite((body) =>
    bodyOf(api.POST('/v1/orgs/{id}/invitations', { params: { path: { id: org } }, headers, body })),
  );
}

export function useRevokeInvitation(org: string): UseMutationResult<unknown, Problem, string> {
  return useMemberWrite((invitation_id) =>
    bodyOf(
      api.DELETE('/v1/orgs/{id}/invitations/{invitation_id}', {
        params: { path: { id: org, invitation_id } },
      }),
    ),
  );
}

export function useChangeMember(
  org: string,
  user_id: string,
): UseMutationResult<Member, Problem, Schemas['UpdateMemberBody']> {
  return useMemberWrite((body) =>
    bodyOf(api.PATCH('/v1/orgs/{id}/members/{user_id}', { params: { path: { id: org, user_id } }, body })),
  );
}

export function useRemoveMember(org: string, user_id: string): UseMutationResult<unknown, Problem, void> {
  return useMemberWrite(() =>
    bodyOf(api.DELETE('/v1/orgs/{id}/members/{user_id}', { params: { path: { id: org, user_id } } })),
  );
}
