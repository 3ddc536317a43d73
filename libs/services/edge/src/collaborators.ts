import type { Provider } from '@nestjs/common';
import { RouteStats } from '@gateway/routing';
import { Admission } from './admission/admission.js';
import { OutputSizes } from './admission/output-sizes.js';
import { PostedTotals } from './admission/posted-totals.js';
import { ProviderAdmission } from './admission/provider-admission.js';
import { PlatformPools } from './config/platform-pools.js';
import { ResponseCache } from './cache/response-cache.js';
import { BatchHolds, BatchWorth } from './composed/batch-holds.js';
import { BatchResults } from './composed/batch-results.js';
import { BatchTargets } from './composed/batch-target.js';
import { COMPOSED_ENDPOINTS } from './composed/composed-endpoints.js';
import { EdgeInference } from './composed/edge-inference.js';
import { EdgeTasks } from './composed/edge-tasks.js';
import { InferenceRuns } from './composed/inference-runs.js';
import { LinePlans } from './composed/line-plans.js';
import { ServiceRequests } from './composed/service-requests.js';
import { UpstreamBatches } from './composed/upstream-batches.js';
import { BackgroundInference } from './inference/background.js';
import { ClientSecrets } from './inference/client-secrets.js';
import { InputCounts } from './inference/count-input.js';
import { Deliveries } from './inference/deliveries.js';
import { Endpoints, Ways } from './inference/endpoint.js';
import { IdempotencyClaims } from './inference/idempotency-claims.js';
import { OnceInference, StoredAnswers } from './inference/infer-once.js';
import { Inference } from './inference/inference.js';
import { Planner } from './inference/planner.js';
import { ShadowRuns } from './inference/shadow-runs.js';
import { Shadows } from './inference/shadows.js';
import { StoredBodies } from './inference/stored-bodies.js';
import { SubAnswers } from './inference/sub-answer.js';
import { Callers } from './request/callers.js';
import { Clients } from './request/client.js';
import { RoutePlanner } from './routes/route-planner.js';
import { RealtimeAdmission } from './sockets/realtime/realtime-admission.js';
import { RealtimeCallers } from './sockets/realtime/realtime-caller.js';
import { RealtimePlanner } from './sockets/realtime/realtime-planner.js';
import { RealtimeSessions } from './sockets/realtime/realtime-sessions.js';
import { RealtimeSockets } from './sockets/realtime/realtime-sockets.js';
import { UpstreamLinks } from './sockets/realtime/upstream-link.js';
import { Sockets } from './sockets/register-sockets.js';
import { ResponsesSockets } from './sockets/responses-sockets.js';
import { SocketBudget } from './sockets/socket-budget.js';
import { SocketRequests } from './sockets/socket-requests.js';
import { AccountLimiter } from './state/account-limiter.js';
import { Conversations } from './state/conversations.js';
import { NamedFiles } from './state/named-files.js';
import { KeyUses } from './units/key-uses.js';
import { OutputSpeeds } from './units/output-speeds.js';
import { Rejections } from './units/rejections.js';
import { Revocations } from './units/revocations.js';
import { UnitObserver } from './units/unit-observer.js';
import { Units } from './units/unit.js';
import { Attempts } from './upstream/attempts.js';
import { Credentials } from './upstream/credentials.js';
import { OpenedKeys } from './upstream/opened-keys.js';
import { DeploymentLists } from './upstream/deployment-lists.js';
import { HealthChecks } from './upstream/health-checks.js';
import { RouteOffer } from './upstream/route-offer.js';
import { PoolSync } from './upstream/pool-sync.js';
import { ProviderAlarms } from './upstream/provider-alarms.js';
import { Upstream } from './upstream/upstream.js';

/** Classes of the edge that Nest makes by their constructors. */
export const COLLABORATORS: Provider[] = [
  RouteStats,
  OutputSizes,
  OutputSpeeds,
  ResponseCache,
  PlatformPools,
  RoutePlanner,
  AccountLimiter,
  Conversations,
  NamedFiles,
  StoredBodies,
  PostedTotals,
  Admission,
  ProviderAdmission,
  KeyUses,
  UnitObserver,
  Revocations,
  Units,
  Rejections,
  OpenedKeys,
  Credentials,
  RouteOffer,
  PoolSync,
  HealthChecks,
  DeploymentLists,
  ProviderAlarms,
  Upstream,
  Attempts,
  Deliveries,
  Planner,
  ShadowRuns,
  Shadows,
  Inference,
  ClientSecrets,
  Callers,
  Clients,
  SubAnswers,
  IdempotencyClaims,
  StoredAnswers,
  OnceInference,
  BackgroundInference,
  InputCounts,
  Ways,
  Endpoints,
  SocketBudget,
  SocketRequests,
  ResponsesSockets,
  RealtimePlanner,
  RealtimeCallers,
  RealtimeAdmission,
  UpstreamLinks,
  RealtimeSessions,
  RealtimeSockets,
  Sockets,
  ServiceRequests,
  LinePlans,
  EdgeTasks,
  InferenceRuns,
  BatchTargets,
  BatchResults,
  BatchWorth,
  BatchHolds,
  UpstreamBatches,
  EdgeInference,
  ...COMPOSED_ENDPOINTS.map(({ handler }) => handler),
];
