import type { CatalogueModel, ModelRecord, Route } from '@gateway/contracts';

/** A route of a chat provider at 1 and 2 USD per million tokens. */
function catalogueRoute(more: Partial<Route> = {}): Route {
  return {
    provider: 'simulated',
    model: 'acme/swift',
    upstreamModel: 'sim-chat',
    dialect: 'chat',
    contextLength: 100_000,
    maxOutputTokens: 4_096,
    price: { prompt_usd_per_1m: '1', completion_usd_per_1m: '2' },
    ...more,
  };
}

/** A text model of these routes that can do what chat can; its price is the first route's. */
export function catalogueModel(
  id: string,
  routes: Partial<Route>[] = [{}],
  record: Partial<ModelRecord> = {},
): CatalogueModel {
  const made = routes.map((route) => catalogueRoute({ model: id, ...route }));
  return {
    record: {
      id,
      name: id,
      brand: id.slice(0, id.indexOf('/')),
      model_type: 'text',
      context_length: 100_000,
      max_output_tokens: 4_096,
      is_free: false,
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      is_composite: false,
      composite_models: [],
      pricing: made[0].price,
      supports_tools: true,
      supports_completions_api: true,
      supports_responses_api: true,
      supports_structured_output: true,
      supports_thinking: true,
      ...record,
    },
    reasoning: { style: 'effort', efforts: ['low', 'medium', 'high'] },
    fixesSampling: false,
    routes: made,
  };
}
