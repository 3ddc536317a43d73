import {
  shownScope,
  type AccountData,
  type AccountEventType,
  type LimitScopeData,
  type SpendScope,
} from '@gateway/contracts';

/** An event for those who have subscribed to it, unless its repetition holds it back. */
export interface Notice<Type extends AccountEventType = AccountEventType> {
  /** Source of the notice: the same record makes the same one. */
  sourceKey: string;
  type: Type;
  orgId: string;
  /** Time of the event, in milliseconds. */
  atMs: number;
  data: AccountData<Type>;
  /** The subscribed threshold that was crossed; null for events that have none. */
  threshold: string | null;
  repetition: Repetition | null;
}

/** Holds repetitions back: one per scope and threshold. */
export interface Repetition {
  name: string;
  /** Returns the state after this notice, and whether the notice is sent; null = no change, and nothing is sent. */
  step(last: RepetitionState | null): { state: RepetitionState; isNotified: boolean } | null;
}

export interface RepetitionState {
  atMs: number;
  detail: string | null;
}

/** The thresholds that an organization's policies name for an event. */
export type ThresholdsOf = (orgId: string, type: AccountEventType) => readonly string[];

/** Notified again when so much time has passed; what is older than the last one never is. */
export function atMostEvery(name: string, gapMs: number, atMs: number): Repetition {
  return {
    name,
    step: (last) =>
      last !== null && atMs < last.atMs + gapMs ? null : { state: { atMs, detail: null }, isNotified: true },
  };
}

/**
 * The scope of a limit as events name it: records keep both ids of a team member in one, and a model's own limit as
 * the key's.
 */
export function scopeFields(scope: SpendScope, id: string): LimitScopeData {
  switch (scope) {
    case 'key': {
      const { scope_id } = shownScope(scope, id);
      return { scope, scope_id, key_id: scope_id };
    }
    case 'team_member': {
      const { scope_id, team_id } = shownScope(scope, id);
      return { scope, scope_id, key_id: null, ...(team_id === null ? {} : { team_id }) };
    }
    case 'member':
    case 'team':
    case 'org':
    case 'tag':
    case 'end_user':
    case 'provider':
      return { scope, scope_id: id, key_id: null };
  }
}
