import { openSync, write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Bound on what waits for a destination that takes nothing; lines beyond it are dropped. */
const WAITING_CHARS_MAX = 1024 * 1024;
const RETRY_MS = 1_000;
const CLOSED_PIPE = 'EPIPE';

/** A way of bytes to a file descriptor, as node:fs has it. */
export interface LogFile {
  open(): number;
  write(fd: number, bytes: Buffer, offset: number, done: (error: Error | null, taken: number) => void): void;
}

interface Batch {
  bytes: Buffer;
  /** Bytes that are written. */
  taken: number;
  lines: number;
}

/**
 * Lines on their way to a file or a pipe, written in the background, in order. A destination that takes nothing ends no
 * process: lines wait up to a bound and are tried again each second, what comes beyond it is dropped and counted.
 * Of a pipe without a reader every line is dropped.
 */
export class LogWriter implements DestinationStream {
  /** Lines that were given up. */
  dropped = 0;
  private readonly file: LogFile;
  private waiting: string[] = [];
  private waitingChars = 0;
  private batch: Batch | null = null;
  private isWriting = false;
  private retry: NodeJS.Timeout | null = null;
  private fd: number | null = null;

  constructor(file: LogFile) {
    this.file = file;
  }

  write(line: string): void {
    const held = this.waitingChars + (this.batch?.bytes.length ?? 0);
    if (held + line.length > WAITING_CHARS_MAX) {
      this.dropped += 1;
      return;
    }
    this.waiting.push(line);
    this.waitingChars += line.length;
    if (!this.isWriting && this.retry === null) this.next();
  }

  /** Writes what waits at once, as far as it is taken, at the end of the process. */
  flushSync(): void {
    if (this.isWriting) this.batch = null; // A thread of the pool is at it.
    try {
      for (let batch = this.take(); batch !== null; batch = this.take()) {
        this.fd ??= this.file.open();
        batch.taken += writeSync(this.fd, batch.bytes, batch.taken);
      }
    } catch {
      // Nobody is left to count it.
    }
  }

  private next(): void {
    const batch = this.take();
    if (batch === null) return;
    this.isWriting = true;
    try {
      this.fd ??= this.file.open();
      this.file.write(this.fd, batch.bytes, batch.taken, (error, taken) => this.written(error, taken));
    } catch (error) {
      this.written(error, 0);
    }
  }

  /** Returns what is to be written now: the rest of the batch begun, or all that waits; null where there is nothing. */
  private take(): Batch | null {
    if (this.batch !== null && this.batch.taken < this.batch.bytes.length) return this.batch;
    this.batch = null;
    if (this.waiting.length === 0) return null;
    this.batch = { bytes: Buffer.from(this.waiting.join('')), taken: 0, lines: this.waiting.length };
    this.waiting = [];
    this.waitingChars = 0;
    return this.batch;
  }

  private written(error: unknown, taken: number): void {
    this.isWriting = false;
    if (error === null) {
      if (this.batch !== null) this.batch.taken += taken;
      return this.next();
    }
    if ((error as NodeJS.ErrnoException).code === CLOSED_PIPE) return this.drop();
    this.retry = setTimeout(() => {
      this.retry = null;
      this.next();
    }, RETRY_MS).unref();
  }

  private drop(): void {
    this.dropped += (this.batch?.lines ?? 0) + this.waiting.length;
    this.batch = null;
    this.waiting = [];
    this.waitingChars = 0;
  }
}

const nodeWrite: LogFile['write'] = (fd, bytes, offset, done) => write(fd, bytes, offset, done);
const writers = new Set<LogWriter>();

/** Makes the destination of this process's log: a file, made when absent for its user alone; without one, standard output. */
export function logDestination(path?: string): LogWriter {
  const open = path === undefined ? () => 1 : () => openSync(path, 'a', 0o600);
  const writer = new LogWriter({ open, write: nodeWrite });
  if (writers.size === 0) process.once('exit', () => writers.forEach((each) => each.flushSync()));
  writers.add(writer);
  return writer;
}
