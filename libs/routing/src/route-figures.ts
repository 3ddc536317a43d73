import { FIGURE_CLASSES, type Route, type RouteFigures } from '@gateway/contracts';
import type { RouteSample } from './route-sample.js';

/** Class k holds what is from 2^(k/4) to below 2^((k+1)/4); what lies outside of all is in the nearest. */
const CLASSES_A_POWER = 4;
const LAST = FIGURE_CLASSES - 1;
/** Number of routes counted; past it a route is not counted until the next report. */
const ROUTES_MAX = 5_000;
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
      if (this.counted.size >= ROUTES_MAX) return;
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
