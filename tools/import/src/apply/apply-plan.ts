import { createHash } from 'node:crypto';
import { CEILINGS } from '@gateway/limits';
import type { Plan, PlannedKey, PlannedOrganization } from '../plan.js';
import { create, Refused, send, type Gateway } from './api.js';
import type { MadeRecords } from './made-records.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Makes the records of a plan over the API, each once by its old id: what was made before is left as it is. */
export class PlanApplier {
  /** Lines for people. */
  readonly lines: string[] = [];

  constructor(
    private readonly gateway: Gateway,
    private readonly made: MadeRecords,
    private readonly plan: Plan,
    private readonly env: Environment,
  ) {}

  /** Rejects with Refused at the first call that is refused; another run goes on there. */
  async run(): Promise<void> {
    const { organizations, teams, keys, budgets } = this.plan;
    await this.credentials();
    for (const organization of organizations) await this.organization(organization);
    for (const { old_id, organization, ...body } of teams)
      await this.make(`team ${old_id}`, `/v1/orgs/${this.orgId(organization)}/teams`, sent(body));
    for (const key of keys) await this.key(key);
    for (const { old_id, organization, scope, of, ...body } of budgets)
      await this.make(`budget ${old_id}`, '/v1/budgets', {
        ...{ org_id: this.orgId(organization), scope, ...body },
        scope_id: scope === 'org' ? this.orgId(of) : this.idOf(`${scope} ${of}`),
      });
    this.lines.push(
      `made: ${organizations.length} organizations, ${teams.length} teams, ${keys.length} keys, ${budgets.length} budgets`,
    );
  }

  private async credentials(): Promise<void> {
    for (const { provider, label, variable, allowed_models } of this.plan.credentials) {
      const { [variable]: secret } = this.env;
      if (!secret) {
        this.lines.push(`${variable} is not set: add that credential of ${provider} by hand`);
        continue;
      }
      const body = { label, credentials: { api_key: secret }, allowed_models };
      await this.make(
        `credential ${provider} ${variable}`,
        `/v1/admin/providers/${provider}/credentials`,
        body,
      );
    }
  }

  private async organization(planned: PlannedOrganization): Promise<void> {
    const { old_id, ...body } = planned;
    const tier = this.tierOf(planned);
    await this.make(`organization ${old_id}`, '/v1/orgs', {
      ...sent(body),
      ...(tier === null ? {} : { tier }),
    });
  }

  /** Returns the tier that the limits of an organization need; null for that of new ones. */
  private tierOf({ old_id, rpm_limit }: PlannedOrganization): 'enterprise' | 'platform' | null {
    const { teams, keys } = this.plan;
    const within = [...teams, ...keys].filter(({ organization }) => organization === old_id);
    const greatest = Math.max(0, rpm_limit ?? 0, ...within.map((one) => one.rpm_limit ?? 0));
    if (greatest <= CEILINGS.standard.rpm) return null;
    return greatest <= CEILINGS.enterprise.rpm ? 'enterprise' : 'platform';
  }

  private async key(planned: PlannedKey): Promise<void> {
    const { old_id, organization, team, label, masked, rpm_limit, tpm_limit, routing } = planned;
    const name = `key ${old_id}`;
    if (this.made.idOf(name) !== null) return;
    const template = routing === null ? null : await this.template(routing, organization);
    const answer = await this.create(name, '/v1/keys', {
      ...sent({
        ...{ label, rpm: rpm_limit, tpm: tpm_limit, routing_policy_template_id: template },
        ...{ allowed_models: planned.allowed_models, spend_cap_usd: planned.spend_cap_usd },
        expires_at: planned.expires_at,
        team_id: team === null ? null : this.idOf(`team ${team}`),
      }),
      ...{ org_id: this.orgId(organization), request_tags: planned.request_tags },
    });
    const id = String(answer.id);
    if (typeof answer.notice === 'string' && !this.lines.includes(answer.notice))
      this.lines.push(answer.notice);
    // Whoever was killed before the secret was written asks for another: it is answered once.
    if (!this.made.hasSecretOf(id)) {
      const { key } =
        answer.key === undefined ? await send(this.gateway, 'POST', `/v1/keys/${id}/rotate`) : answer;
      this.made.addSecret(label, masked, id, String(key));
    }
    if (planned.is_suspended) await send(this.gateway, 'DELETE', `/v1/keys/${id}`);
    this.made.add(name, id);
  }

  /** Returns the id of a routing policy in an organization, made for its first key. */
  private async template(routing: string, organization: string): Promise<string> {
    const planned = this.plan.routing.find(({ old_id }) => old_id === routing);
    if (planned === undefined) throw new TypeError(`plan.json has no routing ${routing}`);
    const { name, routing_policy } = planned;
    const body = { org_id: this.orgId(organization), name, routing_policy };
    return this.make(`routing ${routing} of ${organization}`, '/v1/routing-policy-templates', body);
  }

  /** Returns the id of what was made now or before. */
  private async make(name: string, path: string, body: object): Promise<string> {
    const known = this.made.idOf(name);
    if (known !== null) return known;
    const id = String((await this.create(name, path, body)).id);
    this.made.add(name, id);
    return id;
  }

  private async create(name: string, path: string, body: object): Promise<Record<string, unknown>> {
    const digest = createHash('sha256').update(`${this.plan.source} ${name}`).digest('hex').slice(0, 40);
    try {
      return await create(this.gateway, path, body, `import-${digest}`);
    } catch (failure) {
      throw failure instanceof Refused ? new Refused(`${name}: ${failure.message}`) : failure;
    }
  }

  private orgId(oldId: string): string {
    return this.idOf(`organization ${oldId}`);
  }

  private idOf(name: string): string {
    const id = this.made.idOf(name);
    if (id === null) throw new TypeError(`plan.json names ${name} and does not make it`);
    return id;
  }
}

/** Returns the fields that say something. */
function sent(body: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
