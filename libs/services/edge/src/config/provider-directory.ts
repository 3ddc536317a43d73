import {
  maskedCredential,
  type DeploymentNames,
  type Provider,
  type ProviderAccess,
} from '@gateway/providers';
import type { KeyedProvider, UpstreamTls } from '@gateway/upstream';
import type { EnabledProvider } from './edge.config.js';

/** Providers that this process calls, by slug. */
export class ProviderDirectory {
  /** Providers with a credential of the platform: the environment's, or one of the pool. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Credentials of the environment, masked. */
  readonly environment: readonly { provider: string; variable: string; masked: string }[];
  private readonly called: Map<string, Provider>;
  private readonly ofEnvironment: ReadonlyMap<string, Provider>;
  /** Address and credential of the platform. */
  readonly access: ReadonlyMap<string, ProviderAccess>;
  /** Providers that customers' own keys are used at, and the fee for that in percent of the list price. */
  readonly byok: { providers: ReadonlyMap<string, Provider>; feePct: string };
  /** TLS of origins that have one of their own. */
  readonly tls: ReadonlyMap<string, UpstreamTls>;
  /** Addresses for customers' own keys. */
  readonly addresses: ReadonlyMap<string, string>;

  /** Names of deployments at the resource of the environment's credential, of providers that have deployments. */
  readonly deployments: ReadonlyMap<string, DeploymentNames>;
  /** Names of deployments that the file has for all credentials of a provider. */
  private readonly written: ReadonlyMap<string, DeploymentNames>;
  /** Addresses that say whether a provider is well, with the headers that the operator adds. */
  readonly health: readonly { provider: string; url: string; headers: Record<string, string> }[];

  constructor(
    enabled: ReadonlyMap<string, EnabledProvider>,
    keyed: ReadonlyMap<string, KeyedProvider>,
    feePct: string,
  ) {
    this.ofEnvironment = new Map([...enabled].map(([slug, { provider }]) => [slug, provider]));
    this.called = new Map(this.ofEnvironment);
    this.providers = this.called;
    this.environment = [...enabled].flatMap(
      ([
        provider,
        {
          provider: { credentialEnv, isKeyless },
          access,
        },
      ]) =>
        isKeyless === true || credentialEnv === ''
          ? []
          : [
              {
                provider,
                variable: 'variable' in access.credential ? access.credential.variable : credentialEnv,
                masked: maskedCredential(access.credential),
              },
            ],
    );
    this.access = new Map([...enabled].map(([slug, { access }]) => [slug, access]));
    this.health = [...enabled].flatMap(([provider, { access, healthUrl: url }]) =>
      url === undefined ? [] : [{ provider, url, headers: { ...access.added?.headers } }],
    );
    this.deployments = namesOf(enabled);
    this.written = new Map([...namesOf(keyed), ...this.deployments]);
    this.tls = new Map(
      [...enabled.values()].flatMap(({ access, tls }) =>
        tls === undefined ? [] : [[new URL(access.baseUrl).origin, tls]],
      ),
    );
    this.byok = { providers: new Map([...keyed].map(([slug, { provider }]) => [slug, provider])), feePct };
    this.addresses = new Map([...keyed].map(([slug, { baseUrl }]) => [slug, baseUrl]));
  }

  /** Returns names for a further resource of a provider, with what is written for it; null where it has no deployments. */
  namesAt(provider: string, written: Readonly<Record<string, string>> | null): DeploymentNames | null {
    return this.written.get(provider)?.at(written) ?? null;
  }

  /**
   * Calls providers with pools while one of their credentials is enabled, and all others of the environment. Returns true
   * if that changes which providers are called.
   */
  follow(pooled: readonly string[], enabled: ReadonlySet<string>): boolean {
    const before = [...this.called.keys()].join(' ');
    const slugs = new Set([...this.ofEnvironment.keys(), ...pooled]);
    for (const slug of slugs) {
      const provider = this.ofEnvironment.get(slug) ?? this.byok.providers.get(slug);
      if (provider === undefined || (pooled.includes(slug) && !enabled.has(slug))) this.called.delete(slug);
      else if (!this.called.has(slug)) this.called.set(slug, provider);
    }
    for (const slug of [...this.called.keys()]) if (!slugs.has(slug)) this.called.delete(slug);
    return [...this.called.keys()].join(' ') !== before;
  }
}

function namesOf(
  providers: ReadonlyMap<string, { deployments?: DeploymentNames }>,
): Map<string, DeploymentNames> {
  return new Map(
    [...providers].flatMap(([slug, { deployments }]) =>
      deployments === undefined ? [] : [[slug, deployments]],
    ),
  );
}
