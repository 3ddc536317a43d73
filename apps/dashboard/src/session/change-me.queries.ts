import type { UseMutationResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

/** Changes the name or the time zone of the person. */
export function useChangeMe(): UseMutationResult<unknown, Problem, Schemas['UpdateMeBody']> {
  return useWrite({
    write: (body) => bodyOf<unknown>(api.PATCH('/auth/me', { body })),
    touches: ([first]) => first === 'me' || first === 'sessions',
  });
}
