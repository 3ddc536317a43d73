import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, LOGGER } from '@gateway/platform';
import { Directory, type Clock, type NamedIds, type UsageEventRecord } from '@gateway/contracts';
import type { Logger } from 'pino';

const KEPT_MS = 60_000;
const KEPT_MAX = 20_000;
/** Number of ids that the directory takes at once; no page and no series has more. */
const ASKED_MAX = 500;
const GROUP_KINDS: Record<string, keyof NamedIds> = { key: 'keys', member: 'users', team: 'teams' };

interface CachedName {
  at: number;
  name: string | null;
}

/**
 * Present names of keys, people and teams, for reads of events that store ids alone. A read goes without names where
 * nobody knows them.
 */
@Injectable()
export class Names {
  private readonly kept = new Map<string, CachedName>();

  constructor(
    private readonly directory: Directory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The events with the labels of their keys. */
  async labelled<T extends Pick<UsageEventRecord, 'key_id' | 'key_label'>>(
    accountId: string,
    events: readonly T[],
  ): Promise<T[]> {
    const names = await this.namesOf(
      accountId,
      'keys',
      events.map(({ key_id }) => key_id),
    );
    return events.map((event) => ({ ...event, key_label: names.get(event.key_id) ?? null }));
  }

  async groups(
    accountId: string,
    groupBy: string | null,
    ids: readonly string[],
  ): Promise<{ id: string; label: string | null }[]> {
    const kind = GROUP_KINDS[groupBy ?? ''] as keyof NamedIds | undefined;
    if (kind === undefined) return ids.map((id) => ({ id, label: null }));
    const names = await this.namesOf(accountId, kind, ids);
    return ids.map((id) => ({ id, label: names.get(id) ?? null }));
  }

  /** Throws ApiError `service_unavailable` where nobody could say: this one decides about access. */
  teamsOf(orgId: string, userId: string): Promise<string[]> {
    return this.directory.teamsOf(orgId, userId);
  }

  private async namesOf(
    accountId: string,
    kind: keyof NamedIds,
    ids: readonly string[],
  ): Promise<Map<string, string | null>> {
    const { clock, directory, logger } = this;
    const now = clock.monotonic();
    const nameOf = (id: string): string => `${accountId}\n${kind}\n${id}`;
    const isKnown = (id: string): boolean => {
      const known = this.kept.get(nameOf(id));
      return known !== undefined && now - known.at < KEPT_MS;
    };
    const missing = [...new Set(ids)].filter((id) => !isKnown(id)).slice(0, ASKED_MAX);
    if (missing.length > 0) {
      try {
        const found = await directory.names(accountId, { keys: [], users: [], teams: [], [kind]: missing });
        for (const id of missing) this.keep(nameOf(id), { at: now, name: found[kind][id] ?? null });
      } catch (failure) {
        logger.warn({ err: failure }, 'a usage read goes without names');
      }
    }
    return new Map(ids.map((id) => [id, this.kept.get(nameOf(id))?.name ?? null]));
  }

  private keep(name: string, kept: CachedName): void {
    this.kept.delete(name);
    this.kept.set(name, kept);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT_MAX) break;
      this.kept.delete(oldest);
    }
  }
}
