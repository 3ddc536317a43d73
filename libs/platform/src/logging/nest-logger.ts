import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Nest's own lines, of which only warnings and errors are of interest in production. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: unknown): void {
    this.logger.debug({ context: text(context) }, text(message));
  }

  warn(message: unknown, context?: unknown): void {
    this.logger.warn({ context: text(context) }, text(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.logger.error(
      { context: text(rest.at(-1)), err: message instanceof Error ? message : undefined },
      text(message),
    );
  }
}

function text(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
