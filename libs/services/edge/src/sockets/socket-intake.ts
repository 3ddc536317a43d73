import type { Duplex } from 'node:stream';
import type { ApiError } from '@gateway/contracts';
import type { MemoryBudget } from '@gateway/platform';
import type { WebSocket } from 'ws';

/** Size below which a message is in memory with its frame, as with bodies. */
const SMALL_BYTES = 16_384;
const FAREWELL_MS = 1_000;
/** Try again later. */
const NO_BUDGET = 1_013;

interface Intake {
  ws: WebSocket;
  socket: Duplex;
  /** Budget of the account: messages that it never ends leave the rest to others. */
  budget: MemoryBudget;
  /** Reports it to the caller; called once. */
  refuse: (error: ApiError) => void;
  after: (ms: number, then: () => void) => unknown;
}

/**
 * Counts the caller's bytes of an unfinished message as those of bodies, as they arrive. Without a budget for more
 * nothing more is read, and the socket is closed.
 */
export function countIntake({ ws, socket, budget, refuse, after }: Intake): void {
  let [arrived, held, isOver] = [0, 0, false];
  const giveBack = (): void => {
    budget.released(held);
    [arrived, held] = [0, 0];
  };
  // Before the listener of the WebSocket, for whom the same piece may end the message.
  socket.prependListener('data', ({ length }: Buffer) => {
    arrived += length;
    if (isOver || arrived <= SMALL_BYTES) return;
    const more = arrived - held;
    const rejection = budget.rejectionOfMore(more);
    if (rejection === null) {
      budget.buffered(more);
      held = arrived;
      return;
    }
    // It goes within a second: what others send has its budget.
    isOver = true;
    giveBack();
    refuse(rejection);
    ws.close(NO_BUDGET, rejection.code);
    ws.pause();
    after(FAREWELL_MS, () => ws.terminate());
  });
  // Before whoever counts what becomes of it.
  ws.prependListener('message', giveBack);
  ws.once('close', () => {
    isOver = true;
    giveBack();
  });
}
