import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  environmentCredentialId,
  LimitStore,
  UpstreamError,
  type BudgetGrant,
  type Clock,
  type CredentialReport,
  type CredentialState,
  type PlatformPool,
  type PooledCredential,
  type Random,
  type Route,
} from '@gateway/contracts';
import {
  withDeployments,
  type DeploymentList,
  type DeploymentNames,
  type Provider,
} from '@gateway/providers';
import { CLOCK, RANDOM } from '@gateway/platform';
import { matchesModel, type CredentialPools, type PlannedRoute, type PooledChoice } from '@gateway/routing';
import { ProviderDirectory } from './provider-directory.js';

const MINUTE_MS = 60_000;
const THROTTLED_MS = 5_000;
const THROTTLED_MAX_MS = 5 * MINUTE_MS;
const ASKED_MAX_MS = 10 * MINUTE_MS;
const OUT_OF_QUOTA_MS = 15 * MINUTE_MS;
const OUT_OF_QUOTA_MAX_MS = 1_440 * MINUTE_MS;
/** Waits before the first, the second and each further test call of a refused credential. */
const TESTED_AFTER_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS];
/** A model that a credential may not call is left to others for so long: the error may be the model's alone. */
const PERMISSION_MS = MINUTE_MS;

const READY: CredentialState = { status: 'ready', untilMs: null, atMs: 0, error: null };

/** One credential of a pool, and what this process knows of it. */
export interface PoolMember extends Omit<PooledCredential, 'state'> {
  state: CredentialState;
  /** Throttles, or refused tests, since it last served. */
  failures: number;
  /** Names of deployments at its resource; null where its provider has none. */
  names: DeploymentNames | null;
  /** Models that it may not call, with the time until which they are left to others. */
  notPermitted: Map<string, number>;
  /** Milliseconds since the epoch until which it is at a limit of its own; 0 = it is not. */
  fullUntilMs: number;
}

/**
 * The platform's credentials of providers that have several, in memory. Empty, and of no cost, where no provider has. What
 * is found here is reported; what others found comes with the next update.
 */
@Injectable()
export class PlatformPools implements CredentialPools {
  /** This object while a provider has several credentials or is ill; undefined = none, so that requests ask nothing. */
  active: CredentialPools | undefined;
  /** Budgets by provider; undefined = none, so that requests ask nothing. */
  budgets: ReadonlyMap<string, readonly BudgetGrant[]> | undefined;
  private pools: ReadonlyMap<string, readonly PoolMember[]> = new Map();
  /** Providers that have said themselves that they are not well, and when they are asked again. */
  private readonly ill = new Map<string, number>();
  private findings = new Map<string, CredentialState>();
  private uses = new Map<string, { requests: number; lastUsedMs: number }>();

  constructor(
    private readonly directory: ProviderDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    private readonly limits: LimitStore,
  ) {}

  /** Replaces pools and budgets by what is stored. True if the providers that can be called have changed. */
  update({ credentials, budgets }: PlatformPool): boolean {
    this.budgets = budgets.length === 0 ? undefined : Map.groupBy(budgets, ({ scopeId }) => scopeId);
    const known = new Map([...this.pools.values()].flat().map((member) => [member.id, member]));
    const pools = new Map<string, PoolMember[]>();
    for (const slug of new Set(credentials.map(({ provider }) => provider))) {
      const all = credentials.filter(({ provider }) => provider === slug);
      const id = environmentCredentialId(slug);
      const hasOwn = this.directory.access.has(slug);
      if (hasOwn && !all.some((one) => one.id === id)) all.unshift(untouched(slug));
      const usable = all.filter(({ source }) => source === 'stored' || hasOwn);
      const isPool = usable.some((one) => one.source === 'stored' || !one.isEnabled || isLimited(one));
      if (isPool)
        pools.set(
          slug,
          usable.map((one) => memberOf(one, known.get(one.id), this.namesOf(one, known.get(one.id)))),
        );
    }
    this.pools = pools;
    this.judge();
    const enabled = [...pools].filter(([, members]) => members.some(({ isEnabled }) => isEnabled));
    return this.directory.follow([...pools.keys()], new Set(enabled.map(([slug]) => slug)));
  }

  /** Takes a provider's routes out of plans until it is asked again, or puts them back with null. */
  setIll(provider: string, untilMs: number | null): void {
    if (untilMs === null) this.ill.delete(provider);
    else this.ill.set(provider, untilMs);
    this.judge();
  }

