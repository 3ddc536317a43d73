import type { CatalogueModel, CatalogueSnapshot, KeyPrincipal, ModelRecord, Route } from '@gateway/contracts';
import { ENDPOINTS, wholeBody, type Endpoint } from '@gateway/endpoints';
import { PROVIDERS } from '@gateway/providers';
import { CatalogueIndex } from './catalogue-index.js';
import { planRoutes } from './plan.js';
import { RouteStats } from './route-stats.js';
import type { PlannedRoute, PlanOptions } from './survey.js';

export const NOW = Date.parse('2026-11-22T12:00:00Z');

export const enabled = new Map(
  PROVIDERS.filter(({ slug }) => ['openai', 'anthropic', 'groq', 'simulated'].includes(slug)).map(
    (provider) => [provider.slug, provider],
  ),
);

export function route(provider: string, price: string, more: Partial<Route> = {}): Route {
  const dialect = provider === 'anthropic' ? 'messages' : 'chat';
  const rates = { prompt_usd_per_1m: price, completion_usd_per_1m: price };
  return {
    provider,
    model: 'acme/one',
    upstreamModel: 'one',
    dialect,
    contextLength: 1_000,
    maxOutputTokens: 100,
    price: rates,
    ...more,
  };
}

export function model(id: string, routes: Route[], record: Partial<ModelRecord> = {}): CatalogueModel {
  const full = {
    id,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supports_completions_api: true,
    supports_tools: true,
    ...record,
  };
  return { record: full as ModelRecord, reasoning: { style: 'none' }, fixesSampling: false, routes };
}

export function index(...models: CatalogueModel[]): CatalogueIndex {
  const snapshot: CatalogueSnapshot = {
    id: 'snap_1',
    created_at: '2026-11-21T00:00:00Z',
    models,
    providers: [],
  };
  return new CatalogueIndex(snapshot);
}

export const principal = {
  access: [],
  routingPolicy: null,
  fixedProvider: null,
  modelLimits: {},
} as unknown as KeyPrincipal;

export const closed = { isOpen: () => false };

function endpointAt(path: string): Endpoint {
  const found = ENDPOINTS.find(({ paths }) => paths.includes(path));
  if (!found) throw new Error(`no endpoint at ${path}`);
  return found;
}

export const chat = endpointAt('/chat/completions');
export const messages = endpointAt('/messages');

type More = Partial<PlanOptions> & { endpoint?: Endpoint; body?: object };

export function plan(target: CatalogueModel, more: More = {}): string[] {
  return plannedRoutes(target, more).map(({ route, model: { record } }) => `${route.provider}:${record.id}`);
}

export function plannedRoutes(target: CatalogueModel, more: More = {}): PlannedRoute[] {
  return planRoutes(optionsFor(target, more)).routes;
}

export function optionsFor(
  target: CatalogueModel,
  { endpoint = chat, body = {}, ...more }: More = {},
): PlanOptions {
  const bytes = Buffer.from(
    JSON.stringify({
      model: target.record.id,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      ...body,
    }),
  );
  return {
    asked: wholeBody(endpoint.read({ bytes, headers: {} })),
    endpoint,
    principal,
    index: index(target),
    providers: enabled,
    byok: { providers: enabled, feePct: '0' },
    breakers: closed,
    stats: new RouteStats(),
    nowMs: NOW,
    ...more,
  };
}
