import { FIGURE_CLASSES, type Route, type RouteFigures } from '@gateway/contracts';

/** The result of one try of a route. */
export interface RouteSample {
  /** Time to the first piece of the answer; null where none came. */
  firstPieceMs: number | null;
  /** Tokens of output a second; null where too few came to say. */
  tokensPerSecond: number | null;
  isFault: boolean;
}

/** The last tries of a route. */
interface Window {
  samples: RouteSample[];
  next: number;
  seenAtMs: number;
  latencyMs: number | null | undefined;
  tokensPerSecond: number | null | undefined;
}

const SAMPLES_MAX = 32;
/** Age above which a result says nothing about the present. */
const WINDOW_MS = 30 * 60_000;
const ROUTES_MAX = 5_000;
const CALLERS_MAX = 50_000;
/** Time for which most providers cache a prompt. */
const AFFINITY_MS = 5 * 60_000;

/** Results of this process by route: speed, failures, and the account that used it last. */
export class RouteStats {
  /** The same for other processes to know. */
  readonly figures = new RouteFigureCounts();
  private readonly windows = new Map<string, Window>();
  private readonly servedLast = new Map<string, { provider: string; atMs: number }>();

  see(route: Route, sample: RouteSample, nowMs: number): void {
    this.figures.see(route, sample);
    const name = nameOf(route);
    let window = this.windows.get(name);
    if (window === undefined || nowMs - window.seenAtMs > WINDOW_MS) {
      window = { samples: [], next: 0, seenAtMs: nowMs, latencyMs: undefined, tokensPerSecond: undefined };
      remember(this.windows, name, window, ROUTES_MAX);
    }
    window.samples[window.next] = sample;
    window.next = (window.next + 1) % SAMPLES_MAX;
    window.seenAtMs = nowMs;
    window.latencyMs = undefined;
    window.tokensPerSecond = undefined;
  }

  /** Median milliseconds to the first piece; null while nothing is known. */
  latencyMs(route: Route, nowMs: number): number | null {
    const window = this.window(route, nowMs);
    if (window === null) return null;
    return (window.latencyMs ??= median(window.samples.map(({ firstPieceMs }) => firstPieceMs)));
  }

  /** Median tokens of output a second; null while nothing is known. */
  tokensPerSecond(route: Route, nowMs: number): number | null {
    const window = this.window(route, nowMs);
    if (window === null) return null;
    return (window.tokensPerSecond ??= median(window.samples.map(({ tokensPerSecond }) => tokensPerSecond)));
  }

  /** Share of the last tries that were not the provider's fault; 1 while nothing is known. */
  uptime(route: Route, nowMs: number): number {
    const samples = this.window(route, nowMs)?.samples ?? [];
    if (samples.length === 0) return 1;
    return samples.filter(({ isFault }) => !isFault).length / samples.length;
  }

  /** The caller was served here: the provider may have its prompt in a cache. */
  served(keyId: string, { model, provider }: Route, nowMs: number): void {
    remember(this.servedLast, `${keyId} ${model}`, { provider, atMs: nowMs }, CALLERS_MAX);
  }

  /** The provider that served the caller's last request of this model, while its cache may still hold the prompt. */
  affineProvider(keyId: string, model: string, nowMs: number): string | null {
    const last = this.servedLast.get(`${keyId} ${model}`);
    return last !== undefined && nowMs - last.atMs < AFFINITY_MS ? last.provider : null;
  }

  private window(route: Route, nowMs: number): Window | null {
    const window = this.windows.get(nameOf(route));
    return window !== undefined && nowMs - window.seenAtMs <= WINDOW_MS ? window : null;
  }
}

function nameOf({ provider, model, upstreamModel }: Route): string {
  return `${provider} ${model} ${upstreamModel}`;
}

function remember<T>(entries: Map<string, T>, name: string, entry: T, max: number): void {
  entries.delete(name);
  entries.set(name, entry);
  if (entries.size <= max) return;
  const [oldest] = entries.keys();
  entries.delete(oldest);
}

function median(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known.length === 0 ? null : known[Math.floor((known.length - 1) / 2)];
}

/** Class k holds what is from 2^(k/4) to below 2^((k+1)/4); what lies outside of all is in the nearest. */
const CLASSES_A_POWER = 4;
const LAST = FIGURE_CLASSES - 1;
/** Number of routes counted; past it a route is not counted until the next report. */
const FIGURES_MAX = 5_000;
const NONE: readonly number[] = new Array<number>(FIGURE_CLASSES).fill(0);

interface Counted extends RouteFigures {
  tries: number;
  faults: number;
  latency: number[];
  speed: number[];
}

/** Results of every provider and model since they were last taken, counted so that processes can be added up. */
export class RouteFigureCounts {
  private counted = new Map<string, Counted>();

  see(
    { provider, model }: Pick<Route, 'provider' | 'model'>,
    { firstPieceMs, tokensPerSecond, isFault }: RouteSample,
  ): void {
    const name = `${provider} ${model}`;
    let figures = this.counted.get(name);
    if (figures === undefined) {
      if (this.counted.size >= FIGURES_MAX) return;
      figures = { provider, model, tries: 0, faults: 0, latency: [...NONE], speed: [...NONE] };
      this.counted.set(name, figures);
    }
    figures.tries += 1;
    if (isFault) figures.faults += 1;
    // Written out twice: this is the path of every request, whose functions are counted.
    if (firstPieceMs !== null)
      figures.latency[Math.min(Math.floor(Math.log2(Math.max(firstPieceMs, 1)) * CLASSES_A_POWER), LAST)] +=
        1;
    if (tokensPerSecond !== null)
      figures.speed[Math.min(Math.floor(Math.log2(Math.max(tokensPerSecond, 1)) * CLASSES_A_POWER), LAST)] +=
        1;
  }

  take(): RouteFigures[] {
    const taken = [...this.counted.values()];
    this.counted = new Map();
    return taken;
  }
}

/**
 * The median of what was counted; null where nothing was. Within its class it is taken as spread evenly: a class is a fifth
 * of its value wide, so the answer is off by less.
 */
export function medianOf(classes: readonly number[]): number | null {
  const half = classes.reduce((sum, count) => sum + count, 0) / 2;
  if (half === 0) return null;
  let below = 0;
  for (const [at, count] of classes.entries()) {
    if (count > 0 && below + count >= half) return 2 ** ((at + (half - below) / count) / CLASSES_A_POWER);
    below += count;
  }
  return null;
}
