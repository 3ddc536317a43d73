/** Scheduled work of the service. */
export interface Job {
  everyMs: number;
  /** Name of the work in the log. */
  what: string;
  run: () => Promise<unknown>;
}
