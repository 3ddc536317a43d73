import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  newId,
  type Clock,
  type CreateAnswer,
  type CreatePlatformCredentialBody,
  type ListPlatformCredentialsQuery,
  type PlatformCredentialRecord,
  type ProviderCredential,
  type ProviderKeyTest,
  type Random,
  type RotatePlatformCredentialBody,
  type SessionPrincipal,
  type TestedPlatformCredential,
  type UpdatePlatformCredentialBody,
} from '@gateway/contracts';
import { CLOCK, pageOf, RANDOM, type Page, refuseFaults, sentFields } from '@gateway/platform';
import { deploymentFaults, readCredentials, type ReadCredentials } from '@gateway/providers';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { Prisma } from '../generated/prisma/client.js';
import { refuseUnlisted } from '../names/unknown-names.js';
import { nullableJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { CredentialChecks } from '../provider-keys/credential-checks.js';
import { platformContextOf, ProviderKeySecrets } from '../provider-keys/provider-key-secrets.js';
import {
  credentialsOf,
  CREDENTIALS_MAX,
  isSealed,
  pageOfCredentials,
  toWire,
  type FoundCredential,
  type PlatformCredentialRow,
} from './platform-credential.store.js';

/** Credentials of the platform at its providers, as super admins keep them. */
@Injectable()
export class PlatformCredentialsService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly secrets: ProviderKeySecrets,
    private readonly checks: CredentialChecks,
    private readonly names: CatalogueNames,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Throws ApiError `not_found` for a provider that is not known. */
  async list(slug: string, query: ListPlatformCredentialsQuery): Promise<Page<PlatformCredentialRecord>> {
    this.requireKnown(slug);
    const { prisma } = this.database;
    const { records, total } = await pageOfCredentials(prisma, slug, query, this.clock.now());
    return pageOf(records, total, query);
  }

  /** Throws ApiError `not_found`. */
  async read(slug: string, id: string): Promise<PlatformCredentialRecord> {
    const { prisma } = this.database;
    const { row } = await this.existing(prisma, slug, id);
    return this.wire(prisma, row);
  }

  /** Calls the provider with the credential; where it works, a cool-down ends. */
  async test(slug: string, id: string): Promise<ProviderKeyTest> {
    const { row } = await this.existing(this.database.prisma, slug, id);
    if (!isSealed(row)) return this.elsewhere();
    const test = await this.checks.check(slug, this.secrets.open(row, platformContextOf(row)), row.base_url);
    const where = { id, version: row.version };
    if (test.status === 'works')
      await this.database.prisma.platformCredential.updateMany({ where, data: this.ready() });
    return test;
  }

  /**
   * Throws ApiError `not_found`, `conflict`, `validation_error`, and `unprocessable_entity` with the provider's code where
   * the provider refuses the credential.
   */
  async create(
    { userId }: SessionPrincipal,
    slug: string,
    body: CreatePlatformCredentialBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<TestedPlatformCredential>> {
    this.requireKeyed(slug);
    refuseFaults('validation_error', deploymentFaults(slug, body.deployments));
    const read = this.credentialIn(slug, body.credentials);
    const row = { id: newId('cred', this.clock, this.random), provider: slug, version: 1 };
    const sealed = this.secrets.seal(read.credential, platformContextOf(row));
    await refuseUnlisted(this.names, body);
    let test: ProviderKeyTest | null = null;
    return this.changes.create(request, {
      accounts: [],
      ask: async () => {
        test = await this.tested(slug, read.credential, body);
      },
      make: async (tx) => {
        await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.platform_credentials'))`;
        if ((await credentialsOf(tx, slug, this.clock.now())).length >= CREDENTIALS_MAX)
          throw new ApiError('conflict', {
            message: `A provider has at most ${CREDENTIALS_MAX} credentials.`,
          });
        const now = new Date(this.clock.now());
        const data = {
          ...columns(body),
          ...row,
          ...sealed,
          label: body.label,
          masked_credential: read.masked,
          ...this.ready(),
          ...{ created_by: userId, created_at: now, updated_at: now },
        };
        const made = await tx.platformCredential.create({ data });
        const answer = { status: 201, body: { ...(await this.wire(tx, made)), test } };
        return { ...audited('create', made, sentFields(body)), answer };
      },
    });
  }

  /** Throws ApiError `not_found`; of the environment's only label, weight and is_enabled change, else `conflict`. */
  async update(
    slug: string,
    id: string,
    body: UpdatePlatformCredentialBody,
    request: FastifyRequest,
  ): Promise<PlatformCredentialRecord> {
    const { prisma } = this.database;
    refuseFaults('validation_error', deploymentFaults(slug, body.deployments));
    await refuseUnlisted(this.names, body, async () => (await this.existing(prisma, slug, id)).row);
    return this.change(slug, id, request, async (tx, { row, variable }) => {
      const fields = sentFields(body);
      if (fields.length === 0) return { answer: await this.wire(tx, row), audit: null };
      const { allowed_models, base_url, deployments } = body;
      if (variable !== null && [allowed_models, base_url, deployments].some((sent) => sent !== undefined))
        throw setBy(variable);
      const { id, provider, label, masked_credential, created_by, created_at } = row;
      const data = { ...columns(body), label: body.label, updated_at: new Date(this.clock.now()) };
      const written = await tx.platformCredential.upsert({
        where: { id },
        update: data,
        // Only the environment's has no row yet.
        create: {
          ...{ id, provider, masked_credential, created_by, created_at },
          ...this.ready(),
          ...data,
          label: body.label ?? label,
        },
      });
      return { ...audited('update', written, fields), answer: await this.wire(tx, written) };
    });
  }

  /** Throws ApiError as `create`; `conflict` for the environment's. */
  async rotate(
    slug: string,
    id: string,
    body: RotatePlatformCredentialBody,
    request: FastifyRequest,
  ): Promise<TestedPlatformCredential> {
    const { row, variable } = await this.existing(this.database.prisma, slug, id);
    if (variable !== null) throw setBy(variable);
    const read = this.credentialIn(slug, body.credentials);
    const test = await this.tested(slug, read.credential, { ...body, base_url: row.base_url });
    return this.change(slug, id, request, async (tx, { row: current }) => {
      const version = current.version + 1;
      const context = platformContextOf({ id, provider: slug, version });
      const data = {
        ...{ version, masked_credential: read.masked, updated_at: new Date(this.clock.now()) },
        ...this.secrets.seal(read.credential, context),
        ...this.ready(),
        last_error: Prisma.DbNull,
      };
      const written = await tx.platformCredential.update({ where: { id }, data });
      return {
        ...audited('rotate', written, ['credentials']),
        answer: { ...(await this.wire(tx, written)), test },
      };
    });
  }

  /** The row goes, and with it the data key: what a backup of the row holds stays sealed. */
  async remove(slug: string, id: string, request: FastifyRequest): Promise<void> {
    await this.change(slug, id, request, async (tx, { row, variable }) => {
      if (variable !== null) throw setBy(variable);
      await tx.platformCredential.delete({ where: { id } });
      await tx.platformCredentialUse.deleteMany({ where: { credential_id: id } });
      return { ...audited('delete', row, []), answer: null };
    });
  }

  /** `work` gets the credential behind the lock. */
  private change<T>(
    slug: string,
    id: string,
    request: FastifyRequest,
    work: (tx: Tx, found: FoundCredential) => Promise<Changed<T>>,
  ): Promise<T> {
    return this.changes.run(request, {
      accounts: [],
      make: async (tx) => {
        await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.platform_credentials'))`;
        return work(tx, await this.existing(tx, slug, id));
      },
    });
  }

  private async existing(tx: Tx, slug: string, id: string): Promise<FoundCredential> {
    this.requireKnown(slug);
    const found = (await credentialsOf(tx, slug, this.clock.now())).find(({ row }) => row.id === id);
    if (found === undefined) throw new ApiError('not_found');
    return found;
  }

  private async wire(tx: Tx, row: PlatformCredentialRow): Promise<PlatformCredentialRecord> {
    const [record] = await toWire(tx, [row], this.clock.now());
    return record;
  }

  private ready() {
    return { state: 'ready', state_until: null, state_at: new Date(this.clock.now()) };
  }

  private requireKnown(slug: string): void {
    if (!this.checks.knows(slug)) throw new ApiError('not_found');
  }

  private requireKeyed(slug: string): void {
    if (this.checks.isKeyless(slug))
      throw new ApiError('conflict', { message: `${slug} is called without a credential.` });
    this.requireKnown(slug);
  }

  /** Throws ApiError `validation_error` that names the members and shows none. */
  private credentialIn(slug: string, sent: unknown): ReadCredentials {
    const read = readCredentials(slug, sent);
    if (!Array.isArray(read)) return read;
    refuseFaults('validation_error', read);
    throw new TypeError('credentials without a fault');
  }

  /** Returns the result of the test call; null where none is wanted. Throws ApiError `unprocessable_entity`. */
  private async tested(
    slug: string,
    credential: ProviderCredential,
    { skip_test, base_url }: { skip_test?: boolean; base_url?: string | null },
  ): Promise<ProviderKeyTest | null> {
    if (skip_test === true) return null;
    const test = await this.checks.check(slug, credential, base_url ?? null);
    if (test.status !== 'refused') return test;
    const { error } = test;
    throw new ApiError('unprocessable_entity', {
      message: `The provider refuses the credential, so nothing was saved. ${error?.message ?? ''}`.trim(),
      ...(error?.provider_code == null ? {} : { providerCode: error.provider_code }),
      details: [{ type: 'value_error', loc: ['credentials'], msg: 'The provider refuses it.' }],
    });
  }

  private elsewhere(): ProviderKeyTest {
    const message = 'This credential is in the environment of the edges: this service cannot call with it.';
    const at = new Date(this.clock.now()).toISOString();
    const error = { code: 'provider_not_available', provider_code: null, message, at };
    return { status: 'unknown', latency_ms: 0, error };
  }
}

function setBy(variable: string): ApiError {
  return new ApiError('conflict', { message: `set by ${variable}` });
}

function columns(body: UpdatePlatformCredentialBody) {
  const { weight, rpm_limit, tpm_limit, allowed_models, base_url, deployments, is_enabled } = body;
  return {
    ...{ weight, rpm_limit, tpm_limit, is_enabled },
    allowed_models: nullableJson(allowed_models),
    base_url: trimmed(base_url),
    deployments: nullableJson(deployments),
  };
}

function trimmed(address: string | null | undefined): string | null | undefined {
  return address?.replace(/\/+$/, '') ?? address;
}

function audited(
  action: 'create' | 'update' | 'rotate' | 'delete',
  { id }: PlatformCredentialRow,
  changedFields: string[],
): Pick<Changed<unknown>, 'audit'> {
  const target = { targetType: 'platform_credential', targetId: id, orgId: null };
  return { audit: { action: `platform_credential.${action}`, ...target, changedFields } };
}
