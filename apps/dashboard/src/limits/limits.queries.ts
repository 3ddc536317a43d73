import {
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Simulation = Schemas['LimitSimulation'];
export type Check = Schemas['LimitCheck'];

const CHOICES = 50;
const SCOPE_CHOICES = 200;
/** Rows of one branch that are read at once. */
const BRANCH_ROWS = 20;

/** Keys whose label has the text, for a list to choose from. */
export function useKeyChoices(
  org: string | null,
  label: string,
): UseQueryResult<Schemas['PageOfApiKeyRecord']> {
  const query = {
    ...keysOf(org),
    ...(label === '' ? {} : { label }),
    status: 'active' as const,
    limit: CHOICES,
  };
  return useQuery({
    queryKey: [org, 'key-choices', query],
    queryFn: () => bodyOf(api.GET('/v1/keys', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

/** Reads teams and people of an organization by name, for a list to choose from. */
export function useScopeChoices(org: string): UseQueryResult<Schemas['KeyFilterOptions']> {
  const query = { ...keysOf(org), limit: SCOPE_CHOICES };
  return useQuery({
    queryKey: [org, 'filter-names', query],
    queryFn: () => bodyOf(api.GET('/v1/keys/filter-options', { params: { query } })),
  });
}

export type KeyLimits = Schemas['KeyLimitsRecord'];
export type Rates = Schemas['RateLimitState'];

/** Reads the limits of a key and each scope above it, with the spend. */
export function useLimitsAbove(key: string | undefined): UseQueryResult<KeyLimits> {
  return useQuery({
    queryKey: ['key', key, 'limits'],
    enabled: key !== undefined,
    queryFn: () => bodyOf(api.GET('/v1/keys/{id}/limits', { params: { path: { id: key ?? '' } } })),
  });
}

/** Counted in this minute and day, of each scope: read anew each time. */
export function useRatesAbove(org: string | null, key: string | undefined): UseQueryResult<Rates> {
  const query = { ...(org === null ? {} : { org_id: org }), key_id: key, refresh: true };
  return useQuery({
    queryKey: ['key', key, 'rates', query],
    enabled: key !== undefined,
    queryFn: () => bodyOf(api.GET('/v1/usage/rate-limits', { params: { query } })),
    staleTime: 0,
  });
}

/** Counts nothing: it may be asked again and again. */
export function useSimulation(): UseMutationResult<Simulation, Problem, Schemas['SimulateLimitsBody']> {
  return useWrite({ write: (body) => bodyOf(api.POST('/v1/limits/simulate', { body })) });
}

interface PageOf<Row> {
  data: Row[];
  total: number;
}

export type Branch<Row> = UseInfiniteQueryResult<InfiniteData<PageOf<Row>>>;

/** The rows of a branch, a page at a time; nothing is read before it is open. */
function useBranch<Row>(options: {
  key: readonly unknown[];
  isOpen: boolean;
  read: (page: { limit: number; offset: number }) => Promise<PageOf<Row>>;
}): Branch<Row> {
  const { key, isOpen, read } = options;
  return useInfiniteQuery({
    queryKey: key,
    enabled: isOpen,
    queryFn: ({ pageParam }) => read({ limit: BRANCH_ROWS, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ total }: PageOf<Row>, pages: PageOf<Row>[]) => {
      const shown = pages.reduce((sum, { data }) => sum + data.length, 0);
      return shown < total ? shown : undefined;
    },
  });
}

export type Key = Schemas['ApiKeyRecord'];

export interface KeyFilter {
  created_by?: string;
  team_id?: string;
  label?: string;
}

export function useKeysBelow(org: string | null, filter: KeyFilter, isOpen: boolean): Branch<Key> {
  return useBranch({
    key: [org, 'keys', 'branch', filter],
    isOpen,
    read: (page) =>
      bodyOf(api.GET('/v1/keys', { params: { query: { ...keysOf(org), ...filter, ...page } } })),
  });
}

export type Team = Schemas['TeamRecord'];

export function useTeamsBelow(org: string, q: string | undefined): Branch<Team> {
  return useBranch({
    key: [org, 'teams', 'branch', q],
    isOpen: true,
    read: (page) => {
      const query = { ...(q ? { q } : {}), ...page };
      return bodyOf(api.GET('/v1/orgs/{id}/teams', { params: { path: { id: org }, query } }));
    },
  });
}

export type Member = Schemas['MemberRecord'];

export function useMembersBelow(org: string, q: string | undefined): Branch<Member> {
  return useBranch({
    key: [org, 'members', 'branch', q],
    isOpen: true,
    read: (page) => {
      const query = { ...(q ? { q } : {}), ...page };
      return bodyOf(api.GET('/v1/orgs/{id}/members', { params: { path: { id: org }, query } }));
    },
  });
}

export type TeamMember = Schemas['TeamMemberRecord'];

export function useTeamMembersBelow(team: string): Branch<TeamMember> {
  return useBranch({
    key: ['team', team, 'members', 'branch'],
    isOpen: true,
    read: (query) => bodyOf(api.GET('/v1/teams/{id}/members', { params: { path: { id: team }, query } })),
  });
}

export function useOrgRecord(org: string): UseQueryResult<Schemas['OrgRecord']> {
  return useQuery({
    queryKey: [org, 'org'],
    queryFn: () => bodyOf(api.GET('/v1/orgs/{id}', { params: { path: { id: org } } })),
  });
}

export function useMember(org: string, user_id: string): UseQueryResult<Member> {
  return useQuery({
    queryKey: [org, 'members', user_id],
    queryFn: () =>
      bodyOf(api.GET('/v1/orgs/{id}/members/{user_id}', { params: { path: { id: org, user_id } } })),
  });
}
