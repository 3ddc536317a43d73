import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type OwnSession = Schemas['OwnSessionRecord'];

export function useSessions(): UseQueryResult<OwnSession[]> {
  return useQuery({
    queryKey: ['sessions'],
    queryFn: async () => (await bodyOf(api.GET('/auth/sessions'))).data,
  });
}

const touches = ([first]: readonly unknown[]): boolean => first === 'sessions' || first === 'me';

export function useEndSession(): UseMutationResult<unknown, Problem, string> {
  return useWrite({
    write: (id) => bodyOf<unknown>(api.DELETE('/auth/sessions/{id}', { params: { path: { id } } })),
    touches,
  });
}

export function useEndOthers(): UseMutationResult<unknown, Problem, void> {
  return useWrite({ write: () => bodyOf<unknown>(api.DELETE('/auth/sessions')), touches });
}

export function useChangePassword(): UseMutationResult<unknown, Problem, Schemas['ChangePasswordBody']> {
  return useWrite({ write: (body) => bodyOf<unknown>(api.POST('/auth/password/change', { body })), touches });
}