  isIll(provider: string): boolean {
    return this.ill.has(provider);
  }

  /** Takes what was found at a resource; null = nothing could be read. */
  setListed(names: DeploymentNames, list: DeploymentList | null): void {
    names.list = list;
    this.judge();
  }

  /** Resources that are asked for their lists of deployments, each with the credential of a pool or that of the environment. */
  asked(): { provider: string; member: PoolMember | null; names: DeploymentNames }[] {
    const alone = [...this.directory.deployments].filter(([provider]) => !this.pools.has(provider));
    const pooled = [...this.pools.values()].flat().filter(({ isEnabled }) => isEnabled);
    return [
      ...alone.map(([provider, names]) => ({ provider, member: null, names })),
      ...pooled.flatMap((member) => {
        const { provider, names } = member;
        return names === null ? [] : [{ provider, member, names }];
      }),
    ].filter(({ names }) => names.isDiscovered);
  }

  /** Returns the provider with the names that deployments have at the resource of the route's credential. */
  named({ route, pooled, provider }: Pick<PlannedRoute, 'route' | 'pooled' | 'provider'>): Provider {
    const names = pooled?.id == null ? null : (this.member(route.provider, pooled.id)?.names ?? null);
    if (names === null) return provider;
    // The plan has the names of the environment's resource.
    const isSame = names.of(route.upstreamModel) === provider.quirks(route).upstreamName;
    return isSame ? provider : withDeployments(provider, names);
  }

  readyAtMs({ provider, model, upstreamModel }: Route, nowMs: number): number | null {
    const illUntilMs = this.ill.get(provider);
    // It stays out while it is asked.
    if (illUntilMs !== undefined) return Math.max(illUntilMs, nowMs + 1_000);
    const members = this.pools.get(provider);
    if (members === undefined)
      return this.directory.deployments.get(provider)?.isMissing(upstreamModel) === true ? Infinity : null;
    return Math.min(...members.map((member) => readyAt(member, { model, upstreamModel }, nowMs)));
  }

  has(provider: string, id: string): boolean {
    const member = this.member(provider, id);
    return member !== undefined && member.isEnabled && member.state.status !== 'refused';
  }

  draw({ route, pooled }: Pick<PlannedRoute, 'route' | 'pooled'>, tried: ReadonlySet<string>): string | null {
    const nowMs = this.clock.now();
    const ready = (this.pools.get(route.provider) ?? []).filter(
      (member) => !tried.has(member.id) && readyAt(member, route, nowMs) <= nowMs,
    );
    const weighted = ready.filter(({ weight }) => weight > 0);
    const among = weighted.length > 0 ? weighted : ready;
    if (among.length === 0) return null;
    const key = pooled?.key ?? null;
    return key === null ? this.drawn(among) : ofKey(among, key);
  }

  count(
    { route, pooled }: Pick<PlannedRoute, 'route' | 'pooled'>,
    tokens: number,
  ): Promise<PooledChoice | null> | undefined {
    const member = pooled?.id == null ? undefined : this.member(route.provider, pooled.id);
    if (pooled === undefined || member === undefined || !isLimited(member)) return undefined;
    return this.counted(member, pooled, tokens);
  }

  /** Replaces the tokens that an attempt was counted with by those that it used. */
  used({ route, pooled }: Pick<PlannedRoute, 'route' | 'pooled'>, tokens: number): void {
    if (pooled?.id == null || pooled.counted === undefined) return;
    if (this.member(route.provider, pooled.id)?.tpmLimit == null) return;
    const { minute, tokens: estimate } = pooled.counted;
    if (tokens === estimate) return;
    // Where it is lost, the limit is off until the minute rolls.
    void this.limits
      .correctCredential({ id: pooled.id, minute, tokens: tokens - estimate })
      .catch(() => undefined);
  }

  member(provider: string, id: string): PoolMember | undefined {
    return this.pools.get(provider)?.find((one) => one.id === id);
  }

  /** Refused credentials whose next test call is due. */
  dueForTest(): PoolMember[] {
    const nowMs = this.clock.now();
    return [...this.pools.values()]
      .flat()
      .filter(
        ({ state, isEnabled }) => isEnabled && state.status === 'refused' && (state.untilMs ?? 0) <= nowMs,
      );
  }

