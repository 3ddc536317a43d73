import type { GatewayConfig, OwnModel } from '@gateway/providers';
import { textOf, type Path } from './config-file.js';
import type { Deployment } from './deployment.js';
import { dialectOf, isSelfHosted, upstreamNameOf } from './provider-names.js';
import type { KnownRoute, ReleaseData } from './release.js';
import type { Served } from './upstreams.js';

/** Context of a model of which nothing is known. */
const CONTEXT = 131_072;
const TYPES: Readonly<Record<string, string>> = {
  chat: 'text',
  completion: 'text',
  responses: 'text',
  embedding: 'embedding',
  image_generation: 'image',
  audio_transcription: 'stt',
  audio_speech: 'tts',
  video_generation: 'video',
};
const FLAGS: Readonly<Record<string, string>> = {
  supports_function_calling: 'tools',
  supports_response_schema: 'structured_output',
};

/** Models and prices that gateway.yaml has to name, because this release lacks them. */
export class Models {
  readonly models: OwnModel[] = [];
  readonly prices: GatewayConfig['prices'] = [];

  constructor(
    private readonly release: ReleaseData,
    private readonly tell: (at: Path, words: string) => void,
  ) {}

  /** Returns the id under which the deployment is called; null where it cannot be, which is told. */
  idOf(served: Served): string | null {
    const { deployment, provider, like } = served;
    const known = provider === like ? this.release.route(provider, deployment.upstreamModel) : null;
    if (known !== null) {
      this.override(deployment, provider, known);
      return known.model.id;
    }
    return this.ownModel(served, this.likeness(served));
  }

  /** Returns the route of this release with the same model, whose size and price are the best guess. */
  private likeness({ deployment, like }: Served): KnownRoute | null {
    const base = textOf(deployment.info, 'base_model');
    const name = base === null ? null : upstreamNameOf(base, null).model;
    return (
      this.release.route(like, deployment.upstreamModel) ??
      (name === null ? null : this.release.route(like, name))
    );
  }

  private override({ at, prices }: Deployment, provider: string, { model }: KnownRoute): void {
    if (prices === null) return;
    const told = this.prices.find((one) => one.model === model.id && one.provider === provider);
    if (told === undefined) this.prices.push({ model: model.id, provider, prices: priceOf(prices) });
    else if (JSON.stringify(told.prices) !== JSON.stringify(priceOf(prices)))
      this.tell([...at, 'model_info'], `${model.id} has another price already: the first one holds`);
  }

  private ownModel({ deployment, provider, like }: Served, likeness: KnownRoute | null): string | null {
    const { at, upstreamModel, prices, info } = deployment;
    const mode = textOf(info, 'mode');
    const type = mode === null ? (likeness?.model.model_type ?? 'text') : TYPES[mode];
    const price = prices ?? (likeness === null ? null : { ...likeness.route.price });
    if (type === undefined) {
      this.tell(
        [...at, 'model_info'],
        'models of this mode are not written: name it in gateway.yaml by hand',
      );
      return null;
    }
    const isFree = price === null && (isSelfHosted(like) || (like === 'openai' && provider !== like));
    if (price === null && !isFree) {
      const words = `this release has no price of ${upstreamModel} at ${provider}: write costs per token in model_info`;
      this.tell(at, words);
      return null;
    }
    if (isFree)
      this.tell(at, `${upstreamModel} is written as free, as LiteLLM counts a model without a price`);
    const id = this.freeId(provider, upstreamModel);
    if (this.models.some((model) => model.id === id)) return id;
    const context = Number(textOf(info, 'max_input_tokens') ?? textOf(info, 'max_tokens'));
    const context_length = context > 0 ? context : (likeness?.model.context_length ?? CONTEXT);
    if (!(context > 0) && likeness === null)
      this.tell(at, `its context is not known: ${CONTEXT} tokens are assumed`);
    this.models.push({
      ...{ id, ...(type === 'text' ? {} : { type }), context_length },
      ...supportsOf(deployment, likeness),
      routes: [
        {
          ...{ provider, upstream_model: upstreamModel },
          ...(provider === like ? { dialect: this.dialectOf(like, type) } : {}),
          ...(price === null ? { free: true } : { prices: priceOf(price) }),
        },
      ],
    });
    return id;
  }

  private dialectOf(slug: string, type: string): string {
    const isEmbedding = type === 'embedding' && this.release.speaks(slug, 'embeddings');
    return isEmbedding ? 'embeddings' : dialectOf(slug);
  }

  /** Returns an id that no other model has. */
  private freeId(provider: string, upstreamModel: string): string {
    const name = upstreamModel
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .replace(/^[^a-z0-9]+/, '');
    const isTaken = (id: string): boolean =>
      this.release.hasModel(id) ||
      this.models.some(
        (model) => model.id === id && model.routes.some((route) => route.upstream_model !== upstreamModel),
      );
    for (let count = 1; ; count += 1) {
      const id = `${provider}/${name || 'model'}${count === 1 ? '' : `-${count}`}`;
      if (!isTaken(id)) return id;
    }
  }
}

/** Returns a price record: one whose rates are 0 is a free one. */
function priceOf(prices: Record<string, unknown>): Record<string, unknown> {
  const rates = Object.entries(prices).filter(([name]) => name.endsWith('_per_1m'));
  const isFree = rates.every(([, rate]) => rate === null || Number(rate) === 0);
  return isFree ? { prompt_usd_per_1m: '0', completion_usd_per_1m: '0', is_free: true } : prices;
}

function supportsOf({ info }: Deployment, likeness: KnownRoute | null): Partial<OwnModel> {
  if (likeness !== null) {
    const { supports, input_modalities } = likeness.model;
    return { supports: [...supports], input_modalities: [...input_modalities] };
  }
  const said = Object.entries(FLAGS).filter(([name]) => textOf(info, name) !== null);
  const flags = said.flatMap(([name, flag]) => (isYes(textOf(info, name)) ? [flag] : []));
  return {
    ...(said.length === 0 ? {} : { supports: ['completions_api', 'responses_api', ...flags] }),
    ...(isYes(textOf(info, 'supports_vision')) ? { input_modalities: ['text', 'image'] } : {}),
  };
}

function isYes(text: string | null): boolean {
  return text !== null && /^true$/i.test(text);
}
