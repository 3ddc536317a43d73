import {
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import {
  Directory,
  PlatformCredentials,
  PrincipalReader,
  ProviderKeyVault,
  StoredContent,
  type Random,
} from '@gateway/contracts';
import { databaseProvider } from '@gateway/database';
import { outboxRelay } from '@gateway/event-log';
import { LoginAttempts, RANDOM } from '@gateway/platform';
import type { KeyedProvider } from '@gateway/upstream';
import { AccountChanges } from './accounts/account-change.js';
import { VersionStamps } from './accounts/version-stamps.js';
import { AdminKeysController } from './admin-keys/admin-keys.controller.js';
import { AdminKeysService } from './admin-keys/admin-keys.service.js';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { KeyReads } from './api-keys/key-reads.service.js';
import { KeyWrites } from './api-keys/key-writes.service.js';
import { AuditConsumer } from './audit/audit.consumer.js';
import { AuditController } from './audit/audit.controller.js';
import { Housekeeping } from './background/housekeeping.js';
import { FirstRun } from './first-run/first-run.js';
import { OpeningCredit } from './first-run/opening-credit.js';
import { KeysConfig } from './keys.config.js';
import { InvitationsController } from './invitations/invitations.controller.js';
import { InvitationsService } from './invitations/invitations.service.js';
import { JoiningService } from './invitations/joining.service.js';
import { MailOutbox } from './mail/mail-outbox.js';
import { MembersController } from './members/members.controller.js';
import { MembersService } from './members/members.service.js';
import { IdentityProvider } from './oidc/identity-provider.js';
import { OidcController } from './oidc/oidc.controller.js';
import { OidcLoginService } from './oidc/oidc-login.service.js';
import { DatabaseDirectory } from './directory/database-directory.js';
import { DiscountsController } from './discounts/discounts.controller.js';
import { DirectoryController } from './directory/directory.controller.js';
import { Budgets } from './budgets/budgets.js';
import { BudgetsController } from './budgets/budgets.controller.js';
import { PeriodBudgets } from './budgets/period-budgets.js';
import { FILE_BUDGETS, fileBudgetsOf } from './budgets/file-budgets.js';
import { ProviderBudgetsController } from './budgets/provider-budgets.controller.js';
import { ProviderBudgets } from './budgets/provider-budgets.js';
import { PeriodBudgetsController } from './budgets/period-budgets.controller.js';
import { BudgetUse } from './budgets/budget-use.js';
import { OrgDefaultsController } from './orgs/org-defaults.controller.js';
import { ORG_DEFAULTS, orgDefaultsOf } from './orgs/org-defaults.js';
import { StoredOrgDefaults } from './orgs/org-defaults.store.js';
import { OrgOwnersController } from './orgs/org-owners.controller.js';
import { OrgsController } from './orgs/orgs.controller.js';
import { OrgsService } from './orgs/orgs.service.js';
import { PasswordLinks } from './passwords/password-links.js';
import { PasswordsController } from './passwords/passwords.controller.js';
import { PasswordsService } from './passwords/passwords.service.js';
import { KeysDatabase, SCHEMA, SCHEMA_DIR } from './postgres/keys-database.js';
import { DatabasePrincipalReader } from './principals/database-principal-reader.js';
import { KeyCache } from './principals/key-cache.js';
import { LastUsed } from './principals/last-used.js';
import { PrincipalsController } from './principals/principals.controller.js';
import { RoutingTemplatesController } from './routing-templates/routing-templates.controller.js';
import { RoutingTemplates } from './routing-templates/routing-templates.service.js';
import { DatabasePlatformCredentials } from './platform-credentials/database-platform-credentials.js';
import {
  PlatformCredentialPoolController,
  PlatformCredentialsController,
} from './platform-credentials/platform-credentials.controller.js';
import { PlatformCredentialsService } from './platform-credentials/platform-credentials.service.js';
import { checkProviderKeys } from './provider-keys/rewrap-provider-keys.js';
import { DatabaseProviderKeyVault } from './provider-keys/database-provider-key-vault.js';
import { MemoriesController } from './memories/memories.controller.js';
import { MemoriesService } from './memories/memories.service.js';
import { TemplatesController } from './prompts/templates.controller.js';
import { TemplatesService } from './prompts/templates.service.js';
import { DatabaseStoredContent } from './stored-content/database-stored-content.js';
import { StoredContentController } from './stored-content/stored-content.controller.js';
import { CredentialChecks, KEYED_PROVIDERS } from './provider-keys/credential-checks.js';
import { ProviderKeySecrets } from './provider-keys/provider-key-secrets.js';
import {
  ProviderKeysController,
  ProviderKeyVaultController,
} from './provider-keys/provider-keys.controller.js';
import { ProviderKeysService } from './provider-keys/provider-keys.service.js';
import { checkPeppers } from './secrets/pepper-check.js';
import { loadSecrets, type ServiceSecrets } from './secrets/service-secrets.js';
import { SERVICE_SECRETS } from './secrets/tokens.js';
import { AuthController } from './sessions/auth.controller.js';
import { MeController } from './sessions/me.controller.js';
import { PasswordHasher } from './sessions/password-hasher.js';
import { PasswordLogin } from './sessions/password-login.js';
import { PeopleService } from './sessions/people.service.js';
import { SessionTokens } from './sessions/session-token.js';
import { SessionsService } from './sessions/sessions.service.js';
import { SigningKeys } from './sessions/signing-keys.js';
import { SuperAdminsController } from './super-admins/super-admins.controller.js';
import { SuperAdminsService } from './super-admins/super-admins.service.js';
import { TeamMembersService } from './teams/team-members.service.js';
import { TeamsController } from './teams/teams.controller.js';
import { TeamsService } from './teams/teams.service.js';
import { ViewsController } from './views/views.controller.js';
import { ViewsService } from './views/views.service.js';

const STATEMENT_TIMEOUT_MS = 5_000;

/** Refuses to start with secrets that are not this database's, before the first request comes. */
@Injectable()
class StartChecks implements OnModuleInit {
  constructor(
    private readonly database: KeysDatabase,
    private readonly signingKeys: SigningKeys,
    @Inject(SERVICE_SECRETS) private readonly secrets: ServiceSecrets,
  ) {}

  async onModuleInit(): Promise<void> {
    await checkPeppers(this.database.prisma, this.secrets);
    await this.signingKeys.ensure();
    await checkProviderKeys(this.database.prisma, this.secrets);
  }
}

/**
 * Users, sessions, organizations, keys. Needs the global PlatformModule, and Funds from the usage module or its remote
 * twin. `keyed`: providers that customers' own keys are tried at. Provides the database driver of PrincipalReader to everybody.
 */
@Module({})
export class KeysModule {
  static with(
    config: Readonly<KeysConfig>,
    keyed: ReadonlyMap<string, KeyedProvider> = new Map(),
  ): DynamicModule {
    return {
      module: KeysModule,
      global: true,
      controllers: [
        AdminKeysController,
        AuditConsumer,
        AuditController,
        PasswordsController,
        SuperAdminsController,
        BudgetsController,
        PeriodBudgetsController,
        ProviderBudgetsController,
        OrgDefaultsController,
        ApiKeysController,
        AuthController,
        DirectoryController,
        DiscountsController,
        OidcController,
        OrgOwnersController,
        OrgsController,
        PrincipalsController,
        RoutingTemplatesController,
        ProviderKeysController,
        ProviderKeyVaultController,
        PlatformCredentialsController,
        PlatformCredentialPoolController,
        TemplatesController,
        MemoriesController,
        StoredContentController,
        InvitationsController,
        MeController,
        MembersController,
        TeamsController,
        ViewsController,
      ],
      providers: [...ports(config), ...parts, { provide: KEYED_PROVIDERS, useValue: keyed }],
      exports: [
        Directory,
        PlatformCredentials,
        PrincipalReader,
        ProviderKeyVault,
        StoredContent,
        FirstRun,
        OpeningCredit,
      ],
    };
  }
}

const parts: Provider[] = [
  StartChecks,
  VersionStamps,
  SigningKeys,
  SessionTokens,
  PasswordHasher,
  LoginAttempts,
  SessionsService,
  PasswordLogin,
  PeopleService,
  MailOutbox,
  InvitationsService,
  JoiningService,
  IdentityProvider,
  OidcLoginService,
  MembersService,
  AdminKeysService,
  PasswordsService,
  PasswordLinks,
  SuperAdminsService,
  TeamsService,
  ViewsService,
  TeamMembersService,
  KeyCache,
  DatabasePrincipalReader,
  LastUsed,
  AccountChanges,
  outboxRelay(KeysDatabase, 'keys'),
  KeyReads,
  KeyWrites,
  OrgsService,
  Budgets,
  BudgetUse,
  PeriodBudgets,
  ProviderBudgets,
  StoredOrgDefaults,
  RoutingTemplates,
  ProviderKeySecrets,
  CredentialChecks,
  ProviderKeysService,
  DatabaseProviderKeyVault,
  PlatformCredentialsService,
  DatabasePlatformCredentials,
  TemplatesService,
  MemoriesService,
  DatabaseStoredContent,
  FirstRun,
  OpeningCredit,
  Housekeeping,
];

function ports(config: Readonly<KeysConfig>): Provider[] {
  return [
    { provide: KeysConfig, useValue: config },
    { provide: FILE_BUDGETS, useFactory: () => fileBudgetsOf(config) },
    { provide: ORG_DEFAULTS, useFactory: () => orgDefaultsOf(config) },
    { provide: PrincipalReader, useExisting: DatabasePrincipalReader },
    { provide: Directory, useClass: DatabaseDirectory },
    { provide: ProviderKeyVault, useExisting: DatabaseProviderKeyVault },
    { provide: PlatformCredentials, useExisting: DatabasePlatformCredentials },
    { provide: StoredContent, useExisting: DatabaseStoredContent },
    {
      provide: SERVICE_SECRETS,
      inject: [RANDOM],
      useFactory: (random: Random) => loadSecrets(config, random),
    },
    databaseProvider(
      KeysDatabase,
      { schemaDir: SCHEMA_DIR, schema: SCHEMA, migrates: config.KEYS_MIGRATE_AT_START },
      {
        url: config.KEYS_DATABASE_URL,
        maxConnections: config.KEYS_DATABASE_CONNECTIONS,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      },
    ),
  ];
}
