/** One native error of a provider: what its HTTP answer says, word for word in form. */
export interface NativeError {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

export type ErrorTable = ReadonlyMap<string, NativeError>;
