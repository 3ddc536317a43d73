import { Ajv, type Options, type ValidateFunction } from 'ajv';

/** Compiles the schema of schemas once: an Ajv that validated its own schemas would do so for itself. */
const SCHEMAS = new Ajv({ strict: false });

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

  /** Compiles it now, so that no request waits for it. Throws where it is no schema. */
  load(): void {
    void this.validate;
  }

  get validate(): ValidateFunction {
    return (this.compiled ??= this.compile());
  }

  private compile(): ValidateFunction {
    void SCHEMAS.validateSchema(this.schema, true);
    return new Ajv({ ...this.options, meta: false, validateSchema: false }).compile(this.schema);
  }
}
