const SAMPLE_MS = 1_000;

/** The resident memory of this process, sampled each second. */
export class ResidentMemory {
  /** Bytes at the last sample that could be taken. */
  bytes = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly read: () => number = () => process.memoryUsage.rss()) {}

  start(): void {
    this.sample();
    this.timer = setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private sample(): void {
    try {
      this.bytes = this.read();
    } catch {
      // Node reads a file for it, and no descriptor may be free: the last sample stands.
    }
  }
}
