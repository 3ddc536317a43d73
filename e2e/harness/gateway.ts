/** A gateway that runs in processes of its own, as its users meet it. */
export interface Gateway {
  /** The one public address, without a slash at the end. */
  url: string;
  /** An rsk_ key of an account with 100 USD. */
  key: string;
  admin: { email: string; password: string };
  /** Process that answers inference. */
  readonly edgePid: number;
  /** Returns the output of each process, by its name. */
  outputs(): Record<string, string>;
  /** Stops all in order and removes their data. @returns what each process ended with. */
  stop(): Promise<Record<string, number | string>>;
}
