import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import { ProblemCard } from './problem-card.js';

const MARKED = '[aria-invalid="true"]';

/**
 * Reason of a form's rejection, where its fields do not say all of it. A fault that stands beside its field is not said twice:
 * the first such field takes the focus, which reads its message out.
 */
export function FormFailure({ failure }: { failure: Problem | null }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const [isBeside, setBeside] = useState(false);
  useLayoutEffect(() => {
    const named = Object.keys(failure?.fields ?? {}).length;
    const marked = place.current?.closest('form')?.querySelectorAll<HTMLElement>(MARKED) ?? [];
    const areSaid = named > 0 && marked.length >= named;
    setBeside(areSaid);
    if (areSaid) marked[0].focus();
  }, [failure]);
  return (
    <div ref={place} hidden={failure === null || isBeside}>
      {failure !== null && !isBeside && <ProblemCard failure={failure} />}
    </div>
  );
}
