/** A scope as reads and events name it. */
export interface ShownScope<Scope extends string | null = string | null> {
  scope: Scope;
  /** Id of the key, user, team, organization or account. */
  scope_id: Scope extends string ? string : string | null;
  /** Team of the scope team_member alone. */
  team_id: string | null;
}

/** The public ids of a scope whose id the counters join with a slash: `<team>/<user>` and `<key>/<counter>`. */
export function shownScope<Scope extends string | null>(scope: Scope, id: string | null): ShownScope<Scope> {
  const [first, second] = id === null ? [null] : id.split('/', 2);
  const isOfTeam = scope === 'team_member' && second !== undefined;
  const shown = isOfTeam
    ? { scope_id: second, team_id: first }
    : { scope_id: scope === 'key' ? first : id, team_id: null };
  return { scope, ...shown } as ShownScope<Scope>;
}
