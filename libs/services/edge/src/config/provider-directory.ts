import type { Provider, ProviderAccess } from '@gateway/providers';
import type { KeyedProvider, UpstreamTls } from '@gateway/upstream';
import type { EnabledProvider } from './edge.config.js';

/** Providers that this process calls, by slug. */
export class ProviderDirectory {
  /** Providers with a credential of the platform. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Address and credential of the platform. */
  readonly access: ReadonlyMap<string, ProviderAccess>;
  /** Providers that customers' own keys are used at, and the fee for that in percent of the list price. */
  readonly byok: { providers: ReadonlyMap<string, Provider>; feePct: string };
  /** TLS of origins that have one of their own. */
  readonly tls: ReadonlyMap<string, UpstreamTls>;
  /** Addresses for customers' own keys. */
  readonly addresses: ReadonlyMap<string, string>;

  constructor(
    enabled: ReadonlyMap<string, EnabledProvider>,
    keyed: ReadonlyMap<string, KeyedProvider>,
    feePct: string,
  ) {
    this.providers = new Map([...enabled].map(([slug, { provider }]) => [slug, provider]));
    this.access = new Map([...enabled].map(([slug, { access }]) => [slug, access]));
    this.tls = new Map(
      [...enabled.values()].flatMap(({ access, tls }) =>
        tls === undefined ? [] : [[new URL(access.baseUrl).origin, tls]],
      ),
    );
    this.byok = { providers: new Map([...keyed].map(([slug, { provider }]) => [slug, provider])), feePct };
    this.addresses = new Map([...keyed].map(([slug, { baseUrl }]) => [slug, baseUrl]));
  }
}
