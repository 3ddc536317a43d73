import type { Tx } from '../postgres/keys-database.js';
import type { AuditLogRow } from './audit.store.js';

/** Things of one kind by their ids: those of the organization alone. */
type Named = (tx: Tx, org_id: string, ids: string[]) => Promise<Map<string, string | null>>;

const NAMED: Readonly<Record<string, Named | undefined>> = {
  api_key: async (tx, org_id, ids) => {
    const select = { id: true, label: true, masked_key: true };
    const rows = await tx.apiKey.findMany({ where: { org_id, id: { in: ids } }, select });
    return new Map(rows.map(({ id, label, masked_key: masked }) => [id, label ?? masked]));
  },
  admin_key: async (tx, org_id, ids) => {
    const select = { id: true, label: true };
    return labels(await tx.adminKey.findMany({ where: { org_id, id: { in: ids } }, select }));
  },
  provider_key: async (tx, org_id, ids) => {
    const select = { id: true, label: true };
    return labels(await tx.providerKey.findMany({ where: { org_id, id: { in: ids } }, select }));
  },
  org: async (tx, org_id) => names(await tx.org.findMany({ where: { id: org_id } })),
  team: async (tx, org_id, ids) => {
    const select = { id: true, name: true };
    return names(await tx.team.findMany({ where: { org_id, id: { in: ids } }, select }));
  },
  budget: async (tx, org_id, ids) => {
    const select = { id: true, name: true };
    return names(await tx.budget.findMany({ where: { org_id, id: { in: ids } }, select }));
  },
  routing_policy_template: async (tx, org_id, ids) => {
    const select = { id: true, name: true };
    return names(await tx.routingPolicyTemplate.findMany({ where: { org_id, id: { in: ids } }, select }));
  },
  template: async (tx, org_id, ids) => {
    const select = { id: true, name: true };
    return names(await tx.promptTemplate.findMany({ where: { org_id, id: { in: ids } }, select }));
  },
  invitation: async (tx, org_id, ids) => {
    const rows = await tx.invitation.findMany({ where: { org_id, id: { in: ids } } });
    return new Map(rows.map(({ id, email }) => [id, email]));
  },
  view: async (tx, org_id, ids) => {
    const select = { id: true, name: true };
    return names(await tx.savedView.findMany({ where: { org_id, id: { in: ids } }, select }));
  },
  member: people,
  user: people,
  team_member: async (tx, org_id, ids) => {
    const places = ids.map((id) => id.split('/'));
    const [teams, persons] = await Promise.all([
      tx.team.findMany({ where: { org_id, id: { in: places.map(([team]) => team) } } }),
      people(
        tx,
        org_id,
        places.map(([, person]) => person),
      ),
    ]);
    const team = names(teams);
    return new Map(
      places.map(([teamId, userId]) => [
        `${teamId}/${userId}`,
        `${persons.get(userId) ?? userId}, ${team.get(teamId) ?? teamId}`,
      ]),
    );
  },
};

/** Names of what the rows are about: one read for each kind of a page. What is gone has none. */
export async function targetNames(
  tx: Tx,
  orgId: string,
  rows: readonly AuditLogRow[],
): Promise<(row: AuditLogRow) => string | null> {
  const kinds = [...Map.groupBy(rows, ({ target_type }) => target_type)];
  const read = await Promise.all(
    kinds.map(async ([kind, of]) => {
      const ids = [...new Set(of.map(({ target_id }) => target_id))];
      return [kind, await NAMED[kind]?.(tx, orgId, ids)] as const;
    }),
  );
  const byKind = new Map(read);
  return ({ target_type, target_id }) => byKind.get(target_type)?.get(target_id) ?? null;
}

/** Returns the names of people who are or were in the organization. */
async function people(tx: Tx, _orgId: string, ids: string[]): Promise<Map<string, string | null>> {
  return names(await tx.user.findMany({ where: { id: { in: ids } }, select: { id: true, name: true } }));
}

function names(rows: readonly { id: string; name: string }[]): Map<string, string | null> {
  return new Map(rows.map(({ id, name }) => [id, name]));
}

function labels(rows: readonly { id: string; label: string | null }[]): Map<string, string | null> {
  return new Map(rows.map(({ id, label }) => [id, label]));
}
