import { useMutation, useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import { session } from '../api/session.js';
import type { SignedIn } from '../api/session-token.js';
import { useWrite } from '../api/use-write.js';

export interface SignInOptions {
  password: boolean;
  oidc: { name: string } | null;
  billing: 'prepaid' | 'off';
}

/** Reads the ways of signing in here. */
export function useSignInOptions(): UseQueryResult<SignInOptions> {
  return useQuery({
    queryKey: ['sign-in-options'],
    queryFn: () => bodyOf<unknown>(api.GET('/auth/options')) as Promise<SignInOptions>,
    staleTime: Infinity,
  });
}

export function useSignIn(): UseMutationResult<void, Problem, { email: string; password: string }> {
  return useMutation({
    mutationFn: async (body) =>
      session.signIn((await bodyOf(api.POST('/auth/login', { body }))) as unknown as SignedIn),
  });
}

export function useForgotPassword(): UseMutationResult<unknown, Problem, { email: string }> {
  return useMutation({ mutationFn: (body) => bodyOf(api.POST('/auth/password/forgot', { body })) });
}

export function useResetPassword(): UseMutationResult<unknown, Problem, { token: string; password: string }> {
  return useMutation({ mutationFn: (body) => bodyOf(api.POST('/auth/password/reset', { body })) });
}

/** Confirms that notices may be sent to an address. */
export function useConfirmAddress(): UseMutationResult<unknown, Problem, string> {
  return useWrite({
    write: (token) => bodyOf<unknown>(api.POST('/alerts/confirm', { params: { query: { token } } })),
  });
}

/** Joins an organization; who had no account is signed in with the new one. */
export function useAcceptInvitation(): UseMutationResult<
  void,
  Problem,
  { token: string; name: string; password: string }
> {
  return useMutation({
    mutationFn: async (body) =>
      session.signIn((await bodyOf(api.POST('/auth/invitations/accept', { body }))) as unknown as SignedIn),
  });
}
