import { useSyncExternalStore } from 'react';
import { SessionToken, type Session } from './session-token.js';

/** The one session of this tab. */
export const session = new SessionToken({
  fetch: (...call) => fetch(...call),
  now: () => Date.now(),
  later: (call, ms) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  // Plain HTTP of another machine has no locks; there the server's 30 s of grace for a spent token must do.
  exclusive: (work) =>
    'locks' in navigator ? navigator.locks.request('gateway-session', () => work()) : work(),
  channel: new BroadcastChannel('gateway-session'),
});

export function useSession(): Session {
  return useSyncExternalStore(session.subscribe, session.get);
}

/** Asks for the session of this browser where nobody has. */
export function startSession(): void {
  if (session.get().state === 'starting') void session.refresh();
}
