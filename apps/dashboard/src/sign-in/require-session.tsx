import { Center } from '@mantine/core';
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { session, startSession, useSession } from '../api/session.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';

// Who is signed in, as a rule, needs neither.
const SessionEnded = lazy(async () => ({ default: (await import('./session-ended.js')).SessionEnded }));
const SignInPage = lazy(async () => ({ default: (await import('./sign-in-page.js')).SignInPage }));

/** Its children, for who is signed in; sign-in otherwise, in their place or, where a session ended, above them. */
export function RequireSession({ children }: { children: ReactNode }): ReactNode {
  const current = useSession();
  useEffect(startSession, []);
  useEffect(keepForms, []);
  if (current.state === 'starting') return <Loading height={320} />;
  if (current.state === 'away')
    return (
      <Center component="main" mih="100vh" p="md" bg="var(--page-background)">
        <ProblemCard failure={current.failure} retry={() => void session.refresh()} />
      </Center>
    );
  if (current.state === 'out') {
    return (
      <Suspense fallback={<Loading height={320} />}>
        <SignInPage />
      </Suspense>
    );
  }
  return (
    <>
      {children}
      <Suspense>{current.state === 'ended' && <SessionEnded email={current.person.email} />}</Suspense>
    </>
  );
}

/** Escape closes a dialog of the page wherever the focus is: sign-in stands above it, and what was typed there stays. */
function keepForms(): () => void {
  const keep = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && session.get().state === 'ended') event.stopImmediatePropagation();
  };
  window.addEventListener('keydown', keep, true);
  return () => window.removeEventListener('keydown', keep, true);
}
