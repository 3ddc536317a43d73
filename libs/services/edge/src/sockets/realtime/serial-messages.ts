import type { RawData, WebSocket } from 'ws';

/** Messages of a socket, handled one after the other; the socket is not read on while one of them waits. */
export class SerialMessages {
  private readonly waiting: { bytes: Buffer; isBinary: boolean }[] = [];
  private isBusy = false;

  /** `handle` never throws. */
  constructor(
    private readonly ws: WebSocket,
    private readonly handle: (bytes: Buffer, isBinary: boolean) => Promise<void> | undefined,
  ) {
    ws.on('message', (data, isBinary) => this.push(data, isBinary));
  }

  push(data: RawData, isBinary: boolean): void {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    this.waiting.push({ bytes, isBinary });
    if (!this.isBusy) this.next();
  }

  private next(): void {
    for (;;) {
      const message = this.waiting.shift();
      if (message === undefined) return;
      const under = this.handle(message.bytes, message.isBinary);
      if (under === undefined) continue;
      this.isBusy = true;
      this.ws.pause();
      void under.then(() => {
        this.isBusy = false;
        if (this.waiting.length > 0) this.next();
        // A socket that closes reads on too: the other side's close frame is still to come.
        if (!this.isBusy) this.ws.resume();
      });
      return;
    }
  }
}
