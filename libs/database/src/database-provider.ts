import { LOGGER } from '@gateway/platform';
import type { FactoryProvider } from '@nestjs/common';
import type { Logger } from 'pino';
import { openSchema, type OpenSchemaOptions } from './postgres/open-schema.js';
import type { PostgresOptions } from './postgres/postgres-pool.js';

/**
 * Provider of a service's database: at the start its schema is migrated, or refused if this release does not know it.
 * `options` are what the database is made with.
 */
export function databaseProvider<O extends Pick<PostgresOptions, 'url' | 'onIdleError'>, T>(
  provide: new (options: O) => T,
  schema: Pick<OpenSchemaOptions, 'schemaDir' | 'schema' | 'migrates'>,
  options: O,
): FactoryProvider<T> {
  return {
    provide,
    inject: [LOGGER],
    useFactory: async (logger: Logger) => {
      const report = (line: string): void => logger.info(line);
      await openSchema({ url: options.url, ...schema, report });
      const onIdleError = (error: Error): void =>
        logger.warn({ err: error }, 'an idle connection to PostgreSQL was lost');
      return new provide({ ...options, onIdleError });
    },
  };
}
