/** Orders of routes that a request can ask for. */
export const SORTS = ['price', 'latency', 'throughput', 'balanced'] as const;
/** An amount in USD. */
export const DECIMAL = /^\d{1,12}(\.\d{1,12})?$/;

const NAME = { type: 'string', minLength: 1, maxLength: 200 };
const flag = { type: ['boolean', 'null'] };
const slugs = (description: string) => ({ type: ['array', 'null'], maxItems: 64, items: NAME, description });
const amount = { type: ['string', 'number', 'null'] };
const sort = { type: ['string', 'null'], enum: [...SORTS, null] };

/** Members of a text request that order and narrow its routes, under the names of OpenRouter's clients. */
export const CHOICE_MEMBERS = {
  models: {
    type: ['array', 'null'],
    minItems: 1,
    maxItems: 5,
    items: NAME,
    description:
      'Models that follow `model` where it fails, in order; without `model` the first one is asked. They take the place of ' +
      '`fallback_models` of the key.',
  },
  provider: {
    type: ['object', 'null'],
    additionalProperties: true,
    description:
      "Orders and narrows the providers that the key's routing policy leaves. It never allows one more.",
    properties: {
      order: slugs('Providers that are tried first, in this order.'),
      only: slugs('The only providers that may serve.'),
      ignore: slugs('Providers that may not serve.'),
      allow_fallbacks: { ...flag, description: 'False: one provider, one model. True changes nothing.' },
      sort: {
        anyOf: [sort, { type: 'object', properties: { by: sort }, additionalProperties: true }],
        description: 'Order of the providers; wins over that of the key.',
      },
      max_price: {
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'The most a route may cost: USD per 1M tokens, and USD per request.',
        properties: { prompt: amount, completion: amount, request: amount },
      },
      zdr: { ...flag, description: 'True: only providers that keep nothing.' },
      data_collection: {
        type: ['string', 'null'],
        enum: ['allow', 'deny', null],
        description: '`deny` is `zdr: true`.',
      },
      require_parameters: {
        ...flag,
        description: 'True: only routes that ignore no parameter of the request.',
      },
    },
  },
};
