import type { Duplex } from 'node:stream';
import type { ApiError } from '@gateway/contracts';
import type { MemoryBudget } from '@gateway/platform';
import type { WebSocket } from 'ws';

/** Size below which a message is in memory with its frame, as with bodies. */
const SMALL_BYTES = 16_384;
const FAREWELL_MS = 1_000;
/** Try again later. */
const NO_ROOM = 1_013;

interface Intake {
  ws: WebSocket;
  socket: Duplex;
  /** Budget of the account: messages that it never ends leave the rest to others. */
  room: MemoryBudget;
  /** Reports it to the caller; called once. */
  refuse: (error: ApiError) => void;
  after: (ms: number, then: () => void) => unknown;
}

/**
 * Counts the caller's bytes of an unfinished message as those of bodies, as they arrive. Without a budget for more
 * nothing more is read, and the socket is closed.
 */
export function countIntake({ ws, socket, room, refuse, after }: Intake): void {
  let [arrived, held, isOver] = [0, 0, false];
  const giveBack = (): void => {
    room.released(held);
    [arrived, held] = [0, 0];
  };
  // Before the listener of the WebSocket, for whom the same piece may end the message.
  socket.prependListener('data', ({ length }: Buffer) => {
    arrived += length;
    if (isOver || arrived <= SMALL_BYTES) return;
    const more = arrived - held;
    const refusal = room.refusalOfMore(more);
    if (refusal === null) {
      room.held(more);
      held = arrived;
      return;
    }
    // It goes within a second: what others send has the room of it.
    isOver = true;
    giveBack();
    refuse(refusal);
    ws.close(NO_ROOM, refusal.code);
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
