import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import { freshness } from '../api/fresh-reads.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Team = Schemas['TeamRecord'];
export type TeamMember = Schemas['TeamMemberRecord'];

export const TEAMS_A_PAGE = 50;
const CHOICES = 50;

export function useTeams(
  org: string,
  sort: string | undefined,
  page: number,
): UseQueryResult<Schemas['CursorPageOfTeamRecord']> {
  const query = { ...(sort ? { sort } : {}), limit: TEAMS_A_PAGE, offset: (page - 1) * TEAMS_A_PAGE };
  return useQuery({
    queryKey: [org, 'teams', query],
    queryFn: () => bodyOf(api.GET('/v1/orgs/{id}/teams', { params: { path: { id: org }, query } })),
    placeholderData: (shown) => shown,
  });
}

export function useTeam(id: string): UseQueryResult<Team> {
  return useQuery({
    queryKey: ['team', id],
    queryFn: () => bodyOf(api.GET('/v1/teams/{id}', { params: { path: { id } } })),
  });
}

export function useTeamMembers(
  id: string,
  page: number,
): UseQueryResult<Schemas['CursorPageOfTeamMemberRecord']> {
  const query = { limit: TEAMS_A_PAGE, offset: (page - 1) * TEAMS_A_PAGE };
  return useQuery({
    queryKey: ['team', id, 'members', query],
    queryFn: () => bodyOf(api.GET('/v1/teams/{id}/members', { params: { path: { id }, query } })),
    placeholderData: (shown) => shown,
  });
}

export const TEAM_KEYS_MAX = 50;
export type TeamKey = Schemas['ApiKeyRecord'];

/** Reads the keys of a team that the person may see, those used last first. */
export function useTeamKeys({ id, org_id }: Team): UseQueryResult<Schemas['PageOfApiKeyRecord']> {
  const query = { org_id, team_id: id, sort: '-last_used_at', limit: TEAM_KEYS_MAX };
  return useQuery({
    queryKey: [org_id, 'keys', query],
    queryFn: () => bodyOf(api.GET('/v1/keys', { params: { query } })),
  });
}

const MINUTE_MS = 60_000;
const DAYS_30_MS = 30 * 86_400_000;

/** Reads the spend of a team in the 30 days before an instant, on a whole minute. */
export function useTeamSpend({ id, org_id }: Team, nowMs: number): UseQueryResult<string> {
  const since = new Date(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - DAYS_30_MS).toISOString();
  const body = { org_id, since, team_id: id, granularity: 'month' as const };
  return useQuery({
    queryKey: [org_id, 'series', body],
    queryFn: async () =>
      (await bodyOf(api.POST('/v1/usage/series', { body: { ...body, ...freshness(Date.now()) } }))).total
        .cost_usd,
  });
}

/** People of the organization by a part of their name, to choose from. */
export function usePeople(org: string, q: string): UseQueryResult<Schemas['MemberRecord'][]> {
  const query = { ...(q === '' ? {} : { q }), limit: CHOICES };
  return useQuery({
    queryKey: [org, 'people', query],
    queryFn: async () =>
      (await bodyOf(api.GET('/v1/orgs/{id}/members', { params: { path: { id: org }, query } }))).data,
    placeholderData: (shown) => shown,
  });
}

function useTeamWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([first, noun]) => first === 'team' || noun === 'teams' });
}

export function useCreateTeam(
  org: string,
  idempotencyKey: string,
): UseMutationResult<Team, Problem, Schemas['CreateTeamBody']> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useTeamWrite((body) =>
    bodyOf(api.POST('/v1/orgs/{id}/teams', { params: { path: { id: org } }, headers, body })),
  );
}

export function useChangeTeam(id: string): UseMutationResult<Team, Problem, Schemas['UpdateTeamBody']> {
  return useTeamWrite((body) => bodyOf(api.PATCH('/v1/teams/{id}', { params: { path: { id } }, body })));
}

export function useDeleteTeam(id: string): UseMutationResult<unknown, Problem, void> {
  return useTeamWrite(() => bodyOf(api.DELETE('/v1/teams/{id}', { params: { path: { id } } })));
}

/** Adds a person to the team, with limits of their own there. */
export function useAddTeamMember(
  id: string,
): UseMutationResult<TeamMember, Problem, Schemas['ScopeLimitsBody'] & { user_id: string }> {
  return useTeamWrite(({ user_id, ...body }) =>
    bodyOf(api.PUT('/v1/teams/{id}/members/{user_id}', { params: { path: { id, user_id } }, body })),
  );
}

export function useRemoveTeamMember(id: string): UseMutationResult<unknown, Problem, string> {
  return useTeamWrite((user_id) =>
    bodyOf(api.DELETE('/v1/teams/{id}/members/{user_id}', { params: { path: { id, user_id } } })),
  );
}
