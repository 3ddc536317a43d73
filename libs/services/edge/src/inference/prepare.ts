import { ApiError, type CatalogueModel, type KeyPrincipal, type PriceTier } from '@gateway/contracts';
import { BodyFault, parseBody, type EncodedRequest, type ModelRequest } from '@gateway/dialects';
import { estimateInput, reservation, type Reservation, type SentInput } from '@gateway/money';
import type { Provider } from '@gateway/providers';
import { planRoutes, requireAccess, type Breakers, type CatalogueIndex, type Plan } from '@gateway/routing';
import { encode } from '../upstream/encode.js';
import type { Call } from './call.js';
import type { OutputSizes } from './output-sizes.js';

/** A call whose body was understood and whose routes are known: ready to be admitted. */
export interface Prepared {
  principal: KeyPrincipal;
  request: ModelRequest;
  requestedModel: string;
  model: CatalogueModel;
  snapshotId: string;
  plan: Plan;
  tier: PriceTier;
  reservation: Reservation;
  /** Prompt plus likely output, for scopes with a TPM. */
  tokenEstimate: number;
  /** The body for the plan's first route: what cannot be encoded is refused before anything is counted. */
  firstBody: EncodedRequest;
}

export interface PrepareDeps {
  index: () => CatalogueIndex;
  /** Providers with a credential, by slug. */
  providers: ReadonlyMap<string, Provider>;
  breakers: Breakers;
  outputs: OutputSizes;
}

/** Without a limit, a history or a model's bound to go by. */
const LIKELY_OUTPUT_TOKENS = 1_024;

/** Decodes the body once; the same request serves every later step and attempt. */
export function readRequest(call: Call): ModelRequest {
  const body = parseBody(call.bytes);
  if (body instanceof BodyFault) throw call.front.bodyError(body);
  return call.front.readRequest(body);
}

/** What a request sends, as far as an estimate needs it. */
export function sentInput(request: ModelRequest): SentInput {
  const { textBytes, images, audioSeconds, documentBytes } = request.sizes;
  return {
    inputBytes: textBytes,
    inputImages: images,
    inputAudioSeconds: audioSeconds,
    inputDocuments: documentBytes,
  };
}

function requestedModel(request: ModelRequest, principal: KeyPrincipal): string {
  const name = request.model ?? principal.defaultModel;
  if (name !== null) return name;
  throw new ApiError('validation_error', {
    message: 'model is missing and the key has no default model.',
    details: [{ type: 'missing', loc: ['model'], msg: 'field required' }],
  });
}

function writesCache(request: ModelRequest): boolean {
  return (
    request.turns.some((turn) => turn.parts.some((part) => 'cache' in part && part.cache !== undefined)) ||
    request.tools.some((tool) => tool.cache !== undefined)
  );
}

/** Model and access, capability, plan, reservation: all in memory. Throws the refusals of each in that order. */
export function prepare(request: ModelRequest, principal: KeyPrincipal, deps: PrepareDeps): Prepared {
  const name = requestedModel(request, principal);
  const index = deps.index();
  const model = index.model(name);
  requireAccess(principal.access, model.record.id);
  const plan = planRoutes({
    request,
    model,
    principal,
    index,
    providers: deps.providers,
    isOpen: (route) => deps.breakers.isOpen(route),
  });
  const tier: PriceTier = request.serviceTier === 'flex' ? 'flex' : 'default';
  const input = sentInput(request);
  const likely = deps.outputs.p95(model.record.id);
  const tokens = estimateInput(input);
  const terms = { discountPct: null, byok: { served: false, feePct: '0' } };
  const held = reservation({
    routes: plan.routes.map(({ route }) => ({
      ...terms,
      record: route.price,
      maxOutputTokens: route.maxOutputTokens,
      contextLength: route.contextLength,
      p95OutputTokens: likely,
    })),
    tier,
    input,
    maxTokens: request.maxOutputTokens,
    choices: request.choices,
    writesCache: writesCache(request),
    context: {},
  });
  return {
    principal,
    request,
    requestedModel: name,
    model,
    snapshotId: index.snapshot.id,
    plan,
    tier,
    reservation: held,
    tokenEstimate:
      tokens.text + tokens.audio + tokens.image + (request.maxOutputTokens ?? likely ?? LIKELY_OUTPUT_TOKENS),
    firstBody: encode(request, plan.routes[0]),
  };
}
