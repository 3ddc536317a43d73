/** Samples of one route; the oldest goes. */
const MOST_SAMPLES = 64;
const MOST_ROUTES = 2_000;
/** Speed assumed for a route that has not served yet. */
const USUAL_TOKENS_PER_SECOND = 50;
/** A shorter answer says little about the speed. */
const LEAST_MS = 100;

interface Route {
  provider: string;
  upstreamModel: string;
}

/** Output tokens a second of each route: how much a model may have thought while nothing was seen of it. */
export class OutputSpeeds {
  private readonly routes = new Map<string, number[]>();

  add({ provider, upstreamModel }: Route, tokens: number, ms: number): void {
    if (tokens <= 0 || ms < LEAST_MS) return;
    const name = `${provider} ${upstreamModel}`;
    const samples = this.routes.get(name) ?? [];
    if (samples.length === 0 && this.routes.size >= MOST_ROUTES) this.routes.clear();
    this.routes.set(name, samples);
    samples.push((tokens * 1_000) / ms);
    if (samples.length > MOST_SAMPLES) samples.shift();
  }

  /** The median. */
  of({ provider, upstreamModel }: Route): number {
    const samples = this.routes.get(`${provider} ${upstreamModel}`) ?? [];
    if (samples.length === 0) return USUAL_TOKENS_PER_SECOND;
    return samples.toSorted((a, b) => a - b)[Math.floor((samples.length - 1) / 2)];
  }
}
