import { useMutation, useQueryClient, type QueryKey, type UseMutationResult } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Problem } from './problem.js';

interface WriteOptions<Sent, Answer> {
  write: (sent: Sent) => Promise<Answer>;
  /** True for reads that the write makes old. */
  touches?: (key: QueryKey) => boolean;
  /** Called also where the form has been closed meanwhile: an answer that is shown once would be lost with it. */
  after?: ((answer: Answer) => void) | undefined;
}

/**
 * A change on the server. What is pressed while it runs is dropped: the state of a button follows a moment late, and the
 * second answer of a create holds no secret. Nothing of it is kept once its page is gone.
 */
export function useWrite<Sent, Answer>(
  options: WriteOptions<Sent, Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  const { write, touches, after } = options;
  const cache = useQueryClient();
  const isRunning = useRef(false);
  const mutation = useMutation<Answer, Problem, Sent>({
    mutationFn: write,
    onSuccess: async (answer) => {
      after?.(answer);
      if (touches) await cache.invalidateQueries({ predicate: ({ queryKey }) => touches(queryKey) });
    },
    onSettled: () => {
      isRunning.current = false;
    },
    gcTime: 0,
  });
  const mutate: typeof mutation.mutate = (...sent) => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutation.mutate(...sent);
  };
  return { ...mutation, mutate };
}
