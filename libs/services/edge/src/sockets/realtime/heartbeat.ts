import type { WebSocket } from 'ws';

const MISSED_MAX = 2;

/** Check that the other side of a socket is still there: a lost connection does not report itself. */
export class Heartbeat {
  private missed = 0;

  constructor(private readonly ws: WebSocket) {
    const heard = (): void => void (this.missed = 0);
    ws.on('pong', heard);
    ws.on('message', heard);
  }

  /** Asks for a sign of life. False where the last ones brought none; a socket that is not read now could not show any. */
  beat(): boolean {
    if (this.ws.isPaused) return true;
    if (this.missed >= MISSED_MAX) return false;
    this.missed += 1;
    this.ws.ping();
    return true;
  }
}