  /** Notes that a request is sent with the credential of the route. */
  begun({ pooled }: Pick<PlannedRoute, 'pooled'>): void {
    if (pooled?.id == null) return;
    const { requests } = this.uses.get(pooled.id) ?? { requests: 0 };
    this.uses.set(pooled.id, { requests: requests + 1, lastUsedMs: this.clock.now() });
  }

  served({ route, pooled }: Pick<PlannedRoute, 'route' | 'pooled'>): void {
    if (pooled?.id == null) return;
    const member = this.member(route.provider, pooled.id);
    if (member !== undefined) member.failures = 0;
  }

  /** Takes a credential that failed by itself out for a while. Returns the failure, which then says nothing of the route. */
  failed({ route, pooled }: Pick<PlannedRoute, 'route' | 'pooled'>, failure: UpstreamError): UpstreamError {
    const { credential } = failure.options;
    if (pooled?.id == null || credential === undefined) return failure;
    const member = this.member(route.provider, pooled.id);
    if (member !== undefined) this.note(member, failure, route.model);
    return new UpstreamError({ ...failure.options, countsAsFault: false });
  }

  /** Takes the result of a test call. */
  tested(member: PoolMember, verdict: 'works' | 'refused' | 'unknown'): void {
    if (verdict === 'works') this.found(member, 'ready', null, null);
    else this.found(member, 'refused', this.nextTestMs(member), member.state.error);
  }

  /** Returns the news since the last report; they are sent once, so a report that failed has to be given back. */
  takeNews(): Pick<CredentialReport, 'states' | 'uses'> {
    const states = [...this.findings].map(([id, state]) => ({ id, ...state }));
    const uses = [...this.uses].map(([id, use]) => ({ id, ...use }));
    this.findings = new Map();
    this.uses = new Map();
    return { states, uses };
  }

  giveBack({ states, uses }: Pick<CredentialReport, 'states' | 'uses'>): void {
    for (const { id, ...state } of states) if (!this.findings.has(id)) this.findings.set(id, state);
    for (const { id, requests, lastUsedMs } of uses) {
      const later = this.uses.get(id);
      this.uses.set(id, {
        requests: requests + (later?.requests ?? 0),
        lastUsedMs: Math.max(lastUsedMs, later?.lastUsedMs ?? 0),
      });
    }
  }

  /** Lets the attempt through where the store is away: the provider's own limit is there still. */
  private async counted(
    member: PoolMember,
    pooled: PooledChoice,
    tokens: number,
  ): Promise<PooledChoice | null> {
    const { id, rpmLimit: rpm = null, tpmLimit: tpm = null } = member;
    const found = await this.limits.countOnCredential({ id, rpm, tpm, tokens }).catch(() => null);
    if (found === null) return pooled;
    if ('minute' in found) return { ...pooled, counted: { minute: found.minute, tokens } };
    member.fullUntilMs = this.clock.now() + found.fullForMs;
    return null;
  }

  private judge(): void {
    const isListed = [...this.directory.deployments.values()].some(({ list }) => list !== null);
    this.active = this.pools.size > 0 || this.ill.size > 0 || isListed ? this : undefined;
  }

  /** Returns the names at a credential's resource. A list that was found stays while address, secret and written names do. */
  private namesOf(one: PooledCredential, known: PoolMember | undefined): DeploymentNames | null {
    const { provider, source, deployments = null } = one;
    const ofEnvironment = this.directory.deployments.get(provider);
    if (source === 'environment' && ofEnvironment !== undefined) return ofEnvironment;
    const isSame =
      known?.version === one.version &&
      known.baseUrl === one.baseUrl &&
      JSON.stringify(known.deployments ?? null) === JSON.stringify(deployments);
    return isSame ? known.names : this.directory.namesAt(provider, deployments);
  }

  private note(member: PoolMember, { options }: UpstreamError, model: string): void {
    const nowMs = this.clock.now();
    const { retryAfterMs, code, providerCode = null, httpStatus } = options;
    const error = { code, providerCode, httpStatus };
    switch (options.credential) {
      case 'throttled': {
        const waitMs = retryAfterMs ?? Math.min(THROTTLED_MAX_MS, THROTTLED_MS * 2 ** member.failures);
        member.failures += 1;
        this.found(member, 'cooling', nowMs + Math.min(ASKED_MAX_MS, waitMs), error);
        return;
      }
      case 'refused':
        this.found(member, 'refused', this.nextTestMs(member), error);
        return;
      case 'out_of_quota': {
        const waitMs = Math.min(OUT_OF_QUOTA_MAX_MS, retryAfterMs ?? OUT_OF_QUOTA_MS);
        this.found(member, 'out_of_quota', nowMs + waitMs, error);
        return;
      }
      case 'permission':
        member.notPermitted.set(model, nowMs + PERMISSION_MS);
        return;
      default:
    }
  }

