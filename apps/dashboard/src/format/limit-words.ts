/** Levels at which a limit counts, as people read them. */
export const SCOPE_WORDS = {
  key: 'Key',
  team_member: 'Member in the team',
  member: 'Member',
  team: 'Team',
  org: 'Organization',
  account: 'Account',
  tag: 'Tag',
  end_user: 'End user',
  provider: 'Provider',
} as const;

/** Returns the words of a scope; one that is not known stays as it is. */
export function scopeWord(scope: string): string {
  return Object.entries(SCOPE_WORDS).find(([name]) => name === scope)?.[1] ?? scope;
}

/** Counts and amounts that a limit holds. */
export const METRIC_WORDS = {
  rpm: 'Requests a minute',
  rpd: 'Requests a day',
  tpm: 'Tokens a minute',
  spend_cap: 'Spend cap',
  balance: 'Balance',
  budget: 'Budget',
} as const;
