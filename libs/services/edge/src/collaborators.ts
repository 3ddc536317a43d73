import type { Provider } from '@nestjs/common';
import {
  BackgroundResponses,
  IdempotencyStore,
  LimitStore,
  ObjectStore,
  PrincipalReader,
} from '@gateway/contracts';
import { SettlementQueue } from '@gateway/limits';
import { CLOCK, Deadlines, Drain, Pressure, RANDOM } from '@gateway/platform';
import { RetryBudget, RouteStats } from '@gateway/routing';
import { CircuitBreakers, UndiciTransport } from '@gateway/upstream';
import { Admission } from './admission/admission.js';
import { BatchPace } from './admission/batch-pace.js';
import { OutputSizes } from './admission/output-sizes.js';
import { PostedTotals } from './admission/posted-totals.js';
import { Settling } from './admission/settling.js';
import { ResponseCache } from './cache/response-cache.js';
import { EdgeConfig } from './config/edge.config.js';
import { ProviderDirectory } from './config/provider-directory.js';
import { ClientSecrets } from './inference/client-secrets.js';
import { Deliveries } from './inference/deliveries.js';
import { INFER_DEPS, type InferDeps } from './inference/infer-deps.js';
import { Inference } from './inference/inference.js';
import { Planner } from './inference/planner.js';
import { StoredBodies } from './inference/stored-bodies.js';
import { RoutePlanner } from './routes/route-planner.js';
import { Conversations } from './state/conversations.js';
import { NamedFiles } from './state/named-files.js';
import { AccountLimiter } from './state/account-limiter.js';
import { KeyUses } from './units/key-uses.js';
import { OutputSpeeds } from './units/output-speeds.js';
import { Rejections } from './units/rejections.js';
import { Revocations } from './units/revocations.js';
import { UnitObserver } from './units/unit-observer.js';
import { Units } from './units/unit.js';
import { Attempts } from './upstream/attempts.js';
import { Credentials } from './upstream/credentials.js';
import { OpenedKeys } from './upstream/opened-keys.js';
import { ProviderAlarms } from './upstream/provider-alarms.js';
import { Upstream } from './upstream/upstream.js';

/** Tokens of what callers of inference take. */
const TOKENS = {
  inference: Inference,
  planner: Planner,
  admission: Admission,
  units: Units,
  rejections: Rejections,
  routes: RoutePlanner,
  storedBodies: StoredBodies,
  conversations: Conversations,
  files: NamedFiles,
  principals: PrincipalReader,
  clock: CLOCK,
  random: RANDOM,
  deadlines: Deadlines,
  config: EdgeConfig,
  drain: Drain,
  limits: LimitStore,
  totals: PostedTotals,
  puts: SettlementQueue,
  settling: Settling,
  directory: ProviderDirectory,
  credentials: Credentials,
  transport: UndiciTransport,
  breakers: CircuitBreakers,
  budget: RetryBudget,
  alarms: ProviderAlarms,
  revocations: Revocations,
  objects: ObjectStore,
  idempotency: IdempotencyStore,
  background: BackgroundResponses,
  pressure: Pressure,
  clientSecrets: ClientSecrets,
  pace: BatchPace,
} satisfies Record<keyof InferDeps, unknown>;

/** Classes of the edge that Nest makes by their constructors. */
export const COLLABORATORS: Provider[] = [
  RouteStats,
  OutputSizes,
  OutputSpeeds,
  ResponseCache,
  RoutePlanner,
  AccountLimiter,
  Conversations,
  NamedFiles,
  StoredBodies,
  PostedTotals,
  Admission,
  KeyUses,
  UnitObserver,
  Revocations,
  Units,
  Rejections,
  OpenedKeys,
  Credentials,
  ProviderAlarms,
  Upstream,
  Attempts,
  Deliveries,
  Planner,
  Inference,
  ClientSecrets,
  {
    provide: INFER_DEPS,
    inject: Object.values(TOKENS),
    useFactory: (...parts: unknown[]) =>
      Object.fromEntries(Object.keys(TOKENS).map((name, at) => [name, parts[at]])),
  },
];
