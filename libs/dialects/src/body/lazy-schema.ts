import { Ajv, type Options, type ValidateFunction } from 'ajv';

/**
 * A JSON schema that is compiled when it is first used or asked for: it takes tens of milliseconds, which a service that
 * reads no request of this kind should not spend on its start.
 */
export class LazySchema {
  private compiled: ValidateFunction | null = null;

  constructor(
    private readonly schema: object,
    private readonly options: Options,
  ) {}

  /** Compiles it now, so that no request waits for it. */
  load(): void {
    void this.validate;
  }

  get validate(): ValidateFunction {
    return (this.compiled ??= new Ajv(this.options).compile(this.schema));
  }
}
