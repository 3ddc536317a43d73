import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Clock, ProviderCredential, ProviderKeyTest, Random } from '@gateway/contracts';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { checkCredential, isBuiltIn, PROVIDERS, type UpstreamTransport } from '@gateway/providers';
import { UndiciTransport, type KeyedProvider } from '@gateway/upstream';
import { KeysConfig } from '../keys.config.js';

/** Nest token of the providers that customers' own keys are tried at, by slug. */
export const KEYED_PROVIDERS = Symbol('KeyedProviders');

/** Calls under way at once in this process; each takes 10 s at most. */
const RUNNING_MAX = 16;

/** Asks providers whether a credential works. */
@Injectable()
export class CredentialChecks implements BeforeApplicationShutdown {
  private readonly transport: UpstreamTransport;
  private readonly ending = new AbortController();
  private running = 0;

  constructor(
    { HTTPS_PROXY: url, NO_PROXY: except }: KeysConfig,
    @Inject(KEYED_PROVIDERS) private readonly keyed: ReadonlyMap<string, KeyedProvider>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    const proxy = url === undefined ? undefined : { url, except };
    this.transport = new UndiciTransport({ clock, connections: RUNNING_MAX, connectTimeoutMs: 3_000, proxy });
  }

  /** Keys are taken of every provider of this release, and of those of the operator's file that are called with one. */
  knows(slug: string): boolean {
    return isBuiltIn(slug) || this.keyed.has(slug);
  }

  /** True for a provider that is called without a credential. */
  isKeyless(slug: string): boolean {
    return PROVIDERS.some((provider) => provider.slug === slug && provider.isKeyless === true);
  }

  /** `address`: null = the operator's. Throws ApiError `service_unavailable` while too many run. */
  async check(
    slug: string,
    credential: ProviderCredential,
    address: string | null = null,
  ): Promise<ProviderKeyTest> {
    const keyed = this.keyed.get(slug);
    if (keyed === undefined) return this.unreachable(slug);
    const { provider } = keyed;
    const baseUrl = address ?? keyed.baseUrl;
    if (this.running === RUNNING_MAX)
      throw unavailable(this.random, new Error('too many credentials are tried'));
    this.running += 1;
    const startedMs = this.clock.monotonic();
    try {
      const options = { transport: this.transport, nowMs: this.clock.now(), signal: this.ending.signal };
      const { status, error } = await checkCredential(provider, { baseUrl, credential }, options);
      const latency_ms = Math.round(this.clock.monotonic() - startedMs);
      if (error === undefined) return { status, latency_ms, error: null };
      const { code, providerCode = null, message } = error.options;
      return { status, latency_ms, error: { code, provider_code: providerCode, message, at: this.at() } };
    } finally {
      this.running -= 1;
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.transport.close();
  }

  /** Its keys are not used here either: the operator serves no such provider. */
  private unreachable(slug: string): ProviderKeyTest {
    const message = `This gateway has no address of the provider ${slug}.`;
    const error = { code: 'provider_not_available', provider_code: null, message, at: this.at() };
    return { status: 'unknown', latency_ms: 0, error };
  }

  private at(): string {
    return new Date(this.clock.now()).toISOString();
  }
}
