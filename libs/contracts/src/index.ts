export { ERRORS, errorEntry } from './errors/error-table.js';
export type { ErrorCategory, ErrorCode, ErrorEntry, Fault } from './errors/error-table.js';
export { unknownField } from './errors/unknown-field.js';
export { detailType, type DetailType } from './errors/detail-types.js';
export { ApiError, errorEnvelope, errorHeaders, messagesErrorEnvelope } from './errors/api-error.js';
export type { ApiErrorOptions, AttemptFault, ErrorDetail } from './errors/api-error.js';
export { UpstreamError, withoutStack } from './errors/upstream-error.js';
export type { NotBegun, UpstreamErrorOptions } from './errors/upstream-error.js';
export { BODY_LIMIT_BYTES, EXPOSED_HEADERS, HEADER, ignoredNames } from './headers.js';
export { newAnswerId, newId, uuidv7 } from './ids.js';
export { TurnoverMap } from './turnover-map.js';
export type { Clock, Random, Timer } from './ports/clock.js';
export { CatalogueNames } from './ports/catalogue-names.js';
export type { CatalogueAsked, CatalogueNamed } from './ports/catalogue-names.js';
export { CatalogueNamesBody } from './http/catalogue.js';
export { CatalogueReader, NO_ALIASES } from './ports/catalogue-reader.js';
export { environmentCredentialId, PlatformCredentials } from './ports/provider-key-vault.js';
export { ProviderKeyVault } from './ports/provider-key-vault.js';
export type { CredentialReport, CredentialState, PlatformPool } from './ports/provider-key-vault.js';
export type { PooledCredential } from './ports/provider-key-vault.js';
export type { ProviderCredential, ProviderKeyFailure, ProviderKeyUse } from './ports/provider-key-vault.js';
export { CreatePlatformCredentialBody, CredentialReportBody } from './http/provider-keys.js';
export { ListPlatformCredentialsQuery, OpenPlatformCredentialBody } from './http/provider-keys.js';
export { RotatePlatformCredentialBody, UpdatePlatformCredentialBody } from './http/provider-keys.js';
export type { PlatformCredentialError, PlatformCredentialRecord } from './http/provider-keys.js';
export type { TestedPlatformCredential } from './http/provider-keys.js';
export {
  BREAKER_STATES,
  FIGURE_CLASSES,
  UNSERVED_MAX,
  HEALTH_STATES,
  RouteHealth,
} from './ports/route-health.js';
export type {
  BreakerState,
  HealthState,
  ProviderError,
  ProviderState,
  ReportedCredentials,
  RouteFigures,
} from './ports/route-health.js';
export { PlatformCredentialsBody, ProviderStatesBody, RouteHealthBody } from './http/route-health.js';
export { StoredContent } from './ports/stored-content.js';
export type { PromptContent, PromptMessage, PromptVariable } from './ports/stored-content.js';
export { PrincipalReader } from './ports/principal-reader.js';
export type { Caller, Credential } from './ports/principal-reader.js';
export { providerAccount } from './ports/principal.js';
export type { AccountDiscount, AdminKeyPrincipal, KeyPrincipal, Membership } from './ports/principal.js';
export type {
  BudgetGrant,
  ModelAccess,
  ModelLimit,
  OrgRole,
  Principal,
  ProviderKeyGrant,
} from './ports/principal.js';
export type {
  RoutingPolicy,
  ScopeKind,
  ScopeLimits,
  SessionPrincipal,
  SpendScope,
} from './ports/principal.js';
export { counterScope, extraScope, HELD_KINDS, heldCounter, LimitStore } from './ports/limit-store.js';
export { HOLD_UNIT, UNNAMED_UNITS } from './ports/limit-store.js';
export type { AccountsPage, UnheardPage, UnheardUnit } from './ports/limit-store.js';
export type { CredentialCount, CredentialCounted } from './ports/limit-store.js';
export type { AccountState, AdmitRequest, AdmitResult, ExtraCounter, HeldKind } from './ports/limit-store.js';
export type { CountedBudget, HeldMoney, KeyMinute, LimitMetric, LimitScope } from './ports/limit-store.js';
export type { ProjectionRequest, PutUnit, LimitRejection, Trial, TrialRecord } from './ports/limit-store.js';
export { Funds } from './ports/funds.js';
export {
  callerFile,
  ResponseStore,
  type ReserveMemory,
  type NamedFile,
  type RecalledItems,
  type ResponseLink,
  type StoredResponse,
} from './ports/response-store.js';
export { FleetBody } from './http/fleet-body.js';
export { ConversationBody, ConversationItemsBody, ItemsQuery, KeepResponsesBody } from './http/responses.js';
export { ReferencedItemsBody, ForgetResponsesBody, RecallBody, ResponseQuery } from './http/responses.js';
export { STORED_ID_MAX } from './http/responses.js';
export { BatchesQuery, CreateBatchBody, FilesQuery, UPLOAD_PURPOSES } from './http/files.js';
export {
  BackgroundResponses,
  type BackgroundRun,
  type EndedResponse,
  type EventsPage,
  type NewBackgroundResponse,
  type NumberedEvent,
} from './ports/background-responses.js';
export {
  AppendEventsBody,
  BackgroundEventsBody,
  BackgroundRunBody,
  BeginBackgroundBody,
} from './http/background-responses.js';
export {
  IdempotencyStore,
  type CreateAnswer,
  type IdempotencyClaim,
  type IdempotencyRecord,
  type StoredAnswer,
} from './ports/idempotency-store.js';
export { ClaimIdempotencyBody, CompleteIdempotencyBody, IdempotencyClaimBody } from './http/idempotency.js';
export { Inference } from './ports/inference.js';
export type { GivenAnswer, HoldCall, InferenceAnswer, InferenceCall } from './ports/inference.js';
export type { InferencePlan, UpstreamBatch, UpstreamBatchCall } from './ports/inference.js';
export type { UpstreamBatchState } from './ports/inference.js';
export { VideosQuery } from './http/videos.js';
export { HoldBody, InferBody, UpstreamBatchBody, WorthBody } from './http/inference.js';
export { LINK_NOT_WHOLE, ObjectLinkQuery } from './http/objects.js';
export { ObjectStore, ObjectTooLarge, objectName } from './ports/object-store.js';
export type { ObjectKey, StoredObject } from './ports/object-store.js';
export { RequestContents } from './ports/request-contents.js';
export type { ErasedEndUser, UnitContent } from './ports/request-contents.js';
export { AuditBody, KeepContentsBody, UsageOrgQuery } from './http/request-contents.js';
export type { RequestContentRecord, UnitContentRecord } from './http/request-contents.js';
export { Directory } from './ports/directory.js';
export type { AuditedAction, NamedIds, Payer } from './ports/directory.js';
export { ContentPromisesBody, DirectoryNamesBody } from './http/directory.js';
export { retainedFromMs, retainedUntilMs, promisesAfter } from './content-promises.js';
export type { ContentPromise } from './content-promises.js';
export type { AppliedRange } from './ports/funds.js';
export { EventLog } from './ports/event-log.js';
export type { ConsumedRecord, Consumer, LogRecord, Subscription } from './ports/event-log.js';
export type {
  PriceMatrixRow,
  PriceRecord,
  PriceTier,
  PriceWindow,
  UnitUsage,
} from './catalogue/price-record.js';
export type {
  CatalogueModel,
  CatalogueSnapshot,
  DialectName,
  ModelRecord,
  ModelType,
  ReasoningStyle,
  Route,
} from './catalogue/catalogue-snapshot.js';
export { deadLetterTopic, TOPIC } from './events/topics.js';
export type { Topic } from './events/topics.js';
export type { TopicRecords } from './events/topic-records.js';
export type { CloudEvent } from './events/cloud-event.js';
export {
  AttemptRecord,
  BudgetReading,
  LimitReading,
  PricedFrom,
  ShadowOf,
  UsageRecord,
  UsageRecordV2,
} from './events/usage-record.js';
export type { AttemptRecordV2 } from './events/usage-record.js';
export { compactEnd, compactFacts, wholeUsage } from './events/compact-usage.js';
export type { UsageEnd, UsageFacts, UsageStamps } from './events/compact-usage.js';
export { RefusedMoneyRecord, RejectionRecord } from './events/rejection-record.js';
export { ID_PATTERN } from './http/keys.js';
export { shownScope } from './ports/shown-scope.js';
export {
  ACCOUNT_EVENT_TYPES,
  ACCOUNT_RECORDS,
  AccountEvent,
  MADE_OF_OTHERS,
  type AccountData,
  type AccountEventType,
  type AccountRecordType,
  type NewAccountEvent,
} from './events/account-event.js';
export { RETIREMENT_MARKS } from './events/account/model-retiring.js';
export type { LimitScope as LimitScopeData } from './events/account/limit-scope.js';
export { AuditEntry } from './events/audit-entry.js';
export { CatalogueEvent } from './events/catalogue-event.js';
export { DeadLetter } from './events/dead-letter.js';
export { CreateAdminKeyBody, ListAdminKeysQuery } from './http/admin-keys.js';
export type { AdminKeyRecord, CreatedAdminKey } from './http/admin-keys.js';
export { ListAuditQuery } from './http/audit.js';
export type { AuditRecord } from './http/audit.js';
export { GrantSuperAdminBody } from './http/admin-keys.js';
export type { SuperAdminRecord } from './http/admin-keys.js';
export { AlertsQuery, ConfirmQuery, CreateChannelBody, CreatePolicyBody } from './http/alerts.js';
export { DeliveriesQuery, UpdateChannelBody, UpdatePolicyBody } from './http/alerts.js';
export type { AlertsRecord, ChannelRecord, ChannelResult, CreatedChannel } from './http/alerts.js';
export type { ChannelType, DeliveryAttemptRecord, DeliveryDetail, DeliveryRecord } from './http/alerts.js';
export type { DeliveryState, ListedChannel, PolicyRecord } from './http/alerts.js';
export { ChangePasswordBody, ForgotPasswordBody, ResetPasswordBody, LoginBody } from './http/auth.js';
export { ReadKeyPrincipalBody, RefreshBody, RESOLVED_KEYS_MAX, ResolveKeysBody } from './http/auth.js';
export { ResolvePrincipalBody, UpdateMeBody } from './http/auth.js';
export type { AuthOptionsRecord, MeRecord, OwnSessionRecord, ResolvedKeys } from './http/auth.js';
export type { SessionRecord, UserRecord } from './http/auth.js';
export { AMOUNT_PATTERN, CreateKeyBody, KeyFilterOptionsQuery, ListKeysQuery } from './http/keys.js';
export { MODEL_PATTERN, NO_ORG, RotateKeyBody, RoutingPolicyBody, UpdateKeyBody } from './http/keys.js';
export type { ApiKeyRecord, CreatedApiKey, RotatedApiKey, KeyFilterOptions } from './http/keys.js';
export type { KeyLimitsRecord, OwnKeyRecord, ScopeLimitRecord } from './http/keys.js';
export {
  AcceptInvitationBody,
  CreateInvitationBody,
  ListMembersQuery,
  UpdateMemberBody,
  type InvitationRecord,
  type MemberRecord,
} from './http/members.js';
export { CursorPageQuery } from './http/page.js';
export type { CursorPage } from './http/page.js';
export { CreateTeamBody, ListTeamsQuery, UpdateTeamBody } from './http/teams.js';
export type { TeamMemberRecord, TeamRecord } from './http/teams.js';
export { SimulateLimitsBody } from './http/limits.js';
export type { LimitCheck, LimitSimulation } from './http/limits.js';
export { ORG_TIERS, CreateOrgBody, ListOrgsQuery, OrgDefaultsBody, ScopeLimitsBody } from './http/orgs.js';
export { UpdateOrgBody } from './http/orgs.js';
export { CreateViewBody, ListViewsQuery, UpdateViewBody, type ViewRecord } from './http/orgs.js';
export type { OrgDefaultsRecord, OrgRecord, OrgTier, ScopeLimitsRecord } from './http/orgs.js';
export {
  CreateRoutingPolicyTemplateBody,
  ListRoutingPolicyTemplatesQuery,
  UpdateRoutingPolicyTemplateBody,
  type RoutingPolicyTemplateRecord,
} from './http/routing-policy-templates.js';
export {
  ALIAS_NAME_PATTERN,
  AliasShadowQuery,
  CreateAliasBody,
  CreatePlatformAliasBody,
  ListAliasesQuery,
  ListPlatformAliasesQuery,
  UpdateAliasBody,
  UpdatePlatformAliasBody,
  type AliasRecord,
  type AliasShadowPage,
  type ShadowSide,
  type ShadowTotals,
} from './http/aliases.js';
export type { Alias, AliasBook, AliasShadow, AliasTarget } from './catalogue/alias-book.js';
export {
  CreateProviderKeyBody,
  ListProviderKeysQuery,
  OpenProviderKeyBody,
  ProviderKeyUsesBody,
  UpdateProviderKeyBody,
  type ProviderKeyError,
  type ProviderKeyRecord,
  type ProviderKeyTest,
} from './http/provider-keys.js';
export { CreateTemplateBody, CreateTemplateVersionBody, FindMemoriesBody } from './http/templates.js';
export { FindTemplateBody, ListTemplatesQuery, ListTemplateVersionsQuery } from './http/templates.js';
export { MemoriesQuery, PublishTemplateBody, PutMemoriesBody, UpdateTemplateBody } from './http/templates.js';
export type { MemoriesRecord, TemplateRecord, TemplateVersionRecord } from './http/templates.js';
export {
  AdminModelsQuery,
  FollowQuery,
  ImportCatalogueBody,
  ImportedModelBody,
  ImportedProviderBody,
  PatchModelBody,
  PutModelBody,
  PutProviderBody,
} from './http/catalogue-admin.js';
export type { ProviderRecord } from './http/provider-record.js';
export type { AnthropicModelInfo, AnthropicModelList, ModelFacets, ModelView } from './http/model-view.js';
export type { NamedLogo, OpenAiModel, PriceStep, PricingView, ProviderHealth } from './http/model-view.js';
export type { PriceOptionView, ProviderOffer, ScheduledPriceView } from './http/model-view.js';
export { PendingChangesBody, PendingChangesQuery, SyncCatalogueBody } from './http/catalogue-admin.js';
export type { CatalogueFeedState, CatalogueSync, PendingChange } from './http/catalogue-admin.js';
export type {
  AdminEdit,
  AdminModelRecord,
  CatalogueLayer,
  ModelAvailability,
} from './http/catalogue-admin.js';
export {
  CataloguePageQuery,
  ListModelPageQuery,
  ListModelsQuery,
  MODEL_TYPES,
  ModelProvidersQuery,
  SearchModelsQuery,
} from './http/catalogue.js';
export { CreditBody, AppliedQuery, HeardBody, SpendLimitBody, InternalCreditBody } from './http/usage.js';
export { RateLimitsQuery, RejectionsBody, SpendBody, UsageContextQuery } from './http/usage.js';
export { UsageEventsBody, UsageFilterBody, UsageQueryBody, WatermarkQuery } from './http/usage.js';
export { UsageFilter } from './http/usage-filter.js';
export { UsageExportBody, UsageExportQuery } from './http/usage-exports.js';
export type { UsageExportRecord } from './http/usage-exports.js';
export { SpendTrendQuery, UsageRefreshQuery, UsageSeriesBody } from './http/usage-series.js';
export type { Granularity, SeriesValues, SpendTrend, UsageSeries } from './http/usage-series.js';
export type { AttemptsRecord, AttemptView, LimitSeen, PriceLineView } from './http/request-parts.js';
export type { BalanceRecord, BooksRecord, CreditRecord } from './http/usage.js';
export type { ModelUsage, RateLimitState, RateMetric } from './http/usage.js';
export type { OperatorAttempt, OperatorRequestLookup, RateScope, RequestLookup } from './http/usage.js';
export type { RejectionsPage, RejectionView } from './http/rejections-page.js';
export type { UsageEventRecord, UsageEventsPage, UsageSummary } from './http/usage.js';
export { AutoRechargeBody, BILLING_MODES, BillingPageQuery, BillingQuery } from './http/billing.js';
export { CheckoutBody, CouponBody, RedeemCouponBody, StatementQuery } from './http/billing.js';
export type { AutoRechargeRecord, BillingMode, CheckoutRecord, CouponRecord } from './http/billing.js';
export type { LedgerEntry, PaymentRecord, RedemptionRecord } from './http/billing.js';
export type { StatementCredit, StatementDay, StatementRecord, StatementUsage } from './http/billing.js';
export {
  BudgetsQuery,
  CreateBudgetBody,
  CreateProviderBudgetBody,
  ListBudgetsQuery,
  ListProviderBudgetsQuery,
  RaiseBudgetBody,
  UpdateBudgetBody,
} from './http/budgets.js';
export type { PeriodBudgetRecord } from './http/period-budget.js';
export type { BudgetRecord, BudgetsRecord } from './http/budgets.js';
export { ErasedSinceQuery, ErasureBody, ForgetBody } from './http/erasures.js';
export type { ErasureRecord } from './http/erasures.js';
export { DiscountBody } from './http/discounts.js';
export type { DiscountRecord } from './http/discounts.js';
export { isOneLine } from './http/one-line.js';
