import type {
  BackgroundResponses,
  Clock,
  IdempotencyStore,
  LimitStore,
  ObjectStore,
  PrincipalReader,
  Random,
} from '@gateway/contracts';
import type { SettlementQueue } from '@gateway/limits';
import type { Deadlines, Drain, Pressure } from '@gateway/platform';
import type { RetryBudget } from '@gateway/routing';
import type { CircuitBreakers, UndiciTransport } from '@gateway/upstream';
import type { Admission } from '../admission/admission.js';
import type { BatchPace } from '../admission/batch-pace.js';
import type { PostedTotals } from '../admission/posted-totals.js';
import type { Settling } from '../admission/settling.js';
import type { EdgeConfig } from '../config/edge.config.js';
import type { ProviderDirectory } from '../config/provider-directory.js';
import type { RoutePlanner } from '../routes/route-planner.js';
import type { Conversations } from '../state/conversations.js';
import type { NamedFiles } from '../state/named-files.js';
import type { Rejections } from '../units/rejections.js';
import type { Revocations } from '../units/revocations.js';
import type { Units } from '../units/unit.js';
import type { Credentials } from '../upstream/credentials.js';
import type { ProviderAlarms } from '../upstream/provider-alarms.js';
import type { ClientSecrets } from './client-secrets.js';
import type { Inference } from './inference.js';
import type { Planner } from './planner.js';
import type { StoredBodies } from './stored-bodies.js';

/** The parts that callers of inference take until each has a constructor of its own. */
export interface InferDeps {
  inference: Inference;
  planner: Planner;
  admission: Admission;
  units: Units;
  rejections: Rejections;
  routes: RoutePlanner;
  storedBodies: StoredBodies;
  conversations: Conversations;
  files: NamedFiles;
  principals: PrincipalReader;
  clock: Clock;
  random: Random;
  deadlines: Deadlines;
  config: EdgeConfig;
  drain: Drain;
  limits: LimitStore;
  totals: PostedTotals;
  puts: SettlementQueue;
  settling: Settling;
  directory: ProviderDirectory;
  credentials: Credentials;
  transport: UndiciTransport;
  breakers: CircuitBreakers;
  budget: RetryBudget;
  alarms: ProviderAlarms;
  revocations: Revocations;
  objects: ObjectStore;
  idempotency: IdempotencyStore;
  background: BackgroundResponses;
  pressure: Pressure;
  clientSecrets: ClientSecrets;
  pace: BatchPace;
}

export const INFER_DEPS = Symbol('InferDeps');