  private nextTestMs(member: PoolMember): number {
    const waitMs = TESTED_AFTER_MS[Math.min(member.failures, TESTED_AFTER_MS.length - 1)];
    member.failures += 1;
    return this.clock.now() + waitMs;
  }

  private found(
    member: PoolMember,
    status: CredentialState['status'],
    untilMs: number | null,
    error: CredentialState['error'],
  ): void {
    if (status === 'ready') member.failures = 0;
    member.state = { status, untilMs, atMs: this.clock.now(), error };
    this.findings.set(member.id, member.state);
  }

  private drawn(among: readonly PoolMember[]): string {
    const share = ({ weight }: PoolMember): number => Math.max(weight, 1);
    let left = this.random.fraction() * among.reduce((sum, member) => sum + share(member), 0);
    const found = among.find((member) => (left -= share(member)) < 0);
    return (found ?? among[0]).id;
  }
}

/** Every credential is there: of answers that are given, whichever credential they came by. */
export const ANY_CREDENTIAL: CredentialPools = {
  readyAtMs: () => 0,
  has: () => true,
  draw: () => null,
  count: () => undefined,
};

function isLimited({ rpmLimit, tpmLimit }: Pick<PooledCredential, 'rpmLimit' | 'tpmLimit'>): boolean {
  return rpmLimit != null || tpmLimit != null;
}

/** Milliseconds since the epoch at which the credential may serve the model; Infinity for never. */
function readyAt(
  member: PoolMember,
  { model, upstreamModel }: Pick<Route, 'model' | 'upstreamModel'>,
  nowMs: number,
): number {
  const { isEnabled, allowedModels, state, notPermitted, fullUntilMs, names } = member;
  if (names?.isMissing(upstreamModel) === true) return Infinity;
  if (!isEnabled || (allowedModels !== null && !matchesModel(allowedModels, model))) return Infinity;
  const blockedMs = Math.max(notPermitted.get(model) ?? 0, fullUntilMs);
  // Only a test call makes a refused one ready.
  if (state.status === 'refused') return Math.max(state.untilMs ?? 0, nowMs + 1_000, blockedMs);
  return Math.max(state.untilMs ?? 0, blockedMs);
}

/** Weighted rendezvous: where a credential comes or goes, only its own share of the keys moves. */
function ofKey(among: readonly PoolMember[], key: string): string {
  let [best] = among;
  let bestScore = -Infinity;
  for (const member of among) {
    const digest = createHash('sha256').update(`${member.id} ${key}`).digest();
    const fraction = (digest.readUIntBE(0, 6) + 1) / (2 ** 48 + 1);
    const score = Math.max(member.weight, 1) / -Math.log(fraction);
    if (score > bestScore) [best, bestScore] = [member, score];
  }
  return best.id;
}

/** The credential of the environment, of which nothing was changed. */
function untouched(provider: string): PooledCredential {
  return {
    ...{ id: environmentCredentialId(provider), provider, source: 'environment', version: 1, weight: 100 },
    ...{ allowedModels: null, baseUrl: null, isEnabled: true, state: READY },
  };
}

/** The newest finding holds, of this process or of another; new secrets begin anew. */
function memberOf(
  { state, ...credential }: PooledCredential,
  known: PoolMember | undefined,
  names: DeploymentNames | null,
): PoolMember {
  if (known === undefined || known.version !== credential.version)
    return { ...credential, names, state, failures: 0, notPermitted: new Map(), fullUntilMs: 0 };
  const isNewer = state.atMs > known.state.atMs;
  return {
    ...credential,
    names,
    state: isNewer ? state : known.state,
    failures: isNewer && state.status === 'ready' ? 0 : known.failures,
    notPermitted: known.notPermitted,
    fullUntilMs: hasSameLimits(known, credential) ? known.fullUntilMs : 0,
  };
}

function hasSameLimits(a: Pick<PooledCredential, 'rpmLimit' | 'tpmLimit'>, b: typeof a): boolean {
  return (a.rpmLimit ?? null) === (b.rpmLimit ?? null) && (a.tpmLimit ?? null) === (b.tpmLimit ?? null);
}
