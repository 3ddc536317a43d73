import { Injectable } from '@nestjs/common';

/** true, or a sentence that says what is missing. Answers at once, from memory. */
export type ReadinessCheck = () => true | string;

/**
 * Conditions for traffic to this process: configuration loaded, journal writable. Never Redis, Kafka or PostgreSQL,
 * because a fleet that leaves the load balancer helps nobody.
 */
@Injectable()
export class ReadinessChecks {
  private readonly checks = new Map<string, ReadinessCheck>();

  /** A later check of the same name replaces the earlier one. */
  add(name: string, check: ReadinessCheck): void {
    this.checks.set(name, check);
  }

  /** Every check that does not hold, by name. Empty = ready. */
  faults(): Record<string, string> {
    const results = [...this.checks].map(([name, check]) => [name, check()] as const);
    return Object.fromEntries(results.filter((result): result is [string, string] => result[1] !== true));
  }
}
