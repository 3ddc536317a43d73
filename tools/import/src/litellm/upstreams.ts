import type { OwnProvider } from '@gateway/providers';
import type { PlannedCredential } from '../plan.js';
import type { Path } from './config-file.js';
import type { Deployment } from './deployment.js';
import { variableOf } from './deployment.js';
import { dialectOf, isSelfHosted, slugOf } from './provider-names.js';
import type { ReleaseData } from './release.js';

/** Providers without an address of their own in this release: the first one of the file is theirs. */
const ADDRESSED = new Set(['azure', 'ollama', 'vllm', 'openai-compatible']);

/** A deployment with the provider of ours that serves it. */
export interface Served {
  deployment: Deployment;
  /** Slug of the provider, of this release or made for the address. */
  provider: string;
  /** Slug of the provider of this release that it is called like. */
  like: string;
}

/** Providers and credentials that the deployments of a file need. */
export class Upstreams {
  readonly providers: OwnProvider[] = [];
  /** Filled once the models are known. */
  readonly credentials: PlannedCredential[] = [];
  private readonly own = new Map<string, string>();
  private readonly addresses = new Map<string, string>();
  private readonly variables = new Map<string, string>();

  constructor(
    private readonly release: ReleaseData,
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly tell: (at: Path, words: string) => void,
  ) {}

  /** Returns who serves the deployment; null where nobody can, which is told. */
  place(deployment: Deployment): Served | null {
    const { at, provider: theirs, apiBase } = deployment;
    const slug = slugOf(theirs);
    const known = this.release.provider(slug);
    const params = [...at, 'litellm_params'];
    const address = this.addressOf(deployment, slug);
    if (address === undefined) return null;
    if (known === null && address === null) {
      this.tell(params, `${theirs} has no counterpart: give it an api_base, or leave the model out`);
      return null;
    }
    const isPlain = Object.keys({ ...deployment.headers, ...this.queryOf(deployment, slug) }).length === 0;
    if (known !== null && isPlain && this.isBuiltIn(slug, address, known.defaultBaseUrl)) {
      this.named(slug, address, deployment, known.credentialEnv);
      return { deployment, provider: slug, like: slug };
    }
    if (address === null && known !== null && ADDRESSED.has(slug)) {
      this.tell(params, `an address is missing: name api_base, or set ${known.baseUrlEnv}`);
      return null;
    }
    const like = known === null ? 'openai-compatible' : slug;
    const base = address ?? known?.defaultBaseUrl ?? String(apiBase);
    return { deployment, provider: this.ownSlug(deployment, like, base), like };
  }

  /** Notes that a variable serves a model of a provider beside the provider's first one. */
  serves({ deployment: { secret }, provider }: Served, id: string): void {
    if (secret === null || secret === 'written out') return;
    const { variable } = secret;
    if (this.own.has(provider) || this.variables.get(provider) === variable) return;
    const known = this.credentials.find((one) => one.provider === provider && one.variable === variable);
    if (known === undefined)
      this.credentials.push({ provider, label: variable, variable, allowed_models: [id] });
    else if (!known.allowed_models.includes(id)) known.allowed_models.push(id);
  }

  /** Returns the address; null for the provider's own, undefined where it cannot be read, which is told. */
  private addressOf({ at, apiBase }: Deployment, slug: string): string | null | undefined {
    if (apiBase === null) return null;
    const variable = variableOf(apiBase);
    const text = variable === null ? apiBase : this.env[variable];
    if (text === undefined || !/^https?:\/\/[^\s@?#]+$/.test(text)) {
      this.tell(
        [...at, 'litellm_params', 'api_base'],
        variable === null ? 'this is no address that can be called' : `set ${variable} while you import`,
      );
      return undefined;
    }
    const plain = text.replace(/\/+$/, '');
    return slug !== 'azure' || /\/openai\/v1$/.test(plain) ? plain : `${new URL(plain).origin}/openai/v1`;
  }

  /** Azure's address of version 1 takes no version in the query. */
  private queryOf({ query }: Deployment, slug: string): Record<string, string> {
    return slug === 'azure' ? {} : query;
  }

  private isBuiltIn(slug: string, address: string | null, defaultBaseUrl: string): boolean {
    if (address === null) return true;
    if (!ADDRESSED.has(slug)) return [defaultBaseUrl, `${defaultBaseUrl}/v1`].includes(address);
    const first = this.addresses.get(slug) ?? address;
    this.addresses.set(slug, first);
    return first === address;
  }

  /** Writes what differs from the release into the entry of a provider of the release. */
  private named(slug: string, address: string | null, { at, secret }: Deployment, standard: string): void {
    const entry = this.providers.find((one) => one.slug === slug);
    const changes: OwnProvider = { slug };
    if (address !== null && ADDRESSED.has(slug)) changes.base_url = address;
    if (secret === 'written out') this.missing(at, standard);
    else if (secret !== null && !this.variables.has(slug)) {
      this.variables.set(slug, secret.variable);
      if (secret.variable !== standard) changes.api_key_env = secret.variable;
    }
    if (Object.keys(changes).length === 1) return;
    if (entry === undefined) this.providers.push(changes);
    else Object.assign(entry, { ...changes, ...entry });
  }

  /** Returns the slug of the provider made for this address, key, headers and query. */
  private ownSlug(deployment: Deployment, like: string, base_url: string): string {
    const { at, secret, headers } = deployment;
    const query = this.queryOf(deployment, like);
    const name = JSON.stringify([like, base_url, secret, headers, query]);
    const known = [...this.own].find(([, known]) => known === name)?.[0];
    if (known !== undefined) return known;
    let count = 1;
    while (this.own.has(`${like}-${count}`)) count += 1;
    const slug = `${like}-${count}`;
    this.own.set(slug, name);
    const standard = `${slug.toUpperCase().replaceAll('-', '_')}_API_KEY`;
    const variable = secret === null || secret === 'written out' ? standard : secret.variable;
    if (secret === 'written out') this.missing(at, variable);
    this.providers.push({
      ...{ slug, dialect: dialectOf(like), base_url },
      ...(secret === null ? {} : { api_key_env: variable }),
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(Object.keys(query).length === 0 ? {} : { query }),
      ...(isSelfHosted(like) ? { discover: false } : {}),
    });
    return slug;
  }

  private missing(at: Path, variable: string): void {
    this.tell(
      [...at, 'litellm_params', 'api_key'],
      `the key is written out and is not copied: set ${variable} to it`,
    );
  }
}
